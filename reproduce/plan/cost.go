// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"cermic/cermiclib"
	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/viz"
)

// Cost is the remaining cost of one method's runs in a list of experiments, on tasks of one kind. Kinds are separate
// because a frame of images takes many times as long as a frame of vectors.
type Cost struct {
	Method      string // without changed settings
	ImageAgents int    // agents with image observations; 0: vectors
	Runs        int    // in the list
	Done        int    // complete in the store
	Frames      int    // missing frames, less the trained part of runs that have begun
	Longest     int    // missing frames of the longest run
	Rate
}

// Takes is how long one run of so many frames takes; 0 if the rate is unknown.
func (c Cost) Takes(frames int) time.Duration {
	if c.FPS == 0 {
		return 0
	}
	return time.Duration(float64(frames) / c.FPS * float64(time.Second))
}

// imageAgents returns the number of agents with image observations in a task; 0 for vectors and for unknown tasks.
func imageAgents(task string) int {
	n, _ := cermiclib.ImageAgents(task)
	return n
}

// Costs estimates what es need beyond what st holds, one entry per method and kind of task in the order of es.
func Costs(es []experiment.Config, st *results.Store) ([]Cost, error) {
	known, err := NewRates(st)
	if err != nil {
		return nil, err
	}
	return CostsAt(known, es, st)
}

// CostsAt is Costs at known rates.
func CostsAt(known *Rates, es []experiment.Config, st *results.Store) ([]Cost, error) {
	var costs []Cost
	for _, e := range es {
		method := cermiclib.MethodOf(e)
		agents := imageAgents(e.Task.Kind())
		i := slices.IndexFunc(costs, func(c Cost) bool { return c.Method == method && c.ImageAgents == agents })
		if i < 0 {
			i = len(costs)
			rate := known.Of(method, e.Budget.Name, agents)
			if rate.FPS == 0 {
				rate = known.slowest(e.Budget.Name, agents)
			}
			costs = append(costs, Cost{Method: method, ImageAgents: agents, Rate: rate})
		}
		left, err := missingFrames(e, st)
		if err != nil {
			return nil, err
		}
		c := &costs[i]
		c.Runs++
		if left < 0 {
			c.Done++
		}
		c.Frames, c.Longest = c.Frames+max(0, left), max(c.Longest, left)
	}
	return costs, nil
}

// Missing are the experiments without a complete run in st.
func Missing(es []experiment.Config, st *results.Store) (missing []experiment.Config, err error) {
	for _, e := range es {
		left, err := missingFrames(e, st)
		if err != nil {
			return nil, err
		}
		if left >= 0 {
			missing = append(missing, e)
		}
	}
	return missing, nil
}

// missingFrames is the number of frames that e's run in st still needs, -1 if it is complete. A damaged run is trained
// again.
func missingFrames(e experiment.Config, st *results.Store) (int, error) {
	id, err := e.ID()
	if err != nil {
		return 0, err
	}
	r, err := st.Head(id)
	if err == nil && !r.Complete {
		r, err = st.Get(id) // which counts the frames
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, results.ErrDamaged):
		return e.Budget.Frames, nil
	case err != nil:
		return 0, err
	case r.Complete:
		return -1, nil
	}
	return max(0, e.Budget.Frames-r.Frames), nil
}

// CostTable shows what is missing, and how long that takes at known rates, one run after the other.
func CostTable(costs []Cost) viz.Table {
	t := viz.Table{Header: []string{"method", "runs", "done", "frames to go", "frames/s here", "time, one by one"}}
	var total time.Duration
	unknown := ""
	for _, c := range costs {
		name, rate, left := c.Method, "known after a first run", viz.Missing
		if c.ImageAgents > 0 {
			name = fmt.Sprintf("%s, images of %d agents", c.Method, c.ImageAgents)
		}
		switch {
		case c.FPS > 0:
			rate, left = fmt.Sprintf("%s (%s)", viz.Short(c.FPS), c.Source), viz.Clock(c.Takes(c.Frames).Seconds())
			if c.Measured > 0 {
				rate = fmt.Sprintf("%s (%d measured)", viz.Short(c.FPS), c.Measured)
			}
		case c.Frames > 0:
			unknown = ", without methods of unknown rate"
		}
		total += c.Takes(c.Frames)
		t.Rows = append(t.Rows, []string{
			name, fmt.Sprint(c.Runs), fmt.Sprint(c.Done), viz.Short(float64(c.Frames)), rate, left})
	}
	t.Notes = []string{fmt.Sprintf("Altogether %s of training%s. Runs that are trained at the same time share "+
		"the processor.", viz.Clock(total.Seconds()), unknown)}
	return t
}

// Source says where a rate comes from that was not measured on complete runs on this processor and all its cores.
type Source string

