// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"context"
	"fmt"
	"iter"
	"maps"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/rl"
	"cermic/envs/conf"
	"cermic/envs/rng"
)

// Q is value decomposition: one network computes the utilities of each agent's actions, and a mixer combines them into
// the team's value. With the QMIX mixer, it is QMIX as in BenchMARL 1.5.2 (conf/algorithm/qmix.yaml,
// algorithms/qmix.py, torchrl's QMixerLoss):
//
//	y = r + γ·(1 − done)·Q_tot⁻(s', max_a Q_i⁻(o'_i, a))       loss = mean (Q_tot − y)²
//
// where
//
//  1. the team's reward is the mean over agents, and so is the intrinsic reward that is added to it, as it was at
//     collection;
//  2. minibatches are single frames, drawn uniformly and with replacement from the replay;
//  3. one Adam moves utilities and mixer; the target networks Q⁻ follow after every step;
//  4. each agent takes a uniform allowed action with probability ε, which falls linearly;
//  5. a time limit counts as the end of an episode;
//  6. Deviation: the utilities of dead agents count in the team's value but are not trained, because their observations
//     and actions carry no information about the game. BenchMARL trains them like all others.
//
// A recurrent policy is trained on chunks of bptt successive steps, which together make up a minibatch. Each chunk
// starts from the state that the policy had there when it acted; the replay stores these states (Kapturowski et al.
// 2019). The actions must be discrete.
type Q struct {
	Mixer     MixerConfig `json:"mixer" help:"mixer that combines the agents' utilities into Q_tot"`
	Frames    int         `json:"offpolicy_frames_per_batch" range:"1..100000000" help:"frames of a rollout batch; the paper's on-policy value: 36000, BenchMARL: 6000"`
	Steps     int         `json:"optimizer_steps_per_collection" range:"1..1000000" help:"gradient steps after each rollout batch; the paper: 1800"`
	Batch     int         `json:"train_batch_size" range:"1..100000000" help:"frames of a gradient step; the paper: 1024"`
	Replay    int         `json:"replay_buffer_size" range:"1..1000000000" help:"capacity of the replay buffer, in frames; the paper: 1500000"`
	ReplayGB  float64     `json:"replay_memory_gb" range:"(0..)" help:"largest memory of the replay buffer, in GB"`
	Discount  float64     `json:"discount" range:"0..1" help:"discount factor γ; the paper: 0.99"`
	Polyak    float64     `json:"polyak_tau" range:"0..1" help:"fraction by which target networks follow each update; the paper: 0.005"`
	DoubleQ   bool        `json:"double_q" help:"double Q-learning: the online network chooses the target's action; BenchMARL: off"`
	EpsInit   float64     `json:"eps_init" range:"0..1" help:"initial ε of ε-greedy exploration; the paper: 0.8"`
	EpsEnd    float64     `json:"eps_end" range:"0..1" help:"final ε; the paper: 0.01"`
	EpsFrames int         `json:"exploration_anneal_frames" range:"1..1000000000000" help:"frames over which ε falls linearly; BenchMARL: a third of all frames"`
	nn.Adam               // of utilities and mixer together; the paper's table: lr 1e-4, eps 1e-6

	// Former settings.
	_ conf.Constant `key:"loss" value:"l2"`
	_ conf.Constant `key:"bootstrap_on_timeout" value:"false"`
	_ conf.Constant `key:"int_at" value:"collect"`
}

func init() { Register(DefaultQ()) }

// Scheduled sets the rollout batch, the replay, the gradient steps and their batch, and the frames over which ε falls.
func (c Q) Scheduled(s rl.Schedule) Config {
	c.Frames, c.Steps, c.Batch, c.Replay, c.EpsFrames = s.Rollout, s.Steps, s.Batch, s.Replay, s.Within()
	if s.LR > 0 {
		c.LR = s.LR
	}
	return c
}

// DefaultQ holds every number of the paper's hyper-parameter table, and BenchMARL's where the table is silent.
func DefaultQ() Q {
	return Q{
		Mixer: DefaultQMIX(), Frames: 36000, Steps: 1800, Batch: 1024, Replay: 1_500_000, ReplayGB: 4, Discount: 0.99,
		Polyak: 0.005, EpsInit: 0.8, EpsEnd: 0.01, EpsFrames: 1_000_000,
		Adam: nn.Adam{LR: 1e-4, Eps: 1e-6, Clip: 5},
	}
}

// Kind is "q".
func (Q) Kind() string { return "q" }

// ValueBased sets value learners apart.
func (Q) ValueBased() {}

// Label names the learner by its mixer.
func (c Q) Label() string { return c.Mixer.Kind() }

// CollectFrames is the number of frames of one rollout batch.
func (c Q) CollectFrames() int { return c.Frames }

