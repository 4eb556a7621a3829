// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// All recordings have the wipe. Without it, the same draws must show each agent all living enemies that are visible and
// found. These include all recorded rows, and rows that the recordings lack.
func TestWithoutTheWipeAgentsSeeAllThatIsVisibleAndFound(t *testing.T) {
	shown, more := 0, 0
	sessions(t, false, func(t *testing.T, s *session) {
		k := s.rules(t)
		k.ObsWipe = false
		r := &replay{T: t, g: &s.golden, b: newBattle(k)}
		obs, want := make([]float32, k.n*k.obs), make([]float32, k.enemyLen)
		for e := range s.Episodes {
			ep := &s.Episodes[e]
			r.hide(ep)
			for f := range ep.Frames {
				frame := &ep.Frames[f]
				if f == 0 {
					r.start(ep)
				} else {
					r.b.step(frame.Actions, s.sightings(t, frame))
				}
				r.b.observe(&recorded{frame.Order, frame.Draws}, obs)
				for row := range k.n * k.m {
					i, e := row/k.m, row%k.m
					from := k.moveLen + e*k.enemyLen
					recorded, got := frame.Obs[i][from:from+k.enemyLen], obs[i*k.obs+from:][:k.enemyLen]
					clear(want)
					if r.b.units[i].Health > 0 && r.b.units[k.n+e].Health > 0 && r.b.visible(i, k.n+e) && r.b.found[e*k.n+i] != 0 {
						r.b.observeEnemy(i, e, want)
						shown++
						more += count(!slices.ContainsFunc(recorded, nonzero))
					} else if slices.ContainsFunc(recorded, nonzero) {
						t.Fatalf("frame %d: agent %d observes enemy %d in the recording, but not without the wipe", f, i, e)
					}
					if !slices.Equal(got, want) {
						t.Fatalf("frame %d: agent %d observes %v of enemy %d, want %v", f, i, got, e, want)
					}
				}
			}
		}
	})
	if envtest.OwnRecordings() && (more == 0 || more == shown) {
		t.Errorf("%d of %d rows are wiped in the recordings, too few for this test", more, shown)
	}
}

func nonzero(x float32) bool { return x != 0 }

// A win against a second, stronger team exceeds the scale's 20 with the divisor of the first team, and follows its
// own divisor with per_episode.
func TestThePerEpisodeDivisorIsThatOfTheEpisodesOwnTeam(t *testing.T) {
	for divisor, want := range map[Divisor][2]float64{
		// 10 per death, 200 per win, and life and shields of a zealot (150) or a colossus (350).
		FirstTeam:  {200 * 20 / 360., 200 * 20 / 360.},
		PerEpisode: {200 * 20 / 360., 200 * 20 / 560.},
	} {
		s := DefaultSettings()
		s.Agents, s.Enemies, s.MaxReward = 1, 1, divisor
		b := newBattle(newRules(s, &protossRace))
		for episode, enemy := range []Type{Zealot, Colossus} {
			k := &kinds[enemy]
			b.begin([]Sighting{
				{Tag: 1, Unit: Unit{Type: Stalker, Health: 80, HealthMax: 80}},
				{Tag: 2, Enemy: true, Unit: Unit{Type: enemy, Health: k.life, HealthMax: k.life, Shield: k.shield,
					ShieldMax: k.shield}},
			})
			if got := b.settle(won); math.Abs(got-want[episode]) > 1e-12 {
				t.Errorf("max_reward=%s: a win gives %g in episode %d, want %g", divisor, got, episode, want[episode])
			}
		}
	}
}

// mask_probability is the fraction of hidden (agent, enemy) pairs, drawn anew for each episode. The limit is 4.5
// standard errors, a significance of 7·10⁻⁶; the seed is fixed.
func TestMaskProbabilityIsTheShareOfHiddenEnemies(t *testing.T) {
	for _, p := range []float64{0, 0.2, 1} {
		s := DefaultSettings()
		s.EnemyMask = p
		e := must.Value(build("smac/test", envs.Common{NumEnvs: 200, Reward: envs.Dense}, s, &zergRace, 1, 1)).(*env)
		before := slices.Repeat([]uint8{1}, 200*e.n*e.m)
		for episodes := 1; episodes <= 2; episodes++ {
			e.Reset(nil, envs.NewStep(e.Spec()))
			hidden, n := 0, float64(len(before))
			for c := range e.arenas {
				for i, h := range e.arenas[c].hidden {
					before[c*e.n*e.m+i] &= h
					hidden += int(before[c*e.n*e.m+i])
				}
			}
			q := math.Pow(p, float64(episodes))
			if share, limit := float64(hidden)/n, 4.5*math.Sqrt(q*(1-q)/n); math.Abs(share-q) > limit {
				t.Errorf("mask_probability=%g hides %.4f of the enemies in %d episodes, want %.4f ± %.4f", p, share, episodes, q, limit)
			}
		}
	}
}

