// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs/conf"
	"cermic/envs/rng"
)

// ICES explores where an agent's own action makes a difference (Li et al. 2024). Two world models predict a code z of
// the change of state: G from all actions, L with one agent's action hidden. Their disagreement is the individual
// contribution of that agent.
//
//	r_i = 1 − exp( − mean_d KL_d[ p_G(z|s,a) ‖ p_L(z|s,a_{−i}) ] )
//
// An exploration policy π^x(a|o_i, s) and its value V^x(o_i, s) learn from it. The learner's reward does not change.
//
//	L_π = −(r_i − V^x)·log π^x(a_i) − c_ent·H(π^x)        L_V = (r_i − V^x)²
//
// When collecting, an agent takes its action from π^x with probability int_ratio, which falls linearly. π^x may read
// the state, since it is neither evaluated nor executed. See worldModel for the models.
//
// Source: the description of the authors' code (LXXXXR/ICES), with a value learner. It trains on the learner's replay
// if there is one, else on the rollout batch; a policy gradient weighs actions by π/μ, at most 1/(1−int_ratio).
// Reconstructed: both world models take their step together, at a constant rate and with the usual β₁ = 0.9. π^x has no
// last action, and the change of state is clipped.
type ICES struct {
	Ratio       float64 `json:"int_ratio" range:"[0..1)" help:"initial fraction of actions from the exploration policy π^x; the authors: 0.1 to 0.2"`
	RatioEnd    float64 `json:"int_ratio_end" range:"[0..1)" help:"final share, of actions from π^x; the authors, for StarCraft: 0.05"`
	RatioFrames int     `json:"int_ratio_frames" range:"1..1000000000000" help:"frames over which that share falls linearly"`
	Entropy     float64 `json:"ices_ent" range:"0.." help:"c_ent, weight of the exploration policy's entropy; the authors: 0.001 to 0.5"`
	Steps       int     `json:"ices_steps" range:"1..1000000" help:"gradient steps after a rollout batch; the authors: as many as the learner"`
	Batch       int     `json:"ices_batch" range:"1..100000000" help:"frames per gradient step"`
	Embed       int     `json:"ices_embed" range:"1..8192" help:"length of an action's embedding; the authors: 4"`
	Latent      int     `json:"ices_latent" range:"1..8192" help:"length of the code z; the authors: 16"`
	Hidden      []int   `json:"ices_hidden" range:"1..8192" help:"widths of the world models' layers; the authors: 64, 64"`
	PolicyWidth []int   `json:"ices_policy_hidden" range:"1..8192" help:"widths of the layers of the exploration policy π^x and its value V^x"`
	DeltaClip   float64 `json:"ices_delta_clip" range:"(0..)" help:"bound of the standardised change of state, the world models' target"`
	ModelLR     float64 `json:"ices_model_lr" range:"(0..)" help:"step size of the world models' optimiser; the authors: 1e-4"`
	CodeClamp   float64 `json:"ices_code_clamp" range:"(0..)" help:"bound of each element of the codes' gradient; the authors: 0.1"`
	BaseClip    float64 `json:"ices_prediction_clip" range:"(0..)" help:"largest gradient norm of the first predictions, over both world models; the authors: 10 each"`
	nn.Adam             // of π^x and V^x; the authors': lr 5e-4 for football, 0.01 for StarCraft

	_ conf.Constant `key:"ices_log2" value:"false"` // a former setting
}

func init() { Register(DefaultICES()) }

// DefaultICES has the authors' sizes and their weights for football. Its world models take the paper's 1800 gradient
// steps a rollout batch, as the value learner does. Its contributions are small, and so is the weight of π^x's entropy:
// at 0.01, π^x stays near uniform.
func DefaultICES() ICES {
	return ICES{
		Ratio: 0.2, RatioEnd: 0.05, RatioFrames: 3_000_000, Entropy: 0.002, Steps: 1800, Batch: 1024, Embed: 4, Latent: 16,
		Hidden: []int{64, 64}, PolicyWidth: []int{256, 256}, DeltaClip: 5, ModelLR: 1e-4, CodeClamp: 0.1, BaseClip: 10,
		Adam: nn.Adam{LR: 5e-4, Eps: 1e-6, Clip: 5},
	}
}

