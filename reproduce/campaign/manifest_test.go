// SPDX-License-Identifier: Apache-2.0

package campaign

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/experiment"
	"cermic/envs/envtest/must"
	"cermic/reproduce/plan"
)

// FuzzManifest reads any file as a manifest: the answer is its experiments, which written and read again are the same,
// or one sentence.
func FuzzManifest(f *testing.F) {
	for _, method := range []string{"mappo", "qmix-cermic"} {
		e := must.Get(plan.New(plan.Request{Task: "balance", Method: method, Budget: "smoke", Seed: 1}))(f)
		text := must.Get(writeManifest([]experiment.Config{e}))(f)
		f.Add(text)
		f.Add(text[:len(text)/2])
	}
	f.Add([]byte("\n"))
	f.Add([]byte(`{"method":"\u001b[2J","experiment":null}`))
	f.Add([]byte(`{"method":"mappo","experiment":{"task":{"kind":"../x"},"seed":-1}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		es, err := read(t, data)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r\x1b") {
				t.Errorf("not one sentence: %q", err)
			}
			return
		}
		again, err := writeManifest(es)
		if err != nil {
			return // an experiment that has no identity is refused where it is written
		}
		back, err := read(t, again)
		if err != nil || !slices.EqualFunc(es, back, same) {
			t.Errorf("read again it is another manifest, %v:\n%s", err, again)
		}
	})
}

// read is ReadManifest of a file with that content.
func read(t *testing.T, data []byte) ([]experiment.Config, error) {
	file := filepath.Join(t.TempDir(), "m.jsonl")
	must.Do(t, os.WriteFile(file, data, 0o666))
	return ReadManifest(file)
}

// same reports whether two experiments are one. Invalid experiments have no identity, and training refuses them, so
// they are not compared.
func same(a, b experiment.Config) bool {
	one, err := a.ID()
	two, other := b.ID()
	return err != nil || other == nil && one == two
}
