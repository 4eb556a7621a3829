// SPDX-License-Identifier: Apache-2.0

package envs

import (
	"fmt"
	"slices"
)

// Fallible is implemented by environments on an external program, which can fail and is not reproducible. The
// interface is optional, because most environments have no errors and nothing to close.
type Fallible interface {
	// Err returns the error that prevents the environment from continuing, or nil. After an error, the output of the
	// last Reset or Step is invalid.
	Err() error
	// Aborted reports whether a failure aborted the episode of environment c that ended in the last Step. It is not a
	// result.
	Aborted(c int) bool
	// Close releases the environment's resources. It cannot be used afterwards.
	Close()
}

// Err returns env's error; nil if it cannot fail. Call it, or CheckStep, after every Reset and Step. A deterministic
// environment may implement Err alone, to report mistakes in a task's definition.
func Err(env Env) error {
	if f, ok := env.(interface{ Err() error }); ok {
		return f.Err()
	}
	return nil
}

// CheckStep returns Err(env), or an error for a living agent in s, just written by env, without an allowed action. It
// allows action 0 (which env ignores) to dead agents and after the end of an episode, so that every mask has an
// action. over [≤E] marks environments whose steps no longer count; nil: all count.
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
			return fmt.Errorf("agent %d of environment %d is alive without an allowed action in Step.Mask; allow at least one",
				row%spec.Agents, c)
		}
		mask[0] = 1
	}
	return nil
}

// Aborted reports whether a failure aborted the episode of environment c that has just ended. Aborted episodes are
// not counted.
func Aborted(env Env, c int) bool {
	f, ok := env.(Fallible)
	return ok && f.Aborted(c)
}

// Close releases env's resources, if it has any.
func Close(env Env) {
	if f, ok := env.(Fallible); ok {
		f.Close()
	}
}

// Scripter is implemented by environments with a scripted policy, for baselines and demonstrations.
type Scripter interface {
	// Script fills act with the policy's action for the current state. It returns false if the task has no such
	// policy.
	Script(act *Actions) bool
}

// Coverer is implemented by environments that map each agent to a cell of a finite projection of the state. The
// coverage of a run is its number of visited cells. It is a diagnostic: no policy may read it.
type Coverer interface {
	// Coverage describes the projection.
	Coverage() Projection
	// Cover writes the cell of every agent in the last observed state, [E,N]: a number in [0, Columns·Rows), or -1 for
	// none. It does not allocate.
	Cover(dst []int32)
}

// Projection maps states to the cells of a rectangle, numbered row by row from the top.
type Projection struct {
	About         string // meaning of a cell: "an agent's place"
	Columns, Rows int
	Blocked       []bool // [Rows·Columns] unreachable cells; nil: none
}

// Cells is the number of cells that can be visited.
func (p *Projection) Cells() int {
	n := p.Columns * p.Rows
	for _, b := range p.Blocked {
		if b {
			n--
		}
	}
	return n
}