// Scheduled takes a step of the world models for each of the value learner's, and explores for all of the training.
func (c ICES) Scheduled(s rl.Schedule) Config {
	c.Steps, c.RatioFrames = s.Steps, s.Frames
	return c
}

// Kind is "ices".
func (ICES) Kind() string { return "ices" }

// baseAdam and codeAdam move the world models.
func (c ICES) baseAdam() nn.Adam { return nn.Adam{LR: c.ModelLR, Eps: c.Eps, Clip: c.BaseClip} }
func (c ICES) codeAdam() nn.Adam {
	return nn.Adam{LR: c.ModelLR, Eps: c.Eps, Clip: c.CodeClamp, Elementwise: true}
}

// Scopes of the variables of ICES, one for each optimiser.
const (
	icesScope  = "ices"
	icesBase   = "prediction"
	icesCode   = "code"
	icesPolicy = "policy"
	icesValue  = "value"
)

// icesScalars names what a gradient step reports, in order.
var icesScalars = []string{
	"ices/prediction_loss", "ices/code_loss", "ices/policy_loss", "ices/value_loss", "ices/contribution", "ices/entropy",
}

// ices is an ICES in a running experiment.
type ices struct {
	ICES
	build   *nn.Build
	act     *nn.Program  // observations and states to the logits of π^x
	step    *nn.Loop     // gradient steps
	logits  []float32    // [E,N,K]
	replay  *rl.Replay   // the learner's, or own; Update samples from it
	own     *rl.Replay   // of a single rollout batch, for learners without one; nil until it is needed
	delta   []rl.Running // [S] change of state in one step
	encoder *obsEncoder  // features that states consist of where agents see cells
	slots   []int        // [B]
}

var _ rl.Saver = (*ices)(nil)

// Build compiles the module's two graphs.
func (c ICES) Build(b *nn.Build) (Module, error) {
	s := b.Spec
	switch {
	case s.Act.Choices == 0:
		return nil, fmt.Errorf("ices compares finitely many actions, those of %s are continuous: set "+
			"task.discrete=product9, or choose another explorer", s.Name)
	case s.State == 0:
		return nil, fmt.Errorf("ices predicts the state, and %s has none; choose another explorer", s.Name)
	}
	m := &ices{ICES: c, build: b, logits: make([]float32, s.NumEnvs*s.Agents*s.Act.Choices), slots: make([]int, c.Batch)}
	m.delta = make([]rl.Running, m.stateLen())
	var err error
	if m.encoder, err = newObsEncoder(b, icesScope); err != nil {
		return nil, err
	}
	seen := []nn.Input{nn.F32("obs", s.NumEnvs, s.Agents, s.InLen())}
	if m.readsState() {
		seen = append(seen, nn.F32("state", s.NumEnvs, s.State))
	}
	m.act, err = nn.NewProgram(b, "ices.act", seen, func(sc *model.Scope, in []*Node) []*Node {
		named, sc := nn.Named(seen, in), sc.At(icesScope)
		return []*Node{m.head(sc.At(icesPolicy), in[0], m.stateOf(sc, named["state"], in[0]), s.Act.Choices)}
	})
	if err != nil {
		return nil, err
	}
	inputs := m.inputs()
	m.step, err = nn.NewLoop(b, "ices.update", inputs, func(sc *model.Scope, in []*Node) []*Node {
		return m.train(sc.At(icesScope), nn.Named(inputs, in))
	})
	return m, err
}

