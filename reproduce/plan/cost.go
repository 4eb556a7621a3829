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

// Cost is what the runs of one method in a list of experiments still need on tasks of one kind: a frame of images
// takes many times as long as one of vectors.
type Cost struct {
	Method      string // without changed settings
	ImageAgents int    // agents with image observations; 0: vectors
	Runs        int    // in the list
	Done        int    // complete in the store
	Frames      int    // missing frames, without those of runs that have begun
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
			costs = append(costs, Cost{Method: method, ImageAgents: agents, Rate: known.Of(method, e.Budget.Name, agents)})
		}
		left, err := missingFrames(e, st)
		if err != nil {
			return nil, err
		}
		c := &costs[i]
		c.Runs++
		if left < 0 {
			c.Done++
			continue
		}
		c.Frames, c.Longest = c.Frames+left, max(c.Longest, left)
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
	if err == nil && r.Complete {
		return -1, nil
	}
	if err == nil {
		r, err = st.Get(id) // which counts the frames
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, results.ErrDamaged) {
		return e.Budget.Frames, nil
	}
	if err != nil {
		return 0, err
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
	t.Notes = []string{fmt.Sprintf("Altogether %s of training%s. Runs that are trained at the same time share the processor.",
		viz.Clock(total.Seconds()), unknown)}
	return t
}
