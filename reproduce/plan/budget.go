// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"sync"

	"cermic/cermiclib/cermic"
	"cermic/cermiclib/conf"
	"cermic/cermiclib/explore"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/memory"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/run"
	"cermic/envs"
	"cermic/reproduce/paper"
)

// Budget is how long and how finely a run trains. It sets the learner's schedule as well, so runs of different budgets are
// never comparable, and it is part of a run's identity.
type Budget struct {
	About  string
	Budget run.Budget
	Copies int                               // E
	MAPPO  func(learn.MAPPO) learn.MAPPO     // sets the schedule of a MAPPO
	Q      func(learn.Q) learn.Q             // sets the schedule of a value learner
	Cermic func(cermic.Config) cermic.Config // sets the schedule of CERMIC's module
	DB     func(explore.DB) explore.DB       // sets the schedule of the Dynamic Bottleneck; nil: it keeps its own
	Policy func(policy.Config) policy.Config // sets the size of the policy; nil: it keeps its own
	Longer map[string]int                    // frames on the tasks that have others than the rest

	// Pictured is what changes where agents see pictures, a frame of which takes up to 100 times as long to learn from; nil: nothing.
	Pictured func(b Budget, agents int) Budget
}

// DefaultBudget is what every verb of the command line takes where none is named, so that curves, table and export show what train made.
const DefaultBudget = "demo"

// TableBudget is the budget at which the committed records fill the paper's tables.
const TableBudget = "short"

// CustomBudget is the name of every budget that -set has changed.
const CustomBudget = "custom"

// Budgets are the named ones, from the shortest to the paper's.
var Budgets = []Budget{
	{
		About:  "seconds (on pictures a minute or two): does it run?",
		Budget: run.Budget{Name: "smoke", Frames: 3000, EvalEvery: 3000, EvalEpisodes: 20},
		Copies: 20,
		MAPPO: func(c learn.MAPPO) learn.MAPPO {
			c.Frames, c.Epochs, c.Minibatch = 1000, 2, 250
			return c
		},
		Q: func(c learn.Q) learn.Q {
			c.Frames, c.Steps, c.Batch, c.Replay = 1000, 8, 250, 3000
			return c
		},
		Cermic: sparing, Pictured: picturesSmoke,
	},
	explorationBudget,
	{
		// The beginning of budget short, with the smallest of CERMIC's memories: the graph would take three times as long.
		About:  "120,000 frames with the settings of short, half a minute to a minute on two cores: enough to see Balance learnt; CERMIC has its MLP memory",
		Budget: run.Budget{Name: "demo", Frames: 120_000, EvalEvery: 12_000, EvalEpisodes: 60},
		Copies: 60,
		MAPPO:  shortMAPPO, Q: shortQ,
		Cermic: func(c cermic.Config) cermic.Config {
			c = sparing(c)
			c.Memory = memory.DefaultMLP()
			return c
		},
		Pictured: picturesDemo,
	},
	{
		// The settings of the recorded BenchMARL curves, on the same grid of evaluations.
		About: "600,000 frames, as the recorded BenchMARL curves, and 30,000 of clean_up; " +
			"CERMIC learns from a tenth of the agent steps in each pass, on 8 negatives",
		Budget: run.Budget{Name: "short", Frames: 600_000, EvalEvery: 60_000, EvalEpisodes: 60},
		Copies: 60,
		MAPPO:  shortMAPPO, Q: shortQ,
		Cermic: sparing, Pictured: picturesShort,
	},
	{
		// Evaluation is not in the paper: every third collection, 60 episodes, which cost next to nothing.
		About: "3,000,000 frames: every number of the paper's hyper-parameter table",
		Budget: run.Budget{Name: "paper", Frames: paper.Hyper.Duration.MaxFrames,
			EvalEvery: 3 * paper.Hyper.OnPolicy.Frames, EvalEpisodes: 60},
		Copies: paper.Hyper.OnPolicy.Copies,
		MAPPO: func(c learn.MAPPO) learn.MAPPO {
			h := paper.Hyper
			c.Frames, c.Epochs, c.Minibatch = h.OnPolicy.Frames, h.OnPolicy.Epochs, h.OnPolicy.Minibatch
			c.Discount, c.LR, c.Eps = h.General.Discount, h.General.LearningRate, h.General.AdamEps
			return c
		},
		// Reading: the paper prints one size of a collection, for policy gradients. Taking it for value learners too keeps the
		// grid of evaluations the same for all methods; BenchMARL's own would cost six times the updates.
		Q: func(c learn.Q) learn.Q {
			h := paper.Hyper
			c.Frames, c.Steps, c.Batch, c.Replay = h.OnPolicy.Frames, h.OffPolicy.Steps, h.OffPolicy.TrainBatch, h.OffPolicy.Replay
			c.Discount, c.LR, c.Eps, c.Polyak = h.General.Discount, h.General.LearningRate, h.General.AdamEps, h.TargetUpdates.Polyak
			c.EpsInit, c.EpsEnd = h.Exploration.EpsInit, h.Exploration.EpsEnd
			return c
		},
		Cermic: func(c cermic.Config) cermic.Config { return c },
	},
}

