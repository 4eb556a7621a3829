// SPDX-License-Identifier: Apache-2.0

// Package bench measures how fast this machine trains, beside the recorded figures of VMAS, torch, BenchMARL, Melting Pot and SMAX.
package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/viz"
)

// Figure is one measurement beside the recorded one of a peer. The peers were recorded on two x86-64 cores: VMAS 1.5.2
// with two threads, torch 2.15, BenchMARL 1.5.2, Melting Pot 2.4.1 and SMAX of JaxMARL 0.2.0.
type Figure struct {
	group, name, unit string
	peer              float64 // 0: none recorded
	of                string  // whose
	smaller           bool    // is better
	measure           func(context.Context) (float64, error)
}

// Figures are all, in the order of measuring. Memory is the process's peak, so it follows at once on what it is the peak of.
var Figures = slices.Concat([]Figure{
	{"env", "Balance alone, 60 environments", "frames/s", 16_200, "VMAS", false, Stepping("vmas/balance", 60)},
	{"env", "Balance alone, 1024 environments", "frames/s", 127_000, "VMAS", false, Stepping("vmas/balance", 1024)},
	{"update", "MAPPO update of 2400 frames", "ms", 31.3, "torch", true, updatingOnce},
}, updateFigures(), []Figure{
	{"train", "MAPPO at the paper's settings", "frames/s", 1430, "BenchMARL", false, mappoFPS},
	{"train", "a paper run of it", "h", 0, "", true, paperHours},
	{"train", "its peak memory", "MiB", 0, "", true, peakMemory},
	{"cermic", "MAPPO-CERMIC's time over MAPPO's", "×", 0, "", true, slowdown("mlp")},
	{"cermic", "the same with the GRU memory", "×", 0, "", true, slowdown("gru")},
	{"cermic", "the same with the graph memory", "×", 0, "", true, slowdown("graph")},
	{"cermic", "its peak memory", "MiB", 0, "", true, peakMemory},
	{ProductsGroup, "MAPPO-CERMIC's matrix products over MAPPO's, MLP memory, counted", "×", 0, "", true, productsRatio("mlp")},
	{ProductsGroup, "the same with the GRU memory", "×", 0, "", true, productsRatio("gru")},
	{ProductsGroup, "the same with the graph memory", "×", 0, "", true, productsRatio("graph")},
	{"many", "one MAPPO run, settings of short", "frames/s", 0, "", false, together(1)},
	{"many", "eight at once, altogether", "frames/s", 0, "", false, together(8)},
	{"seeds", "4 seeds in one graph, 240 rows", "×", 0, "", false, batched(4, 240)},
	{"seeds", "4 seeds in one graph, 960 rows", "×", 0, "", false, batched(4, 960)},
	{"seeds", "4 seeds in one graph, 4800 rows", "×", 0, "", false, batched(4, 4800)},
	{"step", "a step with the graph memory", "ms", 0, "", true, stepPart(func(s stepCost) float64 { return ms(s.total()) })},
	{"step", "of it gathering on the host", "%", 0, "", true, stepPart(func(s stepCost) float64 { return 100 * s.share(s.Gather) })},
	{"step", "of it the losses", "%", 0, "", true, stepPart(func(s stepCost) float64 { return 100 * s.share(s.Forward) })},
	{"step", "of it their gradients", "%", 0, "", true, stepPart(func(s stepCost) float64 { return 100 * s.share(s.Backward) })},
	{"step", "of it the optimiser", "%", 0, "", true, stepPart(func(s stepCost) float64 { return 100 * s.share(s.Optimiser) })},
	{"step", "compiling its graphs", "s", 0, "", true, stepPart(func(s stepCost) float64 { return s.Compile.Seconds() })},
	{"step", "scoring a rollout batch over collecting it", "×", 0, "", true, stepPart(func(s stepCost) float64 { return s.Reward.Seconds() / s.collection.Seconds() })},
}, stepFigures(), taskFigures(), methodFigures())

// Recorded lists the frames a second of VMAS 1.5.2, the better one of one and two threads, at 60 and at 1024 environments.
var Recorded = []struct {
	Task        string
	Few, Plenty float64
}{
	{"vmas/balance", 16_200, 127_000},
	{"vmas/ball_trajectory", 3490, 37_500},
	{"vmas/dispersion", 44_900, 563_000},
	{"vmas/flocking", 8450, 29_300},
	{"vmas/give_way", 8480, 93_200},
	{"vmas/navigation", 30_400, 133_000},
	{"vmas/passage", 2360, 21_700},
	{"vmas/sampling", 5280, 36_900},
	{"vmas/simple_adversary", 91_900, 1_130_000},
	{"vmas/transport", 48_200, 517_000},
	{"vmas/wheel", 49_800, 496_000},
}

