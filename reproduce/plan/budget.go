// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"
	"sync"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/explore"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/conf"
	"cermic/reproduce/paper"
)

// Preset is how long and how finely a run trains. It sets the schedules of all its parts as well, so runs of different budgets are
// never comparable, and it is part of a run's identity.
type Preset struct {
	About    string
	Budget   experiment.Budget
	NumEnvs  int            // E
	Schedule rl.Schedule    // of learner, policy and explorer; its Frames are those of the Budget
	Longer   map[string]int // frames on the tasks that have others than the rest

	// Pictured is what changes where agents see pictures, a frame of which takes up to 100 times as long to learn from; nil: nothing.
	Pictured func(b *Preset, agents int)
}

// DefaultBudget is what every verb of the command line takes where none is named, so that curves, table and export show what train made.
const DefaultBudget = "demo"

// TableBudget is the budget at which the committed records fill the paper's tables.
const TableBudget = "short"

// CustomBudget is the name of every budget that -set has changed.
const CustomBudget = "custom"

// Presets are the named ones, from the shortest to the paper's.
var Presets = []Preset{
	{
		About:   "seconds (with image observations a minute or two), with networks of 64 units: does it run?",
		Budget:  experiment.Budget{Name: "smoke", Frames: 3000, EvalEvery: 3000, EvalEpisodes: 20},
		NumEnvs: 20,
		Schedule: rl.Schedule{
			Rollout: 1000, Epochs: 2, Minibatch: 250, Steps: 8, Batch: 250, Replay: 3000, Width: 64, Sparing: true,
		},
		Pictured: picturesSmoke,
	},
	{
		// Networks in proportion to the tasks, and the smallest of CERMIC's memories, so that a run takes less than a minute on two cores and many seeds can
		// be compared.
		About: "150,000 frames of the small exploration tasks, 399,000 where agents walk through rooms; networks of 64 units, " +
			"rollout batches of 3,000 frames",
		Budget:  experiment.Budget{Name: "explore", Frames: 150_000, EvalEvery: 15_000, EvalEpisodes: 60, Sampled: true},
		Longer:  map[string]int{"explore/pass": 399_000, "explore/secret": 399_000, "explore/rooms": 399_000},
		NumEnvs: 60,
		Schedule: rl.Schedule{
			Rollout: 3000, Epochs: 10, Minibatch: 750, Steps: 50, Batch: 512, Replay: 150_000, LR: 7e-4, Width: 64, Sparing: true, Quick: true,
		},
	},
	{
		// The beginning of budget short, with the smallest of CERMIC's memories.
		About:    "120,000 frames with the settings of short, half a minute to a minute on two cores: enough to see Balance learnt; CERMIC has its MLP memory",
		Budget:   experiment.Budget{Name: "demo", Frames: 120_000, EvalEvery: 12_000, EvalEpisodes: 60},
		NumEnvs:  60,
		Schedule: benchmarl(true),
		Pictured: picturesDemo,
	},
	{
		// The settings of the recorded BenchMARL curves, on the same grid of evaluations.
		About: "600,000 frames, as the recorded BenchMARL curves, and 30,000 of clean_up; " +
			"CERMIC's module takes half as many gradient steps as the learner, on 8 negatives",
		Budget:   experiment.Budget{Name: "short", Frames: 600_000, EvalEvery: 60_000, EvalEpisodes: 60},
		NumEnvs:  60,
		Schedule: benchmarl(false),
		Pictured: picturesShort,
	},
	{
		// Evaluation is not in the paper: every third rollout batch, 60 episodes, which cost next to nothing. Discount, Adam's numbers, the
		// target networks' share and ε are defaults of the learners already.
		//
		// Reading: the paper prints one size of a rollout batch, for policy gradients. Taking it for value learners too keeps the
		// grid of evaluations the same for all methods; BenchMARL's own would cost six times the updates.
		About: "3,000,000 frames: every number of the paper's hyper-parameter table",
		Budget: experiment.Budget{Name: "paper", Frames: paper.Hyper.Duration.MaxFrames,
			EvalEvery: 3 * paper.Hyper.OnPolicy.Frames, EvalEpisodes: 60},
		NumEnvs: paper.Hyper.OnPolicy.NumEnvs,
		Schedule: rl.Schedule{
			Rollout: paper.Hyper.OnPolicy.Frames, Epochs: paper.Hyper.OnPolicy.Epochs, Minibatch: paper.Hyper.OnPolicy.Minibatch,
			Steps: paper.Hyper.OffPolicy.Steps, Batch: paper.Hyper.OffPolicy.TrainBatch, Replay: paper.Hyper.OffPolicy.Replay,
		},
	},
}

// benchmarl is the schedule of the recorded BenchMARL runs of MAPPO and QMIX.
func benchmarl(quick bool) rl.Schedule {
	return rl.Schedule{Rollout: 6000, Epochs: 10, Minibatch: 1200, Steps: 100, Batch: 1024, Replay: 600_000, LR: 3e-4, Sparing: true, Quick: quick}
}

// picturesSmoke is a tenth of everything: an episode of pictures is ten times as long, and a frame costs more.
func picturesSmoke(b *Preset, _ int) {
	b.Budget.Frames, b.Budget.EvalEvery, b.Budget.EvalEpisodes, b.NumEnvs = 300, 300, 2, 2
	s := &b.Schedule
	s.Rollout, s.Minibatch, s.Batch, s.Replay = 100, 25, 25, 300
}

