// SPDX-License-Identifier: Apache-2.0

// Package memory holds the intention models of the other agents (paper: Section 3.2, Appendices A and C). A model turns
// the observations of one agent into the context feature f_n, which calibrates the exploitation losses.
//
// A memory is a config of its own, so that `-set explore.memory=mlp` chooses one and `-set explore.memory.d_f=128`
// changes it. Read memory.go for the contract, then the model of interest.
package memory

import (
	"fmt"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/cermiclib/rl"
	"cermic/envs/conf"
)

// Memory is an intention model in a running experiment. It trains inside the graph of the module that owns it. The
// module draws agent steps, Gather feeds the model's inputs for them, and Context turns these into features.
type Memory interface {
	// Shape returns the width of the features and how agent steps must be drawn.
	Shape() Shape
	// Inputs declares what Gather feeds for a minibatch of b agent steps, b a multiple of Shape().Chunk.
	Inputs(b int) []nn.Input
	// Gather feeds the inputs of p from index first on. Agent steps are rows of x; with Chunk > 1 each run of Chunk
	// entries is one agent of one environment at consecutive steps.
	Gather(p nn.Feeder, first int, x *rl.Rollout, rows []int32)
	// Context builds the features from the nodes of Inputs, with its variables below sc. It works in the dtype of its
	// inputs.
	Context(sc *model.Scope, in []*graph.Node) Context
}

// Watcher is implemented by memories that must see a rollout batch in time order before training on it, to carry a
// hidden state or to record detections. The owner calls it once for each rollout, before the first Gather.
type Watcher interface {
	Watch(x *rl.Rollout) error
}

// Watch passes x to m if it is a Watcher.
func Watch(m Memory, x *rl.Rollout) error {
	if w, ok := m.(Watcher); ok {
		return w.Watch(x)
	}
	return nil
}

// Save returns the state that m carries between rollout batches; nil if it has none.
func Save(m Memory) []byte {
	if s, ok := m.(rl.Saver); ok {
		return s.Save()
	}
	return nil
}

// Load continues from what Save returned.
func Load(m Memory, state []byte) error {
	if s, ok := m.(rl.Saver); ok {
		return s.Load(state)
	}
	return nil
}

// Detecting is implemented by memories that detect which other agents are in sight.
type Detecting interface {
	Watcher
	// Inspect returns the graph of every agent step of x, a rollout batch that begins with an episode. The state from
	// the previous rollout batch is lost.
	Inspect(x *rl.Rollout) ([]results.Graph, error)
}

// Shape describes a memory to its owner.
type Shape struct {
	Width int // F, length of a feature
	Chunk int // L, consecutive steps of one agent that make one sample; 1 where steps are drawn one by one

	Labels bool // rollouts must hold the simulator's detector labels
}

// Context holds the features of B agent steps.
type Context struct {
	Now    *graph.Node // [B,F] f_n
	Before *graph.Node // [B,F] f_{n-1}; any finite value where there is none
	Exists *graph.Node // [B] 1 where f_{n-1} exists, else 0
	Loss   *graph.Node // [B] the memory's own loss, added to the owner's; nil for none

	// Of a detector that learns, nil for others.
	Right   *graph.Node // [B] share of the other agents whose presence it predicts correctly
	Present *graph.Node // [B] share of them that are present
}

// Config is a memory with all its settings; registered values are complete defaults.
type Config interface {
	Kind() string
	// Validate returns one sentence about the first impossible setting.
	Validate() error
	Build(b *nn.Build) (Memory, error)
}

// Chunked is a Config whose memory is trained on chunks of several steps. OneStep has the same weights and chunks of
// single steps.
type Chunked interface{ OneStep() Config }

// OneStep builds the memory of c with chunks of single steps, to compute f_n outside of training.
func OneStep(c Config, b *nn.Build) (Memory, error) {
	if chunked, ok := c.(Chunked); ok {
		c = chunked.OneStep()
	}
	m, err := c.Build(b)
	if err == nil && m.Shape().Chunk != 1 {
		return nil, fmt.Errorf("memory %s has samples of %d steps, want a Config with a method OneStep",
			c.Kind(), m.Shape().Chunk)
	}
	return m, err
}

// Register makes a memory known by its Kind.
func Register(proto Config) { conf.Register(proto) }
