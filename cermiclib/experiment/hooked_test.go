// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"strconv"

	"cermic/cermiclib/explore"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/vmas"
)

// Stages of an iteration, passed to a hook.
const (
	collecting = "collect"
	rewarding  = "reward"
	learning   = "update"
	exploring  = "module update"
	evaluating = "evaluate"
)

var stages = []string{collecting, rewarding, learning, exploring, evaluating}

// hook is called before each graph call of a hooked experiment. It is no part of the experiment: hooked ones have the
// identity of those without.
type hook func(ctx context.Context, stage string) error

// hooked makes the stages of e call h.
func hooked(e Config, h hook) Config {
	watched := &watchedModule{hook: h}
	e.Learner = hookedLearner{MAPPO: e.Learner.(learn.MAPPO), watched: watched}
	e.Explore = hookedExplorer{watched: watched}
	return e
}

type hookedLearner struct {
	learn.MAPPO
	watched *watchedModule
}

func (c hookedLearner) Build(b *nn.Build, p policy.Config) (learn.Learner, error) {
	inner, err := c.MAPPO.Build(b, p)
	return &watchedLearner{inner, c.watched}, err
}

type watchedLearner struct {
	learn.Learner
	watched *watchedModule
}

// Act belongs to an evaluation if it follows the last stage of training, else to the rollout batch.
func (l *watchedLearner) Act(in *rl.Obs, out *rl.Dist) error {
	if l.watched.trained {
		if err := l.watched.hook(context.Background(), evaluating); err != nil {
			return err
		}
	}
	return l.Learner.Act(in, out)
}

func (l *watchedLearner) Update(ctx context.Context, x *rl.Rollout) (rl.Scalars, error) {
	if err := l.watched.hook(ctx, learning); err != nil {
		return nil, err
	}
	return l.Learner.Update(ctx, x)
}

// hookedExplorer is explore.None with a hook.
type hookedExplorer struct {
	explore.None
	watched *watchedModule
}

func (c hookedExplorer) Build(*nn.Build) (explore.Module, error) { return c.watched, nil }

type watchedModule struct {
	hook    hook
	trained bool // since the last step of a rollout batch
}

func (m *watchedModule) Behave(int, *rl.Obs, *rl.Dist) error {
	m.trained = false
	return m.hook(context.Background(), collecting)
}

func (m *watchedModule) Reward(ctx context.Context, _ *rl.Rollout) (rl.Scalars, error) {
	return nil, m.hook(ctx, rewarding)
}

func (m *watchedModule) Update(ctx context.Context, _ *rl.Rollout) (rl.Scalars, error) {
	m.trained = true
	return nil, m.hook(ctx, exploring)
}

// altered is Balance with changed environments.
type altered struct {
	vmas.Balance
	alter func(envs.Env) envs.Env
}

func (c altered) WithShared(s envs.Common) envs.Config { c.Common = s; return c }

func (c altered) Build(seed uint64, workers int) (envs.Env, error) {
	env, err := c.Balance.Build(seed, workers)
	return c.alter(env), err
}

// spoiledEnv shows each step as changed by spoil.
type spoiledEnv struct {
	envs.Env
	envs.Coverer
	spoil func(*envs.Step)
}

func (e spoiledEnv) Step(act *envs.Actions, out *envs.Step) {
	e.Env.Step(act, out)
	e.spoil(out)
}

// curious is the smallest explorer with all parts of a real one. Its bonus depends on observation and action. Training
// changes its state, which a checkpoint must hold, and it can score old experience.
type curious struct{}

func init() { explore.Register(curious{}) }

func (curious) Kind() string                              { return "run/curious" }
func (curious) Validate() error                           { return nil }
func (curious) Build(b *nn.Build) (explore.Module, error) { return &curiosity{weight: 1}, nil }

type curiosity struct{ weight float32 }

var _ rl.Saver = (*curiosity)(nil)

func (*curiosity) Behave(int, *rl.Obs, *rl.Dist) error { return nil }

func (c *curiosity) Reward(_ context.Context, x *rl.Rollout) (rl.Scalars, error) {
	act := make([]float32, x.Spec.Act.Len())
	for row := range x.Intrinsic {
		x.ActionVector(act, row)
		x.Intrinsic[row] += c.value(x.ObsRow(row), act)
	}
	return nil, nil
}

func (c *curiosity) value(obs, act []float32) float32 { return c.weight * (obs[0] + 2*act[len(act)-1]) }

func (c *curiosity) Update(_ context.Context, x *rl.Rollout) (rl.Scalars, error) {
	c.weight += x.Extrinsic[0] + 1
	return nil, nil
}

func (c *curiosity) Save() []byte { return strconv.AppendFloat(nil, float64(c.weight), 'g', -1, 32) }

func (c *curiosity) Load(state []byte) error {
	weight, err := strconv.ParseFloat(string(state), 32)
	c.weight = float32(weight)
	return err
}

// cellTask has features that balance lacks: cells instead of vectors, and actions that can be unavailable. The cells of
// an agent count its actions in its episode of 7 steps; choice k is forbidden after it was taken.
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

// blindConfig is a learner that reads no observations and learns nothing.
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
