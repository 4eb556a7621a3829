// SPDX-License-Identifier: Apache-2.0

package envs

import (
	"fmt"

	"cermic/envs/conf"
)

// Config is a task with all its settings: a plain struct that builds itself. Registered values are complete defaults.
type Config interface {
	// Kind is the task's name everywhere: "vmas/balance".
	Kind() string
	// Shared returns the settings that every task has.
	Shared() Common
	// WithShared returns a copy of the config with those settings replaced.
	WithShared(Common) Config
	// Build makes the environment; seed names its random streams, workers is the number of goroutines to spread copies
	// over (0: one per core). An impossible setting is refused with one sentence.
	Build(seed uint64, workers int) (Env, error)
}

// Reward selects the reward stream that a learner is trained on. Evaluation always uses Step.Score.
type Reward string

// The reward streams.
const (
	Dense  Reward = "dense"
	Sparse Reward = "sparse"
)

// Common holds the settings that every task has; task configs embed it, so that they read as one flat struct. To apply the noise, or to
// refuse it in Build, is up to the family.
type Common struct {
	NumEnvs int    `json:"copies" range:"1..65536" help:"number E of parallel environments; the paper: 60"`
	Reward  Reward `json:"reward" oneof:"dense,sparse" help:"reward stream of training; dense: every step, sparse: success alone"`
	Noise   Noise  `json:"noise,omitzero" help:"region in which observations are noise"`
}

// DefaultCommon returns the paper's 60 environments (its hyper-parameter table) with the sparse reward.
func DefaultCommon() Common { return Common{NumEnvs: 60, Reward: Sparse} }

// Shared makes Common provide Config.Shared wherever it is embedded.
func (c Common) Shared() Common { return c }

// Validate returns one sentence about the first impossible setting.
func (c Common) Validate(task string) error {
	if err := conf.Check(c); err != nil {
		return fmt.Errorf("%s: %w", task, err)
	}
	return c.Noise.validate(task)
}

// Check returns one sentence about the first setting of a task that its tags do not allow; see conf.Check.
func Check(c Config) error {
	if err := conf.Check(c); err != nil {
		return fmt.Errorf("%s: %w", c.Kind(), err)
	}
	return nil
}

// Register makes a task known by its Kind; proto must be its complete default.
func Register(proto Config) { conf.Register(proto) }

// Default returns the registered default of a task, or an error that lists near names.
func Default(name string) (Config, error) { return conf.New[Config](name) }

// Discrete names a finite set of actions of a task whose actions are continuous; "none" is no such set.
type Discrete string

// Product9 is the set that value learners get: nothing, −range or +range per axis.
const Product9 Discrete = "product9"

// Discretiser is a Config of continuous actions with finite sets of them, for learners that need one.
type Discretiser interface{ WithDiscrete(Discrete) Config }

// Discretised is the task with finitely many actions: c itself, unless it has a choice.
func Discretised(c Config) Config {
	if d, ok := c.(Discretiser); ok {
		return d.WithDiscrete(Product9)
	}
	return c
}

// Names lists all registered tasks in alphabetical order.
func Names() []string { return conf.Kinds[Config]() }
