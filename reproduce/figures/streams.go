// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"

	"cermic/cermiclib/cermic"
	"cermic/cermiclib/explore"
	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/cermiclib/stream"
	"cermic/envs/conf"
	"cermic/viz"
)

// StreamBonus is an intrinsic reward that is led through the stream of rooms.
type StreamBonus struct {
	Label  string
	Config explore.Config
}

// streamMinibatch is of CERMIC's module on the stream, whose rollouts are small.
const streamMinibatch = 60

// streamFraction is the share of agent steps that an epoch of the module covers on the stream, but for the waves, which cover half as many, as
// everywhere today.
const streamFraction = 0.25

// noBand are levels that Ψ never reaches, so that neither L_UB nor L_LB pulls at it.
const noBand = 1e6

// StreamBonuses are every form of r^i and random network distillation. The memory enters r^i only where the label names it; elsewhere it is
// the cheapest. With the graph it is asked what the band of L_exploit does to it, and what negatives, a calibration and a σ_ψ as they were first
// specified. Waves of what can be foreseen are the form of mappo-cermic-st, once with the steps that it takes at budget explore; waves of all are the
// same without its filter.
func StreamBonuses() []StreamBonus {
	form := func(label string, f cermic.Form, m memory.Config) StreamBonus {
		c := cermic.Novelty() // the earlier schedule, without channels of peers
		c.Form, c.Memory, c.Minibatch, c.Fraction, c.Others, c.IntMemory = f, m, streamMinibatch, streamFraction, 0, 0
		return StreamBonus{label, c}
	}
	peers := cermic.DefaultElliptical()
	peers.Whose, peers.Peers = cermic.WhoseOwn, true
	mlp, graph := memory.DefaultMLP(), memory.DefaultGraph()
	changed := func(b StreamBonus, change func(*cermic.Config)) StreamBonus {
		c := b.Config.(cermic.Config)
		change(&c)
		return StreamBonus{b.Label, c}
	}
	contextOf := func(label string, m memory.Config) StreamBonus {
		return form("context of "+label, cermic.DefaultContext(), m)
	}
	today := cermic.Novelty().Form.(cermic.Elliptical)
	unfiltered := today
	unfiltered.Filter = cermic.FilterNone
	waves := func(label string, f cermic.Elliptical, lr float64) StreamBonus {
		return changed(form(label, f, mlp), func(c *cermic.Config) { c.LR, c.Fraction = lr, cermic.Novelty().Fraction })
	}
	return []StreamBonus{
		form("kl", cermic.KL{}, mlp), form("aggregate", cermic.DefaultAggregate(), mlp),
		contextOf("mlp", mlp), contextOf("gru", memory.DefaultGRU()), contextOf("graph", graph),
		changed(contextOf("graph, no band", graph), func(c *cermic.Config) { c.Lower, c.Upper = -noBand, noBand }),
		changed(contextOf("graph, three decisions undone", graph), func(c *cermic.Config) {
			c.NegFilter, c.CalibCentre, c.PsiSpread = false, false, cermic.SpreadLearned
		}),
		form("elliptical", cermic.DefaultElliptical(), mlp),
		form("elliptical with peers of graph", peers, graph), form("progress", cermic.Progress{}, mlp),
		waves("waves of what can be foreseen", today, cermic.Default().LR), waves("waves of what can be foreseen, lr 1e-3", today, 1e-3),
		waves("waves of all, lr 1e-3", unfiltered, 1e-3),
		{"rnd", stream.RND()},
	}
}

// Streamed is what the stream recorded of one bonus.
type Streamed struct {
	Label string
	Runs  []StreamTrace // one a seed; none where nobody has computed them
}

// StreamTrace is what is kept of a stream.Trace: one number a measurement.
type StreamTrace struct {
	Seed       uint64    `json:"seed"`
	Iterations []int     `json:"iterations"`
	Rarity     []float64 `json:"rarity"` // this and what follows as in stream.Trace
	Frequent   []float64 `json:"frequent"`
	Noise      []float64 `json:"noise"`
	Restless   []float64 `json:"restless"`
	Unvisited  []float64 `json:"unvisited"`
}

// committedStreams are traces by the keys of what they are of. To commit more, copy a store's streams.json over it.
//
//go:embed streams.json
var committedStreams []byte

// streamsFile is where a store keeps the traces that were computed with it.
const streamsFile = "streams.json"

