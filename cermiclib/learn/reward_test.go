// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"math"
	"testing"

	"cermic/cermiclib/nn/graphtest"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/envtest/must"
)

// TestTheBonusIsAnAgentsOwn: the bonus of the first of three agents reaches no other. With a discount of 0, an agent's
// value target is its weighted reward plus its bonus.
func TestTheBonusIsAnAgentsOwn(t *testing.T) {
	for _, c := range []struct {
		weight float32
		want   []float32
	}{
		{1, []float32{9, 0, 3}},
		{0.5, []float32{6, 0, 1.5}},
		{0, []float32{3, 0, 0}},
	} {
		spec := &envs.Spec{Name: "fake", NumEnvs: 1, Agents: 3, Obs: []int{3}, State: 4, Act: envs.ActSpec{Choices: 3}}
		cfg := DefaultMAPPO()
		cfg.Frames, cfg.Epochs, cfg.Minibatch, cfg.CriticHidden, cfg.Discount = 2, 1, 2, []int{4}, 0
		l := must.Value(cfg.Build(graphtest.Build(spec, 5), plain)).(*mappo)
		x := rl.NewRollout(spec, 2, 0)
		x.ExtrinsicWeight = c.weight
		copy(x.Extrinsic, []float32{6, 0, 3})
		x.Intrinsic[0] = 3
		must.Do(t, l.targets(t.Context(), x))
		for i, want := range c.want {
			// the target is an advantage and a value in float32, both of order 1
			if math.Abs(float64(l.ret[i]-want)) > 1e-5 {
				t.Errorf("weight %g: value targets %v, want %v", c.weight, l.ret[:3], c.want)
				break
			}
		}
	}
}

// TestTheExtrinsicRewardOfAReplayIsWeighed: with a discount of 0, the mean target of a value learner is its minibatch's
// weighted mean reward plus the bonus.
func TestTheExtrinsicRewardOfAReplayIsWeighed(t *testing.T) {
	for _, weight := range []float32{0, 0.5, 1} {
		c := sixSteps(QMIX{Embed: 3})
		c.Discount, c.Steps = 0, 1
		l := must.Value(c.Build(graphtest.Build(tdSpec(false), 5), plain)).(*q)
		x := randomRollout(tdSpec(false), 10)
		x.ExtrinsicWeight = weight
		graphtest.Fill(x.Intrinsic, 2)
		got := must.Value(l.Update(t.Context(), x))
		want := 0.0
		for _, slot := range l.slots {
			want += (float64(weight)*float64(l.replay.Reward(slot)) + 2) / float64(len(l.slots))
		}
		// float32 means of a few numbers of order 1
		if math.Abs(got["q_target"]-want) > 1e-5 {
			t.Errorf("weight %g: mean target %g, want %g", weight, got["q_target"], want)
		}
	}
}
