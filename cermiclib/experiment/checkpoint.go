// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/learn"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/cermiclib/results/safetensors"
	"cermic/cermiclib/rl"
	"cermic/envs"
)

// Names of a checkpoint's tensors: variables by path below weights, everything else below state.
const (
	weightsPrefix = "weights"
	statePrefix   = "state/"
)

// checkpoint copies everything that the next iteration depends on. Random streams need no place in it: they are named
// by the iteration.
func (t *trainer) checkpoint(seconds float64) (c results.Checkpoint, err error) {
	c = results.Checkpoint{Frames: t.frames, Meta: map[string]string{
		"iteration": strconv.Itoa(t.iteration),
		"seconds":   strconv.FormatFloat(seconds, 'f', 3, 64),
	}}
	if c.Tensors, err = t.variables(); err != nil {
		return c, err
	}
	add := func(name string, state []byte) {
		c.Tensors = append(c.Tensors, safetensors.New(statePrefix+name, state))
	}
	add("environment", t.env.Save(nil))
	for _, g := range t.groups {
		for name, part := range g.savers() {
			add(name, part.Save())
		}
		add(g.path()+"played", g.actionLog)
	}
	for _, b := range append(t.buffers(), t.visited.buffers()...) {
		c.Tensors = append(c.Tensors, b.tensor())
	}
	return c, nil
}

// buffer is a slice that a checkpoint keeps, of the same length in each trainer of an experiment.
type buffer struct {
	tensor  func() safetensors.Tensor
	restore func(byName map[string]safetensors.Tensor) error
}

func kept[E safetensors.Element](name string, values []E) buffer {
	return buffer{
		func() safetensors.Tensor { return safetensors.New(statePrefix+name, values) },
		func(byName map[string]safetensors.Tensor) error { return fill(values, byName, name) },
	}
}

// buffers lists the state of the running episodes.
func (t *trainer) buffers() []buffer {
	all := []buffer{
		kept("fresh", t.isFirst), kept("score", t.score), kept("length", t.length), kept("observation", t.step.Obs),
		kept("cells", t.step.Cells), kept("state", t.step.State), kept("mask", t.step.Mask), kept("alive", t.step.Alive),
	}
	for _, g := range t.groups {
		all = append(all, kept(g.path()+"carry", g.hidden))
		if g.returns != nil {
			all = append(all, kept(g.path()+"return", g.returns))
		}
	}
	// A component of a group may need the simulator's detector labels.
	if slices.ContainsFunc(t.groups, func(g *group) bool { return g.needs.Labels }) {
		all = append(all, kept("seen", t.step.Visible), kept("positions", t.step.RelPos))
	}
	return all
}

// savers are the parts of the group that keep state outside the variables, by the names of their tensors.
func (g *group) savers() map[string]rl.Saver {
	out := map[string]rl.Saver{}
	for name, part := range map[string]any{"learner": g.learner, "explorer": g.module} {
		if s, ok := part.(rl.Saver); ok {
			out[g.path()+name] = s
		}
	}
	return out
}

// tensorOf is the name of a variable of the group among a checkpoint's tensors.
func (g *group) tensorOf(path string) string {
	return weightsPrefix + "/" + g.path() + strings.TrimPrefix(path, "/")
}

func (t *trainer) variables() (all []safetensors.Tensor, err error) {
	for _, g := range t.groups {
		for _, v := range nn.Variables(g.build.Store, "/") {
			value, err := v.Value()
			if err != nil {
				return nil, err
			}
			flat, err := tensors.CopyFlatData[float32](value)
			if err != nil {
				return nil, fmt.Errorf("variable %s: %w", v.Path(), err)
			}
			all = append(all, safetensors.New(g.tensorOf(v.Path()), flat, v.Shape().Dimensions...))
		}
	}
	return all, nil
}

