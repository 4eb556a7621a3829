// SPDX-License-Identifier: Apache-2.0

// Package bridge makes environments usable from another language. Operations take plain memory, return an error of
// one sentence for every mistake, and may be called from several threads at once. It is independent of C and Python;
// package lib exports it.
package bridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"cermic/envs"
	"cermic/envs/conf"
	_ "cermic/envs/explore" // registers its tasks
	"cermic/envs/internal/pool"
	_ "cermic/envs/meltingpot" // registers its tasks
	_ "cermic/envs/smac"       // registers its tasks
	_ "cermic/envs/vmas"       // registers its tasks
)

// Misuse is a mistake of the caller, after which the environment still works; any other error is a failure of the
// environment.
type Misuse struct{ error }

func misuse(format string, args ...any) error { return Misuse{fmt.Errorf(format, args...)} }

// Env is an environment with a lock and checks of the protocol of envs.Env.
type Env struct {
	Spec    *envs.Spec // the shapes; stays valid after Close
	mu      sync.Mutex
	cfg     envs.Config
	workers int
	env     envs.Env // nil once closed
	act     *envs.Actions
	started bool
	ended   []bool // [E] environments to reset before the next step
}

// Limits that keep the Go runtime, and the calling program, from running out of memory.
const (
	mostBytes   = 4 << 30 // of one Step, without pixels; the environment's own memory grows with it
	fewEnvs     = 256     // number of environments that is built without estimating its memory
	mostWorkers = 4096
)

// Make builds parallel environments of a task. settings is a JSON object with keys of the task's config; workers is
// the number of goroutines (0: one per core).
func Make(task string, settings []byte, numEnvs int, seed uint64, workers int) (_ *Env, err error) {
	defer rescue(&err)
	cfg, err := configure(task, settings, numEnvs)
	if err != nil {
		return nil, Misuse{err}
	}
	if workers < 0 || workers > mostWorkers {
		return nil, misuse("%s: workers is %d, want 0 (one for each core) to %d", task, workers, mostWorkers)
	}
	if numEnvs > fewEnvs {
		if err := affordable(cfg, numEnvs); err != nil {
			return nil, Misuse{err}
		}
	}
	env, err := cfg.Build(seed, workers)
	if err != nil {
		return nil, Misuse{err}
	}
	s := env.Spec()
	return &Env{Spec: s, cfg: cfg, workers: workers, env: env, act: envs.NewActions(s), ended: make([]bool, numEnvs)}, nil
}

