// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"fmt"
	"slices"

	"cermic/envs"
	"cermic/envs/rng"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
)

// play is what random play showed, with the simulator's labels.
type play struct {
	*rl.Rollout
	truth []float32 // [T,E,N,3] as envs.Tracker writes it; nil unless node targets are made of it
	kinds int       // number of types in truth
}

// playRandomly draws actions uniformly among those allowed for about the given number of frames; target is Pretraining's.
func playRandomly(env envs.Env, frames int, seed uint64, target string) (*play, error) {
	s := env.Spec()
	tracker, tracked := env.(envs.Tracker)
	if target == TargetState && !tracked {
		return nil, fmt.Errorf("%s does not tell its simulator's state: leave node_target=%s out", s.Name, target)
	}
	if err := rl.Fits(s, frames/s.NumEnvs, 0); err != nil {
		return nil, err
	}
	x := &play{Rollout: rl.NewRollout(s, frames/s.NumEnvs, 0)}
	x.KeepLabels()
	if target == TargetState {
		x.truth = make([]float32, 3*x.Rows())
	}
	out, act, r := envs.NewStep(s), envs.NewActions(s), rng.New(seed, "pretrain play")
	done := slices.Repeat([]uint8{1}, s.NumEnvs)
	env.Reset(nil, out)
	for t := range x.T {
		if err := envs.CheckStep(env, out, nil); err != nil {
			return nil, fmt.Errorf("%s, step %d: %w", s.Name, t, err)
		}
		x.Observe(t, out)
		copy(x.IsFirst[t*x.E:], done)
		if x.truth != nil {
			tracker.Track(x.truth[3*t*x.E*x.N : 3*(t+1)*x.E*x.N])
		}
		randomActions(s, out, act, r)
		env.Step(act, out)
		for c := range done {
			done[c] = out.Terminated[c] | out.Truncated[c]
		}
		if slices.Max(done) != 0 {
			env.Reset(done, out)
		}
	}
	for row := range len(x.truth) / 3 {
		x.kinds = max(x.kinds, 1+int(x.truth[3*row+2]))
	}
	return x, nil
}

func randomActions(s *envs.Spec, out *envs.Step, act *envs.Actions, r *rng.Rand) {
	for i := range act.Continuous {
		d := i % s.Act.Dim
		act.Continuous[i] = r.Uniform(s.Act.Low[d], s.Act.High[d])
	}
	k := s.Act.Choices
	for i := range act.Discrete {
		act.Discrete[i] = int32(r.IntN(k))
		for out.Mask != nil && out.Mask[i*k+int(act.Discrete[i])] == 0 {
			act.Discrete[i] = int32(r.IntN(k))
		}
	}
}

// split lists the first agent steps of samples of chunk consecutive ones: those to train on and those held out, which end in the last
// tenth of the play, or are the last ones of it if none does. Samples in which the agent is dead throughout are in neither.
func (x *play) split(chunk int) (train, held []int32) {
	agents := x.E * x.N
	from := min(x.Rows()/10*9, (x.T/chunk*chunk-1)*agents)
	for first := range x.T / chunk * agents {
		row, alive := first/agents*chunk*agents+first%agents, uint8(0)
		last := row + (chunk-1)*agents
		for step := row; step <= last; step += agents {
			alive |= x.Alive[step]
		}
		switch {
		case alive == 0:
		case last >= from:
			held = append(held, int32(row))
		default:
			train = append(train, int32(row))
		}
	}
	return train, held
}

// stateLen is the length of what state writes.
func (x *play) stateLen() int { return 4 + x.kinds }

// state writes place and velocity of an agent, the way since the step before, and its type as a one-hot vector into dst.
func (x *play) state(dst []float32, row int) {
	now, before := x.truth[3*row:3*row+3], row-x.E*x.N
	if x.IsFirst[row/x.N] != 0 {
		before = row
	}
	clear(dst)
	copy(dst, now[:2])
	for axis := range 2 {
		dst[2+axis] = now[axis] - x.truth[3*before+axis]
	}
	dst[4+int(now[2])] = 1
}

// Inputs that every pre-training graph has, in this order, B agent steps each.
const (
	inOwn    = iota // [N,B] one-hot of the observer
	inLabel         // [B,N] whom it perceives
	inTarget        // [N,B,·] what node targets are made of: what the other agents see, or their state
	inOffset        // [2,N,B] where they are, relative to the observer
)

// inputs declares them for b agent steps.
func (x *play) inputs(b int) []nn.Input {
	width := x.Spec.InLen()
	if x.truth != nil {
		width = x.stateLen()
	}
	return []nn.Input{nn.F32("own", x.N, b), nn.F32("labels", b, x.N), nn.F32("targets", x.N, b, width), nn.F32("offsets", 2, x.N, b)}
}

// feed writes them for agent steps; the first is input first of p.
func (x *play) feed(p *nn.Program, first int, rows []int32) {
	b, n := len(rows), x.N
	p.Feed(first+inOwn, func(dst []float32) {
		clear(dst)
		for k, row := range rows {
			dst[int(row)%n*b+k] = 1
		}
	})
	p.Feed(first+inLabel, func(dst []float32) {
		for k, row := range rows {
			for j, y := range x.Visible[int(row)*n : (int(row)+1)*n] {
				dst[k*n+j] = float32(y)
			}
		}
	})
	p.Feed(first+inTarget, func(dst []float32) {
		width, write := x.Spec.InLen(), x.Gather
		if x.truth != nil {
			width, write = x.stateLen(), x.state
		}
		for k, row := range rows {
			for j := range n {
				write(dst[(j*b+k)*width:(j*b+k+1)*width], int(row)/n*n+j)
			}
		}
	})
	p.Feed(first+inOffset, func(dst []float32) {
		for k, row := range rows {
			for j := range n {
				for axis := range 2 {
					dst[(axis*n+j)*b+k] = x.RelPos[(int(row)*n+j)*2+axis]
				}
			}
		}
	})
}