// inputs declares what a gradient step reads.
func (m *ices) inputs() []nn.Input {
	s, b := m.build.Spec, m.Batch
	inputs := []nn.Input{
		nn.F32("obs", b, s.Agents, s.InLen()), nn.I32("choice", b, s.Agents),
		nn.F32("alive", b, s.Agents), nn.F32("known", b, s.Agents), nn.F32("noise", 2, b, m.Latent),
	}
	if m.readsState() {
		inputs = append(inputs, nn.F32("state", b, s.State), nn.F32("delta", b, s.State))
	} else {
		inputs = append(inputs, nn.F32("next", b, s.Agents, s.InLen()),
			nn.F32("mean", m.stateLen()), nn.F32("scale", m.stateLen()))
	}
	if s.Masked {
		inputs = append(inputs, nn.F32("mask", b, s.Agents, s.Act.Choices))
	}
	return inputs
}

// head is π^x or V^x: obs [B,N,I] and state [B,S] to [B,N,out].
func (m *ices) head(sc *model.Scope, obs, state *Node, out int) *Node {
	obs = nn.ReadObs(sc, m.build.Spec, obs)
	d := obs.Shape().Dimensions
	each := BroadcastToDims(InsertAxes(state, 1), d[0], d[1], state.Shape().Dimensions[1])
	x := Reshape(Concatenate([]*Node{obs, each}, -1), d[0]*d[1], -1)
	return Reshape(nn.MLP(sc, x, m.PolicyWidth, Tanh, out), d[0], d[1], out)
}

// train takes one gradient step of everything and reports icesScalars.
func (m *ices) train(sc *model.Scope, in map[string]*Node) []*Node {
	c, base, code := m.ICES, sc.At(icesBase), sc.At(icesCode)
	in["state"], in["delta"] = m.stateOf(sc, in["state"], in["obs"]), m.change(sc, in)
	global, local := worldModel{c, base, code, "global"}, worldModel{c, base, code, "local"}
	taken := OneHot(in["choice"], m.build.Spec.Act.Choices, in["noise"].DType())
	frames := worldIn{state: in["state"], taken: taken, known: OnesLike(in["known"])}
	hidden := worldIn{state: in["state"], taken: taken, known: in["known"]}
	noise := func(k int) *Node { return Squeeze(Slice(in["noise"], AxisElem(k)), 0) }

	predictG, boundG := global.loss(frames, in["delta"], noise(0))
	predictL, boundL := local.loss(hidden, in["delta"], noise(1))
	contribution := c.contributions(global, local, frames)
	prediction, bound := Add(predictG, predictL), Add(boundG, boundL)
	policy, value, entropy := m.explorers(sc, in, taken, contribution)

	c.baseAdam().Minimize(base, prediction)
	c.codeAdam().Minimize(code, bound)
	c.Adam.Minimize(sc.At(icesPolicy), policy)
	c.Adam.Minimize(sc.At(icesValue), value)
	return []*Node{Stack([]*Node{prediction, bound, policy, value, nn.Average(contribution, in["alive"]), entropy}, 0)}
}

// explorers returns the losses of π^x and V^x for the actions taken [B,N,K], and the mean entropy of π^x.
func (m *ices) explorers(sc *model.Scope, in map[string]*Node, taken, contribution *Node) (
	policy, value, entropy *Node) {
	d, alive := taken.Shape().Dimensions, in["alive"]
	logits := m.head(sc.At(icesPolicy), in["obs"], in["state"], d[2])
	logp := LogSoftmax(nn.Allowed(logits, in["mask"]), -1)
	entropy = nn.Average(Neg(ReduceSum(Mul(Exp(logp), logp), -1)), alive)
	missing := Sub(contribution, Reshape(m.head(sc.At(icesValue), in["obs"], in["state"], 1), d[0], d[1]))
	gain := nn.Average(Mul(StopGradient(missing), ReduceSum(Mul(logp, taken), -1)), alive)
	return Neg(Add(gain, nn.Times(entropy, "ices/entropy", m.Entropy))), nn.Average(Square(missing), alive), entropy
}