// restore continues from c and returns the seconds trained before it. To train on, remember must come first.
func (t *trainer) restore(c results.Checkpoint) (seconds float64, err error) {
	byName, err := t.restoreLearned(c)
	if err != nil {
		return 0, err
	}
	if err := t.env.Load(byName[statePrefix+"environment"].Data); err != nil {
		return 0, err
	}
	for _, b := range append(t.buffers(), t.visited.buffers()...) {
		if err := b.restore(byName); err != nil {
			return 0, err
		}
	}
	if err := t.observe(0); err != nil {
		return 0, err
	}
	if t.iteration, err = strconv.Atoi(c.Meta["iteration"]); err != nil {
		return 0, fmt.Errorf("its iteration is %q", c.Meta["iteration"])
	}
	if seconds, err = strconv.ParseFloat(c.Meta["seconds"], 64); err != nil || math.IsNaN(seconds) {
		seconds = 0 // informative only
	}
	return seconds, nil
}

// errUnfit is the error about a checkpoint that another program or experiment wrote.
func errUnfit(id string, err error) error {
	return fmt.Errorf("the checkpoint of run %s does not fit this program (%w); remove that run's folder to train it anew",
		id, err)
}

func named(tensors []safetensors.Tensor) map[string]safetensors.Tensor {
	out := make(map[string]safetensors.Tensor, len(tensors))
	for _, x := range tensors {
		out[x.Name] = x
	}
	return out
}

// restoreLearned restores what a run has learned and nothing else: enough to play. It returns the tensors of c by name.
func (t *trainer) restoreLearned(c results.Checkpoint) (byName map[string]safetensors.Tensor, err error) {
	byName = named(c.Tensors)
	if err := t.restoreWeights(byName, false); err != nil {
		return nil, err
	}
	for _, g := range t.groups {
		for name, part := range g.savers() {
			if err := part.Load(byName[statePrefix+name].Data); err != nil {
				return nil, err
			}
		}
	}
	t.frames = c.Frames
	return byName, nil
}

// restoreWeights puts values into the variables that building the experiment made: exactly those, of the same shapes.
// If bare, variables that only training reads may be missing.
func (t *trainer) restoreWeights(byName map[string]safetensors.Tensor, bare bool) error {
	stored := 0
	for name := range byName {
		if strings.HasPrefix(name, weightsPrefix+"/") {
			stored++
		}
	}
	read := 0
	for _, g := range t.groups {
		for _, v := range nn.Variables(g.build.Store, "/") {
			name := g.tensorOf(v.Path())
			if _, kept := byName[name]; !kept && bare && results.ForTraining(strings.TrimPrefix(v.Path(), "/")) {
				continue
			}
			read++
			if err := restoreVariable(v, name, byName); err != nil {
				return err
			}
		}
	}
	if stored != read {
		return fmt.Errorf("it has %d variables, the experiment %d", stored, read)
	}
	return nil
}

// restoreVariable puts the tensor of that name into a variable of its shape.
func restoreVariable(v *model.Variable, name string, byName map[string]safetensors.Tensor) error {
	x, ok := byName[name]
	name = strings.TrimPrefix(name, weightsPrefix)
	if !ok {
		return fmt.Errorf("variable %s is missing", name)
	}
	flat, err := safetensors.Values[float32](x)
	if err != nil {
		return err
	}
	if len(flat) != v.Shape().Size() {
		return fmt.Errorf("variable %s has %d values, the experiment's %d", name, len(flat), v.Shape().Size())
	}
	return v.SetValue(tensors.FromFlatDataAndDimensions(flat, v.Shape().Dimensions...))
}

// fill copies a stored tensor into dst, which must have its length.
func fill[E safetensors.Element](dst []E, byName map[string]safetensors.Tensor, name string) error {
	x, ok := byName[statePrefix+name]
	if !ok {
		return fmt.Errorf("%s is missing", name)
	}
	values, err := safetensors.Values[E](x)
	if err != nil {
		return err
	}
	if len(values) != len(dst) {
		return fmt.Errorf("%s has %d values, the experiment %d", name, len(values), len(dst))
	}
	copy(dst, values)
	return nil
}

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