// The sources, the best first.
const (
	Elsewhere Source = "on another machine"    // complete runs on another processor, or on other cores
	Estimated Source = "estimated"             // from runs at another budget or on vector observations, relative to MAPPO
	Slowest   Source = "as the slowest method" // no run of the method is stored
)

// Rate is how fast one run of a method trains.
type Rate struct {
	FPS      float64 // frames per second, total frames of the runs over their total time; 0: unknown
	Measured int     // complete runs on this processor and as many cores; 0: see Source
	Source   Source
}

// Rates are how fast methods train, by the complete runs of a store and its committed records.
type Rates struct {
	here, all map[rateKey]pace // runs on this processor and as many cores, and all runs
}

type rateKey struct {
	method, budget string
	agents         int // with image observations; 0: vectors
}

// pace is the total of some runs: slow runs, which take most of the time, weigh as much as they last.
type pace struct {
	runs            int
	frames, seconds float64
}

func (p pace) fps() float64 {
	if p.runs == 0 {
		return 0
	}
	return p.frames / p.seconds
}

// baseline is the method that others are compared with: it has runs at every budget and on all kinds of tasks.
const baseline = "mappo"

// NewRates reads the rates of st.
func NewRates(st *results.Store) (*Rates, error) {
	host := results.CollectHost("")
	heads, err := st.Heads(results.Query{Complete: true})
	if err != nil {
		return nil, err
	}
	r := &Rates{here: map[rateKey]pace{}, all: map[rateKey]pace{}}
	for _, g := range Groups(heads) {
		for _, run := range g.Runs {
			if run.Host.Seconds <= 0 || run.Host.GPU != "" && run.Host.CPU != host.CPU {
				continue // a GPU elsewhere says nothing about a processor
			}
			if parent, _ := run.Fork(); parent != "" {
				continue // its time is that of a part of its frames
			}
			key := rateKey{g.Method, run.Budget, imageAgents(run.Task)}
			add := func(p pace) pace {
				return pace{p.runs + 1, p.frames + float64(run.Frames), p.seconds + run.Host.Seconds}
			}
			r.all[key] = add(r.all[key])
			if run.Host.CPU == host.CPU && run.Host.Cores == host.Cores {
				r.here[key] = add(r.here[key])
			}
		}
	}
	return r, nil
}

// Of is the rate of a method at a budget on tasks with image observations of so many agents, or with vectors (0).
func (r *Rates) Of(method, budget string, agents int) Rate {
	key := rateKey{method, budget, agents}
	own, elsewhere, estimated := r.here[key], r.all[key].fps(), r.estimate(key)
	switch {
	case own.runs > 0:
		return Rate{FPS: own.fps(), Measured: own.runs}
	case elsewhere > 0:
		return Rate{FPS: elsewhere, Source: Elsewhere}
	case estimated > 0:
		return Rate{FPS: estimated, Source: Estimated}
	}
	return Rate{}
}

// slowest is the lowest rate of any method, for one without runs; the zero Rate if none is known.
func (r *Rates) slowest(budget string, agents int) (low Rate) {
	for _, m := range cermiclib.Methods() {
		if fps := r.Of(m.ID, budget, agents).FPS; fps > 0 && (low.FPS == 0 || fps < low.FPS) {
			low = Rate{FPS: fps, Source: Slowest}
		}
	}
	return low
}

// estimate assumes that a method's slowdown against MAPPO equals its slowdown at another budget on vectors. It also
// assumes that the time of MAPPO is proportional to the gradient rows of a frame. It is 0 without such runs.
func (r *Rates) estimate(key rateKey) float64 {
	base := r.all[rateKey{baseline, key.budget, key.agents}].fps()
	if base == 0 {
		base = r.scaled(key)
	}
	if key.method == baseline || base == 0 {
		return base
	}
	budgets := []string{key.budget, cermiclib.TableBudget}
	for _, b := range cermiclib.Presets {
		budgets = append(budgets, b.Budget.Name)
	}
	for _, budget := range budgets {
		own, mappo := r.all[rateKey{key.method, budget, 0}].fps(), r.all[rateKey{baseline, budget, 0}].fps()
		if own > 0 && mappo > 0 {
			return base * own / mappo
		}
	}
	return 0
}

// scaled is MAPPO's rate at a budget from its rate at another one with networks of the same size.
func (r *Rates) scaled(key rateKey) float64 {
	// A frame takes one row to act, and about three, forward and backward, in each epoch.
	rows := func(b cermiclib.Preset) float64 { return 1 + 3*float64(b.Schedule.Epochs) }
	to, err := cermiclib.FindPreset(key.budget)
	if err != nil || to.Schedule.Width > 0 {
		return 0
	}
	for _, from := range cermiclib.Presets {
		if known := r.all[rateKey{baseline, from.Budget.Name, key.agents}].fps(); known > 0 && from.Schedule.Width == 0 {
			return known * rows(from) / rows(to)
		}
	}
	return 0
}