// Behave lets π^x choose a share of the actions.
func (m *ices) Behave(frames int, in *rl.Obs, d *rl.Dist) error {
	m.act.Feed(0, func(dst []float32) { in.Gather(dst, m.build.Spec) })
	if m.readsState() {
		m.act.Feed(1, func(dst []float32) { copy(dst, in.State) })
	}
	if err := m.act.Run(); err != nil {
		return err
	}
	m.act.Read(0, m.logits)
	d.Other, d.Share, d.OffPolicy = m.logits, float32(m.ratio(frames)), true
	return nil
}

// ratio is the share of actions from π^x.
func (c ICES) ratio(frames int) float64 { return rl.Anneal(c.Ratio, c.RatioEnd, frames, c.RatioFrames) }

// Reward adds nothing: contributions are for the exploration policy alone.
func (m *ices) Reward(_ context.Context, x *rl.Rollout) (rl.Scalars, error) {
	return rl.Scalars{"ices/int_ratio": m.ratio(x.Frames)}, nil
}

// Update trains world models and exploration policy on frames drawn from the replay, which already holds x if it is
// the learner's.
func (m *ices) Update(ctx context.Context, x *rl.Rollout) (rl.Scalars, error) {
	if err := m.takeIn(ctx, x); err != nil {
		return nil, err
	}
	minibatches := func(yield func(error) bool) {
		for step := range m.Steps {
			r := rng.New(m.build.Seed, "ices", uint64(x.Iteration), uint64(step))
			m.replay.SampleFrames(m.slots, r)
			m.feed(r)
			if !yield(nil) {
				return
			}
		}
	}
	out := rl.Scalars{}
	for scalars, err := range m.step.Each(ctx, icesScalars, minibatches) {
		if err != nil {
			return nil, err
		}
		for i, name := range icesScalars {
			out[name] += float64(scalars[i]) / float64(m.Steps)
		}
	}
	return out, nil
}

// takeIn updates the statistics of the change of state, and the module's own replay if it has one.
func (m *ices) takeIn(ctx context.Context, x *rl.Rollout) (err error) {
	if err = m.measure(ctx, x); err != nil {
		return err
	}
	if m.replay = x.Replay; m.replay != nil {
		return nil
	}
	if m.own == nil {
		if m.own, err = rl.NewReplay(x.Spec, x.T*x.E, math.MaxInt64, 0, 1); err != nil {
			return err
		}
	}
	m.replay = m.own
	return m.own.Add(x)
}

// feed writes the frames of m.slots; r hides one agent of each frame from the local model and draws the codes' noise.
func (m *ices) feed(r *rng.Rand) {
	p, step := m.replay, m.step.Program
	nn.FeedRows(step, "obs", m.slots, func(dst []float32, slot int) { p.At(slot).Gather(dst, m.build.Spec) })
	m.feedState()
	nn.FeedRows(step, "alive", m.slots, func(dst []float32, slot int) { nn.Widen(dst, p.Alive(slot)) })
	nn.FeedRows(step, "known", m.slots, func(dst []float32, _ int) {
		for i := range dst {
			dst[i] = 1
		}
		dst[r.IntN(len(dst))] = 0
	})
	if m.build.Spec.Masked {
		nn.FeedRows(step, "mask", m.slots, func(dst []float32, slot int) { nn.Widen(dst, p.At(slot).Mask) })
	}
	nn.FeedRows(step, "choice", m.slots, func(dst []int32, slot int) { copy(dst, p.Discrete(slot)) })
	step.Feed(step.Input("noise"), func(dst []float32) { nn.Normal(r, dst, nil) })
}

// Save returns the statistics.
func (m *ices) Save() []byte { return rl.StateJSON(m.delta) }

// Load continues from what Save returned.
func (m *ices) Load(data []byte) error {
	var saved []rl.Running
	if err := json.Unmarshal(data, &saved); err != nil || len(saved) != len(m.delta) {
		return fmt.Errorf("explore: these are no saved statistics of ices for %d numbers of state", len(m.delta))
	}
	m.delta = saved
	return nil
}

