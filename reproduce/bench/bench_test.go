// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cermic/envs/envtest/must"
)

// BenchmarkParse is cheap, so that tests can run it.
func BenchmarkParse(b *testing.B) {
	if os.Getenv("CERMIC_BENCH_FAILS") != "" {
		b.Fatal("on request")
	}
	for b.Loop() {
		parse("BenchmarkA-2 1 2 ns/op")
	}
	b.ReportMetric(3, "frames/s")
}

func TestMetricsAreReadFromLinesOfBenchmarks(t *testing.T) {
	got := parse("BenchmarkStep/wheel/copies=60 \t     100\t 12 ns/op\t 4.5e+03 frames/s\t 0 B/op\t 0 allocs/op\t 7 ms/step")
	want := []Metric{{"Step/wheel/copies=60", 4500, "frames/s"}, {"Step/wheel/copies=60", 7, "ms/step"}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, line := range []string{"PASS", "ok  \tcermic\t1s", "goos: linux a b c", "BenchmarkA-2", "BenchmarkA-2 1 x frames/s"} {
		if got := parse(line); got != nil {
			t.Errorf("%q has metrics %v", line, got)
		}
	}
}

func TestMetricsArePrintedBesideThePeers(t *testing.T) {
	for want, m := range map[string]Metric{
		"Step/balance/copies=60/workers=2 32400 frames/s VMAS 16200: 2×":                {"Step/balance/copies=60/workers=2", 32_400, "frames/s"},
		"StepAndPixels/clean_up/copies=60/workers=2 2890 frames/s Melting Pot 1445: 2×": {"StepAndPixels/clean_up/copies=60/workers=2", 2890, "frames/s"},
		"MAPPOUpdate 62.6 ms/step torch 31.3: 0.5×":                                     {"MAPPOUpdate", 62.6, "ms/step"},
		"MAPPOUpdate 150 GFLOP/s":                                                       {"MAPPOUpdate", 150, "GFLOP/s"},
		"Step/lock/copies=60/workers=2 1 frames/s":                                      {"Step/lock/copies=60/workers=2", 1, "frames/s"},
		"Step/zerg_5_vs_5/copies=1024/workers=2 43400 frames/s SMAX 21700: 2×":          {"Step/zerg_5_vs_5/copies=1024/workers=2", 43_400, "frames/s"},
		"Training/paper/mappo 715 frames/s BenchMARL 1430: 0.5×":                        {"Training/paper/mappo", 715, "frames/s"},
	} {
		var out bytes.Buffer
		if m.print(&out); strings.Join(strings.Fields(out.String()), " ") != want {
			t.Errorf("got %q, want %q", out.String(), want)
		}
	}
}

func TestEachGroupNamesABenchmarkOfItsPackage(t *testing.T) {
	for _, g := range groups {
		var all []byte
		for _, file := range must.Get(filepath.Glob(filepath.Join("..", "..", g.pkg, "*_test.go")))(t) {
			all = append(all, must.Get(os.ReadFile(file))(t)...)
		}
		for pattern := range strings.SplitSeq(g.pattern, "|") {
			name, _, _ := strings.Cut(pattern, "/")
			if !bytes.Contains(all, []byte("func Benchmark"+name+"(b *testing.B)")) {
				t.Errorf("%s has no benchmark %s, which group %s runs", g.pkg, name, g.name)
			}
		}
	}
}

func TestABenchmarkIsRunAndReportsItsMetrics(t *testing.T) {
	if testing.Short() {
		t.Skip("builds benchmarks")
	}
	var got []Metric
	var out bytes.Buffer
	run := func(pattern string) error {
		return Run(t.Context(), &out, filepath.Join("..", ".."), "reproduce/bench", pattern, func(m Metric) { got = append(got, m) })
	}
	if err := run("Parse$"); err != nil || !slices.Equal(got, []Metric{{"Parse", 3, "frames/s"}}) || out.Len() > 0 {
		t.Errorf("got %v (%v), output %q", got, err, out.String())
	}
	if err := run("Nothing"); err == nil || !strings.Contains(err.Error(), "reported nothing") {
		t.Errorf("no benchmark is no error: %v", err)
	}
	t.Setenv("CERMIC_BENCH_FAILS", "1")
	if err := run("Parse$"); err == nil || !strings.Contains(out.String(), "on request") {
		t.Errorf("a benchmark that fails: %v, output %q", err, out.String())
	}
}
