// SPDX-License-Identifier: Apache-2.0

// Package envtest checks that an environment fulfils the contract of envs.Env. A new task is checked by one line:
//
//	envtest.Check(t, vmas.DefaultBalance())
//
// Each rule is a subtest named after its claim; its failures explain the rule.
package envtest

import (
	"math"
	"slices"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// numEnvs is E in most checks: odd, so that it does not divide evenly over workers, and small, so that they are quick.
const numEnvs = 5

// steps is the length of most checks: long enough for contacts and for a few random episodes to end.
const steps = 40

// Check runs every rule on cfg.
func Check(t *testing.T, cfg envs.Config) {
	for _, rule := range []struct {
		name string
		test func(*testing.T, envs.Config)
	}{
		{"SpecIsComplete", specIsComplete},
		{"ImpossibleNumEnvsAreRefused", impossibleNumEnvsAreRefused},
		{"EqualSeedsGiveEqualRuns", equalSeedsGiveEqualRuns},
		{"EnvsAndWorkersDoNotMatter", envsAndWorkersDoNotMatter},
		{"StepAllocatesNothing", stepAllocatesNothing},
		{"NumbersAreInRange", numbersAreInRange},
		{"ResetTouchesOnlyItsEnvs", resetTouchesOnlyItsEnvs},
		{"EpisodesEndOnceAndKeepTheirLastObservation", episodesEnd},
		{"SaveAndLoadContinueExactly", saveAndLoadContinue},
		{"ForeignStatesAreRefused", foreignStatesAreRefused},
		{"RewardModesShareOneGame", rewardModesShareOneGame},
		{"CoverageCellsExist", coverageCellsExist},
	} {
		if !t.Run(rule.name, func(t *testing.T) { rule.test(t, cfg) }) && rule.name == "SpecIsComplete" {
			return // the other rules depend on the Spec
		}
	}
}

// player drives an environment with random allowed actions that depend on (time, environment, agent) only.
type player struct {
	env  envs.Env
	spec *envs.Spec
	out  *envs.Step
	act  *envs.Actions
	t    int
	r    rng.Rand
}

// build makes a player of n environments, without a reset.
func build(t *testing.T, cfg envs.Config, n int, seed uint64, workers int) *player {
	t.Helper()
	shared := cfg.Shared()
	shared.NumEnvs = n
	return newPlayer(must.Get(cfg.WithShared(shared).Build(seed, workers))(t))
}

func newPlayer(env envs.Env) *player {
	s := env.Spec()
	return &player{env: env, spec: s, out: envs.NewStep(s), act: envs.NewActions(s)}
}

// start is build with a reset.
func start(t *testing.T, cfg envs.Config, n int, seed uint64, workers int) *player {
	t.Helper()
	p := build(t, cfg, n, seed, workers)
	p.reset()
	return p
}

// sameOutput fails, with a claim about the difference, if the first environments of a and b differ.
func sameOutput(t *testing.T, a, b *player, claim string) {
	t.Helper()
	for c := range numEnvs {
		if field := a.row(c).difference(b.row(c)); field != "" {
			t.Fatalf("%s of environment %d at step %d %s", field, c, a.t, claim)
		}
	}
}

func (p *player) reset() { p.env.Reset(nil, p.out) }

// choose fills act for the current time.
func (p *player) choose() {
	for row := range p.spec.NumEnvs * p.spec.Agents {
		p.r.Seed(7, "envtest action", uint64(p.t), uint64(row/p.spec.Agents), uint64(row%p.spec.Agents))
		if k := p.spec.Act.Choices; k > 0 {
			p.act.Discrete[row] = p.allowed(row, p.r.IntN(k))
			continue
		}
		for d := range p.spec.Act.Dim {
			p.act.Continuous[row*p.spec.Act.Dim+d] = p.r.Uniform(p.spec.Act.Low[d], p.spec.Act.High[d])
		}
	}
}

// allowed returns the first allowed action from k on, cyclically.
func (p *player) allowed(row, k int) int32 {
	n := p.spec.Act.Choices
	for i := range n {
		if at := (k + i) % n; p.out.Mask == nil || p.out.Mask[row*n+at] != 0 {
			return int32(at)
		}
	}
	return 0
}

// play takes one step and does not reset finished environments.
func (p *player) play() {
	p.choose()
	p.env.Step(p.act, p.out)
	p.t++
}

// apart is the step at which next also resets every third environment, so that episodes end at different times.
const apart = 5

// next takes one step and resets finished environments, as training does.
func (p *player) next() {
	p.play()
	done := make([]uint8, p.spec.NumEnvs)
	for c := range done {
		done[c] = p.out.Terminated[c] | p.out.Truncated[c]
		if p.t == apart && c%3 == 1 {
			done[c] = 1
		}
	}
	if slices.Contains(done, 1) {
		p.env.Reset(done, p.out)
	}
}

// field is a part of a step's output.
type field struct {
	name   string
	values []float32
}

// row copies all output of environment c.
func (p *player) row(c int) row {
	e, out := p.spec.NumEnvs, p.out
	return row{
		{"Obs", part(out.Obs, e, c)}, {"Cells", part(out.Cells, e, c)}, {"State", part(out.State, e, c)},
		{"Dense", part(out.Dense, e, c)}, {"Sparse", part(out.Sparse, e, c)}, {"Score", part(out.Score, e, c)},
		{"Mask", part(out.Mask, e, c)}, {"Alive", part(out.Alive, e, c)}, {"Terminated", part(out.Terminated, e, c)},
		{"Truncated", part(out.Truncated, e, c)}, {"Visible", part(out.Visible, e, c)}, {"RelPos", part(out.RelPos, e, c)},
	}
}

type row []field

// part copies environment c's part of an environment-major array.
func part[V float32 | uint8 | uint16](all []V, e, c int) []float32 {
	n := len(all) / e
	out := make([]float32, n)
	for i, v := range all[c*n : (c+1)*n] {
		out[i] = float32(v)
	}
	return out
}

// difference names the first field in which two rows differ in any bit; "" if they are equal.
func (a row) difference(b row) string {
	for i := range a {
		if !sameBits(a[i].values, b[i].values) {
			return a[i].name
		}
	}
	return ""
}

func sameBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}
