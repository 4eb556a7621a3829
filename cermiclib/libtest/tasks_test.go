// SPDX-License-Identifier: Apache-2.0

package libtest_test

import (
	"slices"
	"testing"

	"cermic/cermiclib/libtest"
	"cermic/envs"
	"cermic/envs/envtest"
	"cermic/envs/rng"
)

func TestToyTasksKeepTheContract(t *testing.T) {
	late := libtest.DefaultIdentity()
	late.Late, late.Masked, late.Symbols = true, true, 6
	for name, c := range map[string]envs.Config{
		"rooms": libtest.DefaultRooms(), "identity": libtest.DefaultIdentity(), "late identity": late, "quarrel": libtest.DefaultQuarrel(),
	} {
		t.Run(name, func(t *testing.T) { envtest.Check(t, c) })
	}
}

// TestTheFarRoomTakesExploring: the way there takes 18 steps at most, and of agents that move at random next to none gets there in 60.
func TestTheFarRoomTakesExploring(t *testing.T) {
	c := libtest.DefaultRooms()
	c.NumEnvs = 500
	env, err := c.Build(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	out, act, r := envs.NewStep(env.Spec()), envs.NewActions(env.Spec()), rng.New(1, "walk")
	env.Reset(nil, out)
	found := 0
	for range 60 {
		for row := range act.Discrete {
			act.Discrete[row] = int32(r.IntN(5))
		}
		env.Step(act, out)
		for c, score := range out.Score {
			found += int(score)
			out.Terminated[c] |= out.Truncated[c]
		}
		env.Reset(out.Terminated, out)
	}
	if found > 10 {
		t.Errorf("%d of about 500 random episodes found the far corner: too easy", found)
	}
	env.Reset(nil, out)
	arrived := make([]bool, c.NumEnvs)
	const size, wall, door = 10, 5, 5
	for range 18 {
		for row := range act.Discrete {
			at := slices.Index(out.Obs[row*2*size:row*2*size+size], 1)
			switch y := slices.Index(out.Obs[row*2*size+size:(row+1)*2*size], 1); {
			case at < wall && y < door, at == size-1:
				act.Discrete[row] = 4 // down
			default:
				act.Discrete[row] = 2 // right
			}
		}
		env.Step(act, out)
		for c, score := range out.Score {
			if score == 1 && (out.Terminated[c] == 0 || out.Sparse[2*c] != 1 || out.Sparse[2*c+1] != 1) {
				t.Fatalf("copy %d is there: over %d, paid %v", c, out.Terminated[c], out.Sparse[2*c:2*c+2])
			}
			arrived[c] = arrived[c] || score == 1
		}
	}
	if slices.Contains(arrived, false) {
		t.Error("the way through the door does not lead to the far corner")
	}
}
