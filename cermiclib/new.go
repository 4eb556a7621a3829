// SPDX-License-Identifier: Apache-2.0

package cermiclib

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/policy"
	"cermic/envs"
	"cermic/envs/conf"
	_ "cermic/envs/explore"    // registers its tasks
	_ "cermic/envs/meltingpot" // registers its tasks
	_ "cermic/envs/smac"       // registers its tasks
	_ "cermic/envs/vmas"       // registers its tasks
)

// Run is an experiment and the folder that keeps its record and its weights.
type Run struct {
	experiment.Config
	Folder string
}

type request struct {
	budget   string
	frames   int
	reward   envs.Reward
	settings []string
	seed     uint64
	folder   string
}

// Option changes what New composes.
type Option func(*request)

// WithBudget trains at a named budget, one of [Presets]; without it at [DefaultBudget].
func WithBudget(name string) Option { return func(q *request) { q.budget = name } }

// WithFrames trains at most n frames, evaluated in tenths, on the schedule of the whole budget; 0 is the whole budget.
func WithFrames(n int) Option { return func(q *request) { q.frames = n } }

// WithReward trains on the sparse or the dense reward; without it on the sparse one, where a task has both.
func WithReward(r envs.Reward) Option { return func(q *request) { q.reward = r } }

// WithSettings changes settings, each "key=value", as in "explore.alpha=0.5".
func WithSettings(assignments ...string) Option {
	return func(q *request) { q.settings = append(q.settings, assignments...) }
}

// WithSeed sets the seed of every random stream of the run; without it 1.
func WithSeed(seed uint64) Option { return func(q *request) { q.seed = seed } }

// WithFolder names the folder of the runs; without it "runs".
func WithFolder(folder string) Option { return func(q *request) { q.folder = folder } }

// Tasks returns the names of the registered tasks in alphabetical order.
func Tasks() []string { return envs.Names() }

// New composes a run of a registered task, named with or without its family, and a registered method. A part chosen by
// a setting, such as explore=db, is trained on the budget's schedule like the parts of methods.
//
// The run's label is the method's name, followed by each setting that differs from its defaults at that budget. Parts
// that make up another method have that method's name. A changed budget is called "custom". An unknown name or an
// impossible setting is an error of one sentence.
func New(task, method string, options ...Option) (Run, error) {
	q := request{budget: DefaultBudget, reward: envs.Sparse, seed: 1, folder: "runs"}
	for _, o := range options {
		o(&q)
	}
	e, err := q.compose(task, method)
	return Run{e, q.folder}, err
}

func (q request) compose(task, method string) (e experiment.Config, err error) {
	id, err := findTask(task, envs.Names())
	m, noMethod := FindMethod(method)
	b, noBudget := FindPreset(q.budget)
	if err := cmp.Or(err, noMethod, noBudget); err != nil {
		return e, err
	}
	if b, err = b.On(id); err != nil {
		return e, err
	}
	if e, err = defaults(id, m, b, q.reward); err != nil {
		return e, err
	}
	if q.frames > 0 && q.frames < e.Budget.Frames {
		e.Budget.Frames, e.Budget.EvalEvery = q.frames, max(1, q.frames/10)
	}
	e.Seed = q.seed
	for _, assignment := range outerFirst(q.settings) {
		key, value, ok := strings.Cut(assignment, "=")
		if !ok {
			return e, fmt.Errorf("the setting %q has no value: want key=value, for example explore.alpha=0.5", assignment)
		}
		if err := b.set(&e, strings.TrimSpace(key), value); err != nil {
			return e, err
		}
	}
	if e.Budget != b.Budget {
		e.Budget.Name = CustomBudget
	}
	if err := e.Validate(); err != nil {
		return e, err
	}
	if err := keepsPolicy(m, e); err != nil && !m.composes(e) {
		return e, err
	}
	if m, err = methodIn(m.ID, e); err != nil {
		return e, err
	}
	d, err := compare(e, m, b, q.reward)
	e.Method = d.String()
	return e, err
}

// findTask returns the one of known tasks that has the name, in full or without its suite.
func findTask(name string, known []string) (string, error) {
	if slices.Contains(known, name) {
		return name, nil
	}
	named := slices.DeleteFunc(slices.Clone(known), func(id string) bool { return path.Base(id) != name })
	switch len(named) {
	case 0:
		return "", fmt.Errorf("unknown task %q%s", name, conf.Near(name, known))
	case 1:
		return named[0], nil
	}
	return "", fmt.Errorf("task %q is one of %s: give its full name", name, strings.Join(named, ", "))
}

// outerFirst sorts assignments so that the choice of a part, explore.memory=graph, comes before the part's settings.
func outerFirst(assignments []string) []string {
	depth := func(s string) int {
		key, _, _ := strings.Cut(s, "=")
		return strings.Count(strings.TrimSuffix(strings.TrimSpace(key), ".kind"), ".") // explore.kind=db is explore=db
	}
	return slices.SortedStableFunc(slices.Values(assignments), func(a, b string) int { return depth(a) - depth(b) })
}

// defaults composes a method on a task at a budget.
func defaults(task string, m Method, b Preset, reward envs.Reward) (experiment.Config, error) {
	cfg, err := envs.Default(task)
	if err != nil {
		return experiment.Config{}, err
	}
	shared := cfg.Shared()
	shared.Reward = reward
	if _, ok := m.Learner.(learn.ValueBased); ok {
		cfg = envs.Discretised(cfg)
	}
	e := experiment.Config{Task: cfg.WithShared(shared), Learner: m.Learner, Policy: m.Policy, Explore: m.Explore}
	b.apply(&e)
	return e, nil
}

// keepsPolicy refuses an experiment without its method's own policy, which makes it another method.
func keepsPolicy(m Method, e experiment.Config) error {
	if m.Policy.Kind() == policy.DefaultMLP().Kind() || m.Policy.Kind() == e.Policy.Kind() {
		return nil
	}
	plain := "mappo"
	if Mixer(e.Learner) != "" {
		plain = "qmix"
	}
	inside := ""
	if _, ok := conf.Get(m.Policy, "core"); ok {
		inside = "set policy.core=gru or mlp for another network inside that, or "
	}
	return fmt.Errorf("%s acts by a policy of its own, which policy=%s replaces: %sask for %s",
		m.ID, e.Policy.Kind(), inside, plain)
}
