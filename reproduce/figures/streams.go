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

// StreamBonuses are every form of r^i and random network distillation. The memory enters r^i only where the label names it; elsewhere it is
// the cheapest. Waves of what can be foreseen are the form of mappo-cermic, once with the steps that it takes at budget explore; waves of all are the same
// without its filter.
func StreamBonuses() []StreamBonus {
	form := func(label string, f cermic.Form, m memory.Config) StreamBonus {
		c := cermic.Default()
		c.Form, c.Memory, c.Minibatch, c.Fraction = f, m, streamMinibatch, streamFraction
		return StreamBonus{label, c}
	}
	peers := cermic.DefaultElliptical()
	peers.Whose, peers.Peers = cermic.WhoseOwn, true
	mlp, graph := memory.DefaultMLP(), memory.DefaultGraph()
	today := cermic.Novelty().Form.(cermic.Elliptical)
	unfiltered := today
	unfiltered.Filter = cermic.FilterNone
	waves := func(label string, f cermic.Elliptical, lr float64) StreamBonus {
		b := form(label, f, mlp)
		c := b.Config.(cermic.Config)
		c.LR, c.Fraction = lr, cermic.Default().Fraction
		b.Config = c
		return b
	}
	return []StreamBonus{
		form("kl", cermic.KL{}, mlp), form("aggregate", cermic.DefaultAggregate(), mlp), form("context of mlp", cermic.DefaultContext(), mlp),
		form("context of graph", cermic.DefaultContext(), graph), form("elliptical", cermic.DefaultElliptical(), mlp),
		form("elliptical with peers of graph", peers, graph), form("progress", cermic.Progress{}, mlp),
		waves("waves of what can be foreseen", today, cermic.Default().LR), waves("waves of what can be foreseen, lr 1e-3", today, 1e-3),
		waves("waves of all, lr 1e-3", unfiltered, 1e-3),
		{"rnd", stream.RND()},
	}
}

// Streamed is what the stream told of one bonus.
type Streamed struct {
	Label string
	Runs  []StreamTrace // one a seed; none where nobody has computed them
}

// StreamTrace is what is kept of a stream.Trace: one number a measurement.
type StreamTrace struct {
	Seed       uint64    `json:"seed"`
	Iterations []int     `json:"iterations"`
	Rarity     []float64 `json:"rarity"` // this and what follows as in stream.Trace
	Noise      []float64 `json:"noise"`
	Unvisited  []float64 `json:"unvisited"`
}

// committedStreams are traces by the keys of what they are of. To commit more, copy a store's streams.json over it.
//
//go:embed streams.json
var committedStreams []byte

// streamsFile is where a store keeps the traces that were computed with it.
const streamsFile = "streams.json"

// Streams are what the stream s told of every bonus with seeds 1 to seeds: from the committed traces and those of the store, each found by
// all its settings. Those that are missing are computed and stored only if compute is true.
func Streams(ctx context.Context, st *results.Store, s stream.Stream, bonuses []StreamBonus, seeds int, compute bool) ([]Streamed, error) {
	known, err := readStreams(st)
	if err != nil {
		return nil, err
	}
	var out []Streamed
	for _, b := range bonuses {
		told := Streamed{Label: b.Label}
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
				told.Runs = append(told.Runs, trace)
			}
		}
		out = append(out, told)
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
	return StreamTrace{Seed: s.Seed, Iterations: t.Iterations, Rarity: t.Rarity, Noise: t.Noise, Unvisited: t.Unvisited}, nil
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
	{"Is noise rewarded?", "P(noisy > frequent)", 0, func(t StreamTrace) []float64 { return t.Noise }},
	{"Is the unvisited rewarded?", "P(never visited > frequent)", 0, func(t StreamTrace) []float64 { return t.Unvisited }},
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
	panels := viz.NewPanels(3, plots...)
	panels.Legend = viz.Styles(labels...)
	return panels, nil
}

// StreamTable says what each bonus told at the end, seed by seed, and answers from that, by limits that its note names, whether the bonus
// ranks rarity and discounts noise.
func StreamTable(all []Streamed) viz.Table {
	t := viz.Table{Title: "At the end of the stream", Header: []string{"bonus", "seeds", "rank correlation with rarity", "P(noisy > most frequent)", "P(never visited > most frequent)", "ranks rarity", "discounts noise"},
		Notes: []string{fmt.Sprintf("One number a seed, at the last measurement. Ranks rarity: a correlation of %.1f or more in every seed. Discounts noise: "+
			"a step in front of the noisy screen gets more than one in the most frequent room with a probability of %.1f or less in every seed. "+
			"0.5 is no difference; a bonus that ranks rarity well is above that without any noise, since the screen's room is visited a quarter as often.", ranksFrom, discountsTo)}}
	for _, b := range all {
		row := []string{b.Label, fmt.Sprint(len(b.Runs))}
		ranks, discounts := "yes", "yes"
		for _, m := range streamMeasures {
			cell := ""
			for i, run := range b.Runs {
				if i > 0 {
					cell += ", "
				}
				cell += fmt.Sprintf("%.2f", last(m.of(run)))
			}
			if cell == "" {
				cell = viz.Missing
			}
			row = append(row, cell)
		}
		for _, run := range b.Runs {
			if !(last(run.Rarity) >= ranksFrom) {
				ranks = "no"
			}
			if !(last(run.Noise) <= discountsTo) {
				discounts = "no"
			}
		}
		if len(b.Runs) == 0 {
			ranks, discounts = viz.Missing, viz.Missing
		}
		t.Rows = append(t.Rows, append(row, ranks, discounts))
	}
	return t
}

// Where StreamTable says yes.
const (
	ranksFrom   = 0.6
	discountsTo = 0.7
)

// last is the last of some numbers, NaN of none.
func last(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	return v[len(v)-1]
}
