// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
	"cermic/viz"
)

// Cost is what the runs of one method in a list of experiments still need, on tasks of one kind: a frame of pictures takes many times
// as long as one of vectors.
type Cost struct {
	Method   string  // without changed settings
	Pictured int     // agents that see pictures; 0: they see vectors
	Runs     int     // in the list
	Done     int     // complete in the store
	Frames   int     // that are missing, those of begun runs left out
	Longest  int     // frames of the longest run that is missing
	Rate     float64 // frames a second; 0: nobody knows
	Measured int     // complete runs of the method at these budgets, on any task of the kind, on a processor like this one, whose frames by seconds it is
	Source   Source  // where it comes from otherwise
}

// Left is how long the missing frames take, one run at a time; 0 if the rate is unknown.
func (c Cost) Left() time.Duration { return c.Takes(c.Frames) }

// Takes is how long one run of so many frames takes; 0 if the rate is unknown.
func (c Cost) Takes(frames int) time.Duration {
	if c.Rate == 0 {
		return 0
	}
	return time.Duration(float64(frames) / c.Rate * float64(time.Second))
}

// kind is how many agents see pictures in a task; 0 for vectors, and for a task that is not registered here.
func kind(task string) int {
	n, _ := pictured(task)
	return n
}

// Costs estimates what es need beyond what st holds, one entry a method and kind of task in the order of es. Rates are those of runs in the
// store that were trained on a processor like this one, or what Rates makes of others; nothing is assumed of a method without a run.
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
	methods := map[string]string{} // by experiment without its seed, of which a method's name does not depend
	for _, e := range es {
		unseeded := e
		unseeded.Seed = 0
		text, err := conf.Marshal(unseeded)
		if err != nil {
			return nil, err
		}
		method, ok := methods[string(text)]
		if !ok {
			method = MethodOf(e)
			methods[string(text)] = method
		}
		agents := kind(e.Task.Kind())
		i := slices.IndexFunc(costs, func(c Cost) bool { return c.Method == method && c.Pictured == agents })
		if i < 0 {
			i = len(costs)
			r := known.of(method, e.Budget.Name, agents)
			c := Cost{Method: method, Pictured: agents, Rate: r.FPS, Measured: r.Runs, Source: r.Source}
			costs = append(costs, c)
		}
		r, err := begun(e, st)
		if err != nil {
			return nil, err
		}
		costs[i].Runs++
		if r != nil && r.Complete {
			costs[i].Done++
			continue
		}
		left := e.Budget.Frames
		if r != nil {
			left = max(0, left-r.Frames)
		}
		costs[i].Frames += left
		costs[i].Longest = max(costs[i].Longest, left)
	}
	return costs, nil
}

// Missing are the experiments without a complete run in st.
func Missing(es []experiment.Config, st *results.Store) ([]experiment.Config, error) {
	var missing []experiment.Config
	for _, e := range es {
		r, err := begun(e, st)
		if err != nil {
			return nil, err
		}
		if r == nil || !r.Complete {
			missing = append(missing, e)
		}
	}
	return missing, nil
}

// begun is what st has of e's run; nil for nothing, or for what is damaged and will be done again.
func begun(e experiment.Config, st *results.Store) (*results.Record, error) {
	id, err := e.ID()
	if err != nil {
		return nil, err
	}
	r, err := st.Head(id)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, results.ErrDamaged) {
		return nil, nil
	}
	return r, err
}

// CostTable says what is missing, and how long that takes one run after the other where it is known.
func CostTable(costs []Cost) viz.Table {
	t := viz.Table{Header: []string{"method", "runs", "done", "frames to go", "frames/s here", "time, one by one"}}
	var total time.Duration
	unknown := ""
	for _, c := range costs {
		rate, left := "not measured yet", viz.Missing
		switch {
		case c.Measured > 0:
			rate = fmt.Sprintf("%s (%d measured)", viz.Short(c.Rate), c.Measured)
		case c.Rate > 0:
			rate = fmt.Sprintf("%s (%s)", viz.Short(c.Rate), c.Source)
		case c.Pictured > 0:
			rate = "known after a first run"
		}
		if c.Rate > 0 {
			left = viz.Clock(c.Left().Seconds())
		}
		if c.Rate == 0 && c.Frames > 0 {
			unknown = ", and what is not measured yet"
		}
		total += c.Left()
		t.Rows = append(t.Rows, []string{c.name(), fmt.Sprint(c.Runs), fmt.Sprint(c.Done), viz.Short(float64(c.Frames)), rate, left})
	}
	t.Notes = []string{fmt.Sprintf("Altogether %s of training%s. Runs that are trained at the same time share the processor.", viz.Clock(total.Seconds()), unknown)}
	return t
}

// name says of which method and kind of task the cost is.
func (c Cost) name() string {
	if c.Pictured == 0 {
		return c.Method
	}
	return fmt.Sprintf("%s, images of %d agents", c.Method, c.Pictured)
}

// MethodOf is the registered method of which an experiment is a variant, or its label if there is none.
func MethodOf(e experiment.Config) string {
	d, err := stored{e: e}.describe()
	if err != nil {
		return e.Label()
	}
	return d.method
}
