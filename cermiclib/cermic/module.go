// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/envs/rng"

	"cermic/cermiclib/explore"
	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
)

// scope holds all variables of the module.
const scope = "cermic"

// Inputs of the training graph, in this order; the memory's follow.
const (
	inObs = iota
	inNext
	inAct
	inNoise
	inWeight
	inReward
	inNegative
	inMemory
)

// module is CERMIC in a running experiment.
type module struct {
	cfg       Config
	seed      uint64
	build     *nn.Build     // its Spec includes the peers' channels
	view      rl.Rollout    // buffers of read
	sighted   []bool        // [E·N] by the labels, the agent saw a peer after the first step of its running episode
	mem       memory.Memory // nil without L_exploit
	minibatch int           // B
	form      form          // formula of r^i: form.go
	step      *nn.Loop      // gradient steps
	names     []string      // names of the scalars that step reports
	sampler   sampler
	bonus     explore.RewardNormaliser
	health    health
	last      []float32     // [E,N] r^e of the step before the next rollout; nil before the first one
	raw       []float32     // [T,E,N] r^i of the last rollout
	probe     *probe        // nil for a task without a screen
	context   *actorContext // nil without actor_uses_context
}

var (
	_ explore.Module    = (*module)(nil)
	_ explore.Inspector = (*module)(nil)
	_ rl.Saver          = (*module)(nil)
)

