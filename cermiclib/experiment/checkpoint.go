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

	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/cermiclib/results/safetensors"
	"cermic/cermiclib/rl"
	"cermic/envs"
)

// A checkpoint has the variables of all groups below weights, by their paths, and the rest of a trainer's state below
// state.
const (
	weightsPrefix = "weights/"
	statePrefix   = "state/"
)

// part is a piece of a trainer's state: one tensor of a checkpoint.
type part struct {
	name string
	save func() (safetensors.Tensor, error)
	load func(stored safetensors.Tensors) error // which have the name
}

// variable is the part of a variable.
func variable(name string, v *model.Variable) part {
	save := func() (x safetensors.Tensor, err error) {
		value, err := v.Value()
		if err != nil {
			return x, err
		}
		flat, err := tensors.CopyFlatData[float32](value)
		return safetensors.New(flat, v.Shape().Dimensions...), err
	}
	load := func(stored safetensors.Tensors) error {
		flat, err := valuesOf[float32](stored, name, v.Shape().Size())
		if err != nil {
			return err
		}
		return v.SetValue(tensors.FromFlatDataAndDimensions(flat, v.Shape().Dimensions...))
	}
	return part{name, save, load}
}

// array is the part of a slice of constant length.
func array[E safetensors.Element](name string, values []E) part {
	name = statePrefix + name
	save := func() (safetensors.Tensor, error) { return safetensors.New(values), nil }
	load := func(stored safetensors.Tensors) error {
		was, err := valuesOf[E](stored, name, len(values))
		copy(values, was)
		return err
	}
	return part{name, save, load}
}

// encoded is the part of a component that encodes its own state.
func encoded(name string, encode func() []byte, decode func([]byte) error) part {
	name = statePrefix + name
	save := func() (safetensors.Tensor, error) { return safetensors.New(encode()), nil }
	return part{name, save, func(stored safetensors.Tensors) error { return decode(stored[name].Data) }}
}

// valuesOf returns the values of a tensor, which must be n.
func valuesOf[E safetensors.Element](stored safetensors.Tensors, name string, n int) ([]E, error) {
	values, err := safetensors.Values[E](stored, name)
	if err == nil && len(values) != n {
		return nil, fmt.Errorf("it has %d values, the experiment %d", len(values), n)
	}
	return values, err
}

// variables are the variables of all groups.
func (t *trainer) variables() (parts []part) {
	for _, g := range t.groups {
		for _, v := range nn.Variables(g.build.Store, "/") {
			parts = append(parts, variable(g.tensorOf(v.Path()), v))
		}
	}
	return parts
}

// tensorOf is the name of a variable of the group among a checkpoint's tensors.
func (g *group) tensorOf(path string) string {
	return weightsPrefix + g.path() + strings.TrimPrefix(path, "/")
}

// components are the states that learners and explorers keep outside the variables, and the action logs.
func (t *trainer) components() (parts []part) {
	for _, g := range t.groups {
		if s, ok := g.learner.(rl.Saver); ok {
			parts = append(parts, encoded(g.path()+"learner", s.Save, s.Load))
		}
		if s, ok := g.module.(rl.Saver); ok {
			parts = append(parts, encoded(g.path()+"explorer", s.Save, s.Load))
		}
		played := func() []byte { return g.actionLog }
		parts = append(parts, encoded(g.path()+"played", played, func(data []byte) error {
			g.actionLog = slices.Clone(data)
			return nil
		}))
	}
	return parts
}

// running is the state of the environment and of its running episodes.
func (t *trainer) running() []part {
	environment := encoded("environment", func() []byte { return t.env.Save(nil) }, t.env.Load)
	parts := []part{
		environment, array("fresh", t.isFirst), array("score", t.score), array("length", t.length),
		array("observation", t.step.Obs), array("cells", t.step.Cells), array("state", t.step.State),
		array("mask", t.step.Mask), array("alive", t.step.Alive),
	}
	for _, g := range t.groups {
		parts = append(parts, array(g.path()+"carry", g.hidden))
		if g.returns != nil {
			parts = append(parts, array(g.path()+"return", g.returns))
		}
	}
	// A component of a group may need the simulator's detector labels.
	if slices.ContainsFunc(t.groups, func(g *group) bool { return g.needs.Labels }) {
		parts = append(parts, array("seen", t.step.Visible), array("positions", t.step.RelPos))
	}
	return append(parts, t.visited.parts()...)
}

// checkpoint copies everything that the next iteration depends on. It omits random streams, which are named by the
// iteration.
func (t *trainer) checkpoint(seconds float64) (results.Checkpoint, error) {
	c := results.Checkpoint{Frames: t.frames, Tensors: safetensors.Tensors{}, Meta: map[string]string{
		"iteration": strconv.Itoa(t.iteration),
		"seconds":   strconv.FormatFloat(seconds, 'f', 3, 64),
	}}
	for _, p := range slices.Concat(t.variables(), t.components(), t.running()) {
		x, err := p.save()
		if err != nil {
			return c, fmt.Errorf("%s: %w", p.name, err)
		}
		c.Tensors[p.name] = x
	}
	return c, nil
}

