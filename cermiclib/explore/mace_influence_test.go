// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"math"
	"testing"

	"cermic/cermiclib/nn/graphtest"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// causeSpec is a made-up task of 2 agents with 3 discrete actions or a continuous one.
func causeSpec(discrete bool) *envs.Spec {
	s := &envs.Spec{Name: "cause", NumEnvs: 20, Agents: 2, Obs: []int{4}, State: 1, Act: envs.ActSpec{Dim: 1, Low: []float32{-1}, High: []float32{1}}}
	if discrete {
		s.Act = envs.ActSpec{Choices: 3}
	}
	return s
}

// causeRollout is rollout batch k, of policies that depend on the observation and on k, in episodes of 4 steps. If
// agent 0 takes its last action, or a continuous one above 0, agent 1's next observation is one that it has never seen.
// Otherwise it always observes the same. Agent 0 observes something new at one of three steps, independent of all
// actions.
func causeRollout(t *testing.T, m *mace, s *envs.Spec, k int) *rl.Rollout {
	t.Helper()
	const steps = 100
	x, r, step, d := rl.NewRollout(s, steps, 0), rng.New(uint64(k), "cause"), envs.NewStep(s), rl.NewDist(s, 0)
	act := envs.NewActions(s)
	x.Iteration = k
	graphtest.Fill(step.Alive, 1)
	observe := func(row int, new bool) {
		obs := step.Obs[row*4 : (row+1)*4]
		clear(obs)
		for i := range obs {
			if new {
				obs[i] = 2 * r.Norm()
			}
		}
	}
	decide := func(row int) { // turns with k, at a pace that ten rollout batches of training make
		for c := range 3 {
			l := 0.7*math.Sin(0.3*float64(k)+2*float64(c+row)) + 0.5*float64(step.Obs[row*4+c])
			if s.Act.Choices > 0 {
				d.Logits[row*3+c] = float32(l)
			} else if c == 0 {
				d.Mean[row], d.Scale[row] = float32(l), 0.7
			}
		}
	}
	for now := range steps {
		x.Observe(now, step)
		for row := range s.NumEnvs * 2 {
			decide(row)
		}
		must.Do(t, m.Behave(0, nil, d))
		for row := range s.NumEnvs * 2 {
			at := now*s.NumEnvs*2 + row
			x.LogP[at] = d.Sample(row, r, act)
			last := false
			if s.Act.Choices > 0 {
				x.Act.Discrete[at] = act.Discrete[row]
				last = act.Discrete[row] == 2
			} else {
				x.Raw[at] = d.Raw[row]
				last = d.Raw[row] > 0
			}
			if row%2 == 0 {
				observe(row+1, last)
			}
		}
		for c := range s.NumEnvs {
			observe(2*c, r.IntN(3) == 0)
			if now%4 == 3 {
				x.Truncated[now*s.NumEnvs+c] = 1
				x.End(now, c, step)
			}
		}
	}
	x.Observe(steps, step)
	return x
}

// TestOnlyWhoCausesNoveltyHasInfluence: agent 1's novelty follows from agent 0's action, agent 0's from no action. The
// novelty networks are not trained, so new observations stay new.
func TestOnlyWhoCausesNoveltyHasInfluence(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for seconds")
	}
	for _, discrete := range []bool{true, false} {
		c, s := DefaultMACE(), causeSpec(discrete)
		c.HindsightSteps, c.Minibatch = 50, 200                                                   // as many steps as the policy takes at the short budget
		c.HindsightHidden, c.NoveltyWidth, c.NoveltyOut, c.LR = []int{32, 32}, 32, 8, 1e-3        // small networks take larger steps
		c.Self, c.Other, c.Influence, c.IntNorm, c.IntCoef, c.IntMemory = 0, 0, 1, NormNone, 1, 1 // the bonus is the influence alone
		m, _ := newMACE(t, c, s)
		var influence [2]float64
		const batches, counted = 16, 6
		for k := range batches {
			x := causeRollout(t, m, s, k)
			must.Value(m.Reward(t.Context(), x))
			for row, v := range x.Intrinsic {
				if k >= batches-counted {
					influence[row%2] += float64(v) / float64(counted*len(x.Intrinsic)/2)
				}
			}
		}
		t.Logf("discrete %v: influence %.4f of the agent that causes novelty, %.4f of the other", discrete, influence[0], influence[1])
		if !(influence[0] > 0.03) || math.Abs(influence[1]) > influence[0]/4 {
			t.Errorf("discrete %v: influence %.4f of the agent that causes novelty, %.4f of the other; want more than 0.03, and about 0",
				discrete, influence[0], influence[1])
		}
	}
}
