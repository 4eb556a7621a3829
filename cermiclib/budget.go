// SPDX-License-Identifier: Apache-2.0

package cermiclib

import (
	"reflect"
	"sync"

	"cermic/cermiclib/cermic"
	"cermic/cermiclib/experiment"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/conf"
)

// Preset is a named budget: training length, evaluation, and the schedule of all parts. Runs of different budgets are
// never comparable; the budget is part of a run's identity.
type Preset struct {
	About    string
	Budget   experiment.Budget
	NumEnvs  int         // E, parallel environments
	Schedule rl.Schedule // of learner, policy and explorer; Frames are set from the Budget

	longer map[string]int // frames of the tasks that are trained longer
	// images are the changes for tasks with image observations, whose frames cost up to 100 times as much; nil: none.
	images func(b *Preset, agents int)
}

const (
	// DefaultBudget is the budget of runs that name none.
	DefaultBudget = "demo"
	// TableBudget is the budget at which the committed records fill the paper's tables.
	TableBudget = "short"
	// CustomBudget is the name of every changed budget.
	CustomBudget = "custom"
)

// Presets are the named budgets, from the shortest to the paper's.
var Presets = []Preset{
	{
		About:   "seconds (with image observations a minute or two), with networks of 64 units: does it run?",
		Budget:  experiment.Budget{Name: "smoke", Frames: 3000, EvalEvery: 3000, EvalEpisodes: 20},
		NumEnvs: 20,
		Schedule: rl.Schedule{
			Rollout: 1000, Epochs: 2, Minibatch: 250, Steps: 8, Batch: 250, Replay: 3000, Width: 64, Sparing: true,
		},
		images: imagesSmoke,
	},
	{
		// Small networks and the smallest of CERMIC's memories: a run takes less than a minute on two cores.
		About: "150,000 frames of the small exploration tasks, 399,000 where agents walk through rooms; " +
			"networks of 64 units, rollout batches of 3,000 frames",
		Budget:  experiment.Budget{Name: "explore", Frames: 150_000, EvalEvery: 15_000, EvalEpisodes: 60, Sampled: true},
		longer:  map[string]int{"explore/pass": 399_000, "explore/secret": 399_000, "explore/rooms": 399_000},
		NumEnvs: 60,
		Schedule: rl.Schedule{
			Rollout: 3000, Epochs: 10, Minibatch: 750, Steps: 50, Batch: 512, Replay: 150_000, LR: 7e-4, Width: 64,
			Sparing: true, Quick: true,
		},
	},
	{
		// The first fifth of short, with the smallest of CERMIC's memories.
		About: "120,000 frames with the settings of short, half a minute to a minute on two cores: " +
			"enough to see Balance learnt; CERMIC has its MLP memory",
		Budget:   experiment.Budget{Name: "demo", Frames: 120_000, EvalEvery: 12_000, EvalEpisodes: 60},
		NumEnvs:  60,
		Schedule: benchmarl(true),
		images:   imagesDemo,
	},
	{
		// The settings of the recorded BenchMARL curves, evaluated at the same frames.
		About: "600,000 frames, as the recorded BenchMARL curves, and 30,000 of clean_up; " +
			"CERMIC's module takes half as many gradient steps as the learner, on 8 negatives",
		Budget:   experiment.Budget{Name: "short", Frames: 600_000, EvalEvery: 60_000, EvalEpisodes: 60},
		NumEnvs:  60,
		Schedule: benchmarl(false),
		images:   imagesShort,
	},
	{
		// The numbers of the paper's Table 6. Discount, Adam's numbers, target updates and ε are the learners' defaults. The
		// paper does not state its evaluations: every third rollout batch and 60 episodes cost next to nothing.
		//
		// Reading: the paper prints one size of a rollout batch, for policy gradients. Value learners take it too, so
		// that all methods are evaluated at the same frames; BenchMARL's own size would cost six times the updates.
		About:   "3,000,000 frames: every number of the paper's hyper-parameter table",
		Budget:  experiment.Budget{Name: "paper", Frames: 3_000_000, EvalEvery: 108_000, EvalEpisodes: 60},
		NumEnvs: 60,
		Schedule: rl.Schedule{
			Rollout: 36_000, Epochs: 30, Minibatch: 2400, Steps: 1800, Batch: 1024, Replay: 1_500_000,
		},
	},
}

// benchmarl returns the schedule of the recorded BenchMARL runs of MAPPO and QMIX.
func benchmarl(quick bool) rl.Schedule {
	return rl.Schedule{
		Rollout: 6000, Epochs: 10, Minibatch: 1200, Steps: 100, Batch: 1024, Replay: 600_000, LR: 3e-4,
		Sparing: true, Quick: quick,
	}
}

