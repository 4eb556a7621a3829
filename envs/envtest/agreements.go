// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"sync"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest/must"
)

// Regen makes tests rewrite the files that they compare with.
var Regen = flag.Bool("regen", false, "rewrite compared files, such as agreement.json")

// Agreements collects how closely a family's tasks follow the recordings of their original. Parallel tests may share
// it.
type Agreements struct {
	Source string // the original with its version
	mutex  sync.Mutex
	of     map[string]envs.Agreement
}

// Add adds one recording of a task: its number of steps and the largest absolute differences.
func (a *Agreements) Add(task string, steps int, largest envs.Agreement) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.of == nil {
		a.of = map[string]envs.Agreement{}
	}
	sum := a.of[task]
	sum.Source = a.Source
	sum.Recordings++
	sum.Steps += steps
	sum.State, sum.Obs, sum.Reward = max(sum.State, largest.State), max(sum.Obs, largest.Obs),
		max(sum.Reward, largest.Reward)
	a.of[task] = sum
}

// Check compares the result with the package's agreement.json, which -regen rewrites. It does nothing if only some
// recordings, or other ones, were used.
func (a *Agreements) Check(t *testing.T, measured []byte) {
	got := append(must.Get(json.MarshalIndent(a.of, "", "\t"))(t), '\n')
	if *Regen {
		must.Do(t, os.WriteFile("agreement.json", got, 0o666))
		return
	}
	if !t.Failed() && OwnRecordings() && !bytes.Equal(got, measured) {
		t.Errorf("agreement.json says\n%s\nmeasured now (-regen writes it):\n%s", measured, got)
	}
}