// picturesDemo is a twentieth of the frames in small rollout batches: minutes, which are too few to learn from pictures.
func picturesDemo(b *Preset, _ int) {
	b.Budget.Frames, b.Budget.EvalEvery, b.Budget.EvalEpisodes, b.NumEnvs = 6000, 3000, 4, 10
	s := &b.Schedule
	s.Rollout, s.Epochs, s.Minibatch, s.Steps, s.Batch, s.Replay = 1000, 2, 250, 8, 100, 6000
}

// picturesShort is judged by fewer episodes, which are ten times as long, and takes as many gradient steps as elsewhere after a
// rollout batch, each on a fifth of the rows: rows are what pictures cost. With many agents (clean_up has seven, whose pictures are five
// times as large) it has a twentieth of the frames, of a fifth of the copies: all act until the last episode of an evaluation is over.
func picturesShort(b *Preset, agents int) {
	b.Budget.EvalEpisodes = 20
	if agents > 2 {
		b.Budget.Frames, b.Budget.EvalEvery, b.Budget.EvalEpisodes, b.NumEnvs = 30_000, 15_000, 12, 12
	}
	s := &b.Schedule
	s.Epochs, s.Minibatch, s.Batch = s.Epochs/5, s.Minibatch/5, s.Batch/5
}

// On is the budget on a registered task.
func (b Preset) On(task string) (Preset, error) {
	if frames, ok := b.Longer[task]; ok {
		b.Budget.Frames, b.Budget.EvalEvery = frames, frames/10
	}
	if b.Pictured == nil {
		return b, nil
	}
	agents, err := pictured(task)
	if err == nil && agents > 0 {
		b.Pictured(&b, agents)
	}
	return b, err
}

// picturedBy remembers what pictured has found out: building a task takes its time, and every label asks.
var picturedBy sync.Map // name -> agents

// pictured is how many agents see pictures in a registered task; 0: they see vectors.
func pictured(task string) (agents int, err error) {
	if known, ok := picturedBy.Load(task); ok {
		return known.(int), nil
	}
	cfg, err := envs.Default(task)
	if err != nil {
		return 0, err
	}
	env, err := alone(cfg)
	if err != nil {
		return 0, err
	}
	defer envs.Close(env)
	if s := env.Spec(); s.CellLen() > 0 {
		agents = s.Agents
	}
	picturedBy.Store(task, agents)
	return agents, nil
}

// FindPreset returns the budget of a name.
func FindPreset(name string) (Preset, error) {
	var known []string
	for _, b := range Presets {
		if b.Budget.Name == name {
			return b, nil
		}
		known = append(known, b.Budget.Name)
	}
	return Preset{}, fmt.Errorf("unknown budget %q%s", name, conf.Near(name, known))
}

// schedule is what the parts beside a learner are trained on.
func (b Preset) schedule(l learn.Config) rl.Schedule {
	s := b.Schedule
	s.Frames = b.Budget.Frames
	s.Updates = s.Epochs * s.Rollout / max(1, s.Minibatch)
	if _, ok := l.(learn.ValueBased); ok {
		s.Updates = s.Steps
	}
	return s
}

// apply sets the budget and the schedules that go with it.
func (b Preset) apply(e *experiment.Config) {
	e.Budget = b.Budget
	shared := e.Task.Shared()
	shared.NumEnvs = b.NumEnvs
	e.Task = e.Task.WithShared(shared)
	s := b.schedule(e.Learner)
	e.Learner, e.Policy, e.Explore = rl.OnSchedule(e.Learner, s), rl.OnSchedule(e.Policy, s), rl.OnSchedule(e.Explore, s)
}

// set changes one setting. A part of another kind gets the budget's schedule, and a bonus that begins to fade fades over all of the
// budget, but for what the same assignment says of that.
func (b Preset) set(e *experiment.Config, key, value string) error {
	switch strings.TrimSuffix(key, ".kind") {
	case "learner", "policy", "explore", "explore.int_anneal":
	default:
		return conf.Set(e, key, value)
	}
	before := conf.Keys(*e)
	if err := conf.Set(e, key, value); err != nil {
		return err
	}
	now := conf.Keys(*e)
	changed := func(key string) bool {
		was, _ := FindKey(before, key)
		is, _ := FindKey(now, key)
		return was != is
	}
	if changed("learner") {
		e.Learner = rl.OnSchedule(e.Learner, b.schedule(e.Learner))
	}
	if changed("policy") {
		e.Policy = rl.OnSchedule(e.Policy, b.schedule(e.Learner))
	}
	if changed("explore") {
		e.Explore = rl.OnSchedule(e.Explore, b.schedule(e.Learner))
	}
	if fade, _ := FindKey(now, "explore.int_anneal"); changed("explore.int_anneal") && fade == explore.AnnealLinear {
		if err := conf.Set(e, "explore.int_anneal_frames", fmt.Sprint(b.Budget.Frames)); err != nil {
			return err
		}
	}
	return conf.Set(e, key, value) // once more: a part that is of its kind already keeps what else it has
}
