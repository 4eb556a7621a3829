// SPDX-License-Identifier: Apache-2.0

package export

import (
	"path"
	"strings"
	"testing"

	"cermic/cermiclib/results"
)

// saidOnce fails unless an error that a file's content causes is one sentence.
func saidOnce(t *testing.T, err error) {
	t.Helper()
	if text := err.Error(); text == "" || strings.ContainsAny(text, "\n\r\x1b") {
		t.Errorf("not one sentence: %q", text)
	}
}

func TestFilesThatUnpackToGigabytesAreRefused(t *testing.T) {
	bomb := zipped(strings.Repeat("0", maxText+1))
	if _, err := Import(bomb); err == nil || !strings.Contains(err.Error(), "unpacks to more than") {
		t.Errorf("an imported file of %d bytes: %v", len(bomb), err)
	}
}

// FuzzImport reads any file of marl-eval, of BenchMARL or of recorded curves, gzipped or not.
func FuzzImport(f *testing.F) {
	f.Add([]byte(`{"vmas":{"balance":{"MAPPO":{"seed_0":{"step_0":{"step_count":6000,"return":[1,NaN,2.5]},"absolute_metrics":{"return":[2]}}}}}}`))
	f.Add([]byte(`{"vmas":{"simple_adversary":{"mappo":{"run_3":{"a":{"step_count":1.0,"return":[0],"agent_return":[1],"adversary_return":[NaN]}}}}}}`))
	f.Add([]byte(`{"schema":"benchmarl-curves/1","algorithm":"mappo","task":"balance","reward":"dense","runs":[{"seed":1,"evals":[{"frames":1,"returns":[1,null]}]}]}`))
	f.Add([]byte(`{"schema":"benchmarl-curves/1","task":"../../x\u001b[2J","runs":[{"seed":1,"evals":[{"frames":-1,"returns":[1e308]}]}]}`))
	f.Add([]byte(`{"a":{"../..":{"\n":{"":{"s":{"step_count":1e30,"return":[1]}}}}}}`))
	f.Add([]byte{0x1f, 0x8b, 8, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, data := range [][]byte{data, zipped(string(data))} {
			records, err := Import(data)
			if err != nil {
				saidOnce(t, err)
				continue
			}
			for _, r := range records {
				if _, err := MarlEval([]*results.Record{r}); err != nil {
					saidOnce(t, err)
				}
				if err := r.CheckNames(); err != nil {
					t.Errorf("%q: %v", path.Join(r.Task, r.Method), err)
				}
				for _, e := range r.Evals {
					if e.Frames < 0 || len(e.Scores) == 0 {
						t.Errorf("an evaluation at %d frames of %d episodes", e.Frames, len(e.Scores))
					}
				}
			}
		}
	})
}
