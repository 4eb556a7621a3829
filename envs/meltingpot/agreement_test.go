// SPDX-License-Identifier: Apache-2.0

package meltingpot

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"sync"
	"testing"

	"cermic/envs"
)

var regen = flag.Bool("regen", false, "rewrite agreement.json")

// agreements counts what was repeated of each task. No difference is allowed, so every difference that it states is 0.
type agreements struct {
	sync.Mutex
	of map[string]envs.Agreement
}

// add takes in a recording that was followed.
func (a *agreements) add(task string, steps int) {
	a.Lock()
	defer a.Unlock()
	sum := a.of[task]
	sum.Source = "Melting Pot 2.4.1"
	sum.Recordings++
	sum.Steps += steps
	a.of[task] = sum
}

// check compares with what the package says of itself.
func (a *agreements) check(t *testing.T) {
	got, err := json.MarshalIndent(a.of, "", "\t")
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
	whole := !testing.Short() && !t.Failed() && os.Getenv("CERMIC_GOLDEN_DIR") == ""
	if whole && !bytes.Equal(got, measured) {
		t.Errorf("agreement.json says\n%s\nmeasured now (-regen writes it):\n%s", measured, got)
	}
}
