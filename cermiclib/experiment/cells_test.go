// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"encoding/binary"
	"errors"
	"math"

	"cermic/cermiclib/explore"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/rl"
	"cermic/envs"
)

// cellTask shows what balance does not: cells instead of vectors, and actions that can be unavailable. The cells of an
// agent count what it has done in its episode of 7 steps; choice k is forbidden after it was taken.
type cellTask struct{ envs.Common }

const cellSteps = 7

func (cellTask) Kind() string                           { return "test/cells" }
func (c cellTask) WithShared(s envs.Common) envs.Config { c.Common = s; return c }
func (c cellTask) Build(seed uint64, _ int) (envs.Env, error) {
	return newCellEnv(c.NumEnvs, seed), nil
}
func (e *cellEnv) Spec() *envs.Spec                                         { return &e.spec }
func (blindConfig) Kind() string                                            { return "blind" }
func (blindConfig) Validate() error                                         { return nil }
func (blindConfig) CollectFrames() int                                      { return 12 }
func (c blindConfig) Build(*nn.Build, policy.Config) (learn.Learner, error) { return blind{}, nil }

type cellEnv struct {
	spec  envs.Spec
	steps []uint16 // [E]
	count []uint16 // [E,N,2,2] times that each of four choices was taken
	last  []uint16 // [E,N]
}

func newCellEnv(copies int, seed uint64) *cellEnv {
	const agents = 2
	e := &cellEnv{steps: make([]uint16, copies), count: make([]uint16, copies*agents*4), last: make([]uint16, copies*agents)}
	e.spec = envs.Spec{
		Name: "test/cells", NumEnvs: copies, Agents: agents, Teams: make([]int, agents), Obs: []int{2, 2}, State: 1,
		Act: envs.ActSpec{Choices: 4}, Masked: true, Horizon: cellSteps, EvalHorizon: 5, Early: 3, Metric: "reward",
		Solved: float32(math.Inf(1)),
	}
	for i := range e.last {
		e.last[i] = uint16(seed) % 4
	}
	return e
}

func (e *cellEnv) show(c int, out *envs.Step) {
	copy(out.Cells[c*8:(c+1)*8], e.count[c*8:])
	out.State[c] = float32(e.steps[c])
	for row := c * 2; row < c*2+2; row++ {
		odd := uint8(e.steps[c]) % 2
		out.Alive[row], out.Visible[row*2], out.RelPos[row*4] = 1-odd, odd, float32(e.steps[c])
		for k := range 4 {
			out.Mask[row*4+k] = 1
		}
		out.Mask[row*4+int(e.last[row])] = 0
	}
}

func (e *cellEnv) Reset(mask []uint8, out *envs.Step) {
	for c := range e.steps {
		if mask == nil || mask[c] != 0 {
			e.steps[c] = 0
			clear(e.count[c*8 : (c+1)*8])
			out.Terminated[c], out.Truncated[c] = 0, 0
			e.show(c, out)
		}
	}
}

func (e *cellEnv) Step(act *envs.Actions, out *envs.Step) {
	for c := range e.steps {
		e.steps[c]++
		for row := c * 2; row < c*2+2; row++ {
			k := uint16(act.Discrete[row])
			e.count[row*4+int(k)]++
			e.last[row] = k
			out.Dense[row] = float32(e.count[row*4+int(k)])
		}
		out.Score[c] = out.Dense[c*2]
		out.Truncated[c] = uint8(e.steps[c] / cellSteps)
		e.show(c, out)
	}
}

func (e *cellEnv) parts() [][]uint16 { return [][]uint16{e.steps, e.count, e.last} }

func (e *cellEnv) Save(dst []byte) []byte {
	for _, part := range e.parts() {
		for _, v := range part {
			dst = binary.LittleEndian.AppendUint16(dst, v)
		}
	}
	return dst
}

func (e *cellEnv) Load(state []byte) error {
	for _, part := range e.parts() {
		for i := range part {
			if len(state) < 2 {
				return errors.New("too short")
			}
			part[i], state = binary.LittleEndian.Uint16(state), state[2:]
		}
	}
	return nil
}

// blindConfig is a learner that looks at nothing and learns nothing.
type blindConfig struct{}

type blind struct{}

func (blind) Act(in *rl.Obs, out *rl.Dist) error                      { out.Mask = in.Mask; return nil }
func (blind) Update(context.Context, *rl.Rollout) (rl.Scalars, error) { return nil, nil }
func (blind) HiddenLen() int                                          { return 0 }

// cells is an experiment on cellTask whose rollout batches of 4 steps end within its episodes.
func cells() Config {
	return Config{
		Task: cellTask{envs.Common{NumEnvs: 3, Reward: envs.Dense}}, Learner: blindConfig{}, Policy: policy.MLP{}, Explore: explore.None{},
		Budget: Budget{Name: "custom", Frames: 60, EvalEvery: 24, EvalEpisodes: 3}, Seed: 2,
	}
}