// shortMAPPO is the schedule of the recorded BenchMARL runs of MAPPO.
func shortMAPPO(c learn.MAPPO) learn.MAPPO {
	c.Frames, c.Epochs, c.Minibatch, c.LR = 6000, 10, 1200, 3e-4
	return c
}

// shortQ is the schedule of the recorded BenchMARL runs of QMIX.
func shortQ(c learn.Q) learn.Q {
	c.Frames, c.Steps, c.Batch, c.Replay, c.LR = 6000, 100, 1024, 600_000, 3e-4
	return c
}

// sparing is what a machine without a GPU can afford of CERMIC: each of its three passes over a collection takes a tenth of the
// agent steps, not a quarter, and sets 8 negatives against each, not 16.
func sparing(c cermic.Config) cermic.Config {
	c.Fraction, c.Negatives = 0.1, 8
	return c
}

// picturesSmoke is a tenth of everything: an episode of pictures is ten times as long, and a frame costs more.
func picturesSmoke(b Budget, _ int) Budget {
	b.Budget.Frames, b.Budget.EvalEvery, b.Budget.EvalEpisodes, b.Copies = 300, 300, 2, 2
	return b.then(func(c *learn.MAPPO) { c.Frames, c.Minibatch = 100, 25 }, func(c *learn.Q) { c.Frames, c.Batch, c.Replay = 100, 25, 300 })
}

// picturesDemo is a twentieth of the frames in small rollout batches: minutes, which are too few to learn from pictures.
func picturesDemo(b Budget, _ int) Budget {
	b.Budget.Frames, b.Budget.EvalEvery, b.Budget.EvalEpisodes, b.Copies = 6000, 3000, 4, 10
	return b.then(func(c *learn.MAPPO) { c.Frames, c.Epochs, c.Minibatch = 1000, 2, 250 }, func(c *learn.Q) { c.Frames, c.Steps, c.Batch, c.Replay = 1000, 8, 100, 6000 })
}

// picturesShort is judged by fewer episodes, which are ten times as long, and takes as many gradient steps as elsewhere after a
// collection, each on a fifth of the rows: rows are what pictures cost. With many agents (clean_up has seven, whose pictures are five
// times as large) it has a twentieth of the frames, of a fifth of the copies: all act until the last episode of an evaluation is over.
func picturesShort(b Budget, agents int) Budget {
	b.Budget.EvalEpisodes = 20
	if agents > 2 {
		b.Budget.Frames, b.Budget.EvalEvery, b.Budget.EvalEpisodes, b.Copies = 30_000, 15_000, 12, 12
	}
	return b.then(func(c *learn.MAPPO) { c.Epochs, c.Minibatch = c.Epochs/5, c.Minibatch/5 }, func(c *learn.Q) { c.Batch /= 5 })
}

// then is b with learners' schedules changed further.
func (b Budget) then(onPolicy func(*learn.MAPPO), offPolicy func(*learn.Q)) Budget {
	mappo, q := b.MAPPO, b.Q
	b.MAPPO = func(c learn.MAPPO) learn.MAPPO {
		c = mappo(c)
		onPolicy(&c)
		return c
	}
	b.Q = func(c learn.Q) learn.Q {
		c = q(c)
		offPolicy(&c)
		return c
	}
	return b
}

