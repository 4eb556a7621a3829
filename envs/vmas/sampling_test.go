// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"math"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest"
)

// Recordings do not exercise resets, where the peak is computed, but they list it with the Gaussians.
func TestSamplingFieldHasTheRecordedPeak(t *testing.T) {
	found := 0
	for _, g := range goldens(t, "scenario") {
		if g.Scenario != "sampling" {
			continue
		}
		found++
		s := g.build(t).task.(*sampling)
		centres, peaks := flat(t, g.InternalsStatic["locs"]), flat(t, g.InternalsStatic["max_pdf"])
		for c, want := range peaks {
			got := s.peak(centres[c*2*s.Gaussians : (c+1)*2*s.Gaussians])
			if math.Abs(float64(got-want)) > 1e-5*float64(want) { // float32 exponentials of sums and of differences
				t.Errorf("%s, environment %d: peak is %g, want %g", g.key, c, got, want)
			}
		}
	}
	if found == 0 && envtest.OwnRecordings() {
		t.Error("no recording of sampling")
	}
}

func TestSamplingPaysACellOnceAndItsFirstAgent(t *testing.T) {
	e := buildNumEnvs(t, DefaultSampling(), 1)
	out, act := envs.NewStep(e.Spec()), envs.NewActions(e.Spec())
	w, m := e.world, e.task.(*sampling).memory(e.world, 0)
	place := func(i int, p Vec) { w.Place(0, w.Agent(i), p) }
	copy(m.centres, []float32{0.5, 0.5, 0.5, 0.5, 0.5, 0.5})
	place(0, Vec{0.505, 0.505})
	place(1, Vec{0.545, 0.545}) // in the same cell, without contact
	place(2, Vec{-0.5, -0.5})
	e.Step(act, out)
	if out.Dense[0] <= 0 || out.Dense[1] != 0 || out.Dense[2] <= 0 {
		t.Errorf("rewards %v, want some for agents 0 and 2 and none for agent 1, the second in its cell", out.Dense)
	}
	before := out.Dense[0]
	place(0, Vec{-0.9, 0.9})
	place(1, Vec{0.51, 0.51})
	e.Step(act, out)
	if out.Dense[1] != 0 {
		t.Errorf("a cell that gave %g gives another %g", before, out.Dense[1])
	}
}

func TestSamplingSucceedsWhenEveryCentreWasVisited(t *testing.T) {
	e := buildNumEnvs(t, DefaultSampling(), 1)
	out, act := envs.NewStep(e.Spec()), envs.NewActions(e.Spec())
	w, m := e.world, e.task.(*sampling).memory(e.world, 0)
	copy(m.centres, []float32{-0.5, -0.5, 0, 0, 0.5, 0.5})
	for i := range 3 {
		w.Place(0, w.Agent(i), Vec{-0.9, 0.1 * float32(i)})
	}
	for k, step := range []struct {
		at       Vec
		progress float32
		paid     float32
	}{
		{Vec{-0.5, -0.574}, 1. / 3, 0}, {Vec{0, 0.076}, 1. / 3, 0}, {Vec{0.074, 0}, 2. / 3, 0},
		{Vec{0.5, 0.45}, 1, 10}, {Vec{0.5, 0.45}, 1, 0},
	} {
		w.Place(0, w.Agent(k%3), step.at)
		e.Step(act, out)
		if got := e.progresser.Progress(w, 0); got != step.progress || out.Sparse[0] != step.paid || out.Terminated[0] != 0 {
			t.Errorf("visit %d: progress %g, reward %g; want %g and %g, and no end",
				k, got, out.Sparse[0], step.progress, step.paid)
		}
	}
}
