// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"cermic/cermiclib/learn"
	"cermic/cermiclib/results"
	"cermic/envs"
)

// A replay buffer can have gigabytes, too much for a checkpoint every few seconds. A checkpoint therefore holds all
// actions since the start, a byte each, and a resumed run first plays them again.

// logActions keeps the actions of the rollout batch that was just trained on.
func (g *group) logActions() {
	if _, ok := g.learner.(learn.OffPolicy); !ok {
		return
	}
	for _, choice := range g.x.Act.Discrete {
		g.actionLog = append(g.actionLog, uint8(choice))
	}
}

// replayActions plays the actions of c in the untouched environment and lets the learners have the rollout batches.
func (t *trainer) replayActions(ctx context.Context, c results.Checkpoint) error {
	if _, ok := t.groups[0].learner.(learn.OffPolicy); !ok { // all have the same
		return nil
	}
	if _, ok := t.env.(envs.Fallible); ok {
		return fmt.Errorf("what happened in %s cannot be played again, and a value learner needs all of it", t.spec.Name)
	}
	state := named(c.Tensors)
	actions, batches := make(map[*group][]byte, len(t.groups)), 0
	for _, g := range t.groups {
		actions[g] = state[statePrefix+g.path()+"played"].Data
		batches = len(actions[g]) / g.x.Rows()
	}
	for range batches {
		_, err := t.gather(ctx, func(g *group, k int) error {
			rows := len(g.streams)
			if len(actions[g]) < rows {
				return errForgotten
			}
			for row, choice := range actions[g][:rows] {
				if k := g.spec.Act.Choices; int(choice) >= k || g.step.Mask != nil && g.step.Mask[row*k+int(choice)] == 0 {
					return errForgotten
				}
				g.act.Discrete[row] = int32(choice)
			}
			actions[g] = actions[g][rows:]
			copy(g.x.Act.Discrete[k*rows:], g.act.Discrete)
			return nil
		})
		if err != nil {
			return err
		}
		for _, g := range t.groups {
			if err := g.learner.(learn.OffPolicy).Experience().Add(g.x); err != nil {
				return err
			}
			g.logActions()
		}
	}
	for _, left := range actions {
		if len(left) > 0 {
			return errForgotten
		}
	}
	if !bytes.Equal(t.env.Save(nil), state[statePrefix+"environment"].Data) {
		return errForgotten
	}
	return nil
}

// errForgotten says that old actions do not belong to this program's task.
var errForgotten = errors.New("its actions no longer lead to where they led: the task has changed since")
