// SPDX-License-Identifier: Apache-2.0

package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"cermic/cermiclib/learn"
	"cermic/cermiclib/results"
	"cermic/envs"
)

// A learner that trains on old experience has up to gigabytes of it, too much for a checkpoint every few seconds. The
// environment's part in it follows from the seed and the actions, so a checkpoint holds all actions since the start, a byte
// each, and a run that goes on plays them again, in seconds, before it trains.

// record keeps the actions of the collection that was just trained on.
func (t *trainer) record() {
	if _, ok := t.learner.(learn.Rememberer); !ok {
		return
	}
	for _, choice := range t.x.Act.Choice {
		t.played = append(t.played, uint8(choice))
	}
}

// canRecord refuses a task whose choices do not fit a byte, for a learner whose actions are kept.
func (t *trainer) canRecord() error {
	if _, ok := t.learner.(learn.Rememberer); ok && t.spec.Act.Choices > 256 {
		return fmt.Errorf("%s has %d choices, a value learner can have 256 at most", t.spec.Name, t.spec.Act.Choices)
	}
	return nil
}

// remember plays the actions of c in the untouched environment and lets the learner have the collections.
func (t *trainer) remember(ctx context.Context, c results.Checkpoint) error {
	if now := t.learning(c.Frames); now != t {
		return now.remember(ctx, c)
	}
	learner, ok := t.learner.(learn.Rememberer)
	if !ok {
		return nil
	}
	if _, ok := t.env.(envs.Fallible); ok {
		return fmt.Errorf("what happened in %s cannot be played again, and a value learner needs all of it", t.spec.Name)
	}
	state := map[string][]byte{}
	for _, x := range c.Tensors {
		state[x.Name] = x.Data
	}
	actions, rows, each := state[statePrefix+"played"], len(t.streams), t.x.Rows()
	for ; len(actions) >= each; actions = actions[each:] {
		_, err := t.gather(ctx, func(k int) error {
			for row, choice := range actions[k*rows : (k+1)*rows] {
				t.act.Choice[row] = int32(choice)
			}
			copy(t.x.Act.Choice[k*rows:], t.act.Choice)
			return nil
		})
		if err != nil {
			return err
		}
		if err := learner.Remember(t.x); err != nil {
			return err
		}
		t.record()
	}
	if len(actions) > 0 || !bytes.Equal(t.env.Save(nil), state[statePrefix+"environment"]) {
		return errors.New("its actions no longer lead to where they led: the task has changed since")
	}
	return nil
}
