// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cermic/cermiclib/rl"
	"cermic/envs/conf"
)

// Curriculum lets a run begin on an easier variant of its task, say with fewer agents, as SPECTra can (Park, Seong and Ko 2025: 5
// against 5 units for 0.3 of the frames, then 20 against 20). Then environment, old experience and an explorer's running
// statistics are new, and all networks stay with their optimisers, so that none of them may depend on what changes. Evaluations are always on the task itself.
type Curriculum struct {
	Share float64  `json:"share" range:"[0..1)" help:"share, of frames trained on the easier variant first; 0: no curriculum"`
	Set   []string `json:"set" help:"settings of the easier variant, such as n_agents=2"`
}

// on reports whether there is one.
func (c Curriculum) on() bool { return c.Share != 0 || len(c.Set) > 0 }

// frames is the number of frames after which the task is the experiment's own.
func (c Curriculum) frames(b Budget) int { return int(c.Share * float64(b.Frames)) }

// lesson is e on the easier variant of its task.
func (e Config) lesson() (Config, error) {
	settings := e.Curriculum.Set
	e.Curriculum = Curriculum{}
	for _, assignment := range settings {
		key, value, ok := strings.Cut(assignment, "=")
		if !ok {
			return e, fmt.Errorf("curriculum.set holds %q, want key=value of a setting of the task, for example n_agents=2", assignment)
		}
		if err := conf.Set(&e, "task."+strings.TrimSpace(key), value); err != nil {
			return e, fmt.Errorf("curriculum.set: %w", err)
		}
	}
	return e, nil
}

// validateCurriculum returns one sentence if e's curriculum cannot be.
func (e Config) validateCurriculum() error {
	c := e.Curriculum
	switch {
	case c.Share == 0:
		return errors.New("curriculum.share is 0, want above 0 and below 1")
	case len(c.Set) == 0:
		return errors.New("a curriculum changes at least one setting of the task: curriculum.set=n_agents=2, for example")
	case len(e.Forks) > 0:
		return errors.New("a run with a curriculum cannot branch off another, whose first part may have ended elsewhere: train it from the start")
	}
	first, err := e.lesson()
	if err != nil {
		return err
	}
	if err := first.Validate(); err != nil {
		return fmt.Errorf("with curriculum.set: %w", err)
	}
	return nil
}

// beginCurriculum builds the trainer of e's easier variant, with the same networks as t.
func (t *trainer) beginCurriculum(files string) error {
	first, err := t.exp.lesson()
	if err != nil {
		return err
	}
	if t.first, err = newTrainer(first, t.backend, files); err != nil {
		return err
	}
	t.until = t.exp.Curriculum.frames(t.exp.Budget)
	if err := t.takeWeights(t.first); err != nil {
		return fmt.Errorf("a curriculum keeps all networks, but some of these have the size of what it changes (%w): "+
			"use policy=spectra with learner.mixer=spectra, and learner.mixer.mixing_rows=own where observations grow", err)
	}
	return nil
}

// learning returns the trainer of the present part of the run: t, or the one of the easier variant.
func (t *trainer) learning(frames int) *trainer {
	if t.first != nil && frames < t.until {
		return t.first
	}
	return t
}

// trainFirst is iterate on the easier variant, after which t has learned as much.
func (t *trainer) trainFirst(ctx context.Context) (rl.Scalars, error) {
	s, err := t.first.iterate(ctx)
	if err != nil {
		return nil, err
	}
	t.iteration = t.first.iteration
	return s, t.catchUp()
}

// catchUp takes over what the trainer of the easier variant has learned, and lets go of it once it has done its part.
func (t *trainer) catchUp() error {
	t.frames = t.first.frames
	if err := t.takeWeights(t.first); err != nil {
		return err
	}
	t.graduate()
	return nil
}

// graduate lets go of the easier variant, and its old experience, once it is over.
func (t *trainer) graduate() {
	if t.first != nil && t.frames >= t.until {
		t.first.close()
		t.first = nil
	}
}

// takeWeights copies all variables of another trainer, which must have the same.
func (t *trainer) takeWeights(from *trainer) error {
	weights, err := from.variables()
	if err != nil {
		return err
	}
	byName := named(weights)
	return t.restoreWeights(byName, false)
}