// restore continues an untouched trainer from c and returns the seconds trained before it.
func (t *trainer) restore(ctx context.Context, c results.Checkpoint) (seconds float64, err error) {
	if err := t.replayActions(ctx, c); err != nil {
		return 0, err
	}
	if err := t.restoreLearned(c); err != nil {
		return 0, err
	}
	if err := load(t.running(), c.Tensors); err != nil {
		return 0, err
	}
	if err := t.observe(0); err != nil {
		return 0, err
	}
	if seconds, err = strconv.ParseFloat(c.Meta["seconds"], 64); err != nil || math.IsNaN(seconds) {
		seconds = 0 // informative only
	}
	return seconds, nil
}

// restoreLearned restores what a run has learned, without its episodes.
func (t *trainer) restoreLearned(c results.Checkpoint) (err error) {
	if err := t.restoreWeights(c); err != nil {
		return err
	}
	if err := load(t.components(), c.Tensors); err != nil {
		return err
	}
	t.frames = c.Frames
	if t.iteration, err = strconv.Atoi(c.Meta["iteration"]); err != nil {
		return fmt.Errorf("its iteration is %q", c.Meta["iteration"])
	}
	return nil
}

// restoreWeights loads exactly the variables that building the experiment made. In a bare checkpoint, variables that
// only training reads may be missing.
func (t *trainer) restoreWeights(c results.Checkpoint) error {
	parts := slices.DeleteFunc(t.variables(), func(p part) bool {
		_, ok := c.Tensors[p.name]
		return !ok && c.Bare && results.ForTraining(strings.TrimPrefix(p.name, weightsPrefix))
	})
	if err := load(parts, c.Tensors); err != nil {
		return err
	}
	n := 0
	for name := range c.Tensors {
		if strings.HasPrefix(name, weightsPrefix) {
			n++
		}
	}
	if n != len(parts) {
		return fmt.Errorf("it has %d variables, the experiment %d", n, len(parts))
	}
	return nil
}

// load loads parts from the tensors of a checkpoint.
func load(parts []part, stored safetensors.Tensors) error {
	for _, p := range parts {
		if _, ok := stored[p.name]; !ok {
			return fmt.Errorf("%s is missing", p.name)
		}
		if err := p.load(stored); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// errUnfit is the error about a checkpoint that another program or experiment wrote.
func errUnfit(id string, err error) error {
	return fmt.Errorf("the checkpoint of run %s does not fit this program (%w); remove that run's folder to train it anew",
		id, err)
}

// A replay buffer can have gigabytes, too much for a checkpoint every few seconds. A checkpoint therefore holds all
// actions since the start, a byte each. A resumed run first plays them again.

// logActions keeps the actions of the rollout batch that was just trained on.
func (g *group) logActions() {
	if g.x.Replay == nil {
		return
	}
	for _, choice := range g.x.Act.Discrete {
		g.actionLog = append(g.actionLog, uint8(choice))
	}
}

// replayActions plays the actions of c in the untouched environment and feeds the rollout batches to the learners.
func (t *trainer) replayActions(ctx context.Context, c results.Checkpoint) error {
	if t.groups[0].x.Replay == nil { // all have the same learner
		return nil
	}
	if _, ok := t.env.(envs.Fallible); ok {
		return fmt.Errorf("what happened in %s cannot be played again, and a value learner needs all of it", t.spec.Name)
	}
	ctx = context.WithValue(ctx, stepHook{}, nil) // these steps have been trained on
	batches := c.Frames / t.collected()
	for _, g := range t.groups {
		g.actionLog = c.Tensors[statePrefix+g.path()+"played"].Data
		if len(g.actionLog) != batches*g.x.Rows() {
			return errForgotten
		}
	}
	for batch := range batches {
		_, err := t.gather(ctx, func(g *group, k int) error {
			rows := len(g.streams)
			first, choices := batch*g.x.Rows()+k*rows, g.spec.Act.Choices
			for row, choice := range g.actionLog[first : first+rows] {
				at := int(choice)
				if at >= choices || g.step.Mask != nil && g.step.Mask[row*choices+at] == 0 {
					return errForgotten
				}
				g.act.Discrete[row] = int32(choice)
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, g := range t.groups {
			if err := g.x.Replay.Add(g.x); err != nil {
				return err
			}
		}
	}
	if !bytes.Equal(t.env.Save(nil), c.Tensors[statePrefix+"environment"].Data) {
		return errForgotten
	}
	return nil
}

// errForgotten reports that old actions do not belong to this program's task.
var errForgotten = errors.New("replaying its actions gives another state: the task has changed since")
