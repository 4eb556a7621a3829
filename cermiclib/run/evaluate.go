// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"math"
	"slices"

	"cermic/cermiclib/results"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/rng"
)

// Watcher sees every step of an evaluation's copies, as they are after reset (t = 0) and after each action.
type Watcher func(t int, env envs.Env, s *envs.Step)

// evaluate plays episodes in fresh copies, explorer off, greedily or as the budget says. Score is the benchmark's own metric over its
// own horizon; the sparse return runs on to the horizon of the reward that was trained on. Episodes that are broken off do not count:
// others are played in their place, unless that happens more often than there are episodes to play.
func (t *trainer) evaluate(ctx context.Context, watch Watcher) (*results.Eval, error) {
	out, begun, want := &results.Eval{Frames: t.frames}, 0, t.exp.Budget.EvalEpisodes
	for round := uint64(0); len(out.Scores) < want; round++ {
		seed := rng.New(t.exp.Seed, "evaluation", uint64(t.frames), round).Uint64()
		env, err := t.exp.Task.Build(seed, 0)
		if err != nil {
			return nil, err
		}
		begun += min(env.Spec().Copies, want-len(out.Scores))
		err = t.aside(func() error { return t.play(ctx, env, round, out, watch) })
		envs.Close(env)
		if err != nil {
			return nil, err
		}
		if broken := begun - len(out.Scores); broken > want {
			return nil, fmt.Errorf("%d episodes of %s were broken off in an evaluation of %d", broken, env.Spec().Name, want)
		}
		if len(out.Scores) > 0 {
			watch = nil // one round that counts is enough to look at
		}
	}
	for _, score := range slices.Concat(out.Scores, out.Early, out.Sparse) {
		if math.IsNaN(score) || math.IsInf(score, 0) {
			return nil, fmt.Errorf("an episode's score became %g in the evaluation at %d frames", score, t.frames)
		}
	}
	return out, nil
}

// play runs one episode in every copy of env until as many are over as are still wanted, those of the first copies, and appends those of
// them that were not broken off to out.
func (t *trainer) play(ctx context.Context, env envs.Env, round uint64, out *results.Eval, watch Watcher) error {
	s := env.Spec()
	step, act := newBuffers(env)
	score, early, sparse := make([]float64, s.Copies), make([]float64, s.Copies), make([]float64, s.Copies)
	length := make([]int, s.Copies)
	carry, started := make([]float32, len(t.carry)), slices.Repeat([]uint8{1}, s.Copies)
	t.seedEvaluation(round, s.Copies*s.Agents)
	env.Reset(nil, step)
	if err := envs.Err(env); err != nil {
		return err
	}
	if watch != nil {
		watch(0, env, step)
	}
	left := min(s.Copies, t.exp.Budget.EvalEpisodes-len(out.Scores))
	over, broken := make([]bool, left), make([]bool, left)
	for k := 0; left > 0 && k < s.Horizon; k++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		in := rl.Obs{Obs: step.Obs, Cells: step.Cells, State: step.State, Mask: step.Mask, Alive: step.Alive, Carry: carry}
		if err := t.look(&in, started); err != nil {
			return err
		}
		clear(started)
		t.choose(s.Copies*s.Agents, act)
		copy(carry, t.dist.Carry)
		env.Step(act, step)
		if watch != nil {
			watch(k+1, env, step)
		}
		for c := range over {
			if over[c] {
				continue
			}
			length[c]++
			if k < s.EvalHorizon {
				score[c] += float64(step.Score[c])
			}
			if k < s.Early {
				early[c] += float64(step.Score[c])
			}
			sparse[c] += teamMean(step.Sparse[c*s.Agents : (c+1)*s.Agents])
			if step.Terminated[c]|step.Truncated[c] != 0 {
				over[c], broken[c] = true, envs.Broken(env, c)
				left--
			}
		}
	}
	for c := range over {
		if broken[c] {
			continue
		}
		out.Scores = append(out.Scores, score[c])
		if s.Early > 0 {
			out.Early = append(out.Early, early[c])
		}
		out.Sparse = append(out.Sparse, sparse[c])
		if s.HasSuccess() {
			success := 0.0
			if s.Succeeds(sparse[c]) {
				success = 1
			}
			out.Success = append(out.Success, success)
		}
		out.Lengths = append(out.Lengths, length[c])
	}
	return nil
}

// seedEvaluation names the streams of a round of an evaluation, one an agent. Those of training are named anew before each collection.
func (t *trainer) seedEvaluation(round uint64, rows int) {
	for row := range t.streams[:rows] {
		t.streams[row].Seed(t.exp.Seed, "evaluation's actions", uint64(t.frames), round, uint64(row))
	}
}

// choose writes the actions of an evaluation's step into act.
func (t *trainer) choose(rows int, act *envs.Actions) {
	for row := range rows {
		if t.exp.Budget.Sampled {
			t.dist.Draw(row, &t.streams[row], act)
		} else {
			t.dist.Mode(row, act)
		}
	}
}

func teamMean(v []float32) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x)
	}
	return sum / float64(len(v))
}
