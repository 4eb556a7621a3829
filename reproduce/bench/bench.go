// SPDX-License-Identifier: Apache-2.0

// Package bench runs the Go benchmarks of this repository and prints their results beside recorded ones of VMAS,
// Melting Pot, SMAX, torch and BenchMARL.
package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/viz"
)

// groups are the benchmarks that one name chooses, in the order of measuring: a package and a pattern as for go test
// -bench.
var groups = []struct {
	name, pkg, pattern string
	onRequest          bool // takes minutes: runs only if its name is given
}{
	{"env", "envs/vmas", "Step/./copies/workers=2", false},
	{"env", "envs/meltingpot", "Step/./copies/workers=2", false},
	{"env", "envs/smac", "Step/./copies/workers=2", false},
	{"update", "cermiclib/learn", "MAPPOUpdate|LargestProduct", false},
	{"q", "cermiclib/learn", "QStep", false},
	{"train", "reproduce/bench", "Training/paper/mappo$", false},
	{"cermic", "reproduce/bench", "Training/paper", false},
	{"methods", "reproduce/bench", "Training/short", true},
	{"compile", "reproduce/bench", "Compile", true},
}

// Groups are the names of all groups, in the order of measuring.
func Groups() (names []string) {
	for _, g := range groups {
		if !slices.Contains(names, g.name) {
			names = append(names, g.name)
		}
	}
	return names
}

type peer struct {
	program string
	value   float64
}

// Tasks and Substrates are the tasks of VMAS and the substrates of Melting Pot whose speed was recorded.
var (
	Tasks      = slices.Sorted(maps.Keys(vmas))
	Substrates = slices.Sorted(maps.Keys(meltingPot))
)

// vmas is frames per second of VMAS 1.5.2 at 60 and at 1024 environments, on one or two threads, whichever is faster.
var vmas = map[string][2]float64{
	"balance": {16_200, 127_000}, "ball_trajectory": {3490, 37_500}, "dispersion": {44_900, 563_000},
	"flocking": {8450, 29_300}, "give_way": {8480, 93_200}, "navigation": {30_400, 133_000},
	"passage": {2360, 21_700}, "sampling": {5280, 36_900},
	"simple_adversary": {91_900, 1_130_000}, "transport": {48_200, 517_000}, "wheel": {49_800, 496_000},
}

// meltingPot is steps per second of one environment of Melting Pot 2.4.1, which paints the view of every player.
var meltingPot = map[string]float64{
	"chicken_in_the_matrix__repeated": 4759, "clean_up": 1445, "prisoners_dilemma_in_the_matrix__repeated": 4793,
	"stag_hunt_in_the_matrix__repeated": 7411,
}

// recorded are measurements of other programs on two x86-64 cores, by the name of the benchmark here. The programs
// are torch 2.15, BenchMARL 1.5.2, and SMAX of JaxMARL 0.2.0 on smacv2_5_units.
var recorded = func() map[string]peer {
	out := map[string]peer{
		"MAPPOUpdate": {"torch", 31.3}, "Training/paper/mappo": {"BenchMARL", 1430},
		stepName("protoss_5_vs_5", 60): {"SMAX", 23_600}, stepName("protoss_5_vs_5", 1024): {"SMAX", 21_700},
		stepName("zerg_5_vs_5", 60): {"SMAX", 23_600}, stepName("zerg_5_vs_5", 1024): {"SMAX", 21_700},
	}
	for task, fps := range vmas {
		out[stepName(task, 60)], out[stepName(task, 1024)] = peer{"VMAS", fps[0]}, peer{"VMAS", fps[1]}
	}
	for task, fps := range meltingPot {
		name := stepName(task, 60)
		out[name], out[strings.Replace(name, "Step", "StepAndPixels", 1)] = peer{"Melting Pot", fps}, peer{"Melting Pot", fps}
	}
	return out
}()

// stepName is the name of the benchmark of a task's steps on two cores.
func stepName(task string, environments int) string {
	return fmt.Sprintf("Step/%s/copies=%d/workers=2", task, environments)
}

