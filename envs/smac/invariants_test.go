// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"math"
	"slices"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// FuzzBattle plays random settings with random allowed actions and checks invariants. Without -fuzz it runs the seeds
// below.
func FuzzBattle(f *testing.F) {
	f.Add(uint64(1), uint64(0), uint8(5), uint8(5), []byte{0})
	f.Add(uint64(2), uint64(0x5555), uint8(1), uint8(3), []byte{7, 3, 200, 14})
	f.Add(uint64(3), uint64(0xaaaaa), uint8(4), uint8(1), []byte("stop, north, south, east and west"))
	f.Add(uint64(4), uint64(0xffff), uint8(7), uint8(9), []byte{255, 254, 6})
	f.Fuzz(func(t *testing.T, seed, switches uint64, agents, enemies uint8, actions []byte) {
		s, r := fuzzedSettings(switches, agents, enemies), &protossRace
		if seed&1 == 1 {
			r = &zergRace
		}
		e := must.Value(build("smac/fuzz", envs.Common{NumEnvs: 1, Reward: envs.Dense}, s, r, seed, 1)).(*env)
		out, act := envs.NewStep(e.Spec()), envs.NewActions(e.Spec())
		e.Reset(nil, out)
		for step := range 40 {
			living := checkBattle(t, e, out)
			for i := range act.Discrete {
				a := step + i
				if len(actions) > 0 {
					a += int(actions[(step*len(act.Discrete)+i)%len(actions)])
				}
				for a %= e.choices; out.Mask[i*e.choices+a] == 0; {
					a = (a + 1) % e.choices
				}
				act.Discrete[i] = int32(a)
			}
			e.Step(act, out)
			if now := checkBattle(t, e, out); now > living {
				t.Fatalf("%d units are alive, %d before", now, living)
			}
			if out.Terminated[0]|out.Truncated[0] != 0 {
				e.Reset(nil, out)
			}
		}
	})
}

// A baneling created beside a zergling explodes at once: the battle starts with all units, two of them dead.
func TestABattleBeginsWithAllUnitsAlsoWithThoseThatDieAtOnce(t *testing.T) {
	s := DefaultSettings()
	s.Agents, s.Enemies = 2, 2
	k := newRules(s, &zergRace)
	b, l := newBattle(k), newLineup(k)
	copy(l.Types, []Type{Zergling, Hydralisk, Baneling, Hydralisk})
	copy(l.At, [][2]float32{{10, 10}, {2, 2}, {10.9, 10}, {30, 30}})
	seen := must.Value(newSimulator(k, rng.New(1, "first loop")).Deploy(l, nil))
	b.begin(seen)
	agents, enemies := b.alive()
	if b.tags[0]*b.tags[1]*b.tags[2]*b.tags[3] != 2*3*4 || agents != 1 || enemies != 1 || b.units[2].Health != 0 {
		t.Errorf("%d agents and %d enemies live alive of the units %v, want one each of 1 to 4", agents, enemies, b.tags)
	}
	if got := b.settle(goesOn) * b.Divisor / b.ScaleRate; math.Abs(got-b.RewardDeath) > 1e-9 {
		t.Errorf("an enemy's death in the first loop gives reward %g, want %g", got, b.RewardDeath)
	}
}

// fuzzedSettings sets one switch per bit.
func fuzzedSettings(switches uint64, agents, enemies uint8) Settings {
	s := DefaultSettings()
	s.Agents, s.Enemies, s.MaxSteps = 1+int(agents)%8, 1+int(enemies)%8, 30
	for i, b := range []*bool{
		&s.ObsAllHealth, &s.ObsOwnHealth, &s.ObsOwnPos, &s.ObsLastAction, &s.ObsPathing, &s.ObsHeight, &s.ObsTimestep,
		&s.ObsTypes,
		&s.ObsWipe, &s.ConicFOV, &s.UnitRanges, &s.ActionMask, &s.StateLast, &s.StateTimestep, &s.RewardPositive,
		&s.RewardSparse,
	} {
		*b = switches>>i&1 == 1
	}
	if at := switches >> 16 & 31; int(at) < len(alternatives) {
		s.Otherwise = alternatives[at].Name
	}
	s.ProbObsEnemy, s.EnemyMask = float64(switches&3)/3, float64(switches>>2&3)/3
	return s
}

