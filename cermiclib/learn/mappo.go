// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/rl"
	"cermic/envs/conf"
	"cermic/envs/rng"
)

// MAPPO is proximal policy optimisation with one actor and one centralised critic shared by all agents (Yu et al.
// 2022). It follows BenchMARL 1.5.2 (conf/algorithm/mappo.yaml, algorithms/mappo.py; torchrl's ClipPPOLoss, GAE and
// TanhNormal):
//
//	Â_t = δ_t + γλ·(1 − done_t)·Â_{t+1},   δ_t = r_t + γ·(1 − done_t)·V(s_{t+1}) − V(s_t),   R̂ = Â + V(s)
//	L_π = −mean min( w·Â, clip(w, 1−ε, 1+ε)·Â ),   w = π(a_i|o_i)/π_old(a_i|o_i)
//	L_V = mean ( V(s) − R̂ )²
//
// where
//
//  1. Â and w are each agent's; there is no entropy bonus, no advantage normalisation, no value clipping;
//  2. V(s) and the advantages are computed once per rollout batch, not per epoch;
//  3. minibatches are whole frames, all agents of a frame together, drawn without replacement;
//  4. actor and critic have an Adam each, clipped by their own gradient norm;
//  5. a time limit counts as termination, a cut of the rollout batch does not;
//  6. dead agents train neither the actor nor a critic of own observations. The team's later rewards count directly in
//     the return of an agent's last living step, because V is untrained on dead agents.
//
// A recurrent policy is trained on chunks of successive steps instead of single frames. A minibatch then has as many
// whole chunks as fit into minibatch_size frames. Each chunk starts from the state that the policy had there when it
// acted. A chunk that the end of the rollout batch cuts short is padded with steps that do not count. The critic has no
// memory.
type MAPPO struct {
	Frames       int     `json:"frames_per_batch" range:"1..100000000" help:"frames of a rollout batch, a multiple of the parallel environments; the paper: 36000"`
	Epochs       int     `json:"minibatch_iterations" range:"1..10000" help:"epochs over a rollout batch; the paper: 30"`
	Minibatch    int     `json:"minibatch_size" range:"1..100000000" help:"frames of a minibatch; the paper: 2400"`
	Discount     float64 `json:"discount" range:"0..1" help:"discount factor γ; the paper: 0.99"`
	Lambda       float64 `json:"gae_lambda" range:"0..1" help:"λ of generalised advantage estimation; BenchMARL: 0.9"`
	Clip         float64 `json:"clip_epsilon" range:"(0..1)" help:"half width of PPO's clipping interval of the probability ratio; BenchMARL: 0.2"`
	EntropyCoef  float64 `json:"entropy_coef" range:"0.." help:"weight of the entropy bonus; BenchMARL: 0"`
	CriticCoef   float64 `json:"critic_coef" range:"(0..)" help:"weight of the critic's loss; BenchMARL: 1"`
	CriticHidden []int   `json:"critic_hidden" range:"1..8192" help:"widths of the critic's layers; BenchMARL: 256, 256"`
	Critic       string  `json:"critic,omitzero" oneof:",own" help:"input of the critic; empty: the central state, own: each agent's observation (IPPO)"`
	nn.Adam              // of actor and critic; the paper's table: lr 1e-4, eps 1e-6

	// Former settings.
	_ conf.Constant `key:"adv_norm" value:"false"`
	_ conf.Constant `key:"value_clip" value:"0"`
	_ conf.Constant `key:"bootstrap_on_timeout" value:"false"`
	_ conf.Constant `key:"share_reward" value:"native"`
}

func init() { Register(DefaultMAPPO()) }

// Scheduled sets the frames of a rollout batch, the epochs over it and the minibatch.
func (c MAPPO) Scheduled(s rl.Schedule) Config {
	c.Frames, c.Epochs, c.Minibatch = s.Rollout, s.Epochs, s.Minibatch
	if s.LR > 0 {
		c.LR = s.LR
	}
	if s.Width > 0 {
		c.CriticHidden = []int{s.Width, s.Width}
	}
	return c
}

// DefaultMAPPO holds every number of the paper's hyper-parameter table, and BenchMARL's where the table is silent.
func DefaultMAPPO() MAPPO {
	return MAPPO{
		Frames: 36000, Epochs: 30, Minibatch: 2400, Discount: 0.99, Lambda: 0.9, Clip: 0.2, CriticCoef: 1,
		CriticHidden: []int{256, 256}, Adam: nn.Adam{LR: 1e-4, Eps: 1e-6, Clip: 5},
	}
}

// Kind is "mappo".
func (MAPPO) Kind() string { return "mappo" }

// CollectFrames is the number of frames of one rollout batch.
func (c MAPPO) CollectFrames() int { return c.Frames }

// mappo is a MAPPO in training.
type mappo struct {
	MAPPO
	*actor
	critic           *critic
	update           *nn.Loop
	trainPolicy      policy.Training
	mixed            *nn.Loop  // update for partly uniform actions; made at their first occurrence
	batch            int       // frames of a minibatch, also of the last one, which is padded
	order            []int32   // [⌈T/L⌉·E] permutation of the chunks
	frames           []int32   // [batch] of the current minibatch, see unfold
	counts           []bool    // [batch] false for padding
	reward, adv, ret []float32 // [T,E,N]
	value            []float32 // [T+1,E,V] with V values of a frame: 1, or N with learner.critic=own
}

