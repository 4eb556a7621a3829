// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/cermiclib/results/safetensors"
	"cermic/envs"
	"cermic/envs/conf"
)

// Fork is a place where a run continued another's state with some settings changed. An experiment has the settings
// after its last fork. Was leads back to the parent, so that the run can be repeated from its experiment alone.
type Fork struct {
	Parent string   `json:"parent" help:"ID of the parent run"`
	At     int      `json:"at" range:"1..1000000000000" help:"frames that the parent was trained for"`
	Was    []string `json:"was" help:"changed settings with the parent's values, such as explore.alpha=0.2"`
}

// Branch returns the experiment that continues e's state at a number of frames, the end of a rollout batch, with some
// settings changed: "explore.alpha=0.3". Settings that change networks, shapes of the task or stored state (labels,
// queues of a memory, bonuses of a replay) cannot be changed. A changed task begins with new episodes.
//
// The state is e's checkpoint at these frames. Without one, e is trained up to there again, to the same bits.
func (e Config) Branch(at int, set ...string) (Config, error) {
	id, err := e.ID()
	if err != nil {
		return e, err
	}
	child := e
	for _, assignment := range set {
		key, value, ok := strings.Cut(assignment, "=")
		if !ok || key == "forks" {
			return e, fmt.Errorf("a fork changes settings by key=value, for example explore.alpha=0.3, not by %q", assignment)
		}
		if err := conf.Set(&child, strings.TrimSpace(key), value); err != nil {
			return e, err
		}
	}
	was, err := Differences(e, child)
	if err != nil {
		return e, fmt.Errorf("a fork cannot change %w, or its networks would be others: train a run of its own", err)
	}
	if len(was) == 0 {
		return e, errors.New("a fork changes at least one setting, for example explore.alpha=0.3")
	}
	child.Forks = append(slices.Clone(e.Forks), Fork{Parent: id, At: at, Was: was})
	child.Method = ""
	return child, child.Validate()
}

// Differences are the settings of e, as key=value, whose values differ in other. If the two have different parts and so
// different settings, the error is the first key that differs.
func Differences(e, other Config) ([]string, error) {
	here, there := conf.Keys(e), conf.Keys(other)
	var out []string
	for i, k := range here {
		switch {
		case i >= len(there) || there[i].Key != k.Key || k.Kinds != nil && there[i].Value != k.Value:
			return nil, errors.New(k.Key)
		case k.Key != "forks" && there[i].Value != k.Value:
			out = append(out, k.Key+"="+k.Value)
		}
	}
	if len(there) > len(here) {
		return nil, errors.New(there[len(here)].Key)
	}
	return out, nil
}

// Parent undoes the last fork of e, which has one.
func (e Config) Parent() (Config, error) {
	last := len(e.Forks) - 1
	f, parent := e.Forks[last], e
	parent.Method, parent.Forks = "", nil
	if last > 0 {
		parent.Forks = e.Forks[:last:last]
	}
	for _, assignment := range f.Was {
		key, value, _ := strings.Cut(assignment, "=")
		if err := conf.Set(&parent, key, value); err != nil {
			return parent, err
		}
	}
	id, err := parent.ID()
	if err == nil && id != f.Parent {
		err = fmt.Errorf("the fork at %d frames names run %s as its parent, but undoing it gives run %s", f.At, f.Parent, id)
	}
	return parent, err
}

// History lists the settings before each fork, "explore.alpha=0.2 until 246k", or "continued from 246k" if none
// changed. It leaves out settings of the budget, which have no effect on learning.
func (e Config) History() string {
	var parts []string
	for _, f := range e.Forks {
		at := strconv.Itoa(f.At)
		if f.At%1000 == 0 {
			at = strconv.Itoa(f.At/1000) + "k"
		}
		was := slices.DeleteFunc(slices.Clone(f.Was), func(s string) bool { return strings.HasPrefix(s, "budget.") })
		if len(was) == 0 {
			parts = append(parts, "continued from "+at)
		} else {
			parts = append(parts, strings.Join(append(was, "until", at), " "))
		}
	}
	return strings.Join(parts, ", ")
}

// end is the number of frames of a complete run, in whole rollout batches.
func (e Config) end() int {
	each := e.Learner.CollectFrames()
	return (e.Budget.Frames + each - 1) / each * each
}