// Streams are what the stream s recorded of every bonus with seeds 1 to seeds: from the committed traces and those of the store, each found by
// all its settings. Those that are missing are computed and stored only if compute is true.
func Streams(ctx context.Context, st *results.Store, s stream.Stream, bonuses []StreamBonus, seeds int, compute bool) ([]Streamed, error) {
	known, err := readStreams(st)
	if err != nil {
		return nil, err
	}
	var out []Streamed
	for _, b := range bonuses {
		streamed := Streamed{Label: b.Label}
		for seed := 1; seed <= seeds; seed++ {
			s.Seed = uint64(seed)
			key, err := streamKey(s, b.Config)
			if err != nil {
				return nil, err
			}
			trace, ok := known[key]
			if !ok && compute {
				if trace, err = runStream(ctx, s, b.Config); err != nil {
					return nil, fmt.Errorf("%s: %w", b.Label, err)
				}
				known[key], ok = trace, true
				if err := writeStreams(st, known); err != nil {
					return nil, err
				}
			}
			if ok {
				streamed.Runs = append(streamed.Runs, trace)
			}
		}
		out = append(out, streamed)
	}
	return out, nil
}

// runStream leads a fresh explorer through the stream.
func runStream(ctx context.Context, s stream.Stream, c explore.Config) (StreamTrace, error) {
	backend, err := nn.Open()
	if err != nil {
		return StreamTrace{}, err
	}
	t, err := s.Run(ctx, backend, c)
	if err != nil {
		return StreamTrace{}, err
	}
	return StreamTrace{Seed: s.Seed, Iterations: t.Iterations, Rarity: t.Rarity, Frequent: t.Frequent, Noise: t.Noise, Restless: t.Restless, Unvisited: t.Unvisited}, nil
}

// streamKey names a trace by everything that it depends on.
func streamKey(s stream.Stream, c explore.Config) (string, error) {
	text, err := conf.Marshal(struct {
		Explore explore.Config `json:"explore"`
	}{c})
	if err != nil {
		return "", err
	}
	settings, err := json.Marshal(s)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(append(settings, text...))
	return hex.EncodeToString(sum[:8]), nil
}

// readStreams are the committed traces and those of st.
func readStreams(st *results.Store) (map[string]StreamTrace, error) {
	all := map[string]StreamTrace{}
	if err := json.Unmarshal(committedStreams, &all); err != nil {
		return nil, fmt.Errorf("reproduce/figures/streams.json: %w", err)
	}
	path := filepath.Join(st.Dir(), streamsFile)
	text, err := results.ReadFile(path, 1<<30)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; remove it to compute it anew", path, err)
	}
	return all, nil
}

func writeStreams(st *results.Store, all map[string]StreamTrace) error {
	text, err := json.MarshalIndent(all, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(st.Dir(), 0o777); err != nil {
		return err
	}
	return results.WriteFile(filepath.Join(st.Dir(), streamsFile), append(text, '\n'))
}

// streamMeasures are the questions that the stream answers.
var streamMeasures = []struct {
	title, y string
	low      float64
	of       func(StreamTrace) []float64
}{
	{"Does it rank rarity?", "rank correlation with rarity", -1, func(t StreamTrace) []float64 { return t.Rarity }},
	{"Is the unvisited rewarded?", "P(never visited > most frequent)", 0, func(t StreamTrace) []float64 { return t.Unvisited }},
	{"Is a screen of noise rewarded?", "P(noisy > as rare)", 0, func(t StreamTrace) []float64 { return t.Noise }},
	{"Are restless peers rewarded?", "P(restless peers > as rare)", 0, func(t StreamTrace) []float64 { return t.Restless }},
}

// StreamCurves draws the answers over the rollouts of the stream: a line a bonus, with its interval over seeds.
func StreamCurves(all []Streamed) (viz.Panels, error) {
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

// StreamTable says how each bonus stood at the end, seed by seed, and answers from that, by limits that its note names, whether the bonus
// ranks rarity and discounts noise, and what peers make unpredictable.
func StreamTable(all []Streamed) viz.Table {
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
		t.Rows = append(t.Rows, append(row, atTheEnd(b.Runs, func(t StreamTrace) []float64 { return t.Frequent }),
			inEach(b.Runs, func(t StreamTrace) bool { return last(t.Rarity) >= ranksFrom }),
			inEach(b.Runs, func(t StreamTrace) bool { return last(t.Noise) <= discountsTo }),
			inEach(b.Runs, func(t StreamTrace) bool { return last(t.Restless) <= discountsTo })))
	}
	return t
}

// atTheEnd is the last number of each run.
func atTheEnd(runs []StreamTrace, of func(StreamTrace) []float64) string {
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
func inEach(runs []StreamTrace, holds func(StreamTrace) bool) string {
	switch {
	case len(runs) == 0:
		return viz.Missing
	case slices.ContainsFunc(runs, func(t StreamTrace) bool { return !holds(t) }):
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
