// SPDX-License-Identifier: Apache-2.0

//go:build js && wasm

// Command app trains one method in a web worker. The worker's function tell takes the page's messages, and its
// function hear gets the events.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall/js"
	"time"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/envs"
	"cermic/reproduce/plan"
)

// Folders in the worker's memory: runs of this page, and committed records with their checkpoints.
const (
	runsFolder    = "/runs"
	recordsFolder = "/records"
)

// settings are what the page's controls show.
type settings struct {
	World, Start, Method, Alpha, Memory, Weight, Budget, Frames string

	Seed uint64
}

// message is one line from the page.
type message struct {
	Do  string // "ask" for a run with these settings, "play", "pause" or "step"
	New bool   // the run begins anew, also where a fork could change the settings
	settings
}

// player trains one run after the other, as the page asks.
type player struct {
	store    *results.Store
	asked    *message           // newest question, nil once its run has begun
	cancel   context.CancelFunc // of the run that trains
	batches  int                // rollout batches that may be trained; negative: all
	wake     chan struct{}      // gets a value after every message
	now      experiment.Config  // the run that trains, or was trained last
	commands map[string]string  // by ID: the command that repeats a run that is no fork
	scene    envs.Scene         // last one sent
	film     []frame            // steps that have not been sent
	yielded  time.Time          // when messages were last let in
}

// frame is a scene, as what has changed since the one before.
type frame struct {
	Scene   *envs.Scene        `json:"scene,omitempty"` // instead, where shapes came or went
	Changed map[int]envs.Shape `json:"changed,omitempty"`
}

func main() {
	os.Setenv("GOMLX_BACKEND", nn.Sequential) // a worker has one thread
	p := &player{cancel: func() {}, wake: make(chan struct{}, 1), commands: map[string]string{}}
	js.Global().Set("tell", js.FuncOf(func(_ js.Value, args []js.Value) any {
		var m message
		if err := json.Unmarshal([]byte(args[0].String()), &m); err != nil {
			send("error", err.Error())
			return nil
		}
		p.obey(m)
		return nil
	}))
	send("ready", nil)
	for {
		for p.asked == nil {
			<-p.wake
		}
		if err := p.play(); err != nil {
			send("error", err.Error())
		}
	}
}

// send gives the page one event.
func send(kind string, value any) {
	text, err := json.Marshal(map[string]any{"kind": kind, "value": value})
	if err == nil {
		js.Global().Call("hear", string(text))
	}
}