// checkBattle checks the state and returns the number of living units.
func checkBattle(t *testing.T, e *env, out *envs.Step) int {
	t.Helper()
	b := e.arenas[0].battle
	living := 0
	for i := range b.units {
		u := &b.units[i]
		if !(u.X >= 0 && u.X <= edge && u.Y >= 0 && u.Y <= edge) {
			t.Fatalf("unit %d is at (%g, %g), outside the map", i, u.X, u.Y)
		}
		if !(u.Health >= 0 && u.Health <= u.HealthMax && u.Shield >= 0 && u.Shield <= u.ShieldMax && u.Cooldown >= 0) {
			t.Fatalf("unit %d is impossible: %+v", i, *u)
		}
		living += count(u.Health > 0)
	}
	for i := range b.n {
		mask := b.mask[i*b.choices : (i+1)*b.choices]
		if dead := b.units[i].Health == 0; (mask[actNone] == 1) != dead || (mask[actStop] == 1) == dead ||
			(out.Alive[i] == 0) != dead {
			t.Fatalf("agent %d: dead is %v, mask %v, alive %d", i, dead, mask, out.Alive[i])
		}
	}
	for i, x := range out.Obs { // positions of dead units are hidden; all others are fractions of a sight range
		if !(math.Abs(float64(x)) <= 1) {
			t.Fatalf("observation %d is %g, want −1 to 1", i, x)
		}
	}
	for _, x := range append(out.State, out.Dense...) {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			t.Fatalf("state or reward holds %g", x)
		}
	}
	if e.RewardPositive && !e.RewardSparse && out.Dense[0] < 0 {
		t.Fatalf("reward %g, want none below 0", out.Dense[0])
	}
	return living
}

// After the end of an episode, no step changes anything or gives a reward until the reset.
func TestNothingHappensAfterTheEnd(t *testing.T) {
	p := newPlay(simulatorOf(t, DefaultSettings(), &zergRace))
	choose := func() { pick(p.act.Discrete, p.out.Mask, p.env.Spec().Act.Choices, p.r) }
	for p.out.Terminated[0]|p.out.Truncated[0] == 0 {
		choose()
		p.env.Step(p.act, p.out)
	}
	obs, state := slices.Clone(p.out.Obs), slices.Clone(p.out.State)
	for range 3 {
		choose()
		p.env.Step(p.act, p.out)
		if !slices.Equal(obs, p.out.Obs) || !slices.Equal(state, p.out.State) || p.out.Terminated[0] != 1 {
			t.Error("the battle goes on after its end")
		}
		if p.out.Dense[0] != 0 || p.out.Sparse[0] != 0 || p.out.Score[0] != 0 {
			t.Errorf("rewards %g and %g, score %g after the end", p.out.Dense[0], p.out.Sparse[0], p.out.Score[0])
		}
	}
}

// Wins, losses, draws and time-outs give each agent the configured reward once, and only wins score.
func TestEndingsArePaidOnceToAll(t *testing.T) {
	s := DefaultSettings()
	s.SparseWin, s.SparseLoss, s.SparseDraw, s.MaxSteps = 7, -3, -0.5, 25
	e := must.Value(build("smac/test", envs.Common{NumEnvs: 400, Reward: envs.Sparse}, s, &zergRace, 1, 0)).(*env)
	if e.Spec().Solved != 7 || e.Spec().Metric != "win rate" || !e.Spec().Succeeds(7) || e.Spec().Succeeds(-3) {
		t.Errorf("spec %+v does not define a win", e.Spec())
	}
	out, act := envs.NewStep(e.Spec()), envs.NewActions(e.Spec())
	e.Reset(nil, out)
	sum, score := make([]float32, 400*e.n), make([]float32, 400)
	for range s.MaxSteps + 5 {
		if !e.Script(act) {
			t.Fatal("the task has no script")
		}
		e.Step(act, out)
		for c := range score {
			score[c] += out.Score[c]
			for i := c * e.n; i < (c+1)*e.n; i++ {
				sum[i] += out.Sparse[i]
			}
		}
	}
	seen := map[ending]int{}
	for c := range e.arenas {
		end := e.arenas[c].Over
		seen[end]++
		want := map[ending]float32{won: 7, lost: -3, drawn: -0.5, timedOut: -0.5}[end]
		for i := c * e.n; i < (c+1)*e.n; i++ {
			if sum[i] != want {
				t.Fatalf("ending %d gives agent %d reward %g, want %g", end, i%e.n, sum[i], want)
			}
		}
		if score[c] != float32(count(end == won)) {
			t.Fatalf("ending %d has score %g", end, score[c])
		}
	}
	for _, end := range []ending{won, lost, drawn, timedOut} {
		if seen[end] == 0 {
			t.Errorf("none of 400 episodes has ending %d: %v", end, seen)
		}
	}
}
