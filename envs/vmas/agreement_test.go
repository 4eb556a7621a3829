// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"cermic/envs"
)

var regen = flag.Bool("regen", false, "rewrite agreement.json")

// agreements adds up what the recordings of each task showed.
type agreements map[string]envs.Agreement

// add takes in the largest absolute differences of one recording.
func (a agreements) add(g *golden, steps int, largest map[string]float64) {
	task := "vmas/" + g.Scenario
	sum := a[task]
	sum.Source = "vmas 1.5.2"
	sum.Recordings++
	sum.Steps += steps
	for _, name := range []string{"pos", "vel", "rot", "ang_vel"} {
		sum.State = max(sum.State, largest[name])
	}
	sum.Obs, sum.Reward = max(sum.Obs, largest["obs"]), max(sum.Reward, largest["reward"])
	a[task] = sum
}

// check compares with what the package says of itself, where arithmetic rounds as it did when that was written.
func (a agreements) check(t *testing.T) {
	got, err := json.MarshalIndent(a, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	if *regen {
		if err := os.WriteFile("agreement.json", got, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	own := os.Getenv("CERMIC_GOLDEN_DIR") == ""
	if own && !fuses(1+1.0/4096) && !bytes.Equal(got, measured) {
		t.Errorf("agreement.json says\n%s\nmeasured now (-regen writes it):\n%s", measured, got)
	}
}

// fuses reports whether this program computes x·x+y with a single rounding, as Go may on some processors: the last digits of
// all results are then others. x must be 1 + 2⁻¹², whose square needs one bit more than a float32 has.
func fuses(x float32) bool { return x*x-(1+1.0/2048) != 0 }
