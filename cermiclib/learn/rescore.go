// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"context"
	"fmt"

	"cermic/cermiclib/rl"
)

// rescorer scores the agent steps of a minibatch anew.
type rescorer struct {
	scorer rl.Scorer
	obs    []float32 // [B,N,I]
	act    []float32 // [B,N,K]
	each   []float32 // [B,N]
	bonus  []float32 // [B]
}

// Rescore tells who can score old steps.
func (l *q) Rescore(s rl.Scorer) error {
	if s == nil && l.IntAt == IntAtSample {
		return fmt.Errorf("learner.int_at=%s needs an explorer that can score old experience, and this one cannot: set it to %s",
			IntAtSample, IntAtCollect)
	}
	l.rescore.scorer = s
	return nil
}

// bonus returns the team's intrinsic reward of each frame of l.slots, [B].
func (l *q) bonus(ctx context.Context) ([]float32, error) {
	c, s := &l.rescore, l.build.Spec
	if c.bonus == nil {
		rows := len(l.slots) * s.Agents
		c.obs, c.act = make([]float32, rows*s.InLen()), make([]float32, rows*s.Act.Choices)
		c.each, c.bonus = make([]float32, rows), make([]float32, len(l.slots))
	}
	if l.IntAt == IntAtCollect {
		for b, slot := range l.slots {
			c.bonus[b] = l.replay.Bonus(slot)
		}
		return c.bonus, nil
	}
	o := s.Agents * s.InLen()
	clear(c.act)
	for b, slot := range l.slots {
		l.replay.Gather(c.obs[b*o:(b+1)*o], slot)
		for i, k := range l.replay.Discrete(slot) {
			c.act[(b*s.Agents+i)*s.Act.Choices+int(k)] = 1
		}
	}
	if err := c.scorer.Score(ctx, c.each, c.obs, c.act); err != nil {
		return nil, err
	}
	for b, slot := range l.slots {
		sum := float32(0)
		for i, alive := range l.replay.Alive(slot) {
			if alive != 0 {
				sum += c.each[b*s.Agents+i]
			}
		}
		c.bonus[b] = sum / float32(s.Agents)
	}
	return c.bonus, nil
}
