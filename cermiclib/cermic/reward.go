// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"context"

	"cermic/cermiclib/explore"
	"cermic/cermiclib/rl"
)

// Reward adds r^i to x.Intrinsic for every living agent, normalised and weighted by the Bonus settings. int_form
// selects the formula.
//
// Reading: Algorithm 1 covers on-policy learners. One with a replay keeps the bonus of the time of collection (D17).
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