// obey takes a message. It runs between two steps of the training.
func (p *player) obey(m message) {
	switch m.Do {
	case "ask":
		p.asked = &m
		p.cancel()
	case "play":
		p.batches = -1
	case "pause":
		p.batches = 0
	case "step":
		p.batches = 1
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// yield handles messages, at most twenty times a second, and waits while the page pauses.
func (p *player) yield(ctx context.Context) {
	if time.Since(p.yielded) > 50*time.Millisecond {
		time.Sleep(time.Nanosecond)
		p.yielded = time.Now()
	}
	if p.batches == 0 {
		p.flush()
		send("state", "paused")
	}
	for p.batches == 0 && ctx.Err() == nil {
		select {
		case <-p.wake:
		case <-ctx.Done():
		}
	}
}

// play trains the requested run until it ends or the page requests another.
func (p *player) play() error {
	m := *p.asked
	p.asked = nil
	if m.New || p.store == nil {
		if err := p.begin(); err != nil {
			return err
		}
	}
	next, err := p.experiment(m.settings)
	if err != nil {
		return err
	}
	if p.now.Task == nil {
		p.now = next
	} else if p.now, err = plan.Turn(p.store, p.now, next); err != nil {
		return err
	}
	id, err := p.now.ID()
	if err != nil {
		return err
	}
	if _, ok := p.commands[id]; !ok && len(p.now.Forks) == 0 {
		p.commands[id] = command(m.settings)
	}
	home, err := p.home(p.now)
	if err != nil {
		return err
	}
	run := map[string]any{"id": id, "commands": home, "total": p.now.Budget.Frames}
	if n := len(p.now.Forks); n > 0 {
		f := p.now.Forks[n-1]
		run["parent"], run["at"] = f.Parent, f.At
		if parent, err := p.store.Get(f.Parent); err == nil {
			run["before"] = curves(parent)
		}
	}
	send("run", run)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p.cancel, p.scene = cancel, envs.Scene{}
	_, err = experiment.Run(experiment.OnStep(ctx, func(env envs.Env) {
		p.record(env)
		p.yield(ctx)
	}), p.now, p.store, func(e results.Event) { p.watch(ctx, e) })
	if ctx.Err() != nil {
		return nil
	}
	send("end", nil)
	return err
}

// curves are what the page draws of a record.
func curves(r *results.Record) map[string]any {
	points := func(name string) [][2]float64 {
		out := [][2]float64{}
		for _, p := range r.Scalars[name] {
			out = append(out, [2]float64{float64(p.Frames), p.Value})
		}
		return out
	}
	success := [][2]float64{}
	for _, e := range r.Evals {
		success = append(success, [2]float64{float64(e.Frames), e.Score()})
	}
	return map[string]any{
		"success": success, "coverage": points("coverage"), "bonus": points("cermic/int_mean"), "total": r.Frames,
	}
}

// begin empties the folder of the runs.
func (p *player) begin() (err error) {
	p.now = experiment.Config{}
	if err := os.RemoveAll(runsFolder); err != nil {
		return err
	}
	if p.store, err = results.Open(runsFolder); err == nil {
		p.store.Base(results.NewLayer(os.DirFS(recordsFolder)))
	}
	return err
}

// request converts the settings to a request of package plan.
func (s settings) request() plan.Request {
	q := plan.Request{Task: s.World, Method: s.Method, Budget: s.Budget, Seed: s.Seed}
	if s.Frames != "" {
		q.Set = append(q.Set, "budget.frames="+s.Frames)
	}
	if strings.Contains(s.Method, "cermic") {
		q.Set = append(q.Set, "explore.alpha="+s.Alpha, "explore.memory="+s.Memory)
		if s.Weight != "default" {
			q.Set = append(q.Set, "explore.int_coef="+s.Weight)
		}
	}
	return plan.In(q)
}

// experiment continues from the committed start, where one is chosen.
func (p *player) experiment(s settings) (experiment.Config, error) {
	e, err := plan.New(s.request())
	if err != nil {
		return e, err
	}
	return plan.Continue(p.store, s.Start, e)
}

// train begins a command that trains to the page's bits: without the assembly of gonum, which adds in another order.
const train = "go run -tags noasm ./reproduce train -backend go "

// command trains the run of s from nothing.
func command(s settings) string {
	q := s.request()
	text := train + fmt.Sprintf("-task %s -method %s -budget %s -seeds %d-%d", q.Task, q.Method, q.Budget, q.Seed, q.Seed)
	if len(q.Set) > 0 {
		text += " -set " + strings.Join(q.Set, " ")
	}
	return text
}

// home lists the commands that repeat e's run to the same bits outside a browser. There is one for the first run,
// unless it is committed, and one per fork.
func (p *player) home(e experiment.Config) ([]string, error) {
	n := len(e.Forks)
	if n == 0 {
		id, err := e.ID()
		return []string{p.commands[id]}, err
	}
	f := e.Forks[n-1]
	parent, err := e.Parent()
	if err != nil {
		return nil, err
	}
	set, err := experiment.Differences(e, parent)
	if err != nil {
		return nil, err
	}
	set = slices.DeleteFunc(set, func(s string) bool { return strings.HasPrefix(s, "budget.name=") })
	fork := train + fmt.Sprintf("-fork %s@%d -set %s", f.Parent, f.At, strings.Join(set, " "))
	if _, err := os.Stat(filepath.Join(recordsFolder, f.Parent+".json.gz")); !errors.Is(err, os.ErrNotExist) {
		return []string{fork}, err
	}
	before, err := p.home(parent)
	return append(before, fork), err
}

// record films the first environment.
func (p *player) record(env envs.Env) {
	drawn, ok := env.(envs.Scener)
	if !ok {
		return
	}
	s := drawn.Scene(0)
	f := frame{Changed: map[int]envs.Shape{}}
	if len(s.Shapes) != len(p.scene.Shapes) {
		f.Scene = &s
	} else {
		for i, shape := range s.Shapes {
			if shape != p.scene.Shapes[i] {
				f.Changed[i] = shape
			}
		}
	}
	p.scene, p.film = s, append(p.film, f)
}

// flush sends the film.
func (p *player) flush() {
	if len(p.film) > 0 {
		send("film", p.film)
		p.film = nil
	}
}

// watch sends what an iteration or an evaluation has found.
func (p *player) watch(ctx context.Context, e results.Event) {
	p.flush()
	switch {
	case e.FromStore:
		send("stored", map[string]any{"frames": e.Frames, "score": e.Record.Score()})
	case e.Eval != nil:
		send("evaluation", map[string]any{"frames": e.Frames, "metric": e.Metric, "score": e.Eval.Score()})
	case e.Scalars != nil:
		send("iteration", map[string]any{
			"frames": e.Frames, "fps": e.FPS, "scalars": e.Scalars, "visits": e.Visits,
		})
		if p.batches > 0 {
			p.batches--
		}
		p.yield(ctx)
	case e.State == "compiling" || e.State == "stopped":
		send("state", e.State)
	}
}