// The world models of ICES predict the state of the task. On tasks with cells, that state leaves out nearly everything.
// There, the state consists of the observations of all agents as features of a random convolutional network, S = N·F.
//
// Reading: the policy's own encoder changes, so its features would change their meaning for the world models.

// readsState reports whether the state is the task's own.
func (m *ices) readsState() bool { return m.build.Spec.CellLen() == 0 }

// stateLen is S.
func (m *ices) stateLen() int {
	if m.readsState() {
		return m.build.Spec.State
	}
	return m.build.Spec.Agents * nn.ObsFeatures(m.build.Spec)
}

// stateOf is the state [B,S], given the task's own or, of cells, obs [B,N,I].
func (m *ices) stateOf(sc *model.Scope, state, obs *Node) *Node {
	if m.readsState() {
		return state
	}
	return Reshape(frozenObs(sc.At("eyes"), m.build.Spec, obs), -1, m.stateLen())
}

// change is the standardised change of state [B,S].
func (m *ices) change(sc *model.Scope, in map[string]*Node) *Node {
	if m.readsState() {
		return in["delta"]
	}
	moved := Sub(m.stateOf(sc, nil, in["next"]), m.stateOf(sc, nil, in["obs"]))
	centred := Sub(moved, ExpandLeftToRank(in["mean"], 2))
	return nn.Within(Mul(centred, ExpandLeftToRank(in["scale"], 2)), "ices/delta_clip", -m.DeltaClip, m.DeltaClip)
}

// measure updates the statistics with the changes of state in x.
func (m *ices) measure(ctx context.Context, x *rl.Rollout) error {
	if err := m.encoder.watch(ctx, x); err != nil {
		return err
	}
	s := m.stateLen()
	for frame := range x.T * x.E {
		var now, next []float32
		switch {
		case m.readsState():
			now, next = x.State[frame*s:(frame+1)*s], x.NextState(frame)
		case x.Done(frame/x.E, frame%x.E):
			continue // the next state is unknown
		default:
			now, next = m.encoder.seen[frame*s:(frame+1)*s], m.encoder.seen[(frame+x.E)*s:(frame+x.E+1)*s]
		}
		for i := range m.delta {
			m.delta[i].Add(float64(next[i]) - float64(now[i]))
		}
	}
	return nil
}

// feedState writes the states of the frames of m.slots and their changes, or the observations that both come from.
func (m *ices) feedState() {
	p, step := m.replay, m.step.Program
	if m.readsState() {
		nn.FeedRows(step, "state", m.slots, func(dst []float32, slot int) { copy(dst, p.At(slot).State) })
		nn.FeedRows(step, "delta", m.slots, func(dst []float32, slot int) {
			m.standardised(dst, p.At(slot).State, p.Next(slot).State)
		})
		return
	}
	nn.FeedRows(step, "next", m.slots, func(dst []float32, slot int) { p.Next(slot).Gather(dst, m.build.Spec) })
	step.Feed(step.Input("mean"), func(dst []float32) {
		for i, d := range m.delta {
			dst[i] = float32(d.Mean)
		}
	})
	step.Feed(step.Input("scale"), func(dst []float32) {
		for i, d := range m.delta {
			dst[i] = float32(1 / (d.Std() + stillTiny))
		}
	})
}

// stillTiny is the least scale of a feature. Smaller changes are within the rounding of a float32, with nothing to
// predict.
const stillTiny = 1e-4

// standardised writes the change of state over its running deviation, clipped; it is 0 for constant features.
func (m *ices) standardised(dst, state, next []float32) {
	for i, d := range m.delta {
		v := (float64(next[i]) - float64(state[i]) - d.Mean) / (d.Std() + statTiny)
		dst[i] = float32(min(max(v, -m.DeltaClip), m.DeltaClip))
	}
}
