// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"math"
	"slices"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// Returns of each team in the original: random play, and all agents moving to the goal. No standard deviations were
// recorded, so ours stand in; the recorded means are over at least 64 episodes.
func TestBothTeamsOfSimpleAdversaryReturnWhatTheyDoInTheOriginal(t *testing.T) {
	for _, ref := range []struct {
		scripted        bool
		adversary, good float64
	}{
		{false, -104, 25.8}, {true, -17.1, 5.5},
	} {
		adversary, good := playTeams(t, ref.scripted)
		for _, team := range []struct {
			name string
			sums []float64
			want float64
		}{{"adversary", adversary, ref.adversary}, {"good agents", good, ref.good}} {
			mean, std := moments(team.sums)
			limit := 4 * std * math.Sqrt(1.0/episodes+1.0/64)
			t.Logf("scripted %v, %s: %.1f ± %.1f, original %.1f", ref.scripted, team.name, mean, std, team.want)
			if math.Abs(mean-team.want) > limit {
				t.Errorf("scripted %v, %s: mean return is %.1f, want %.1f within %.1f",
					ref.scripted, team.name, mean, team.want, limit)
			}
		}
	}
}

// playTeams returns the return of every episode for the adversary and for a good agent.
func playTeams(t *testing.T, scripted bool) (adversary, good []float64) {
	t.Helper()
	e := buildNumEnvs(t, DefaultSimpleAdversary(), episodes)
	out, act, r := envs.NewStep(e.Spec()), envs.NewActions(e.Spec()), rng.New(3, "random policy")
	adversary, good = make([]float64, episodes), make([]float64, episodes)
	for range e.spec.EvalHorizon {
		for k := range act.Continuous {
			act.Continuous[k] = r.Uniform(-1, 1)
		}
		if scripted {
			e.Script(act)
		}
		e.Step(act, out)
		for c := range episodes {
			adversary[c] += float64(out.Dense[c*3])
			good[c] += float64(out.Dense[c*3+1])
			if out.Dense[c*3+1] != out.Dense[c*3+2] {
				t.Fatalf("the good agents get rewards %v", out.Dense[c*3+1:c*3+3])
			}
		}
	}
	return adversary, good
}

// The metric is the mean of the teams' means, whatever the team sizes.
func TestScoreWeighsTeamsEqually(t *testing.T) {
	cfg := DefaultSimpleAdversary()
	cfg.Agents = 5
	e := buildNumEnvs(t, cfg, 1)
	if want := []int{0, 1, 1, 1, 1}; !slices.Equal(e.spec.Teams, want) {
		t.Fatalf("teams are %v, want %v", e.spec.Teams, want)
	}
	out := envs.NewStep(e.Spec())
	e.Step(envs.NewActions(e.Spec()), out)
	d := out.Dense
	if want := (d[0] + (d[1]+d[2]+d[3]+d[4])/4) / 2; abs(out.Score[0]-want) > 1e-6 { // some float32 roundings below 1
		t.Errorf("rewards %v have score %g, want %g", d, out.Score[0], want)
	}
	if !slices.Equal(out.Sparse, d) {
		t.Errorf("rewards %v and %v differ in a task that has one reward", d, out.Sparse)
	}
}

// TestGoalOfWorld checks that environments share a goal that changes between episodes, unless each draws its own.
func TestGoalOfWorld(t *testing.T) {
	for goal, shared := range map[GoalDraw]bool{GoalOfWorld: true, GoalOfEnv: false} {
		cfg := DefaultSimpleAdversary()
		cfg.Goal, cfg.NumEnvs = goal, 8
		e := must.Value(cfg.Build(1, 1)).(*env)
		out := envs.NewStep(e.Spec())
		seen, mixed := map[float32]bool{}, false
		for range 20 {
			e.Reset(nil, out)
			for c := range cfg.NumEnvs {
				seen[e.world.Memory(c)[0]] = true
				mixed = mixed || e.world.Memory(c)[0] != e.world.Memory(0)[0]
			}
		}
		if len(seen) != 2 || mixed == shared {
			t.Errorf("goal=%s: %d goals in 20 episodes, environments differ: %v; want 2 goals, %v",
				goal, len(seen), mixed, !shared)
		}
	}
}