// On is the budget on a registered task.
func (b Budget) On(task string) (Budget, error) {
	if frames, ok := b.Longer[task]; ok {
		b.Budget.Frames, b.Budget.EvalEvery = frames, frames/10
	}
	if b.Pictured == nil {
		return b, nil
	}
	agents, err := pictured(task)
	if err != nil || agents == 0 {
		return b, err
	}
	return b.Pictured(b, agents), nil
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

// FindBudget returns the budget of a name.
func FindBudget(name string) (Budget, error) {
	var known []string
	for _, b := range Budgets {
		if b.Budget.Name == name {
			return b, nil
		}
		known = append(known, b.Budget.Name)
	}
	return Budget{}, fmt.Errorf("unknown budget %q%s", name, conf.Near(name, known))
}

// annealShare is the part of all frames over which ε falls: a third, BenchMARL's default.
const annealShare = 3

// lagShare is the part of all frames that CPM's copy to act on is behind: a third.
const lagShare = 3

// policy sets the schedule of a policy.
func (b Budget) policy(p policy.Config) policy.Config {
	if b.Policy != nil {
		p = b.Policy(p)
	}
	if c, ok := p.(policy.CPM); ok {
		c.Lag = b.Budget.Frames / lagShare
		return c
	}
	return p
}

// apply sets the budget and the schedules that go with it.
func (b Budget) apply(e *run.Experiment) {
	e.Budget = b.Budget
	shared := e.Task.Shared()
	shared.Copies = b.Copies
	e.Task = e.Task.WithShared(shared)
	e.Learner, e.Policy, e.Explore = b.learner(e.Learner), b.policy(e.Policy), b.explorer(e.Explore)
}

// learner sets the schedule of a learner.
func (b Budget) learner(l learn.Config) learn.Config {
	switch c := l.(type) {
	case learn.MAPPO:
		return b.MAPPO(c)
	case learn.Q:
		c.EpsFrames = b.Budget.Frames / annealShare
		return b.Q(c)
	}
	return l
}

// explorer sets the schedule of an explorer.
func (b Budget) explorer(x explore.Config) explore.Config {
	switch c := x.(type) {
	case explore.Epsilon:
		c.Frames = b.Budget.Frames / annealShare
		return c
	case explore.ICES: // a step of the world models for each of the value learner's, for all of the run
		c.Steps, c.RatioFrames = b.Q(learn.DefaultQ()).Steps, b.Budget.Frames
		return c
	case explore.MACE: // as many steps of hindsight as the policy takes
		l := b.MAPPO(learn.DefaultMAPPO())
		c.HindsightSteps = l.Epochs * ((l.Frames + l.Minibatch - 1) / l.Minibatch)
		return c
	case explore.DB:
		if b.DB != nil {
			return b.DB(c)
		}
	case cermic.Config:
		return b.Cermic(c)
	}
	return x
}

// set changes one setting. A part of another kind gets the budget's schedule, and a bonus that begins to fade fades over all of the
// budget, but for what the same assignment says of that.
func (b Budget) set(e *run.Experiment, key, value string) error {
	before := conf.Keys(*e)
	if err := conf.Set(e, key, value); err != nil {
		return err
	}
	now := conf.Keys(*e)
	changed := func(key string) bool {
		was, _ := find(before, key)
		is, _ := find(now, key)
		return was != is
	}
	if changed("learner") {
		e.Learner = b.learner(e.Learner)
	}
	if changed("policy") {
		e.Policy = b.policy(e.Policy)
	}
	if changed("explore") {
		e.Explore = b.explorer(e.Explore)
	}
	if fade, _ := find(now, "explore.int_anneal"); changed("explore.int_anneal") && fade == explore.AnnealLinear {
		if err := conf.Set(e, "explore.int_anneal_frames", fmt.Sprint(b.Budget.Frames)); err != nil {
			return err
		}
	}
	return conf.Set(e, key, value) // once more: a part that is of its kind already keeps what else it has
}