// Build makes the graphs.
func (c MAPPO) Build(b *nn.Build, p policy.Config) (Learner, error) {
	s := b.Spec
	a, err := newActor(b, p, "/actor")
	if err != nil {
		return nil, err
	}
	t, rows, l := max(1, c.Frames/s.NumEnvs), c.Frames*s.Agents, a.chunk
	chunks := (t + l - 1) / l * s.NumEnvs
	m := &mappo{
		MAPPO: c, actor: a, batch: max(1, min(c.Minibatch/l, chunks)) * l,
		order: make([]int32, chunks), reward: make([]float32, rows), adv: make([]float32, rows),
		ret: make([]float32, rows),
	}
	m.frames, m.counts = make([]int32, m.batch), make([]bool, m.batch)
	if m.critic, err = newCritic(b, c.Critic == OwnCritic, c.CriticHidden, m.batch); err != nil {
		return nil, err
	}
	m.value = make([]float32, (t+1)*s.NumEnvs*m.critic.each())
	if m.update, err = m.newUpdate(false); err != nil {
		return nil, err
	}
	m.trainPolicy, err = policy.TrainerOf(a.policy, b, "/actor")
	return m, err
}

// Update is the step "update the actor and critic" of Algorithm 1: targets once, then K epochs of shuffled minibatches.
func (m *mappo) Update(ctx context.Context, x *rl.Rollout) (rl.Scalars, error) {
	if err := m.targets(ctx, x); err != nil {
		return nil, err
	}
	update, err := m.updateFor(x)
	if err != nil {
		return nil, err
	}
	out, _, err := update.Means(ctx, mappoScalars, m.minibatches(update, x))
	if err != nil {
		return nil, fmt.Errorf("learner: %w", err)
	}
	out["explained_variance"] = m.explained()
	own, err := m.trainPolicy(ctx, x)
	maps.Copy(out, own)
	return out, err
}

// minibatches feeds update with the shuffled minibatches of all epochs.
func (m *mappo) minibatches(update *nn.Loop, x *rl.Rollout) iter.Seq[error] {
	return func(yield func(error) bool) {
		steps := uint64(0)
		for epoch := range m.Epochs {
			rng.New(m.build.Seed, "minibatches", uint64(x.Iteration), uint64(epoch)).Perm(m.order)
			for chunks := range slices.Chunk(m.order, m.batch/m.chunk) {
				m.unfold(chunks, x)
				m.feed(update, x, steps)
				if !yield(nil) {
					return
				}
				steps++
			}
		}
	}
}

// updateFor returns the graph that trains on x.
func (m *mappo) updateFor(x *rl.Rollout) (_ *nn.Loop, err error) {
	if x.Eps == 0 {
		return m.update, nil
	}
	if m.mixed == nil {
		m.mixed, err = m.newUpdate(true)
	}
	return m.mixed, err
}

// targets fills reward, advantages and returns of the whole rollout batch.
func (m *mappo) targets(ctx context.Context, x *rl.Rollout) error {
	if err := m.critic.valuesOf(ctx, m.value, x); err != nil {
		return err
	}
	for row := range x.Value {
		x.Value[row] = m.valueOf(row)
	}
	m.combineRewards(x)
	if m.critic.own {
		x.EarnedByDead(m.reward, m.value, float32(m.Discount))
	}
	x.Advantages(m.adv, m.ret, m.reward, m.value, float32(m.Discount), float32(m.Lambda))
	for row, weight := range x.Importance {
		m.adv[row] *= weight // with a positive weight this is the same as weighting the clipped surrogate
	}
	return nil
}

// combineRewards fills reward: the task's reward, weighted, plus each agent's own bonus.
func (m *mappo) combineRewards(x *rl.Rollout) {
	for row, r := range x.Extrinsic {
		m.reward[row] = float32(x.ExtrinsicWeight*r) + x.Intrinsic[row] // rounded before the sum on every processor
	}
}

// valueOf is V of agent step row = (t·E + c)·N + i.
func (m *mappo) valueOf(row int) float32 {
	n, each := m.build.Spec.Agents, m.critic.each()
	return m.value[row/n*each+row%n%each]
}

// explained is 1 − Var(R̂ − V)/Var(R̂): 1 for a perfect critic, 0 for a constant one.
func (m *mappo) explained() float64 {
	var sum, sumSq, err, errSq float64
	for row, r := range m.ret {
		d := float64(r) - float64(m.valueOf(row))
		sum, sumSq = sum+float64(r), sumSq+float64(r)*float64(r)
		err, errSq = err+d, errSq+d*d
	}
	rows := float64(len(m.ret))
	variance := sumSq/rows - sum*sum/rows/rows
	if variance < 1e-12 {
		return 0
	}
	return 1 - (errSq/rows-err*err/rows/rows)/variance
}
