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
	alive  []uint8   // [B,N]
	each   []float32 // [B,N]
	bonus  []float32 // [B]
}

// Rescore tells who can score old steps.
func (l *q) Rescore(s rl.Scorer) error {
	if l.IntAt == IntAtSample {
		if s == nil {
			return fmt.Errorf("learner.int_at=%s needs an explorer that can score old experience, and this one cannot: set it to %s",
				IntAtSample, IntAtCollect)
		}
		if err := s.CanScore(); err != nil {
			return err
		}
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
		c.each, c.alive, c.bonus = make([]float32, rows), make([]uint8, rows), make([]float32, len(l.slots))
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
		copy(c.alive[b*s.Agents:], l.replay.Alive(slot))
	}
	if err := c.scorer.Score(ctx, c.each, c.obs, c.act, c.alive); err != nil {
		return nil, err
	}
	for b := range l.slots {
		sum := float32(0)
		for row := b * s.Agents; row < (b+1)*s.Agents; row++ {
			if c.alive[row] != 0 {
				sum += c.each[row]
			}
		}
		c.bonus[b] = sum / float32(s.Agents)
	}
	return c.bonus, nil
}