// Validate returns one sentence about the first impossible setting.
func (c Q) Validate() error {
	if c.Mixer == nil {
		return fmt.Errorf("mixer is missing, want one of %v", conf.Kinds[MixerConfig]())
	}
	return conf.Validate(c.Mixer)
}

// q is a Q in training.
type q struct {
	Q
	*actor
	update      *nn.Loop
	replay      *rl.Replay
	slots       []int // [L,B/L] of a minibatch
	rewarded    bool  // some intrinsic reward has been stored
	trainPolicy policy.Training
}

var (
	_ OffPolicy  = (*q)(nil)
	_ ValueBased = Q{}
	_ rl.Saver   = (*q)(nil)
)

// Build makes the graphs and the replay.
func (c Q) Build(b *nn.Build, p policy.Config) (Learner, error) {
	s := b.Spec
	switch {
	case s.Act.Choices == 0:
		return nil, fmt.Errorf("%s chooses among finitely many actions, those of %s are continuous: set "+
			"task.discrete=product9, or choose another learner", c.Label(), s.Name)
	case b.Context > 0:
		return nil, fmt.Errorf("%s has no actor that could read a context: set explore.actor_uses_context=false, "+
			"or learner=mappo", c.Label())
	}
	mixer, err := c.Mixer.Build(b)
	if err != nil {
		return nil, err
	}
	a, err := newActor(b, p, onlineUtility)
	if err != nil {
		return nil, err
	}
	frames := max(1, c.Batch/a.chunk) * a.chunk
	l := &q{Q: c, actor: a, slots: make([]int, frames)}
	if err := l.makeReplay(); err != nil {
		return nil, err
	}
	if l.update, err = l.newUpdate(mixer); err != nil {
		return nil, err
	}
	l.trainPolicy, err = policy.TrainerOf(a.policy, b, onlineUtility)
	return l, err
}

// makeReplay allocates the replay.
func (l *q) makeReplay() (err error) {
	if steps := l.Frames / l.build.Spec.NumEnvs; l.HiddenLen() > 0 && steps < l.chunk {
		return fmt.Errorf("learner.offpolicy_frames_per_batch gives %d steps a rollout batch, want at least the %d of "+
			"policy.bptt", steps, l.chunk)
	}
	l.replay, err = rl.NewReplay(l.build.Spec, l.Replay, int64(l.ReplayGB*rl.GB), l.HiddenLen(), l.chunk)
	if err != nil {
		return fmt.Errorf("learner.replay_buffer_size and learner.replay_memory_gb: %w", err)
	}
	return nil
}

// Act computes the utilities of every agent of every environment from its own observation, and sets ε.
func (l *q) Act(in *rl.Obs, out *rl.Dist) error {
	out.Greedy, out.Eps = true, float32(rl.Anneal(l.EpsInit, l.EpsEnd, in.Frames, l.EpsFrames))
	return l.actor.Act(in, out)
}

// Experience returns the replay, for explorers that also train on it.
func (l *q) Experience() *rl.Replay { return l.replay }

// Update puts the rollout batch into the replay and takes the gradient steps, each on a fresh minibatch.
func (l *q) Update(ctx context.Context, x *rl.Rollout) (rl.Scalars, error) {
	if err := l.replay.Add(x); err != nil {
		return nil, err
	}
	for _, r := range x.Intrinsic {
		l.rewarded = l.rewarded || r != 0
	}
	sums := make(rl.Scalars, len(qScalars)+2)
	for scalars, err := range l.update.Each(ctx, qScalars, l.minibatches(x)) {
		if err != nil {
			return nil, fmt.Errorf("learner: %w", err)
		}
		for i, name := range qScalars {
			sums[name] += float64(scalars[i]) / float64(l.Steps)
		}
	}
	sums["epsilon"] = rl.Anneal(l.EpsInit, l.EpsEnd, x.Frames, l.EpsFrames)
	sums["replay_frames"] = float64(l.replay.Len())
	own, err := l.trainPolicy(ctx, x)
	maps.Copy(sums, own)
	return sums, err
}

// minibatches feeds update with a sample of the replay for each gradient step.
func (l *q) minibatches(x *rl.Rollout) iter.Seq[error] {
	return func(yield func(error) bool) {
		for step := range l.Steps {
			l.replay.Sample(l.slots, rng.New(l.build.Seed, "replay", uint64(x.Iteration), uint64(step)))
			l.feed(x.ExtrinsicWeight)
			if !yield(nil) {
				return
			}
		}
	}
}

// Save returns the stored intrinsic rewards and recurrent states. Repeating the action log restores the rest of the
// replay.
func (l *q) Save() []byte { return l.replay.Save(l.rewarded) }

// Load continues from the state of Save.
func (l *q) Load(state []byte) (err error) {
	l.rewarded, err = l.replay.Load(state)
	return err
}