// configure overlays settings on the default of a task.
func configure(task string, settings []byte, numEnvs int) (envs.Config, error) {
	cfg, err := envs.Default(task)
	if err != nil {
		return nil, err
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(settings, &values); err != nil {
		return nil, fmt.Errorf("%s: the settings are not a JSON object: %w", task, err)
	}
	holder := struct {
		Task envs.Config `json:"task"`
	}{cfg}
	for _, key := range slices.Sorted(maps.Keys(values)) { // makes the first reported mistake deterministic
		if key == "copies" || key == "kind" {
			return nil, fmt.Errorf("%s: %s is not a setting here; the number of parallel environments is num_envs, "+
				"the task is the first argument", task, key)
		}
		text := string(values[key])
		if quoted := ""; json.Unmarshal(values[key], &quoted) == nil && text != "null" {
			text = quoted
		}
		if err := conf.Set(&holder, "task."+key, text); err != nil {
			plain := strings.NewReplacer(` task.`, ` `, `"task.`, `"`).Replace(" " + err.Error()) // as the caller wrote it
			return nil, fmt.Errorf("%s:%s", task, plain)
		}
	}
	shared := holder.Task.Shared()
	shared.NumEnvs = numEnvs
	return holder.Task.WithShared(shared), shared.Validate(task)
}

// affordable rejects environments that do not fit into memory.
func affordable(cfg envs.Config, numEnvs int) error {
	env, err := envs.Alone(cfg)
	if err != nil {
		return err
	}
	defer envs.Close(env)
	bytes := 0
	for _, b := range Buffers(env.Spec())[:Pixels] {
		bytes += b.Len() * map[string]int{"float32": 4, "uint16": 2, "bool": 1}[b.DType]
	}
	if bytes > mostBytes/numEnvs {
		return fmt.Errorf("%s: num_envs is %d, and the arrays of each take %d bytes; want at most %d GiB in total",
			cfg.Kind(), numEnvs, bytes, mostBytes>>30)
	}
	return nil
}

var errClosed = errors.New("the environment is closed")

// Reset starts new episodes in the environments of mask [E] (nil: all) and writes their rows of out. A seed restarts
// all random streams, as in an environment built with it. Pixels [E,N,8H,8W,3] are rendered unless nil.
func (e *Env) Reset(out *envs.Step, pixels []uint8, mask []uint8, seed *uint64) error {
	return e.use(func() error {
		switch {
		case mask != nil && !e.started:
			return misuse("the first reset has to be one of all environments; leave mask out")
		case mask != nil && seed != nil:
			return misuse("a seed restarts all environments; leave mask out, or seed")
		case seed != nil:
			fresh, err := e.cfg.Build(*seed, e.workers)
			if err != nil {
				return err
			}
			envs.Close(e.env)
			e.env = fresh
		}
		mask = slices.Clone(mask) // other threads of the caller may write to it
		e.started = false
		e.env.Reset(mask, out)
		if err := envs.Err(e.env); err != nil {
			return err
		}
		e.started = true
		for c := range e.ended {
			e.ended[c] = e.ended[c] && mask != nil && mask[c] == 0
		}
		return e.paint(pixels, out.Cells, mask)
	})
}

// Step advances all environments by discrete actions [E,N] or continuous ones [E,N,D], as the task requires; the
// other argument is nil.
func (e *Env) Step(out *envs.Step, pixels []uint8, choices []int32, forces []float32) error {
	return e.use(func() error {
		if !e.started {
			return misuse("the environment has to be reset before its first step")
		}
		if c := slices.Index(e.ended, true); c >= 0 {
			return misuse("the episode of environment %d has ended; reset it before the next step", c)
		}
		if err := e.take(choices, forces); err != nil {
			return err
		}
		e.env.Step(e.act, out)
		if err := envs.Err(e.env); err != nil {
			e.started = false
			return err
		}
		for c := range e.ended {
			e.ended[c] = out.Terminated[c] != 0 || out.Truncated[c] != 0
		}
		return e.paint(pixels, out.Cells, nil)
	})
}

// take copies the actions, because another thread of the caller may write to them, and rejects NaN and infinities.
func (e *Env) take(choices []int32, forces []float32) error {
	if len(choices) != len(e.act.Discrete) || len(forces) != len(e.act.Continuous) {
		return misuse("%d choices and %d components of continuous actions, want %d and %d", len(choices), len(forces),
			len(e.act.Discrete), len(e.act.Continuous))
	}
	copy(e.act.Discrete, choices)
	copy(e.act.Continuous, forces)
	s := e.Spec
	for at, x := range e.act.Continuous {
		if y := float64(x); math.IsNaN(y) || math.IsInf(y, 0) {
			row := at / s.Act.Dim
			return misuse("the action of agent %d in environment %d has a component that is %g, want finite numbers",
				row%s.Agents, row/s.Agents, x)
		}
	}
	return nil
}

// paint renders cells [E,N,H,W] of the environments in mask (nil: all) into pixels [E,N,8H,8W,3], on several cores; it
// does nothing if pixels is nil. Cells are the caller's memory, and a panic on another goroutine cannot be recovered.
func (e *Env) paint(pixels []uint8, cells []uint16, mask []uint8) error {
	if pixels == nil {
		return nil
	}
	s, failed := e.Spec, atomic.Bool{}
	row := s.Agents * s.CellLen()
	bytes := row * envs.CellPixels * envs.CellPixels * 3
	pool.New(s.NumEnvs, 1, e.workers, func(from, to int) {
		defer func() {
			if recover() != nil {
				failed.Store(true)
			}
		}()
		for c := from; c < to; c++ {
			if mask == nil || mask[c] != 0 {
				s.RGB(pixels[c*bytes:(c+1)*bytes], cells[c*row:(c+1)*row])
			}
		}
	}).Run()
	if failed.Load() {
		return errors.New("a cell has an unknown tile number; do not write to its array during a step")
	}
	return nil
}

// Script writes the actions of the task's script; ok is false if there is none.
func (e *Env) Script(choices []int32, forces []float32) (ok bool, err error) {
	err = e.use(func() error {
		if !e.started {
			return misuse("the environment has to be reset before its script can act")
		}
		script, has := e.env.(envs.Scripter)
		if ok = has && script.Script(e.act); ok {
			copy(choices, e.act.Discrete)
			copy(forces, e.act.Continuous)
		}
		return nil
	})
	return ok, err
}

// Close releases the environment's resources. All further calls return an error.
func (e *Env) Close() error {
	err := e.use(func() error {
		env := e.env
		e.env = nil
		envs.Close(env)
		return nil
	})
	if err == errClosed {
		return nil
	}
	return err
}

// use makes a call while no other thread uses the environment.
func (e *Env) use(call func() error) (err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer rescue(&err)
	if e.env == nil {
		return errClosed
	}
	return call()
}

// rescue turns a panic into an error. Environments check their input before they pass work to other goroutines, whose
// panics could not be recovered.
func rescue(err *error) {
	if p := recover(); p != nil {
		*err = Misuse{fmt.Errorf("%v", p)}
	}
}
