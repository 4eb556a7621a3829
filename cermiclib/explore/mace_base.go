// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
)

// What the hindsight distribution h starts from (hdd_base).
const (
	BasePolicy = "policy" // the distribution that the action was drawn from: the network learns log h/π alone
	BaseNone   = "none"   // nothing: the network learns all of h, as the authors' does
)

// By Bayes' rule log h(a|o,z)/π(a|o) = log p(z|o,a)/p(z|o), which depends on the policy only through what follows. A
// network that learns h itself spends its capacity on π and lags behind it: trained on ten rollout batches of
// policies that have moved on since, with eight times as many gradient steps as the policy takes, it foretells the
// actions of a rollout batch worse than the policy that took them, and z·log(h/π) is negative where nobody influences
// anybody. From π as a base, the ratio is exactly 1 before it has learned anything.

// rememberPolicy keeps the parameters of the distributions d that the next actions are drawn from: log-probabilities
// [E,N,K], or means and scales side by side [E,N,2D].
func (m *hindsight) rememberPolicy(d *rl.Dist) {
	k, rows := m.spec.Act.Choices, m.spec.NumEnvs*m.spec.Agents
	from := len(m.policy)
	m.policy = append(m.policy, make([]float32, rows*nn.ActionOutputs(&m.spec.Act))...)
	now := m.policy[from:]
	if k > 0 {
		d.LogProbs(now)
		return
	}
	n := m.spec.Act.Dim
	for row := range rows {
		copy(now[2*row*n:], d.Mean[row*n:(row+1)*n])
		copy(now[(2*row+1)*n:], d.Scale[row*n:(row+1)*n])
	}
}

// policyOf returns what has been kept of the steps of x [T,E,N,K] or [T,E,N,2D]; of an h without a base, zeros.
func (m *hindsight) policyOf(x *rl.Rollout) ([]float32, error) {
	size := x.Rows() * nn.ActionOutputs(&m.spec.Act)
	if m.HindsightBase == BaseNone && len(m.policy) != size {
		m.policy = make([]float32, size)
	}
	if len(m.policy) < size {
		return nil, fmt.Errorf("explore: mace was asked for the reward of a rollout batch whose policies it has not seen: call Behave at each step, or set explore.hdd_base=none")
	}
	return m.policy[len(m.policy)-size:], nil
}

// outputs maps x [R,in] to the outputs of h's network [R,K] or [R,2D]. With a base, the last layer starts at 0.
func (m *hindsight) outputs(sc *model.Scope, x *Node) *Node {
	out := nn.ActionOutputs(&m.spec.Act)
	if m.HindsightBase == BaseNone {
		return nn.MLP(sc, x, m.HindsightHidden, nn.ReLU, out)
	}
	x = Transpose(x, 0, 1)
	for i, width := range m.HindsightHidden {
		x = nn.ReLU(nn.Affine(sc.At("layer_%d", i), x, width))
	}
	sc = sc.At("out")
	w := nn.Weight(sc, x, "weights", nn.AllZero, out, x.Shape().Dimensions[0])
	b := nn.Weight(sc, x, "bias", nn.AllZero, out, 1)
	return Transpose(Add(Dot(w, x).Product(), b), 0, 1)
}

// scaleChange bounds how much narrower or wider a Gaussian h may be than π: by a factor of e².
const scaleChange = 2

// gaussian is mean and scale [...,D] of h, given the network's outputs y [...,2D] and π's mean and scale side by side
// [...,2D]:
//
//	μ_h = μ_π + σ_π·y₁,   σ_h = σ_π·exp(y₂)
func (m *hindsight) gaussian(y, policy *Node) (mean, scale *Node) {
	if m.HindsightBase == BaseNone {
		return nn.Gaussian(y)
	}
	change, base := Split(y, -1, 2), Split(policy, -1, 2)
	mean = Add(base[0], Mul(base[1], change[0]))
	return mean, Mul(base[1], Exp(ClipScalar(change[1], -scaleChange, scaleChange)))
}

// logits are those of a categorical h [...,K], given the network's outputs y and π's log-probabilities.
func (m *hindsight) logits(y, policy *Node) *Node {
	if m.HindsightBase == BaseNone {
		return y
	}
	return Add(y, policy)
}
