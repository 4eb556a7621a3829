// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs/conf"
)

// MACE (Jiang, Ding and Lu 2024) rewards an agent for observations that are new to it or to its peers, and for causing
// the latter. u_i is the novelty of an agent's next observation, by random network distillation. z_j is agent j's
// discounted future novelty from a step on, known in hindsight. h_i is the distribution of i's action given its
// observation and z_j.
//
//	r_i = c_self·u_i(o'_i) + c_other·Σ_{j≠i} u_j(o'_j) + λ·Σ_{j≠i} z_j·log( h_i(a_i | o_i, z_j) / π_i(a_i | o_i) )
//	z_j(t) = Σ_{t'≥t} γ^{t'−t} u_j(o'_j,t')   within the episode
//
// h is trained on the last hdd_buffer rollout batches, by as many gradient steps as the policy takes. It is given the
// sum of all peers' z. See hindsight for why it starts from π. u is divided by the agent's own running standard
// deviation, and the whole is scaled as every bonus is (DefaultBonus).
//
// Source: the description of the authors' code (SigmaBM/MACE), for discrete actions and independent learners; use it
// with learner.critic=own. Peers exchange one number a step, in training only.
// Reconstructed: one h for all agents, with an index as input; its squashed Gaussian for continuous actions. The scale
// of z, the bound of the log-ratio and the weight of the whole are reconstructed, too. Deviation: the authors start h
// from random weights, normalise neither u nor the whole, and add all of it to the extrinsic reward.
type MACE struct {
	Self            float64 `json:"mace_self" range:"0.." help:"c_self, weight of an agent's own novelty; the authors: 1"`
	Other           float64 `json:"mace_other" range:"0.." help:"c_other, weight of the peers' novelty; the authors: 1"`
	Influence       float64 `json:"ir_coef" range:"0.." help:"λ, weight of the influence term; the authors: 0.1"`
	Discount        float64 `json:"hdd_discount" range:"0..1" help:"discount γ of the peers' future novelty z; the authors: 0.99"`
	RatioClip       float64 `json:"hdd_logratio_clip" range:"0..50" help:"bound of |log h/π| in the influence term"`
	HindsightHidden []int   `json:"hdd_hidden" range:"1..8192" help:"widths of the hindsight model's layers; the authors: 64"`
	HindsightBuffer int     `json:"hdd_buffer" range:"1..10000" help:"number of recent rollout batches that train the hindsight model; the authors: about ten"`
	HindsightFrames int     `json:"hdd_frames" range:"1..100000000" help:"maximum number of frames in the hindsight buffer, an equal part of each batch; the authors: 100,000"`
	HindsightSteps  int     `json:"hdd_steps" range:"1..1000000" help:"minimum number of gradient steps of the hindsight model per rollout batch; never fewer than the policy's"`
	NoveltyWidth    int     `json:"rnd_hidden" range:"1..8192" help:"width of the novelty networks' layers; the authors: 64"`
	NoveltyLayers   int     `json:"rnd_layers" range:"1..64" help:"hidden layers of the novelty target; the predictor has two more; the authors: 2"`
	NoveltyOut      int     `json:"rnd_out" range:"1..8192" help:"number of compared outputs of the novelty networks; the authors: 32"`
	NoveltyEpochs   int     `json:"rnd_epochs" range:"1..10000" help:"epochs of the novelty predictor over a rollout batch; the authors: 10"`
	NoveltyKeep     float64 `json:"rnd_keep" range:"0..1" help:"fraction of frames that an epoch trains on; smaller values keep novelty longer"`
	Minibatch       int     `json:"mace_minibatch" range:"1..100000000" help:"frames per gradient step of both models"`
	Bonus                   // normalisation and weight of the whole
	nn.Adam                 // of both kinds of networks; the authors': lr 3e-4

	// Former settings.
	_ conf.Constant `key:"mace_share" value:"train"`
	_ conf.Constant `key:"hdd_reduce" value:"true"`
	_ conf.Constant `key:"hdd_base" value:"policy"`
	_ conf.Constant `key:"use_novel_normalization" value:"true"`
}

func init() { Register(DefaultMACE()) }

// DefaultMACE has the authors' coefficients and networks, and the bonus on the scale of all methods.
func DefaultMACE() MACE {
	return MACE{
		Self: 1, Other: 1, Influence: 0.1, Discount: 0.99, RatioClip: 5,
		HindsightHidden: []int{64, 64}, HindsightBuffer: 10, HindsightFrames: 100_000, HindsightSteps: 450,
		NoveltyWidth: 64, NoveltyLayers: 2, NoveltyOut: 32, NoveltyEpochs: 10, NoveltyKeep: 0.25, Minibatch: 600,
		Bonus: DefaultBonus("mace"),
		Adam:  nn.Adam{LR: 3e-4, Eps: 1e-5, Clip: 10},
	}
}

// Scheduled takes as many steps of hindsight as the policy takes.
func (c MACE) Scheduled(s rl.Schedule) Config {
	c.HindsightSteps = s.Epochs * ((s.Rollout + s.Minibatch - 1) / s.Minibatch)
	return c
}

// Kind is "mace".
func (MACE) Kind() string { return "mace" }

