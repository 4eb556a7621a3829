// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"math"
	"time"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
)

// Source says where a rate that no run on a processor like this one has comes from.
type Source string

// The sources, the best first.
const (
	Sampled   Source = "a sample"             // two rollout batches were trained here; see MeasureRates
	Elsewhere Source = "on another processor" // that of runs that were trained there
	Estimated Source = "estimated"            // from the method's runs at another budget or on vectors, beside MAPPO's
)

// Rate is how fast one run trains.
type Rate struct {
	FPS    float64 // frames a second; 0: nobody knows
	Runs   int     // on a processor like this one at that budget on such tasks, whose frames by seconds it is; 0: Source says where it is from
	Source Source
}

// Rates are what the complete runs of a store, the committed ones among them, tell of how fast methods train.
type Rates struct {
	here, all map[rateKey]pace
	tasks     map[taskKey]pace // here
	sampled   map[[2]string]float64
}

// pace is what some runs took altogether. Their frames by their seconds foretell how long many more take, which a median of their rates does not: slow runs take most of the time.
type pace struct {
	runs            int
	frames, seconds float64
}

func (t pace) and(r *results.Record) pace {
	return pace{t.runs + 1, t.frames + float64(r.Frames), t.seconds + r.Host.Seconds}
}

// fps is the rate, 0 of no runs.
func (t pace) fps() float64 {
	if t.runs == 0 {
		return 0
	}
	return t.frames / t.seconds
}

type taskKey struct{ method, budget, task string }

type rateKey struct {
	method, budget string
	agents         int // that see pictures; 0: vectors
}

// baseline is the method that others are compared with: its runs are at every budget and on all kinds of tasks.
const baseline = "mappo"

// NewRates reads the rates of st.
func NewRates(st *results.Store) (*Rates, error) {
	cpu := results.CollectHost("").CPU
	heads, err := st.Heads(results.Query{Complete: true})
	if err != nil {
		return nil, err
	}
	r := &Rates{here: map[rateKey]pace{}, all: map[rateKey]pace{}, tasks: map[taskKey]pace{}}
	if r.sampled, err = samples(st, cpu); err != nil {
		return nil, err
	}
	for _, g := range Groups(heads) {
		for _, record := range g.Runs {
			if record.Host.Seconds <= 0 || record.Host.GPU != "" && record.Host.CPU != cpu {
				continue // or of a GPU elsewhere, which says nothing about a processor
			}
			if parent, _ := record.Fork(); parent != "" {
				continue // it took its time for a part of its frames
			}
			key, on := rateKey{g.Method, record.Budget, kind(record.Task)}, taskKey{g.Method, record.Budget, record.Task}
			r.all[key] = r.all[key].and(record)
			if record.Host.CPU == cpu {
				r.here[key], r.tasks[on] = r.here[key].and(record), r.tasks[on].and(record)
			}
		}
	}
	return r, nil
}

// measured reports whether a method has a rate on vectors that was taken on a processor like this one.
func (r *Rates) measured(method, budget string) bool {
	return r.here[rateKey{method, budget, 0}].runs > 0 || r.sampled[[2]string{method, budget}] > 0
}

// On is the rate of an experiment on its own task, where a processor like this one has runs of its method there, else that of Of.
func (r *Rates) On(e experiment.Config) Rate {
	if own := r.tasks[taskKey{MethodOf(e), e.Budget.Name, e.Task.Kind()}]; own.runs > 0 {
		return Rate{FPS: own.fps(), Runs: own.runs}
	}
	return r.Of(e)
}

// Of is the rate of an experiment's method on all tasks of the kind.
func (r *Rates) Of(e experiment.Config) Rate {
	return r.of(MethodOf(e), e.Budget.Name, kind(e.Task.Kind()))
}

func (r *Rates) of(method, budget string, agents int) Rate {
	key := rateKey{method, budget, agents}
	if own := r.here[key]; own.runs > 0 {
		return Rate{FPS: own.fps(), Runs: own.runs}
	}
	if fps := r.sampled[[2]string{method, budget}]; fps > 0 && agents == 0 {
		return Rate{FPS: fps, Source: Sampled}
	}
	if fps := r.all[key].fps(); fps > 0 {
		return Rate{FPS: fps, Source: Elsewhere}
	}
	if fps := r.estimate(key); fps > 0 {
		return Rate{FPS: fps, Source: Estimated}
	}
	return Rate{}
}

// estimate takes a method to be as many times slower than MAPPO as it is at another budget on vectors, and MAPPO at another budget to be
// slower as it takes more gradient rows a frame. It is 0 where there is nothing to start from.
func (r *Rates) estimate(key rateKey) float64 {
	base := r.all[rateKey{baseline, key.budget, key.agents}].fps()
	if base == 0 {
		base = r.scaled(key)
	}
	if key.method == baseline || base == 0 {
		return base
	}
	for _, budget := range append([]string{key.budget, TableBudget}, presetNames()...) {
		own, mappo := r.all[rateKey{key.method, budget, 0}].fps(), r.all[rateKey{baseline, budget, 0}].fps()
		if own > 0 && mappo > 0 {
			return base * own / mappo
		}
	}
	return 0
}

// scaled is MAPPO's rate at a budget from its rate at another one with networks of the same size.
func (r *Rates) scaled(key rateKey) float64 {
	to, err := FindPreset(key.budget)
	if err != nil || to.Schedule.Width > 0 {
		return 0
	}
	for _, from := range Presets {
		if known := r.all[rateKey{baseline, from.Budget.Name, key.agents}].fps(); known > 0 && from.Schedule.Width == 0 {
			return known * rowsPerFrame(from) / rowsPerFrame(to)
		}
	}
	return 0
}

// rowsPerFrame is how many rows MAPPO's networks compute for each frame: one to act, and forward and backward, about three, for each epoch.
func rowsPerFrame(b Preset) float64 { return 1 + 3*float64(b.Schedule.Epochs) }

// presetNames are the named budgets.
func presetNames() []string {
	var names []string
	for _, b := range Presets {
		names = append(names, b.Budget.Name)
	}
	return names
}

// slowest is the smallest rate known at a budget on tasks of one kind, what an unknown method is taken to have; 0 if none is known.
func (r *Rates) slowest(budget string, agents int) float64 {
	least := math.Inf(1)
	for _, m := range methods {
		if rate := r.of(m.ID, budget, agents); rate.FPS > 0 {
			least = min(least, rate.FPS)
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return least
}

// Durations is how long each of es takes from its beginning to its end, by ID; those of which nothing is known are left out.
func Durations(es []experiment.Config, st *results.Store) (map[string]time.Duration, error) {
	known, err := NewRates(st)
	if err != nil {
		return nil, err
	}
	out := map[string]time.Duration{}
	for _, e := range es {
		id, err := e.ID()
		if err != nil {
			return nil, err
		}
		if r := known.On(e); r.FPS > 0 {
			out[id] = time.Duration(float64(e.Budget.Frames) / r.FPS * float64(time.Second))
		}
	}
	return out, nil
}
