// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"context"
	"errors"

	"cermic/cermiclib/explore"
	"cermic/cermiclib/rl"
)

// Reward adds r^i to x.Intrinsic for every living agent, normalised and weighted by the Bonus settings. int_form
// selects the formula.
//
// Deviation: in the paper each agent has its own bonus. With int_others, training also uses what other agents observe,
// as in MACE; policies still do not.
func (m *module) Reward(ctx context.Context, x *rl.Rollout) (rl.Scalars, error) {
	x, err := m.read(x, &m.view)
	if err != nil {
		return nil, err
	}
	m.fit(x)
	if err := m.form.reward(ctx, m.raw, x); err != nil {
		return nil, err
	}
	explore.AddPeers(m.raw, x.Alive, x.N, m.cfg.Others)
	scaled := m.bonus.Apply(x, m.raw, "cermic")
	judgeBonus(scaled, x, m.raw)
	m.health.check(scaled)
	if m.probe != nil {
		if err := m.probe.measure(ctx, x, scaled); err != nil {
			return nil, err
		}
	}
	return scaled, nil
}

// Score writes the bonus of earlier agent steps: see rl.Scorer.
//
// Reading: Algorithm 1 covers on-policy learners. One with a replay may recompute the bonus of a sampled step here; its
// setting int_at selects (D17).
func (m *module) Score(ctx context.Context, dst, obs, act []float32, alive []uint8) error {
	o, a := len(obs)/len(dst), len(act)/len(dst)
	err := m.form.score(ctx, dst, steps{
		obs: func(to []float32, row int) { copy(to, obs[row*o:(row+1)*o]) },
		act: func(to []float32, row int) { copy(to, act[row*a:(row+1)*a]) },
	})
	if err != nil {
		return err
	}
	explore.AddPeers(dst, alive, m.agents, m.cfg.Others)
	for i, r := range dst {
		dst[i] = m.bonus.Scaled(r)
	}
	return nil
}

// CanScore returns why the bonus of earlier agent steps cannot be computed, or nil.
func (m *module) CanScore() error {
	if m.build.Spec != m.task {
		return errors.New("cermic: peer_channels needs labels, which a replay does not keep: set learner.int_at=collect")
	}
	return nil
}

// Rate writes r^i of the agent steps of x, whole episodes, into dst [T,E,N], neither normalised nor weighted. It
// changes no state.
func (m *module) Rate(ctx context.Context, dst []float32, x *rl.Rollout) error {
	x, err := m.read(x, &m.view)
	if err != nil {
		return err
	}
	return m.form.look(ctx, dst, x)
}

// fit resizes m.raw to the rows of x.
func (m *module) fit(x *rl.Rollout) {
	if len(m.raw) != x.Rows() {
		m.raw = make([]float32, x.Rows())
	}
}
