// SPDX-License-Identifier: Apache-2.0

package rl

import (
	"slices"
	"testing"

	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// recurrentStory returns a task, a replay of 12 steps in chunks of 3, and a rollout with a policy state of 2 numbers.
func recurrentStory(t *testing.T, steps int) (*story, *Replay, *Rollout) {
	t.Helper()
	s := newStory(0.3)
	p := must.Value(NewReplay(s.spec, 25, 1<<20, 2, 3))
	return s, p, NewRollout(s.spec, steps, 2)
}

// play collects with policy states derived from the observations, which are unique to an agent step.
func (s *story) play(t *testing.T, p *Replay, x *Rollout) {
	t.Helper()
	s.collect(x)
	for row := range x.Rows() {
		copy(x.Hidden[row*2:], x.ObsRow(row)[:2])
	}
	must.Do(t, p.Add(x))
}

// Chunks are consecutive steps from their initial state, also across rollout batches and around the end of the ring.
func TestChunksAreConsecutiveStepsFromTheirInitialState(t *testing.T) {
	for _, steps := range []int{3, 4, 7, 20} {
		s, p, x := recurrentStory(t, steps)
		slots, drawn := make([]int, 3*40), map[int]bool{}
		for k := range 60 / steps {
			s.play(t, p, x)
			p.Sample(slots, rng.New(1, "sample", uint64(k)))
			for b := range 40 {
				first := int(p.At(slots[b]).Obs[0]-1) / 6 // each observation counts up by 6
				drawn[first] = true
				for at := b; at < len(slots); at += 40 {
					kept := s.all[len(s.all)-p.Len():]
					i := slices.IndexFunc(kept, func(tr transition) bool { return slices.Equal(tr.obs, p.At(slots[at]).Obs) })
					if i < 0 || !p.transition(slots[at]).equals(kept[i]) {
						t.Fatalf("rollouts of %d steps: a frame that is not kept was drawn", steps)
					}
					if step := (len(s.all) - p.Len() + i) / 2; step%3 != at/40 {
						t.Fatalf("rollouts of %d steps: step %d since the start is number %d of its chunk",
							steps, step, at/40)
					}
					if at > b && !slices.Equal(p.Next(slots[at-40]).Obs, p.At(slots[at]).Obs) {
						if !p.Ended(slots[at-40]) {
							t.Fatalf("rollouts of %d steps: a chunk jumps", steps)
						}
					}
				}
				want := slices.Concat(p.At(slots[b]).Obs[:2], p.At(slots[b]).Obs[3:5])
				if got := p.Hidden(slots[b]); !slices.Equal(got, want) {
					t.Fatalf("rollouts of %d steps: a chunk begins in state %v, want %v", steps, got, want)
				}
			}
		}
		if len(drawn) < 8 {
			t.Errorf("only %d different chunks were drawn", len(drawn))
		}
	}
}

func TestSavedStatesAreRestored(t *testing.T) {
	for _, rollouts := range []int{1, 5} { // before and after the ring is full
		s, first, x := recurrentStory(t, 4)
		_, second, _ := recurrentStory(t, 4)
		for range rollouts {
			s.play(t, first, x)
			clear(x.Hidden) // repeating the actions does not restore it
			must.Do(t, second.Add(x))
		}
		if bonus, err := second.Load(first.Save(false)); err != nil || bonus {
			t.Fatal(bonus, err)
		}
		slots := make([]int, 3*30)
		first.Sample(slots, rng.New(1, "sample"))
		for _, slot := range slots[:30] {
			if !slices.Equal(first.Hidden(slot), second.Hidden(slot)) || first.Hidden(slot)[0] == 0 {
				t.Fatalf("%d rollouts: state %v became %v", rollouts, first.Hidden(slot), second.Hidden(slot))
			}
		}
	}
}