// The map's edge of DECISION 12 is 31.99.
func TestNoUnitLeavesTheMap(t *testing.T) {
	s := arrange(post{Zealot, false, 40, -1}, post{Zealot, true, -1, 40})
	s.collide()
	for i, want := range [][2]float32{{31.99, 0}, {0, 31.99}} {
		if u := &s.units[i]; u.X != want[0] || u.Y != want[1] {
			t.Errorf("unit %d is at (%g, %g), want %v", i, u.X, u.Y, want)
		}
	}
}

// Both agents are exactly 4 cells away, for the script and for an idle enemy that acquires a target.
func TestOfTwoAgentsEquallyNearTheFirstIsAttacked(t *testing.T) {
	for _, loop := range []int32{1, scriptPeriod} {
		s := arrange(post{Zealot, false, 20, 16}, post{Zealot, false, 12, 16}, post{Zealot, true, 16, 16})
		s.clock.Loop = loop
		if s.loop(); s.units[2].Order != Attack || s.units[2].Target != 0 {
			t.Errorf("loop %d: order %d against agent %d, want an attack on agent 0", loop, s.units[2].Order, s.units[2].Target)
		}
	}
}

// The map's script does not notice that a target has just died: the enemy waits for its next run.
func TestAnEnemyNoticesADeathWhenItActsNext(t *testing.T) {
	for died, sent := range map[int32]int32{scriptPeriod - 2: scriptPeriod, scriptPeriod - 1: 2 * scriptPeriod} {
		s := arrange(post{Zealot, false, 10, 16}, post{Zealot, false, 30, 16}, post{Zealot, true, 8, 16})
		s.units[2].Order, s.units[2].Target, s.units[2].Cooldown = Attack, 0, 100
		s.clock.Loop = died
		s.kill(0)
		s.clock.Loop++
		for s.units[2].Target == 0 && s.clock.Loop < 100 {
			s.loop()
		}
		if got := s.clock.Loop - 1; got != sent {
			t.Errorf("a target dies in loop %d: the enemy has a new one in loop %d, want %d", died, got, sent)
		}
	}
}

// A label shows whether the ally's row is filled, given the sight range of each type and the cone.
func TestLabelsSayWhetherAnAllysRowIsFilled(t *testing.T) {
	for _, conic := range []bool{false, true} {
		s := DefaultSettings()
		s.ConicFOV = conic
		e := simulatorOf(t, s, &protossRace).(*env)
		p, seen := newPlay(e), [2]int{}
		for range 100 {
			p.next()
			for i := range e.n {
				at := i*e.obs + e.moveLen + e.m*e.enemyLen
				for j := range e.n {
					if j == i {
						continue
					}
					label := p.out.Visible[i*e.n+j]
					if seen[label]++; label != uint8(p.out.Obs[at]) {
						t.Fatalf("conic_fov=%v: label of agent %d and ally %d is %d, its row starts with %g",
							conic, i, j, label, p.out.Obs[at])
					}
					at += e.allyLen
				}
			}
		}
		if seen[0] == 0 || seen[1] == 0 {
			t.Errorf("conic_fov=%v: labels %v, want both values", conic, seen)
		}
	}
}

// A processor that fuses products and sums (arm64, or amd64 with GOAMD64=v3) must not do so here. Others cannot fail.
func TestPlacesOnDiagonalsRoundProductsBeforeTheSum(t *testing.T) {
	chance := rng.New(1, "diagonals")
	for range 1000 {
		share, line := chance.Float32(), &diagonals[chance.IntN(len(diagonals))]
		at := line.at(share)
		for axis := range at {
			near := float32(float64(share) * float64(line.near[axis])) // exact in double precision, then rounded
			corner := float32(float64(1-share) * float64(line.corner[axis]))
			if want := near + corner; at[axis] != want {
				t.Fatalf("share %g of %v is %g, want %g", share, *line, at[axis], want)
			}
		}
	}
}

// Battles are part of every recorded run and must be equal on all processors. This hash covers 60 steps of random
// actions in 6 environments of each race. An intended change of battles requires re-training all smac runs.
func TestBattlesAreThoseOfTheRecordedRuns(t *testing.T) {
	h := fnv.New64a()
	for _, r := range []*race{&protossRace, &zergRace} {
		s := DefaultSettings()
		s.EnemyMask, s.ProbObsEnemy, s.RewardPositive = 0.1, 0.5, false
		env := must.Value(build("smac/test", envs.Common{NumEnvs: 6, Reward: envs.Dense}, s, r, 1, 1))
		out, act, chance := envs.NewStep(env.Spec()), envs.NewActions(env.Spec()), rng.New(1, "play")
		env.Reset(nil, out)
		over := make([]uint8, 6)
		for range 60 {
			pick(act.Discrete, out.Mask, env.Spec().Act.Choices, chance)
			env.Step(act, out)
			for _, part := range []any{out.Obs, out.State, out.Mask, out.Dense, out.RelPos} {
				binary.Write(h, binary.LittleEndian, part)
			}
			for c := range over {
				over[c] = out.Terminated[c] | out.Truncated[c]
			}
			env.Reset(over, out)
		}
	}
	if got, want := h.Sum64(), uint64(0xe18c8335ce12b4ec); got != want {
		t.Errorf("battles are %#x, want %#x", got, want)
	}
}
