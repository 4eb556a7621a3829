// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
)

// figure is one measurement beside the recorded one of a peer. The peers were recorded on two x86-64 cores: VMAS 1.5.2
// with two threads, torch 2.15, BenchMARL 1.5.2, Melting Pot 2.4.1 and SMAX of JaxMARL 0.2.0.
type figure struct {
	group, name, unit string
	peer              float64 // 0: none recorded
	of                string  // whose
	smaller           bool    // is better
	measure           func(context.Context) (float64, error)
}

// figures in the order of measuring. Memory is the process's peak, so it follows at once on what it is the peak of.
var figures = slices.Concat([]figure{
	{"env", "Balance alone, 60 copies", "frames/s", 16_200, "VMAS", false, stepping("vmas/balance", 60)},
	{"env", "Balance alone, 1024 copies", "frames/s", 127_000, "VMAS", false, stepping("vmas/balance", 1024)},
	{"update", "MAPPO update of 2400 frames", "ms", 31.3, "torch", true, updatingOnce},
}, updateFigures(), []figure{
	{"train", "MAPPO at the paper's settings", "frames/s", 1430, "BenchMARL", false, mappoFPS},
	{"train", "a paper run of it", "h", 0, "", true, paperHours},
	{"train", "its peak memory", "MiB", 0, "", true, peakMemory},
	{"cermic", "MAPPO-CERMIC's time over MAPPO's", "×", 0, "", true, slowdown("mlp")},
	{"cermic", "the same with the GRU memory", "×", 0, "", true, slowdown("gru")},
	{"cermic", "the same with the graph memory", "×", 0, "", true, slowdown("graph")},
	{"cermic", "its peak memory", "MiB", 0, "", true, peakMemory},
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
	{"step", "scoring a collection over making it", "×", 0, "", true, stepPart(func(s stepCost) float64 { return s.Reward.Seconds() / s.collection.Seconds() })},
}, stepFigures(), taskFigures(), methodFigures())

