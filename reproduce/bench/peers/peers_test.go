// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestTurnsAlternateAndRatiosSayHowManyTimesBetter(t *testing.T) {
	var order []string
	turn := func(name string, values ...float64) func(context.Context) (float64, error) {
		return func(context.Context) (float64, error) {
			order = append(order, name)
			v := values[0]
			values = append(values[1:], v)
			return v, nil
		}
	}
	faster, err := Pair{Ours: turn("here", 20, 40, 30), Theirs: turn("there", 10, 10, 10)}.Measure(t.Context(), 3)
	if err != nil || !slices.Equal(faster.Ratios(), []float64{2, 3, 4}) {
		t.Errorf("ratios %v, %v", faster.Ratios(), err)
	}
	if want := []string{"here", "there", "there", "here", "here", "there"}; !slices.Equal(order, want) {
		t.Errorf("turns %v, want %v", order, want)
	}
	shorter, err := Pair{Smaller: true, Ours: turn("here", 5), Theirs: turn("there", 10)}.Measure(t.Context(), 2)
	if err != nil || !slices.Equal(shorter.Ratios(), []float64{2, 2}) {
		t.Errorf("ratios of times %v, %v", shorter.Ratios(), err)
	}
	failing := errors.New("no")
	if _, err := (Pair{Ours: turn("here", 1), Theirs: func(context.Context) (float64, error) { return 0, failing }}).Measure(t.Context(), 1); !errors.Is(err, failing) {
		t.Errorf("a peer that fails: %v", err)
	}
	if m := Median([]float64{3, 1, 2, 10}); m != 2.5 {
		t.Errorf("median %g", m)
	}
}

func TestWhatAPeerPrintsIsANumberOrAnErrorOfOneLine(t *testing.T) {
	dir := t.TempDir()
	p := Python{dir}
	if err := os.MkdirAll(filepath.Join(dir, "bin"), 0o777); err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]bool{
		"echo noise; echo 12.5": true, "echo nan": false, "echo none": false, "echo trace >&2; echo no such module >&2; exit 1": false,
	} {
		if err := os.WriteFile(p.program(), []byte("#!/bin/sh\n"+body+"\n"), 0o777); err != nil {
			t.Fatal(err)
		}
		if v, err := p.Measure(t.Context(), "steps"); (err == nil && v == 12.5) != want {
			t.Errorf("%q is %v, %v", body, v, err)
		}
	}
}