// RecordedSubstrates lists the steps a second of Melting Pot 2.4.1, which knows no parallel environments and paints every player's view.
var RecordedSubstrates = []struct {
	Task string
	One  float64
}{
	{"meltingpot/chicken_in_the_matrix__repeated", 4759},
	{"meltingpot/clean_up", 1445},
	{"meltingpot/prisoners_dilemma_in_the_matrix__repeated", 4793},
	{"meltingpot/stag_hunt_in_the_matrix__repeated", 7411},
}

// recordedBattles lists the frames a second of SMAX (JaxMARL 0.2.0, jax 0.10.2, smacv2_5_units) at 60 and at 1024 environments: a
// simulator of the same battles without shields, armour, missiles, colossi and banelings, with observations of its own.
var recordedBattles = []struct {
	Task        string
	Few, Plenty float64
}{
	{"smac/protoss_5_vs_5", 23_600, 21_700},
	{"smac/zerg_5_vs_5", 23_600, 21_700},
}

// taskFigures are the speeds of all tasks whose original's speed was recorded.
func taskFigures() (out []Figure) {
	for _, r := range RecordedSubstrates {
		name := strings.TrimSuffix(r.Task, "_in_the_matrix__repeated")
		out = append(out, Figure{"tasks", name + ", 60 environments", "frames/s", r.One, "Melting Pot", false, Stepping(r.Task, 60)})
	}
	for _, r := range recordedBattles {
		out = append(out,
			Figure{"tasks", r.Task + ", 60 environments", "frames/s", r.Few, "SMAX", false, Stepping(r.Task, 60)},
			Figure{"tasks", r.Task + ", 1024 environments", "frames/s", r.Plenty, "SMAX", false, Stepping(r.Task, 1024)})
	}
	for _, r := range Recorded {
		out = append(out,
			Figure{"tasks", r.Task + ", 60 environments", "frames/s", r.Few, "VMAS", false, Stepping(r.Task, 60)},
			Figure{"tasks", r.Task + ", 1024 environments", "frames/s", r.Plenty, "VMAS", false, Stepping(r.Task, 1024)})
	}
	return out
}

// GPUGroup measures the figures of several groups, on a GPU.
const GPUGroup = "gpu"

// In says whether a figure is measured when only one group, or "" for all, is asked for.
func (f Figure) In(only string) bool {
	if only == GPUGroup {
		return slices.Contains([]string{"update", "train", "cermic", "many", "seeds"}, f.group)
	}
	return only == "" && f.group != MethodsGroup && f.group != ProductsGroup || f.group == only
}

// Groups are the names of all groups.
func Groups() []string {
	var out []string
	for _, f := range Figures {
		if !slices.Contains(out, f.group) {
			out = append(out, f.group)
		}
	}
	return out
}

// PrintMachine heads the table with what the figures were measured on.
func PrintMachine(out io.Writer, lines bool) error {
	if lines {
		return nil
	}
	backend, err := nn.Open()
	if err != nil {
		return err
	}
	h := results.CollectHost(backend.Label)
	_, err = fmt.Fprintf(out, "%s (%s), %s, %s, %s\n%-40s %9s          peer, and how many times better this is\n", h.CPU, h.ISA, viz.Count(h.Cores, "core"), h.Go, h.Backend, "", "here")
	return err
}

// ratio says how many times better value is than the peer's; 0 if there is no peer.
func (f Figure) ratio(value float64) float64 {
	switch {
	case f.peer == 0:
		return 0
	case f.smaller:
		return f.peer / value
	}
	return value / f.peer
}

// Print writes one figure: a line of text, or of JSON with null where there is no peer.
func (f Figure) Print(out io.Writer, value float64, lines bool) error {
	if lines {
		number := func(x float64) *float64 {
			if x == 0 {
				return nil
			}
			return &x
		}
		return json.NewEncoder(out).Encode(struct {
			Name  string   `json:"name"`
			Value float64  `json:"value"`
			Unit  string   `json:"unit"`
			Peer  *float64 `json:"peer"`
			Ratio *float64 `json:"ratio"`
		}{f.name, value, f.unit, number(f.peer), number(f.ratio(value))})
	}
	peer := ""
	if f.peer != 0 {
		peer = fmt.Sprintf("%s %s: %.3g×", f.of, Amount(f.peer), f.ratio(value))
	}
	_, err := fmt.Fprintf(out, "%-40s %9s %-8s %s\n", f.name, Amount(value), f.unit, peer)
	return err
}

// Amount writes a measurement with three digits, and thousands in full.
func Amount(x float64) string {
	if x >= 1000 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

// Measure is the figure on this machine.
func (f Figure) Measure(ctx context.Context) (float64, error) {
	value, err := f.measure(ctx)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", f.name, err)
	}
	return value, nil
}