// recorded lists the frames a second of VMAS 1.5.2, the better one of one and two threads, at 60 and at 1024 copies.
var recorded = []struct {
	task        string
	few, plenty float64
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

// recordedSubstrates lists the steps a second of Melting Pot 2.4.1, which knows no copies and paints every player's view.
var recordedSubstrates = []struct {
	task string
	one  float64
}{
	{"meltingpot/chicken_in_the_matrix__repeated", 4759},
	{"meltingpot/clean_up", 1445},
	{"meltingpot/prisoners_dilemma_in_the_matrix__repeated", 4793},
	{"meltingpot/stag_hunt_in_the_matrix__repeated", 7411},
}

// recordedBattles lists the frames a second of SMAX (JaxMARL 0.2.0, jax 0.10.2, smacv2_5_units) at 60 and at 1024 copies: a
// simulator of the same battles without shields, armour, missiles, colossi and banelings, with observations of its own.
var recordedBattles = []struct {
	task        string
	few, plenty float64
}{
	{"smac/protoss_5_vs_5", 23_600, 21_700},
	{"smac/zerg_5_vs_5", 23_600, 21_700},
}

// taskFigures are the speeds of all tasks whose original's speed was recorded.
func taskFigures() (out []figure) {
	for _, r := range recordedSubstrates {
		name := strings.TrimSuffix(r.task, "_in_the_matrix__repeated")
		out = append(out, figure{"tasks", name + ", 60 copies", "frames/s", r.one, "Melting Pot", false, stepping(r.task, 60)})
	}
	for _, r := range recordedBattles {
		out = append(out,
			figure{"tasks", r.task + ", 60 copies", "frames/s", r.few, "SMAX", false, stepping(r.task, 60)},
			figure{"tasks", r.task + ", 1024 copies", "frames/s", r.plenty, "SMAX", false, stepping(r.task, 1024)})
	}
	for _, r := range recorded {
		out = append(out,
			figure{"tasks", r.task + ", 60 copies", "frames/s", r.few, "VMAS", false, stepping(r.task, 60)},
			figure{"tasks", r.task + ", 1024 copies", "frames/s", r.plenty, "VMAS", false, stepping(r.task, 1024)})
	}
	return out
}

// runBench measures the figures and prints each beside its peer's.
func runBench(ctx context.Context, out io.Writer, args []string) error {
	var only string
	var lines, beside bool
	rounds := peerRounds
	if _, err := parse("bench", out, args, 0, func(f *flag.FlagSet) {
		f.StringVar(&only, "only", "", "measure one `group`: "+strings.Join(groups(), ", ")+"; "+methodsGroup+" takes minutes and is left out of all, "+
			gpuGroup+" is what a GPU is for, where there is none a prediction for one, "+compileGroup+" lists the graphs of every method and the times of smoke runs")
		backendFlag(f)
		f.BoolVar(&lines, "json", false, "one JSON object a line")
		f.BoolVar(&beside, "peers", false, "take turns with VMAS, BenchMARL, torch and Melting Pot on this machine, five each, and print the ratios; installs them into "+peersFolder+" the first time (6.3 GB); -only names a group of "+strings.Join(peerGroups, ", ")+", or "+learningGroup+", which trains for an hour; env/balance is a part of one")
		f.IntVar(&rounds, "rounds", rounds, "with -peers: how often each side of a pair is measured")
	}); err != nil {
		return err
	}
	if rounds < 1 {
		return usagef("-rounds is %d, want 1 or more", rounds)
	}
	if beside {
		return benchPeers(ctx, out, only, rounds, lines)
	}
	known := append(groups(), gpuGroup, compileGroup)
	if only != "" && !slices.Contains(known, only) {
		return usagef("unknown group %q%s", only, conf.Near(only, known))
	}
	if only == compileGroup {
		return benchCompile(ctx, out, lines)
	}
	if only == gpuGroup {
		if gpu, err := onGPU(); err != nil || !gpu {
			return errors.Join(err, benchGPUPaper(ctx, out))
		}
	}
	if err := printMachine(out, lines); err != nil {
		return err
	}
	for _, f := range figures {
		if !f.in(only) {
			continue
		}
		value, err := f.measure(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		if err := f.print(out, value, lines); err != nil {
			return err
		}
	}
	return nil
}

// gpuGroup measures the figures of several groups, on a GPU.
const gpuGroup = "gpu"

// in says whether a figure is measured when only one group, or "" for all, is asked for.
func (f figure) in(only string) bool {
	if only == gpuGroup {
		return slices.Contains([]string{"update", "train", "many", "seeds"}, f.group)
	}
	return only == "" && f.group != methodsGroup || f.group == only
}

// groups are the names that -only takes.
func groups() []string {
	var out []string
	for _, f := range figures {
		if !slices.Contains(out, f.group) {
			out = append(out, f.group)
		}
	}
	return out
}

// printMachine heads the table with what the figures were measured on.
func printMachine(out io.Writer, lines bool) error {
	if lines {
		return nil
	}
	backend, err := nn.Open()
	if err != nil {
		return err
	}
	h := results.CollectHost(backend.Label)
	_, err = fmt.Fprintf(out, "%s (%s), %s, %s, %s\n%-40s %9s          peer, and how many times better this is\n", h.CPU, h.ISA, plural(h.Cores, "core"), h.Go, h.Backend, "", "here")
	return err
}

// ratio says how many times better value is than the peer's; 0 if there is no peer.
func (f figure) ratio(value float64) float64 {
	switch {
	case f.peer == 0:
		return 0
	case f.smaller:
		return f.peer / value
	}
	return value / f.peer
}

// print writes one figure: a line of text, or of JSON with null where there is no peer.
func (f figure) print(out io.Writer, value float64, lines bool) error {
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
		peer = fmt.Sprintf("%s %s: %.3g×", f.of, amount(f.peer), f.ratio(value))
	}
	_, err := fmt.Fprintf(out, "%-40s %9s %-8s %s\n", f.name, amount(value), f.unit, peer)
	return err
}

// amount writes a measurement with three digits, and thousands in full.
func amount(x float64) string {
	if x >= 1000 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}
