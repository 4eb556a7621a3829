// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"math"
	"testing"

	"cermic/cermiclib/nn/graphtest"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// tdSpec is a made-up task: 2 environments, 2 agents, 3 observed numbers, 4 of state, 3 choices.
func tdSpec(masked bool) *envs.Spec {
	return &envs.Spec{Name: "fake", NumEnvs: 2, Agents: 2, Obs: []int{3}, State: 4, Act: envs.ActSpec{Choices: 3}, Masked: masked}
}

// randomRollout fills a rollout with random numbers; episodes end in all ways.
func randomRollout(s *envs.Spec, steps int) *rl.Rollout {
	x, r, step := rl.NewRollout(s, steps, 0), rng.New(1, "rollout"), envs.NewStep(s)
	show := func() {
		graphtest.Normal(r, step.Obs)
		graphtest.Normal(r, step.State)
		for i := range step.Mask {
			step.Mask[i] = 1
			if i%s.Act.Choices > 0 {
				step.Mask[i] = uint8(r.IntN(2))
			}
		}
		graphtest.Fill(step.Alive, 1)
	}
	show()
	for t := range steps {
		x.Observe(t, step)
		for i := range s.NumEnvs * s.Agents {
			row := t*s.NumEnvs*s.Agents + i
			if s.Act.Choices > 0 {
				x.Act.Discrete[row] = int32(r.IntN(s.Act.Choices))
			}
			x.Extrinsic[row], x.Intrinsic[row] = r.Norm(), r.Norm()
		}
		show()
		for c := range s.NumEnvs {
			switch r.IntN(4) {
			case 0:
				x.Terminated[t*s.NumEnvs+c], x.Truncated[t*s.NumEnvs+c] = 1, uint8(t%2) // termination outweighs a time limit
				x.End(t, c, step)
			case 1:
				x.Truncated[t*s.NumEnvs+c] = 1
				x.End(t, c, step)
			}
		}
		if step2 := step; x.Done(t, 0) || x.Done(t, 1) {
			step = envs.NewStep(s)
			*step = *step2
			show() // after a reset
		}
	}
	x.Observe(steps, step)
	return x
}

// withCarry gives every step of a rollout a random recurrent state of the given length.
func withCarry(x *rl.Rollout, hidden int) *rl.Rollout {
	x.Hidden = graphtest.Normal(rng.New(2, "carry"), make([]float32, x.Rows()*hidden))
	return x
}

// checkUpdate fails unless the learner's updates equal the reference's.
func checkUpdate(t *testing.T, c Q, p policy.Config, spec *envs.Spec) {
	t.Helper()
	l := must.Value(c.Build(graphtest.Build(spec, 5), p)).(*q)
	ref := newReference(l)
	got := must.Value(l.Update(t.Context(), withCarry(randomRollout(spec, 10), l.HiddenLen())))
	slots, loss := make([]int, len(l.slots)), 0.0
	for step := range c.Steps {
		l.replay.Sample(slots, rng.New(5, "replay", 0, uint64(step)))
		loss += ref.step(l.replay, slots) / float64(c.Steps)
	}
	// float32 against float64 with finite differences, over six steps of 0.01
	if math.Abs(got["q_loss"]-loss) > 1e-4*loss {
		t.Errorf("mean loss %g, want %g", got["q_loss"], loss)
	}
	for _, name := range ref.names {
		online, target := values(l.build.Store, "/"+onlineScope+"/"+name), values(l.build.Store, "/"+targetScope+"/"+name)
		for i := range online {
			if math.Abs(online[i]-ref.online[name][i]) > 5e-5 || math.Abs(target[i]-ref.target[name][i]) > 5e-5 {
				t.Errorf("%s[%d] is %g, its target %g, want %g and %g", name, i, online[i], target[i], ref.online[name][i], ref.target[name][i])
			}
		}
	}
}

// plain is a small feed-forward policy.
var plain = policy.MLP{Hidden: []int{4}}

// sixSteps is a learner of six gradient steps on 7 frames each.
func sixSteps(mixer MixerConfig) Q {
	c := DefaultQ()
	c.Frames, c.Steps, c.Batch, c.Replay = 20, 6, 7, 12
	c.LR, c.Eps, c.Clip, c.Polyak, c.Mixer = 0.01, 1e-3, 0.5, 0.1, mixer
	return c
}

func TestQMIXUpdateFollowsAnIndependentFloat64Implementation(t *testing.T) {
	for _, double := range []bool{false, true} {
		for _, masked := range []bool{false, true} {
			c := sixSteps(QMIX{Embed: 3})
			c.DoubleQ = double
			t.Run(fmt.Sprintf("double=%v/masked=%v", double, masked), func(t *testing.T) { checkUpdate(t, c, plain, tdSpec(masked)) })
		}
	}
}

// TestRecurrentUpdateFollowsAnIndependentFloat64Implementation: chunks have 3 steps, begin in the state at collection,
// and contain ends of episodes.
func TestRecurrentUpdateFollowsAnIndependentFloat64Implementation(t *testing.T) {
	for _, on := range []bool{false, true} {
		c := sixSteps(QMIX{Embed: 3})
		// 7 frames are two chunks. The replay keeps 7 steps, so its third chunk of 3 steps is incomplete.
		c.DoubleQ, c.Batch, c.Replay = on, 7, 14
		checkUpdate(t, c, policy.GRU{Width: 3, Hidden: []int{4}, Steps: 3}, tdSpec(on))
	}
}
