// SPDX-License-Identifier: Apache-2.0

package figures

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"

	"cermic/viz"
)

// streamed are the traces of one bonus on the stream of rooms.
type streamed struct {
	Label string        `json:"label"`
	Runs  []streamTrace `json:"runs"` // one a seed
}

// streamTrace is what one run of the stream measured: one number a measurement [K].
type streamTrace struct {
	Seed       uint64    `json:"seed"`
	Iterations []int     `json:"iterations"` // rollouts seen
	Rarity     []float64 `json:"rarity"`     // rank correlation of the mean bonus with the rarity of a plain room
	Frequent   []float64 `json:"frequent"`   // P(a step in the noisy room gets more than one in the most frequent room)
	Noise      []float64 `json:"noise"`      // the same beside the plain room that is visited as often; one half: no difference
	Restless   []float64 `json:"restless"`   // the same of the room with restless peers
	Unvisited  []float64 `json:"unvisited"`  // P(a step in the room that is never visited gets more than one in the most frequent room)
}

// committedStreams are computed by: go test ./reproduce/figures -run TestCommittedStreams -regen.
//
//go:embed streams.json
var committedStreams []byte

// Streams are the committed traces of every form of r^i and of random network distillation on a stream of rooms.
func Streams() (all []streamed, err error) {
	if err := json.Unmarshal(committedStreams, &all); err != nil {
		return nil, fmt.Errorf("reproduce/figures/streams.json: %w", err)
	}
	return all, nil
}

// streamMeasures are the questions that the stream answers.
var streamMeasures = []struct {
	title, y string
	low      float64
	of       func(streamTrace) []float64
}{
	{"Does it rank rarity?", "rank correlation with rarity", -1, func(t streamTrace) []float64 { return t.Rarity }},
	{"Is the unvisited rewarded?", "P(never visited > most frequent)", 0, func(t streamTrace) []float64 { return t.Unvisited }},
	{"Is a screen of noise rewarded?", "P(noisy > as rare)", 0, func(t streamTrace) []float64 { return t.Noise }},
	{"Are restless peers rewarded?", "P(restless peers > as rare)", 0, func(t streamTrace) []float64 { return t.Restless }},
}

// StreamCurves draws the answers over the rollouts of the stream: a line a bonus, with its interval over seeds.
func StreamCurves(all []streamed) (viz.Panels, error) {
	var plots []*plot.Plot
	var labels []string
	for _, b := range all {
		labels = append(labels, b.Label)
	}
	for _, m := range streamMeasures {
		series := make([]viz.Series, len(all))
		for k, b := range all {
			series[k].Label = b.Label
			for _, t := range b.Runs {
				series[k].X = nil
				for _, it := range t.Iterations {
					series[k].X = append(series[k].X, float64(it))
				}
				series[k].Y, series[k].Seeds = append(series[k].Y, m.of(t)), append(series[k].Seeds, t.Seed)
			}
		}
		p, err := viz.Curves(viz.Figure{Title: m.title, X: "rollouts", Y: m.y, Unlabelled: true, Low: m.low, High: 1}, series...)
		if err != nil {
			return viz.Panels{}, err
		}
		plots = append(plots, p)
	}
	panels := viz.NewPanels(2, plots...)
	panels.Legend = viz.Styles(labels...)
	return panels, nil
}

// StreamTable says how each bonus stood at the end, seed by seed, and answers from that, by limits that its note names,
// whether the bonus ranks rarity and discounts noise, and what peers make unpredictable.
func StreamTable(all []streamed) viz.Table {
	t := viz.Table{Title: "At the end of the stream", Header: []string{"bonus", "seeds"},
		Notes: []string{fmt.Sprintf("One number a seed, at the last measurement. Ranks rarity: a correlation of %.1f or more in every seed. Discounts noise, or peers: "+
			"a step in front of the noisy screen, or among peers that turn up anywhere, gets more than one in a room that is visited as often and has neither with a probability of %.1f or less in every seed. "+
			"0.5 is no difference. Beside the most frequent room the screen is above that without any noise wherever a bonus ranks rarity, since it is visited a quarter as often.", ranksFrom, discountsTo)}}
	for _, m := range streamMeasures {
		t.Header = append(t.Header, m.y)
	}
	t.Header = append(t.Header, "P(noisy > most frequent)", "ranks rarity", "discounts noise", "discounts peers")
	for _, b := range all {
		row := []string{b.Label, fmt.Sprint(len(b.Runs))}
		for _, m := range streamMeasures {
			row = append(row, atTheEnd(b.Runs, m.of))
		}
		t.Rows = append(t.Rows, append(row, atTheEnd(b.Runs, func(t streamTrace) []float64 { return t.Frequent }),
			inEach(b.Runs, func(t streamTrace) bool { return last(t.Rarity) >= ranksFrom }),
			inEach(b.Runs, func(t streamTrace) bool { return last(t.Noise) <= discountsTo }),
			inEach(b.Runs, func(t streamTrace) bool { return last(t.Restless) <= discountsTo })))
	}
	return t
}

// atTheEnd is the last number of each run.
func atTheEnd(runs []streamTrace, of func(streamTrace) []float64) string {
	if len(runs) == 0 {
		return viz.Missing
	}
	var cells []string
	for _, run := range runs {
		cells = append(cells, fmt.Sprintf("%.2f", last(of(run))))
	}
	return strings.Join(cells, ", ")
}

// inEach answers whether something holds in every run.
func inEach(runs []streamTrace, holds func(streamTrace) bool) string {
	switch {
	case len(runs) == 0:
		return viz.Missing
	case slices.ContainsFunc(runs, func(t streamTrace) bool { return !holds(t) }):
		return "no"
	}
	return "yes"
}

// Where StreamTable says yes.
const (
	ranksFrom   = 0.6
	discountsTo = 0.6
)

// last is the last of some numbers, NaN of none.
func last(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	return v[len(v)-1]
}
