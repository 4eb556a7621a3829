// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"fmt"
	"slices"

	"cermic/cermiclib/results"
	"cermic/envs"
)

// Policy acts for all agents of a trained run in E parallel environments. Close it when it is no longer needed. It
// must not be used by several goroutines at once.
type Policy struct {
	Experiment Config // of the run
	Frames     int    // that it had trained when its weights were saved

	// Sampled draws actions from the policy's distribution; otherwise they are its most likely ones. A value learner is
	// greedy either way.
	Sampled bool

	trainer *trainer
	hidden  [][]float32 // recurrent states [E,N,C], one a group
	isFirst []uint8     // [E] 1 where an episode starts
}

// Load returns the policy of run id of st with its last saved weights, for copies parallel environments. The run may be
// partial. A run without weights in st is an error that wraps fs.ErrNotExist.
func Load(st *results.Store, id string, copies int) (*Policy, error) {
	r, err := st.Head(id)
	if err != nil {
		return nil, err
	}
	e, err := Of(r)
	if err != nil {
		return nil, fmt.Errorf("run %s cannot be built here: %w", id, err)
	}
	return e.Trained(st, copies)
}

// Trained is Load by the experiment.
func (e Config) Trained(st *results.Store, copies int) (*Policy, error) {
	if copies < 1 {
		return nil, fmt.Errorf("a policy for %d parallel environments, want at least 1", copies)
	}
	t, err := restored(e, e.withCopies(copies), st)
	if err != nil {
		return nil, err
	}
	p := &Policy{Experiment: e, Frames: t.frames, Sampled: e.Budget.Sampled, trainer: t,
		isFirst: slices.Repeat([]uint8{1}, copies)}
	for _, g := range t.groups {
		p.hidden = append(p.hidden, make([]float32, len(g.hidden)))
	}
	t.seedEvaluation(0, copies)
	return p, nil
}

// Env builds the parallel environments of the task that the policy was trained on; seed names their random streams.
func (p *Policy) Env(seed uint64) (envs.Env, error) { return p.trainer.exp.Task.Build(seed, 0) }

// Spec describes the environments that the policy acts in.
func (p *Policy) Spec() *envs.Spec { return p.trainer.spec }

// Reset clears the recurrent states and the context of the environments c with mask[c] != 0 (nil: all). An episode
// starts there, so call it with every Env.Reset but the first.
func (p *Policy) Reset(mask []uint8) {
	copies := p.Spec().NumEnvs
	for c := range copies {
		if mask != nil && mask[c] == 0 {
			continue
		}
		p.isFirst[c] = 1
		for _, h := range p.hidden {
			n := len(h) / copies
			clear(h[c*n : (c+1)*n])
		}
	}
}

// Act writes the agents' actions for the observations in step into act. Both are buffers of environments with the
// policy's Spec.
func (p *Policy) Act(step *envs.Step, act *envs.Actions) error {
	s := p.Spec()
	agents, actions := s.NumEnvs*s.Agents, len(act.Discrete)+len(act.Continuous)
	if len(step.Score) != s.NumEnvs || len(step.Obs) != agents*s.ObsLen() || actions != agents*max(1, s.Act.Dim) {
		return fmt.Errorf("a policy for %d environments of %s with %d agents got %d scores, %d numbers of observations "+
			"and %d of actions: make the buffers from its Spec",
			s.NumEnvs, s.Name, s.Agents, len(step.Score), len(step.Obs), actions)
	}
	seats := p.trainer.seats(step, act)
	for i := range seats {
		seats[i].hidden = p.hidden[i]
	}
	p.trainer.exp.Budget.Sampled = p.Sampled
	err := p.trainer.takeTurns(seats, step, act, p.isFirst)
	clear(p.isFirst)
	return err
}

// Close releases the policy's graphs.
func (p *Policy) Close() { p.trainer.close() }
