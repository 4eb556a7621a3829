// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"math"
	"slices"

	"cermic/envs"
	"cermic/envs/rng"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
)

// play is what random play showed: agent step (frame, i) is row frame·N + i.
type play struct {
	spec   *envs.Spec
	agents int
	obs    []float32 // [frames,N,O]; [frames,N,X] beside cells
	cells  []uint16  // [frames,N,H,W]; nil for vector observations
	seen   []uint8   // [frames,N,N]
	offset []float32 // [frames,N,N,2] position of j relative to i, world half sizes
	alive  []uint8   // [frames,N]
}

// playRandomly draws actions uniformly among those allowed for about the given number of frames.
func playRandomly(env envs.Env, frames int, seed uint64) *play {
	s := env.Spec()
	x := &play{spec: s, agents: s.Agents}
	out, act, r := envs.NewStep(s), envs.NewActions(s), rng.New(seed, "pretrain play")
	done := make([]uint8, s.Copies)
	env.Reset(nil, out)
	for range frames / s.Copies {
		x.obs = append(x.obs, out.Obs...)
		x.cells = append(x.cells, out.Cells...)
		x.seen = append(x.seen, out.Seen...)
		x.offset = append(x.offset, out.RelPos...)
		x.alive = append(x.alive, out.Alive...)
		randomActions(s, out, act, r)
		env.Step(act, out)
		for c := range done {
			done[c] = out.Terminated[c] | out.Truncated[c]
		}
		if slices.Max(done) != 0 {
			env.Reset(done, out)
		}
	}
	return x
}

func randomActions(s *envs.Spec, out *envs.Step, act *envs.Actions, r *rng.Rand) {
	for i := range act.Force {
		d := i % s.Act.Dim
		act.Force[i] = r.Uniform(s.Act.Low[d], s.Act.High[d])
	}
	k := s.Act.Choices
	for i := range act.Choice {
		act.Choice[i] = int32(r.IntN(k))
		for out.Mask != nil && out.Mask[i*k+int(act.Choice[i])] == 0 {
			act.Choice[i] = int32(r.IntN(k))
		}
	}
}

// split lists the agent steps to train on and, from the last tenth of the play, those held out; the dead are in neither.
func (x *play) split() (train, held []int32) {
	for row, alive := range x.alive {
		switch {
		case alive == 0:
		case row >= len(x.alive)/10*9:
			held = append(held, int32(row))
		default:
			train = append(train, int32(row))
		}
	}
	return train, held
}

// look writes what the agent of an agent step sees, as networks read it, into dst [I].
func (x *play) look(dst []float32, row int) {
	o, h := x.spec.ObsLen(), x.spec.CellLen()
	seen := rl.Obs{Obs: x.obs[row*o : (row+1)*o], Cells: x.cells[row*h : (row+1)*h]}
	seen.Look(dst, x.spec)
}

// feed writes agent steps into a pre-training graph.
func (x *play) feed(p *nn.Program, rows []int32) {
	b, n, o := len(rows), x.agents, x.spec.InLen()
	p.Feed(preObs, func(dst []float32) {
		for k, row := range rows {
			x.look(dst[k*o:(k+1)*o], int(row))
		}
	})
	p.Feed(preOwn, func(dst []float32) {
		clear(dst)
		for k, row := range rows {
			dst[int(row)%n*b+k] = 1
		}
	})
	p.Feed(preLabel, func(dst []float32) {
		for k, row := range rows {
			for j, y := range x.seen[int(row)*n : (int(row)+1)*n] {
				dst[k*n+j] = float32(y)
			}
		}
	})
	p.Feed(preOthers, func(dst []float32) {
		for k, row := range rows {
			first := int(row) / n * n
			for j := range n {
				x.look(dst[(j*b+k)*o:(j*b+k+1)*o], first+j)
			}
		}
	})
	p.Feed(preOffset, func(dst []float32) {
		for k, row := range rows {
			for j := range n {
				for axis := range 2 {
					dst[(axis*n+j)*b+k] = x.offset[(int(row)*n+j)*2+axis]
				}
			}
		}
	})
}

// errorSum adds up squared errors of 2-D predictions, and what the best constant would have.
type errorSum struct {
	count, squared float64 // of pairs
	sum, square    [2]float64
}

func (e *errorSum) add(axis int, want, got float64) {
	e.count += 0.5
	e.squared += (want - got) * (want - got)
	e.sum[axis] += want
	e.square[axis] += want * want
}

// rmse is the root of the mean squared distance, NaN without any.
func (e *errorSum) rmse() float64 { return math.Sqrt(e.squared / e.count) }

// spread is the rmse of predicting the mean.
func (e *errorSum) spread() float64 {
	total := 0.0
	for axis := range 2 {
		mean := e.sum[axis] / e.count
		total += e.square[axis]/e.count - mean*mean
	}
	return math.Sqrt(total)
}

// areaUnderCurve is the chance that a positive scores higher than a negative, ties counting half (Mann and Whitney); NaN
// if there are no two to compare.
func areaUnderCurve(scores []float64, labels []bool) float64 {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case scores[a] < scores[b]:
			return -1
		case scores[a] > scores[b]:
			return 1
		}
		return 0
	})
	rankSum, positives := 0.0, 0.0
	for from := 0; from < len(order); {
		to := from
		for to < len(order) && scores[order[to]] == scores[order[from]] {
			to++
		}
		rank := float64(from+to+1) / 2 // mean rank of the tied, counted from 1
		for _, i := range order[from:to] {
			if labels[i] {
				rankSum += rank
				positives++
			}
		}
		from = to
	}
	negatives := float64(len(order)) - positives
	return (rankSum - positives*(positives+1)/2) / (positives * negatives)
}