// Metric is one number that a benchmark reports.
type Metric struct {
	Benchmark string // without the word Benchmark
	Value     float64
	Unit      string // "frames/s", "ms/step"
}

// better is how many times better the metric is than value; more frames per second are better, and less of all else.
func (m Metric) better(value float64) float64 {
	if strings.HasSuffix(m.Unit, "/s") {
		return m.Value / value
	}
	return value / m.Value
}

func (m Metric) print(out io.Writer) {
	beside := ""
	if p, ok := recorded[m.Benchmark]; ok && (m.Unit == "frames/s" || m.Unit == "ms/step") {
		beside = fmt.Sprintf("%s %s: %.3g×", p.program, Amount(p.value), m.better(p.value))
	}
	fmt.Fprintf(out, "%-66s %9s %-9s %s\n", m.Benchmark, Amount(m.Value), m.Unit, beside)
}

// Amount writes a measurement with three digits, and thousands in full.
func Amount(x float64) string {
	if x >= 1000 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

// Measure runs the groups that only names in the repository at root and prints their results.
func Measure(ctx context.Context, out io.Writer, root, only string) error {
	if err := PrintMachine(out); err != nil {
		return err
	}
	for _, g := range groups {
		if g.name != only && (only != "" || g.onRequest) {
			continue
		}
		err := Run(ctx, out, root, g.pkg, g.pattern, func(m Metric) { m.print(out) })
		if err != nil {
			return err
		}
	}
	return nil
}

// PrintMachine writes the processor, the version of Go and the backend that benchmarks run on.
func PrintMachine(out io.Writer) error {
	backend, err := nn.Open()
	if err != nil {
		return err
	}
	h := results.CollectHost(backend.Label)
	_, err = fmt.Fprintf(out, "%s (%s), %s, %s, %s\n", h.CPU, h.ISA, viz.Count(h.Cores, "core"), h.Go, h.Backend)
	return err
}

// Run runs the benchmarks of a package of the repository at root on the backend of this process. pattern chooses them
// as for go test -bench. Run passes on every metric as it comes and prints the failures that go test reports.
func Run(ctx context.Context, out io.Writer, root, pkg, pattern string, each func(Metric)) error {
	backend, err := nn.Open()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-v=false", "-run=^$", "-bench="+pattern, "-timeout=0", "./"+pkg)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Dir, cmd.WaitDelay = root, time.Second
	cmd.Env = append(os.Environ(), "GOMLX_BACKEND="+backend.Label) // tests would take Go's
	lines, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return err
	}
	found, usual := false, regexp.MustCompile(`^(goos:|goarch:|pkg:|cpu:|PASS|ok )`)
	for in := bufio.NewScanner(lines); in.Scan(); {
		metrics := parse(in.Text())
		if len(metrics) == 0 && !usual.MatchString(in.Text()) {
			fmt.Fprintln(out, in.Text())
		}
		for _, m := range metrics {
			found = true
			each(m)
		}
	}
	switch err := cmd.Wait(); {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("benchmark %s failed: %w", pattern, err)
	case !found:
		return fmt.Errorf("benchmark %s reported nothing", pattern)
	}
	return nil
}

// parse reads the metrics of one line of a benchmark's output, without the times and allocations that package testing
// adds; none of other lines.
func parse(line string) (out []Metric) {
	fields := strings.Fields(line)
	if len(fields) < 4 || !strings.HasPrefix(line, "Benchmark") {
		return nil
	}
	name := strings.TrimPrefix(fields[0], "Benchmark")
	name = strings.TrimSuffix(name, fmt.Sprint("-", runtime.GOMAXPROCS(0))) // which is not there if it is 1
	for i := 2; i+1 < len(fields); i += 2 {
		value, err := strconv.ParseFloat(fields[i], 64)
		if unit := fields[i+1]; err == nil && !slices.Contains([]string{"ns/op", "B/op", "allocs/op"}, unit) {
			out = append(out, Metric{name, value, unit})
		}
	}
	return out
}
