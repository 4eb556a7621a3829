// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/conf"
)

// CPM is the Cournot policy model (Li et al. 2024). An agent first predicts the policy vector p_j of each peer, then
// acts on its observation and these predictions. A firm in a duopoly likewise answers the output that it expects of the
// other.
//
//	π_i(a | o_i, sg[p̂_{-i}]),   p̂_j = decode_j( m(o_i) + ξ_j(p_j^{t-1}) ⊙ g(o_i) )
//
// This is a variational auto-encoder in which a peer's last policy replaces the noise. p is the distribution over
// choices, or mean and log-scale of a Gaussian. No gradient passes from acting to predicting. The predictor is trained
// after each update of the learner, on the peers' current policies (Cournot's adjustment).
//
// Agents act on a slowly following copy of the predictor. The predictions shift the policy, and the shifted policy
// shifts the predictions; firms that answer last round's outputs at once overshoot one another (Theocharis 1960). After
// every rollout batch of F frames the copy moves the share τ of the way, so that it is cpm_lag_frames behind.
//
//	τ = 1 − exp(−F/lag)
//
// Sources: the abstract and the description of the authors' code for StarCraft; their article was not at hand.
// Reconstructed: the vector of continuous policies, its bounds and its loss, soft labels, one network for all pairs,
// and the following copy. Deviation: the authors hand each agent its peers' true last policies when it acts, which is
// communication. Here an agent goes on from its own last prediction, which is 0 at the start of an episode. It does not
// know peers' masks either, so p̂ may include forbidden actions.
type CPM struct {
	Core      Config  `json:"core" help:"policy network: mlp or gru"`
	Hidden    int     `json:"cpm_hidden" range:"1..8192" help:"width of the hidden layers; the authors: 128"`
	Latent    int     `json:"cpm_latent" range:"1..8192" help:"length of the codes m, ξ and g; the authors: 20"`
	Epochs    int     `json:"cpm_pred_epochs" range:"1..10000" help:"epochs of the predictor over a rollout batch"`
	Minibatch int     `json:"cpm_pred_minibatch" range:"1..100000000" help:"frames of a gradient step of the predictor"`
	LR        float64 `json:"cpm_pred_lr" range:"(0..)" help:"Adam's step size for the predictor; the authors: 0.01"`
	Clip      float64 `json:"cpm_pred_clip" range:"(0..)" help:"largest global norm of the predictor's gradient; the authors: 5"`
	Lag       int     `json:"cpm_lag_frames" range:"0..1000000000000" help:"lag in frames of the predictor used for acting; the authors: 0"`

	// Former settings.
	_ conf.Constant `key:"cpm_peer_input" value:"self_pred"`
	_ conf.Constant `key:"cpm_label" value:"soft"`
	_ conf.Constant `key:"cpm_share_predictor" value:"true"`
}

func init() { Register(DefaultCPM()) }

// DefaultCPM has the authors' sizes, with one network for all pairs and without communication. It lags by a third of
// the paper's frames.
func DefaultCPM() CPM {
	return CPM{
		Core: DefaultMLP(), Hidden: 128, Latent: 20, Epochs: 3, Minibatch: 600, LR: 1e-3, Clip: 5, Lag: 1_000_000,
	}
}

// Kind is "cpm".
func (CPM) Kind() string { return "cpm" }

// Scheduled lets the predictor that actions use lag behind by a third of the training.
func (c CPM) Scheduled(s rl.Schedule) Config {
	c.Lag = s.Within()
	return c
}

// Validate returns one sentence about the first impossible setting.
func (c CPM) Validate() error {
	cores := []string{MLP{}.Kind(), GRU{}.Kind()}
	switch {
	case c.Core == nil:
		return fmt.Errorf("core is missing, want one of %v", cores)
	case !slices.Contains(cores, c.Core.Kind()):
		return fmt.Errorf("core is %q, want %s or %s, which accept additional inputs", c.Core.Kind(), cores[0], cores[1])
	}
	return conf.Validate(c.Core)
}

