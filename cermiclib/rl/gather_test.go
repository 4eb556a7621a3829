// SPDX-License-Identifier: Apache-2.0

package rl

import (
	"math"
	"slices"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// cellStory collects a rollout of two environments and two agents with unique observations and cells, in which episodes
// end.
func cellStory(t *testing.T) *Rollout {
	t.Helper()
	s := &envs.Spec{Name: "cells", NumEnvs: 2, Agents: 2, Obs: []int{2, 3}, Scalars: 2, Act: envs.ActSpec{Choices: 4}}
	x, step, count := NewRollout(s, 9, 0), envs.NewStep(s), 0
	r := rng.New(2, "ends")
	show := func(c int) {
		for i := range part(step.Obs, c, 2) {
			count++
			part(step.Obs, c, 2)[i] = -float32(count)
		}
		for i := range part(step.Cells, c, 2) {
			count++
			part(step.Cells, c, 2)[i] = uint16(count)
		}
	}
	show(0)
	show(1)
	ends := 0
	for k := range x.T {
		x.Observe(k, step)
		for c := range x.E {
			show(c) // step
			if r.Float64() < 0.3 {
				ends++
				x.Terminated[k*x.E+c] = 1
				x.End(k, c, step)
				show(c) // reset
			}
		}
	}
	x.Observe(x.T, step)
	if ends < 2 {
		t.Fatalf("%d episodes end, want some", ends)
	}
	return x
}

func TestGatherAppendsCellsToObservations(t *testing.T) {
	x := cellStory(t)
	all := make([]float32, (x.T+1)*x.E*x.N*8)
	x.GatherFrom(all, 0)
	one, got := make([]float32, 8), make([]float32, 8)
	for row := range x.Rows() {
		x.Gather(one, row)
		if !slices.Equal(one, all[row*8:(row+1)*8]) || !slices.Equal(one[:2], x.ObsRow(row)) ||
			one[2] != float32(x.Cells[row*6]) || one[7] != float32(x.Cells[row*6+5]) {
			t.Fatalf("agent step %d is gathered as %v", row, one)
		}
		x.GatherNext(got, row)
		// An environment counts up both agents' observations, then both agents' cells.
		if !slices.Equal(got[:2], x.NextRow(row)) || got[2] != -x.NextRow(row)[1]+3+4*float32(row%2) {
			t.Fatalf("the next observation of agent step %d is %v", row, got)
		}
		if !x.Done(row/x.N/x.E, row/x.N%x.E) && !slices.Equal(got, all[(row+x.E*x.N)*8:(row+x.E*x.N+1)*8]) {
			t.Fatalf("the next observation of agent step %d is not the next row", row)
		}
	}
	in := Obs{Obs: x.Obs[:4*2], Cells: x.Cells[:4*6]}
	frame := make([]float32, 4*8)
	if in.Gather(frame, x.Spec); !slices.Equal(frame, all[:4*8]) {
		t.Errorf("Obs.Gather gives %v, Rollout.Gather %v", frame, all[:4*8])
	}
}

func TestReplayKeepsCells(t *testing.T) {
	x := cellStory(t)
	p := must.Value(NewReplay(x.Spec, x.T*x.E, 1<<20, 0, 1))
	must.Do(t, p.Add(x))
	got, want := make([]float32, 2*8), make([]float32, 2*8)
	for frame := range x.T * x.E {
		p.At(frame).Gather(got, x.Spec)
		if x.GatherFrom(want, frame*x.N); !slices.Equal(got, want) {
			t.Fatalf("frame %d is %v, want %v", frame, got, want)
		}
		p.Next(frame).Gather(got, x.Spec)
		x.GatherNext(want[:8], frame*2)
		if x.GatherNext(want[8:], frame*2+1); !slices.Equal(got, want) {
			t.Fatalf("the frame after %d is %v, want %v", frame, got, want)
		}
	}
	vectors := *x.Spec
	vectors.Obs, vectors.Scalars = []int{8}, 0
	q, err := NewReplay(&vectors, x.T*x.E, 1<<20, 0, 1)
	if err != nil || q.size(0)-p.size(0) != float64(p.rows*2*2*6*2) {
		t.Errorf("cells take %g bytes, the same as float32 %g (%v): want two bytes less for each cell",
			p.size(0), q.size(0), err)
	}
}

func TestRolloutBeyondTheMachineIsRefusedWithItsSize(t *testing.T) {
	real := machineMemory
	defer func() { machineMemory = real }()
	machineMemory = func() int64 { return 100_000_000 }
	s := &envs.Spec{Name: "cells", NumEnvs: 60, Agents: 7, Obs: []int{11, 11}, Scalars: 3, State: 21,
		Act: envs.ActSpec{Choices: 9}}
	// 36,000 frames: 12 + 242 + 1 observed and 24 stored bytes per agent and step, 84 + 7 per frame; about 74 MB.
	if size := rolloutSize(s, 600, 0); math.Abs(size/36000-(7*(255+24)+84+7)) > 5 {
		t.Errorf("36,000 frames take %g bytes", size)
	}
	if err := Fits(s, 600, 0); err != nil {
		t.Error(err)
	}
	must.Refuse(t, Fits(s, 6000, 0), "0.74 GB, more than the 0.10 GB of this machine: collect fewer frames")
	if Fits(s, math.MaxInt/60, 0) == nil { // the number of bytes overflows an integer
		t.Error("a rollout of math.MaxInt frames is accepted")
	}
}
