// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"slices"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest/must"
)

// played is a single environment, stepped by hand.
type played struct {
	t   *testing.T
	env *env
	out *envs.Step
	act *envs.Actions
}

func play(t *testing.T, cfg envs.Config) *played {
	t.Helper()
	shared := cfg.Shared()
	shared.NumEnvs = 1
	e := must.Value(cfg.WithShared(shared).Build(1, 1)).(*env)
	p := &played{t: t, env: e, out: envs.NewStep(e.Spec()), act: envs.NewActions(e.Spec())}
	p.env.Reset(nil, p.out)
	return p
}

// step checks the rewards of a joint action and whether it ends the episode.
func (p *played) step(sparse, dense float32, over bool, act ...int32) {
	p.t.Helper()
	copy(p.act.Discrete, act)
	p.env.Step(p.act, p.out)
	for i := range p.env.spec.Agents {
		if p.out.Sparse[i] != sparse || !near(p.out.Dense[i], dense) {
			p.t.Fatalf("after %v agent %d gets %g and %g, want %g and %g",
				act, i, p.out.Sparse[i], p.out.Dense[i], sparse, dense)
		}
	}
	if (p.out.Terminated[0] != 0) != over {
		p.t.Fatalf("after %v the episode is over: %v, want %v", act, p.out.Terminated[0] != 0, over)
	}
}

// near allows for the rounding of one float32 sum.
func near(a, b float32) bool { return max(a-b, b-a) < 1e-6 }

// rightAt is the right joint pull at a position.
func (l *lock) rightAt(position int) []int32 {
	return slices.Clone(l.right[position*l.Agents : (position+1)*l.Agents])
}

// wrong is rightAt with the lever of one agent changed.
func (l *lock) wrong(position, agent int) []int32 {
	act := l.rightAt(position)
	act[agent] = (act[agent] + 1) % int32(l.Levers)
	return act
}

func TestLockMovesOnByTheRightJointPullAndElseReturnsToItsStart(t *testing.T) {
	cfg := DefaultLock()
	cfg.Length, cfg.MaxSteps = 3, 10
	p := play(t, cfg)
	l := p.env.game.(*lock)
	third := float32(1) / 3
	position := func(want int) {
		t.Helper()
		for i := range 2 {
			obs := p.out.Obs[i*p.env.spec.Obs[0]:]
			if !slices.Equal(obs[:4], oneHot(4, want)) {
				t.Fatalf("agent %d observes position %v, want %d", i, obs[:4], want)
			}
		}
	}
	position(0)
	p.step(0, third, false, l.rightAt(0)...)
	position(1)
	p.step(0, -third, false, l.wrong(1, 0)...)
	position(0)
	p.step(0, 0, false, l.wrong(0, 1)...)
	p.step(0, third, false, l.rightAt(0)...)
	p.step(0, third, false, l.rightAt(1)...)
	p.step(0, -2*third, false, l.wrong(2, 1)...)
	for k := range 2 {
		p.step(0, third, false, l.rightAt(k)...)
	}
	p.step(1, 1+third, true, l.rightAt(2)...)
	position(3)
}

func oneHot(n, at int) []float32 {
	x := make([]float32, n)
	x[at] = 1
	return x
}

func TestLockShowsTheLeversPulledLast(t *testing.T) {
	cfg := DefaultLock()
	cfg.Agents = 3
	p := play(t, cfg)
	copy(p.act.Discrete, []int32{0, 2, 1})
	p.env.Step(p.act, p.out)
	// [9 positions, 3 levers, 3 agents, 3 and 3 levers of the peers]
	obs := p.out.Obs[p.env.spec.Obs[0]:][9:21]
	if want := slices.Concat(oneHot(3, 2), oneHot(3, 1), oneHot(3, 0), oneHot(3, 1)); !slices.Equal(obs, want) {
		t.Errorf("agent 1 observes %v, want %v", obs, want)
	}
}

func TestLockFalseLeadPaysOnceAndJams(t *testing.T) {
	cfg := DefaultLock()
	cfg.Length, cfg.FalseLeads, cfg.FalseReward = 2, 1, 0.25
	p := play(t, cfg)
	l := p.env.game.(*lock)
	lead := l.wrong(0, 0)
	lead[1] = (lead[1] + 1) % 3
	p.step(0.25, 0.25, false, lead...)
	for range 3 {
		for k := range 2 {
			p.step(0, 0, false, l.rightAt(k)...)
		}
		p.step(0, 0, false, lead...)
	}
	if p.env.spec.Succeeds(0.25) {
		t.Error("a false lead counts as a success")
	}
}

func TestCombinationsAreDrawnFromTheirName(t *testing.T) {
	a, b, other := play(t, DefaultLock()), play(t, DefaultLock()), DefaultLock()
	other.Combination = 2
	if c := play(t, other); !slices.Equal(a.env.game.(*lock).right, b.env.game.(*lock).right) ||
		slices.Equal(a.env.game.(*lock).right, c.env.game.(*lock).right) {
		t.Error("a combination must depend on its name and nothing else")
	}
}