// Build compiles two graphs: one scores agent steps, the other takes a gradient step.
func (c Config) Build(b *nn.Build) (explore.Module, error) {
	if c.Form == nil {
		c.Form = KL{}
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	task := b.Spec
	b = c.reads(b)
	m := &module{cfg: c, seed: b.Seed, build: b, minibatch: c.Minibatch, bonus: explore.NewRewardNormaliser(c.Bonus)}
	m.sampler.chunk = 1
	var err error
	if c.Exploit {
		if m.mem, err = c.Memory.Build(b); err != nil {
			return nil, err
		}
		m.sampler.chunk = m.mem.Shape().Chunk
		m.minibatch = max(1, c.Minibatch/m.sampler.chunk) * m.sampler.chunk
	}
	if m.form, err = c.Form.build(c, b); err != nil {
		return nil, err
	}
	if m.probe, err = c.newProbe(b); err != nil {
		return nil, err
	}
	m.step, err = m.program(b, "cermic.update", func(sc *model.Scope, in batch) []*graph.Node {
		_, terms := m.cfg.train(sc, m.mem, in)
		return []*graph.Node{m.report(terms)}
	})
	if err != nil {
		return nil, err
	}
	if c.ActorContext {
		if m.context, err = c.newActorContext(b, task); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// report stacks the values of terms and keeps their names.
func (m *module) report(terms []term) *graph.Node {
	m.names = m.names[:0]
	values := make([]*graph.Node, 0, len(terms))
	for _, t := range terms {
		m.names, values = append(m.names, "cermic/"+t.name), append(values, t.value)
	}
	return graph.Stack(values, 0)
}

// program compiles fn on the inputs of one gradient step, which feed writes.
func (m *module) program(b *nn.Build, name string, fn func(*model.Scope, batch) []*graph.Node) (*nn.Loop, error) {
	c, rows := m.cfg, m.minibatch
	inputs := []nn.Input{
		inObs:      nn.F32("obs", rows, b.Spec.InLen()),
		inNext:     nn.F32("next", rows, b.Spec.InLen()),
		inAct:      nn.F32("act", rows, b.Spec.Act.Len()),
		inNoise:    nn.F32("noise", rows, c.Latent),
		inWeight:   nn.F32("weight", rows),
		inReward:   nn.F32("reward", rows),
		inNegative: nn.F32("negative", rows, c.Negatives),
	}
	switch {
	case c.NegKind == NegativesMarginal && c.NegFilter:
		inputs[inNegative] = nn.I32("negative", rows, c.Negatives+drawColumns)
	case c.NegKind == NegativesMarginal:
		inputs[inNegative] = nn.I32("negative", rows, c.Negatives)
	}
	if m.mem != nil {
		inputs = append(inputs, m.mem.Inputs(rows)...)
	}
	return nn.NewLoop(b, name, inputs, func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		return fn(sc.At(scope), newBatch(b.Spec, in))
	})
}

// train takes one gradient step in the graph: losses, Adam, update of the momentum encoder.
//
// paper:momentum  θᵐ ← (1-τ)·θᵐ + τ·θ
//
// Reading: the paper gives no τ for θᵐ; ema_tau is that of its target networks (D18).
func (c Config) train(sc *model.Scope, mem memory.Memory, b batch) (total *graph.Node, terms []term) {
	total, terms = c.losses(sc, mem, b)
	norm := c.adam().Minimize(sc, total)
	if c.Alpha > 0 {
		nn.Follow(total.Graph(), sc.At(encoderScope), sc.At(momentumScope), c.Polyak)
	}
	return total, append(terms, term{"grad_norm", norm})
}

// Behave does nothing: CERMIC explores through the reward alone.
func (m *module) Behave(int, *rl.Obs, *rl.Dist) error { return nil }

// Update trains the module on minibatches of x and returns the means of its scalars over the gradient steps.
//
// Reading: once for each rollout batch, as in Algorithm 1; the introduction says at each episode (D16).
func (m *module) Update(ctx context.Context, x *rl.Rollout) (rl.Scalars, error) {
	x, err := m.read(x, &m.view)
	if err != nil {
		return nil, err
	}
	if err := memory.Watch(m.mem, x); err != nil {
		return nil, err
	}
	means, steps, err := m.step.Means(ctx, m.names, func(yield func(error) bool) {
		step := 0
		for rows, weight := range m.minibatches(x) {
			m.feed(x, rows, weight, step)
			if !yield(nil) {
				return
			}
			step++
		}
	})
	if err != nil {
		return nil, err
	}
	m.last = append(m.last[:0], x.Extrinsic[x.Rows()-x.E*x.N:]...)
	out := rl.Scalars(means)
	out["cermic/steps"] = float64(steps)
	if m.cfg.PeerChannels && x.Visible != nil {
		out["cermic/context_labels"] = m.sightings(x)
	}
	if steps == 0 {
		return out, nil
	}
	if loss, ok := out["cermic/loss_nce"]; ok && m.cfg.CriticBound > 0 {
		out["cermic/nce_share"] = loss / math.Log(float64(m.cfg.Negatives+1))
	}
	m.health.updates++
	m.health.check(out)
	return out, nil
}

// stream returns the random stream for a purpose within an iteration.
func (m *module) stream(purpose string, iteration, index int) *rng.Rand {
	return rng.New(m.seed, purpose, uint64(iteration), uint64(index))
}

// feed writes one minibatch into the training graph; step is the index of the gradient step in this iteration.
func (m *module) feed(x *rl.Rollout, rows []int32, weight []float32, step int) {
	nn.FeedEach(m.step, inObs, rows, x.Gather)
	nn.FeedEach(m.step, inNext, rows, x.GatherNext)
	nn.FeedEach(m.step, inAct, rows, x.ActionVector)
	m.step.Feed(inNoise, func(dst []float32) { normal(dst, m.stream("cermic latent", x.Iteration, step)) })
	m.step.Feed(inWeight, func(dst []float32) { copy(dst, weight) })
	nn.FeedEach(m.step, inReward, rows, func(dst []float32, row int) { dst[0] = m.rewardBefore(x, row) })
	negatives := m.stream("cermic negatives", x.Iteration, step)
	switch {
	case m.cfg.NegKind == NegativesMarginal && m.cfg.NegFilter:
		m.step.FeedInt(inNegative, func(dst []int32) { filteredDraws(dst, m.cfg.Negatives, x, rows, negatives) })
	case m.cfg.NegKind == NegativesMarginal:
		m.step.FeedInt(inNegative, func(dst []int32) { marginalRows(dst, m.cfg.Negatives, x, rows, weight, negatives) })
	default:
		m.step.Feed(inNegative, func(dst []float32) { normal(dst, negatives) })
	}
	if m.mem != nil {
		m.mem.Gather(m.step.Program, inMemory, x, rows)
	}
}

// rewardBefore is sign(r)·log(1+|r|) of r = r^e_{t-1} of an agent step; it is 0 at the start of an episode.
//
// Reading: the paper gives the critic r^e_{t-1} itself. Rewards range from 0.01 to 200, which the logarithm evens out
// (D11).
func (m *module) rewardBefore(x *rl.Rollout, row int) float32 {
	r := 0.0
	switch before := row - x.E*x.N; {
	case x.IsFirst[row/x.N] != 0:
		return 0
	case before >= 0:
		r = float64(x.Extrinsic[before])
	case m.last != nil:
		r = float64(m.last[row])
	}
	return float32(math.Copysign(math.Log1p(math.Abs(r)), r))
}

// state is the module's state outside the variable store.
type state struct {
	Bonus   json.RawMessage
	Last    []float32
	Sighted []bool `json:",omitempty"`
	Memory  []byte // state of a memory that is an rl.Saver
	Form    []byte `json:",omitempty"` // state of the formula of r^i
	Context []byte `json:",omitempty"` // state of the memory that actors read
}

// Save returns the running statistics of r^i and the state that the memory carries between rollout batches. The running
// means of γ are variables of the store.
func (m *module) Save() []byte {
	s := state{Bonus: m.bonus.Save(), Last: m.last, Sighted: m.sighted, Form: m.form.Save(),
		Memory: memory.Save(m.mem)}
	if m.context != nil {
		s.Context = memory.Save(m.context.mem)
	}
	return rl.StateJSON(s)
}

// readState reads what Save returned.
func readState(data []byte) (s state, err error) {
	if err = json.Unmarshal(data, &s); err != nil {
		err = fmt.Errorf("cermic: the saved state of the module cannot be read: %w", err)
	}
	return s, err
}

// Load restores a state that Save returned.
func (m *module) Load(data []byte) error {
	s, err := readState(data)
	if err != nil {
		return err
	}
	if err := memory.Load(m.mem, s.Memory); err != nil {
		return err
	}
	if m.context != nil {
		if err := memory.Load(m.context.mem, s.Context); err != nil {
			return err
		}
	}
	if err := m.form.Load(s.Form); err != nil {
		return fmt.Errorf("cermic: %w", err)
	}
	if err := m.bonus.Load(s.Bonus); err != nil {
		return err
	}
	m.last, m.sighted = s.Last, s.Sighted
	return nil
}

// Recall restores from a state of Save only the earlier agent steps that int_form keeps.
func (m *module) Recall(data []byte) error {
	s, err := readState(data)
	if err != nil {
		return err
	}
	if f, ok := m.form.(*elliptical); ok {
		if err := f.Load(s.Form); err != nil {
			return fmt.Errorf("cermic: %w", err)
		}
	}
	return nil
}