// mace is a MACE in a running experiment.
type mace struct {
	MACE
	novelty   *novelty
	hindsight *hindsight // nil where agents are alone, or the influence has no weight
	scale     RewardNormaliser
	new       []float32 // [T,E,N] u of the true next observations
}

var _ rl.Saver = (*mace)(nil)

// Build compiles the graphs of novelty and hindsight.
func (c MACE) Build(b *nn.Build) (Module, error) {
	m := &mace{MACE: c, scale: NewRewardNormaliser(c.Bonus)}
	var err error
	if m.novelty, err = newNovelty(c, b); err != nil {
		return nil, err
	}
	if c.Influence > 0 && b.Spec.Agents > 1 {
		m.hindsight, err = newHindsight(c, b, m.novelty)
	}
	return m, err
}

// Behave does not change the policy's distribution, and keeps it for hindsight to start from.
func (m *mace) Behave(_ int, _ *rl.Obs, d *rl.Dist) error {
	if m.hindsight != nil {
		m.hindsight.rememberPolicy(d)
	}
	return nil
}

// Reward computes novelty, learns in hindsight which actions lead to it, and scales the bonus.
func (m *mace) Reward(ctx context.Context, x *rl.Rollout) (rl.Scalars, error) {
	m.new = make([]float32, x.Rows())
	if err := m.novelty.rate(ctx, m.new, x); err != nil {
		return nil, err
	}
	raw := m.payNovelty(x)
	out := rl.Scalars{"mace/novelty": average64(m.new, x.Alive)}
	if m.hindsight != nil {
		influence, err := m.hindsight.reward(ctx, raw, discountAhead(m.new, x, float32(m.Discount)), x)
		if err != nil {
			return nil, err
		}
		maps.Copy(out, influence)
	}
	maps.Copy(out, m.scale.Apply(x, raw, "mace"))
	return out, nil
}

// payNovelty returns each agent's reward for observations that are new to itself and to its peers [T,E,N].
func (m *mace) payNovelty(x *rl.Rollout) []float32 {
	raw := make([]float32, x.Rows())
	for frame := range x.T * x.E {
		team := m.new[frame*x.N : (frame+1)*x.N]
		total := float32(0)
		for _, u := range team {
			total += u
		}
		for i, u := range team {
			raw[frame*x.N+i] = float32(m.Self)*u + float32(m.Other)*(total-u)
		}
	}
	return raw
}

// discountAhead returns z [T,E,N] of the novelty u [T,E,N]. It is the discounted sum from each step to the end of its
// episode, or of the rollout batch.
func discountAhead(u []float32, x *rl.Rollout, gamma float32) []float32 {
	z, each := make([]float32, len(u)), x.E*x.N
	for row := len(u) - 1; row >= 0; row-- {
		z[row] = u[row]
		if frame := row / x.N; row+each < len(u) && !x.Done(frame/x.E, frame%x.E) {
			z[row] += gamma * z[row+each]
		}
	}
	return z
}

// average64 is the mean of v over the agents that are alive.
func average64(v []float32, alive []uint8) float64 {
	sum, count := 0.0, 0.0
	for row, a := range v {
		sum += float64(a) * float64(alive[row])
		count += float64(alive[row])
	}
	return sum / max(count, 1)
}

// Update trains the novelty networks, so observations of x become less new.
func (m *mace) Update(ctx context.Context, x *rl.Rollout) (rl.Scalars, error) {
	return m.novelty.train(ctx, x)
}

// maceState is the state carried between rollout batches besides weights and the buffer of hindsight.
type maceState struct {
	Pay      json.RawMessage
	Inputs   []rl.Running // of each observed number
	Novelty  []rl.Running // of each agent's u
	Negative int          // rollout batches in a row of negative influence
}

// Save returns the length of the statistics as JSON, these, and the frames of hindsight's buffer.
func (m *mace) Save() []byte {
	s := maceState{Pay: m.scale.Save(), Inputs: m.novelty.inputs, Novelty: m.novelty.spread}
	if m.hindsight != nil {
		s.Negative = m.hindsight.negative
	}
	data := rl.StateJSON(s)
	out := append(binary.LittleEndian.AppendUint64(nil, uint64(len(data))), data...)
	if m.hindsight != nil {
		out = m.hindsight.buffer.save(out)
	}
	return out
}

// Load continues from what Save returned.
func (m *mace) Load(state []byte) error {
	var s maceState
	const header = 8
	if len(state) < header || binary.LittleEndian.Uint64(state) > uint64(len(state)-header) {
		return fmt.Errorf("explore: %d bytes are no saved state of mace", len(state))
	}
	end := header + binary.LittleEndian.Uint64(state)
	text, frames := state[header:end], state[end:]
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("explore: these are no saved statistics of mace: %w", err)
	}
	if len(s.Inputs) != len(m.novelty.inputs) || len(s.Novelty) != len(m.novelty.spread) {
		return fmt.Errorf("explore: the saved statistics are of %d observed numbers of %d agents, want %d of %d",
			len(s.Inputs), len(s.Novelty), len(m.novelty.inputs), len(m.novelty.spread))
	}
	m.novelty.inputs, m.novelty.spread = s.Inputs, s.Novelty
	if m.hindsight != nil {
		m.hindsight.negative = s.Negative
		if err := m.hindsight.buffer.load(frames); err != nil {
			return err
		}
	}
	return m.scale.Load(s.Pay)
}
