// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/rng"
)

// play is a rollout of random actions with the simulator's labels.
type play struct{ *rl.Rollout }

// playRandomly draws actions uniformly among the allowed ones for about the given number of frames.
func playRandomly(env envs.Env, frames int, seed uint64) (*play, error) {
	s := env.Spec()
	if err := rl.Fits(s, frames/s.NumEnvs, 0); err != nil {
		return nil, err
	}
	x, r := &play{rl.NewRollout(s, frames/s.NumEnvs, 0)}, rng.New(seed, "pretrain play")
	x.KeepLabels()
	err := rl.NewCollector(env).Collect(x.Rollout, func(_ int, out *envs.Step, act *envs.Actions) error {
		randomActions(s, out, act, r)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s, %w", s.Name, err)
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

// split lists the first agent steps of samples of chunk consecutive ones: those to train on and those held out, which
// end in the last tenth of the play, or are the last ones of it if none does. Samples in which the agent is dead
// throughout are in neither.
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

// Inputs that every pre-training graph has, in this order, B agent steps each.
const (
	inOwn    = iota // [N,B] one-hot of the observer
	inLabel         // [B,N] 1 for agents in sight
	inTarget        // [N,B,I] observations of the other agents, of which node targets are encodings
	inOffset        // [2,N,B] their positions relative to the observer
	playInputs
)

// inputs declares them for b agent steps.
func (x *play) inputs(b int) []nn.Input {
	return []nn.Input{nn.F32("own", x.N, b), nn.F32("labels", b, x.N), nn.F32("targets", x.N, b, x.Spec.InLen()),
		nn.F32("offsets", 2, x.N, b)}
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
	feedLabels(p, first+inLabel, x.Rollout, rows)
	p.Feed(first+inTarget, func(dst []float32) {
		width := x.Spec.InLen()
		for k, row := range rows {
			for j := range n {
				x.Gather(dst[(j*b+k)*width:(j*b+k+1)*width], int(row)/n*n+j)
			}
		}
	})
	p.Feed(first+inOffset, func(dst []float32) {
		for k, row := range rows {
			for at, v := range x.RelPos[int(row)*n*2 : int(row+1)*n*2] {
				dst[(at%2*n+at/2)*b+k] = v
			}
		}
	})
}

// feedLabels writes the detector labels of agent steps [B,P] into input i of p.
func feedLabels(p nn.Feeder, i int, x *rl.Rollout, rows []int32) {
	n := x.Spec.Peers()
	nn.FeedEach(p, i, rows, func(dst []float32, row int) { nn.Widen(dst, x.Visible[row*n:(row+1)*n]) })
}

// targets are s_j [N·B,D] of every agent: random encodings of the observations [N,B,I].
func (x *play) targets(store *model.Store, obs *Node, width int) *Node {
	obs = Reshape(obs, -1, x.Spec.InLen())
	return nn.Encode(store.Scope("/pretrain/target"), x.Spec, obs, width, true)
}