// adam is the predictor's optimiser; ε is the one of all others here.
func (c CPM) adam() nn.Adam { return nn.Adam{LR: c.LR, Eps: 1e-6, Clip: c.Clip} }

// cpm is a CPM in use.
type cpm struct {
	CPM
	core   Policy
	spec   *envs.Spec
	vector int // P, length of a policy vector
}

var (
	_ Recurrent    = (*cpm)(nil)
	_ SelfTraining = (*cpm)(nil)
)

// Build makes the acting network; the weights are made when a graph first uses them.
func (c CPM) Build(b *nn.Build) (Policy, error) {
	if err := refuseContext(b, c); err != nil {
		return nil, err
	}
	if b.Spec.Agents < 2 && b.Spec.Group != "" {
		return c.Core.Build(b) // a single agent in a group has no peers to predict
	}
	if b.Spec.Agents < 2 {
		return nil, fmt.Errorf("policy cpm predicts peers, %s has a single agent: choose another policy", b.Spec.Name)
	}
	core, err := c.Core.Build(b)
	if err != nil {
		return nil, err
	}
	return &cpm{CPM: c, core: core, spec: b.Spec, vector: nn.ActionOutputs(&b.Spec.Act)}, nil
}

func (p *cpm) peers() int { return p.spec.Agents - 1 }

// peersLen is the length of an agent's vectors of its peers: J vectors, one after the other.
func (p *cpm) peersLen() int { return p.peers() * p.vector }

// HiddenLen is the length of the peers' last vectors and of the acting network's own state.
func (p *cpm) HiddenLen() int { return p.peersLen() + p.core.HiddenLen() }

// Chunk is the chunk of the acting network; predictions are never trained through time.
func (p *cpm) Chunk() int { return Chunk(p.core) }

// Net maps obs [B,N,I] and hidden state [B,N,C] to y [B,N,out] and the next hidden state.
func (p *cpm) Net(sc *model.Scope, obs, hidden *Node, out int) (y, next *Node) {
	last, state := p.split(hidden)
	guess := p.foresee(sc, obs, last)
	y, state = p.core.Net(sc, Concatenate([]*Node{obs, guess}, -1), state, out)
	if state == nil {
		return y, guess
	}
	return y, Concatenate([]*Node{guess, state}, -1)
}

// Unroll maps obs [L,B,N,I] to [L,B,N,out]. Predictions start from the one before the first step.
func (p *cpm) Unroll(sc *model.Scope, obs, keep, hidden *Node, out int) *Node {
	steps := make([]*Node, obs.Shape().Dimensions[0])
	at := func(x *Node, t int) *Node { return Squeeze(Slice(x, AxisElem(t)), 0) }
	last, state := p.split(hidden)
	for t := range steps {
		last = p.foresee(sc, at(obs, t), Mul(last, InsertAxes(at(keep, t), -1)))
		steps[t] = last
	}
	withPeers := Concatenate([]*Node{obs, Stack(steps, 0)}, -1)
	if r, ok := p.core.(Recurrent); ok {
		return r.Unroll(sc, withPeers, keep, state, out)
	}
	d := withPeers.Shape().Dimensions
	y, _ := p.core.Net(sc, Reshape(withPeers, d[0]*d[1], d[2], d[3]), nil, out)
	return Reshape(y, d[0], d[1], d[2], out)
}

// split parts a hidden state [B,N,C] into the peers' last vectors and the acting network's state, nil if it has none.
func (p *cpm) split(hidden *Node) (last, state *Node) {
	last = Slice(hidden, AxisRange(), AxisRange(), AxisRange(0, p.peersLen()))
	if p.core.HiddenLen() > 0 {
		state = Slice(hidden, AxisRange(), AxisRange(), AxisRangeToEnd(p.peersLen()))
	}
	return last, state
}
