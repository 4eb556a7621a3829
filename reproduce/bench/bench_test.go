// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
		if err := m.print(&out); err != nil || strings.Join(strings.Fields(out.String()), " ") != want {
			t.Errorf("got %q (%v), want %q", out.String(), err, want)
		}
	}
}

func TestEachGroupNamesABenchmarkOfItsPackage(t *testing.T) {
	for _, g := range groups {
		files, err := filepath.Glob(filepath.Join("..", "..", g.pkg, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		var all []byte
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, text...)
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
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := Program{self, "."}
	var got []Metric
	keep := func(m Metric) error { got = append(got, m); return nil }
	if err := p.Run(t.Context(), "Parse$", keep); err != nil || !slices.Equal(got, []Metric{{"Parse", 3, "frames/s"}}) {
		t.Errorf("got %v (%v)", got, err)
	}
	if err := p.Run(t.Context(), "Nothing", keep); err == nil || !strings.Contains(err.Error(), "reported nothing") {
		t.Errorf("no benchmark is no error: %v", err)
	}
	full := errors.New("the disk is full")
	if err := p.Run(t.Context(), "Parse$", func(Metric) error { return full }); !errors.Is(err, full) {
		t.Errorf("what cannot be printed is no error: %v", err)
	}
	t.Setenv("CERMIC_BENCH_FAILS", "1")
	if err := p.Run(t.Context(), "Parse$", keep); err == nil || !strings.HasSuffix(err.Error(), "on request") {
		t.Errorf("a benchmark that fails: %v", err)
	}
}
