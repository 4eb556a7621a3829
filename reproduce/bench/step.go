// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"time"

	"cermic/cermiclib/cermic"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/policy"
)

// stepCost is what CERMIC's module with the graph memory takes on Balance, at its defaults.
type stepCost struct {
	cermic.TimeProfile
	collection time.Duration // of as many frames as Shares.Reward scores
}

// total is the time of one gradient step.
func (s stepCost) total() time.Duration { return s.Gather + s.Forward + s.Backward + s.Optimiser }

// share is the part of a gradient step that takes t.
func (s stepCost) share(t time.Duration) float64 { return t.Seconds() / s.total().Seconds() }

func ms(t time.Duration) float64 { return t.Seconds() * 1000 }

// costOfStep keeps the cost that all figures of the group are taken from.
var costOfStep *stepCost

// stepPart returns a measurement of one number of the cost, which is measured once.
func stepPart(part func(stepCost) float64) func(context.Context) (float64, error) {
	return func(context.Context) (float64, error) {
		if costOfStep == nil {
			s, err := measureStep()
			if err != nil {
				return 0, err
			}
			costOfStep = &s
		}
		return part(*costOfStep), nil
	}
}

// measureStep collects 6,000 frames with an untrained policy and times the module on them.
func measureStep() (s stepCost, err error) {
	const frames = 6000
	env, err := balance(60)
	if err != nil {
		return s, err
	}
	backend, err := nn.Open()
	if err != nil {
		return s, err
	}
	b := &nn.Build{Spec: env.Spec(), Backend: backend, Store: nn.NewStore(1), Seed: 1}
	defer b.Close()
	learner, err := learn.DefaultMAPPO().Build(b, policy.DefaultMLP())
	if err != nil {
		return s, err
	}
	if _, err := collect(env, learner, frames); err != nil { // compiles
		return s, err
	}
	start := time.Now()
	x, err := collect(env, learner, frames)
	if err != nil {
		return s, err
	}
	s.collection = time.Since(start)
	c := cermic.Default()
	c.Memory = memory.DefaultGraph()
	s.TimeProfile, err = c.TimeProfile(b, x)
	return s, err
}