// imagesSmoke divides everything by ten: episodes with images are ten times as long, and their frames cost more.
func imagesSmoke(b *Preset, _ int) {
	b.Budget.Frames, b.Budget.EvalEvery, b.Budget.EvalEpisodes, b.NumEnvs = 300, 300, 2, 2
	s := &b.Schedule
	s.Rollout, s.Minibatch, s.Batch, s.Replay = 100, 25, 25, 300
}

// imagesDemo takes a twentieth of the frames in small rollout batches. That takes minutes, too few to learn from
// images.
func imagesDemo(b *Preset, _ int) {
	b.Budget.Frames, b.Budget.EvalEvery, b.Budget.EvalEpisodes, b.NumEnvs = 6000, 3000, 4, 10
	s := &b.Schedule
	s.Rollout, s.Epochs, s.Minibatch, s.Steps, s.Batch, s.Replay = 1000, 2, 250, 8, 100, 6000
}

// imagesShort evaluates fewer episodes, which are ten times as long, and takes as many gradient steps on a fifth of the
// rows. clean_up, with seven agents and images five times as large, has a twentieth of the frames.
func imagesShort(b *Preset, agents int) {
	b.Budget.EvalEpisodes = 20
	if agents > 2 {
		b.Budget.Frames, b.Budget.EvalEvery, b.Budget.EvalEpisodes, b.NumEnvs = 30_000, 15_000, 12, 12
	}
	s := &b.Schedule
	s.Epochs, s.Minibatch, s.Batch = s.Epochs/5, s.Minibatch/5, s.Batch/5
}

// On returns the budget on a registered task.
func (b Preset) On(task string) (Preset, error) {
	if frames, ok := b.longer[task]; ok {
		b.Budget.Frames, b.Budget.EvalEvery = frames, frames/10
	}
	if b.images == nil {
		return b, nil
	}
	agents, err := ImageAgents(task)
	if err == nil && agents > 0 {
		b.images(&b, agents)
	}
	return b, err
}

// imageAgents caches ImageAgents, which builds the task.
var imageAgents sync.Map // name -> agents

// ImageAgents returns how many agents of a registered task have image observations; 0 means vectors.
func ImageAgents(task string) (agents int, err error) {
	if known, ok := imageAgents.Load(task); ok {
		return known.(int), nil
	}
	cfg, err := envs.Default(task)
	if err != nil {
		return 0, err
	}
	spec, err := envs.SpecOf(cfg)
	if err != nil {
		return 0, err
	}
	if spec.CellLen() > 0 {
		agents = spec.Agents
	}
	imageAgents.Store(task, agents)
	return agents, nil
}

// FindPreset returns the budget of a name.
func FindPreset(name string) (Preset, error) {
	return conf.Find("budget", name, Presets, func(b Preset) string { return b.Budget.Name })
}

// schedule returns the schedule of all parts beside a learner.
func (b Preset) schedule(l learn.Config) rl.Schedule {
	s := b.Schedule
	s.Frames = b.Budget.Frames
	s.Updates = s.Epochs * s.Rollout / max(1, s.Minibatch)
	if _, ok := l.(learn.ValueBased); ok {
		s.Updates = s.Steps
	}
	return s
}

func (b Preset) apply(e *experiment.Config) {
	e.Budget = b.Budget
	shared := e.Task.Shared()
	shared.NumEnvs = b.NumEnvs
	e.Task = e.Task.WithShared(shared)
	s := b.schedule(e.Learner)
	e.Learner, e.Policy, e.Explore = rl.OnSchedule(e.Learner, s), rl.OnSchedule(e.Policy, s), rl.OnSchedule(e.Explore, s)
}

// set changes one setting. A part or a memory of another kind gets the budget's schedule.
func (b Preset) set(e *experiment.Config, key, value string) error {
	before := *e
	if err := conf.Set(e, key, value); err != nil {
		return err
	}
	s := b.schedule(e.Learner)
	e.Learner = replaced(before.Learner, e.Learner, s)
	e.Policy = replaced(before.Policy, e.Policy, s)
	e.Explore = replaced(before.Explore, e.Explore, s)
	if was, ok := before.Explore.(cermic.Config); ok {
		if now, ok := e.Explore.(cermic.Config); ok {
			now.Memory = replaced(was.Memory, now.Memory, s)
			e.Explore = now
		}
	}
	return conf.Set(e, key, value) // again, over the schedule
}

// replaced puts a part on the schedule if its type differs from the type before.
func replaced[C any](before, now C, s rl.Schedule) C {
	if reflect.TypeOf(before) != reflect.TypeOf(now) {
		return rl.OnSchedule(now, s)
	}
	return now
}
