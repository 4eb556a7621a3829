// SPDX-License-Identifier: Apache-2.0

package envs

import (
	"fmt"
	"slices"
)

// Fallible is implemented by environments that rest on something outside of the program, which can fail and never does the same
// twice. It is optional, since such environments are also written outside of this module, and all others have nothing to report or to close.
type Fallible interface {
	// Err is why the environment cannot go on, or nil. What a Reset or Step showed after which it is not nil means nothing.
	Err() error
	// Aborted reports whether the episode of environment c that ended in the last Step was aborted by a failure: it is no result.
	Aborted(c int) bool
	// Close gives back what the environment holds. It is of no use afterwards.
	Close()
}

// Err is why env cannot go on: nil for one that cannot fail. Call it, or CheckStep, after every Reset and Step. A
// deterministic environment may have Err alone of Fallible: what is wrong with the task that somebody wrote for it.
func Err(env Env) error {
	if f, ok := env.(interface{ Err() error }); ok {
		return f.Err()
	}
	return nil
}

// CheckStep is Err(env), or which living agent s, as env has just written it, allows no choice. Agents that are dead or
// whose episode is over may be allowed none: it allows them choice 0, which env ignores, so that every mask has an
// action. over [≤E] marks environments whose steps no longer count, as do those beyond its end; nil: all count.
func CheckStep(env Env, s *Step, over []bool) error {
	if err := Err(env); err != nil || s.Mask == nil {
		return err
	}
	spec := env.Spec()
	for row, alive := range s.Alive {
		mask := s.Mask[row*spec.Act.Choices : (row+1)*spec.Act.Choices]
		if slices.Max(mask) != 0 {
			continue
		}
		c := row / spec.Agents
		if alive != 0 && s.Terminated[c] == 0 && (over == nil || c < len(over) && !over[c]) {
			return fmt.Errorf("agent %d of environment %d lives and Step.Mask allows it no choice: allow it at least one",
				row%spec.Agents, c)
		}
		mask[0] = 1
	}
	return nil
}

// Aborted reports whether the episode of environment c that has just ended was aborted: never where nothing can fail. Aborted
// episodes are not counted.
func Aborted(env Env, c int) bool {
	f, ok := env.(Fallible)
	return ok && f.Aborted(c)
}

// Close gives back what env holds, if it holds anything.
func Close(env Env) {
	if f, ok := env.(Fallible); ok {
		f.Close()
	}
}