func (e Config) validateFork(now *envs.Spec) error {
	parent, err := e.Parent()
	if err != nil {
		return err
	}
	if err := parent.Validate(); err != nil {
		return err
	}
	at, each, end := e.Forks[len(e.Forks)-1].At, parent.Learner.CollectFrames(), parent.end()
	first := 0
	if n := len(parent.Forks); n > 0 {
		first = parent.Forks[n-1].At
	}
	switch {
	case at%each != 0:
		return fmt.Errorf("a fork at %d frames lies within a rollout batch of %d: use %d or %d",
			at, each, at/each*each, (at/each+1)*each)
	case at <= first || at > end:
		return fmt.Errorf("a fork at %d frames: its parent trains from %d to %d", at, first, end)
	case at >= e.Budget.Frames:
		return fmt.Errorf("a fork at %d frames has nothing left to train of %d: set budget.frames as well",
			at, e.Budget.Frames)
	}
	was, err := envs.SpecOf(parent.Task)
	if err != nil {
		return err
	}
	if parent.Task.Shared().NumEnvs != e.Task.Shared().NumEnvs || was.Agents != now.Agents || was.InLen() != now.InLen() ||
		was.State != now.State || was.Act.Choices != now.Act.Choices || was.Act.Dim != now.Act.Dim {
		return errors.New("a fork cannot change how many parallel environments, agents, observations or actions the task " +
			"has: train a run of its own")
	}
	return nil
}

func (s *session) branchOff(ctx context.Context) error {
	f := s.exp.Forks[len(s.exp.Forks)-1]
	switch err := s.adoptParent(ctx, s.trainer); {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("run %s cannot go on from run %s: %w; fork with other settings, or train a run of its own",
			s.claim.Record().ID, f.Parent, err)
	}
	s.note(fmt.Sprintf("branched off run %s at %d frames", f.Parent, f.At))
	return nil
}

// stateOf returns the state of e's run after a number of frames: its checkpoint, or the result of training it in
// memory.
func (s *session) stateOf(ctx context.Context, e Config, frames int) (results.Checkpoint, error) {
	id, err := e.ID()
	if err != nil {
		return results.Checkpoint{}, err
	}
	saved, none := s.store.Checkpoint(id)
	if none == nil && saved.Frames == frames {
		return saved, nil
	}
	t, err := newTrainer(e, s.backend, s.store.Dir())
	if err != nil {
		return results.Checkpoint{}, err
	}
	defer t.close()
	if none == nil && saved.Frames < frames {
		err = t.adopt(ctx, saved, e)
	} else if len(e.Forks) > 0 {
		err = s.adoptParent(ctx, t)
	}
	if err != nil {
		return results.Checkpoint{}, err
	}
	s.note(fmt.Sprintf("training run %s again from %d to %d frames, where this one branches off", id, t.frames, frames))
	ctx = context.WithValue(ctx, rolloutHooks{}, nil) // these batches are the parent's
	for t.frames < frames {
		if _, err := t.iterate(ctx); err != nil {
			return results.Checkpoint{}, err
		}
	}
	return t.checkpoint(0)
}

// adoptParent brings t to the state of its parent where its experiment branches off.
func (s *session) adoptParent(ctx context.Context, t *trainer) error {
	parent, err := t.exp.Parent()
	if err != nil {
		return err
	}
	c, err := s.stateOf(ctx, parent, t.exp.Forks[len(t.exp.Forks)-1].At)
	if err != nil {
		return err
	}
	if c, err = t.fitted(c); err != nil {
		return err
	}
	return t.adopt(ctx, c, parent)
}

// fitted is a checkpoint of another experiment with the variables of this one. New variables have their initial values,
// EMA copies the values of the trained original. So α can become 0, which has no decoder and no momentum encoder, and
// grow again.
func (t *trainer) fitted(c results.Checkpoint) (results.Checkpoint, error) {
	stored := c.Tensors
	c.Tensors = safetensors.Tensors{}
	for name, x := range stored {
		if !strings.HasPrefix(name, weightsPrefix) {
			c.Tensors[name] = x
		}
	}
	for _, g := range t.groups {
		for _, v := range nn.Variables(g.build.Store, "/") {
			own := g.tensorOf(v.Path())
			x, ok := stored[own]
			if !ok {
				x, ok = stored[g.tensorOf(nn.Original(g.build.Store, v.Path()))]
			}
			if !ok {
				var err error
				if x, err = variable(own, v).save(); err != nil {
					return c, err
				}
			}
			c.Tensors[own] = x
		}
	}
	return c, nil
}

// adopt continues from a checkpoint of the experiment from, whose settings may differ. If the task is the same, it
// keeps the running episodes; otherwise it keeps only the learned state and starts new ones.
func (t *trainer) adopt(ctx context.Context, c results.Checkpoint, from Config) error {
	was, err := conf.Marshal(from.Task)
	now, failed := conf.Marshal(t.exp.Task)
	if err := cmp.Or(err, failed); err != nil {
		return err
	}
	if string(was) == string(now) {
		_, err := t.restore(ctx, c)
		return err
	}
	if t.groups[0].x.Replay != nil { // all have the same learner
		return errors.New("its learner trains on experience of the task as it was")
	}
	return t.restoreLearned(c)
}
