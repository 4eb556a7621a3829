// SPDX-License-Identifier: Apache-2.0

package envs

import (
	"fmt"

	"cermic/envs/conf"
)

// Config is a task with all its settings. Registered values are complete defaults.
type Config interface {
	// Kind is the task's name, as in "vmas/balance".
	Kind() string
	// Shared returns the settings common to all tasks.
	Shared() Common
	// WithShared returns a copy of the config with those settings replaced.
	WithShared(Common) Config
	// Build makes the environment. seed names its random streams; workers is the number of goroutines that share the
	// parallel environments (0: one per core). An impossible setting is an error of one sentence.
	Build(seed uint64, workers int) (Env, error)
}

// Reward selects the reward stream of training. Evaluation always uses Step.Score.
type Reward string

// The reward streams.
const (
	Dense  Reward = "dense"
	Sparse Reward = "sparse"
)

// Common holds the settings of all tasks; task configs embed it as one flat struct. Each family either applies the
// noise or rejects it in Build.
type Common struct {
	NumEnvs int    `json:"copies" range:"1..65536" help:"number E of parallel environments; the paper: 60"`
	Reward  Reward `json:"reward" oneof:"dense,sparse" help:"reward stream of training; dense: every step, sparse: success alone"`
	Noise   Noise  `json:"noise,omitzero" help:"region in which observations are noise"`
}

// DefaultCommon returns 60 environments, as in the paper's hyper-parameter table, with the sparse reward.
func DefaultCommon() Common { return Common{NumEnvs: 60, Reward: Sparse} }

// Shared implements Config.Shared for configs that embed Common.
func (c Common) Shared() Common { return c }

// Validate returns an error for the first impossible setting.
func (c Common) Validate(task string) error {
	if err := conf.Check(c); err != nil {
		return fmt.Errorf("%s: %w", task, err)
	}
	return c.Noise.validate(task)
}

// Check returns an error for the first setting that its tags do not allow (see conf.Check), or for impossible noise.
func Check(c Config) error {
	if err := conf.Check(c); err != nil {
		return fmt.Errorf("%s: %w", c.Kind(), err)
	}
	noise := c.Shared().Noise
	return noise.validate(c.Kind())
}

// Register registers a task under its Kind; proto must be its complete default.
func Register(proto Config) { conf.Register(proto) }

// Default returns the registered default of a task, or an error that lists similar names.
func Default(name string) (Config, error) { return conf.New[Config](name) }

// Alone builds a single environment of a task, to play it.
func Alone(c Config) (Env, error) {
	shared := c.Shared()
	shared.NumEnvs = 1
	env, err := c.WithShared(shared).Build(1, 1)
	if err == nil && env == nil {
		err = fmt.Errorf("task %s: Build returned nil and no error", c.Kind())
	}
	return env, err
}

// SpecOf returns the Spec of a single environment of a task.
func SpecOf(c Config) (*Spec, error) {
	env, err := Alone(c)
	if err != nil {
		return nil, err
	}
	defer Close(env)
	return env.Spec(), nil
}

// Discrete names a finite action set of a task with continuous actions; "none" means continuous.
type Discrete string

// Product9 is the action set of value learners: 0, −range or +range per axis.
const Product9 Discrete = "product9"

// Discretiser is a Config of continuous actions that also offers finite action sets.
type Discretiser interface{ WithDiscrete(Discrete) Config }

// Discretised returns the task with a finite action set: c itself, unless it is a Discretiser.
func Discretised(c Config) Config {
	if d, ok := c.(Discretiser); ok {
		return d.WithDiscrete(Product9)
	}
	return c
}

// Names lists all registered tasks in alphabetical order.
func Names() []string { return conf.Kinds[Config]() }
