// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/libtest"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/xlacache"
	"cermic/envs/envtest/must"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
)

// memories are the values of explore.memory.
var memories = []string{"mlp", "gru", "graph"}

// dense is the experiment of a method on a task's dense reward.
func dense(b *testing.B, task, method, budget string, set ...string) experiment.Config {
	b.Helper()
	set = append(set, "task.reward=dense")
	return must.Get(plan.New(plan.Request{Task: "vmas/" + task, Method: method, Budget: budget, Set: set, Seed: 1}))(b)
}

// BenchmarkTraining times whole training iterations, rollout and updates, without compiling and evaluation. On
// Balance it trains MAPPO and MAPPO-CERMIC with each memory at the paper's settings. It also trains MAPPO on Simple
// Adversary with JaxMARL's five actions, and the paper's ten methods at budget short.
func BenchmarkTraining(b *testing.B) {
	b.Run("paper/mappo", func(b *testing.B) { train(b, dense(b, "balance", "mappo", "paper"), 2) })
	b.Run("cross5/simple_adversary/mappo", func(b *testing.B) {
		train(b, dense(b, "simple_adversary", "mappo", "paper", "task.discrete=cross5"), 2)
	})
	for _, memory := range memories {
		b.Run("paper/mappo-cermic-"+memory, func(b *testing.B) {
			train(b, dense(b, "balance", "mappo-cermic", "paper", "explore.memory="+memory), 2)
		})
	}
	for _, task := range []string{"navigation", "balance"} {
		for _, m := range paper.Methods {
			b.Run("short/"+task+"/"+m.ID, func(b *testing.B) { train(b, dense(b, task, m.ID, "short"), 3) })
		}
	}
}

func train(b *testing.B, e experiment.Config, batches int) {
	var speed plan.Speed
	for b.Loop() {
		speed = must.Get(plan.MeasureSpeed(b.Context(), e, batches))(b)
	}
	b.ReportMetric(speed.FPS, "frames/s")
	b.ReportMetric(speed.Processor, "processor-s")
	if status, err := os.ReadFile("/proc/self/status"); err == nil { // on Linux
		_, text, _ := strings.Cut(string(status), "VmHWM:")
		var kib float64
		if _, err := fmt.Sscan(text, &kib); err == nil {
			b.ReportMetric(kib/1024, "peak-MiB")
		}
	}
}

// BenchmarkCompile times smoke runs on Balance, first with graphs to compile, then with these graphs on disk. It is
// only meaningful as the first benchmark of a process, since the folder of compiled graphs is chosen once. Graphs that
// a method shares with an earlier one are not compiled again.
func BenchmarkCompile(b *testing.B) {
	must.Do(b, os.Setenv(nn.KeptGraphs, b.TempDir()))
	for _, m := range paper.Methods {
		if !strings.HasSuffix(m.ID, "-cermic") {
			b.Run(m.ID, func(b *testing.B) { compile(b, m.ID) })
			continue
		}
		for _, memory := range memories {
			b.Run(m.ID+"-"+memory, func(b *testing.B) { compile(b, m.ID, "explore.memory="+memory) })
		}
	}
}

func compile(b *testing.B, method string, set ...string) {
	e, seconds := dense(b, "balance", method, "smoke", set...), [2]float64{}
	_, before := xlacache.Counts()
	for seed := range seconds {
		e.Seed = uint64(seed + 1)
		start := time.Now()
		must.Get(experiment.Run(b.Context(), e, libtest.Store(b)))(b)
		seconds[seed] = time.Since(start).Seconds()
	}
	for b.Loop() { // nothing: a second time every graph would be on disk
	}
	if _, now := xlacache.Counts(); now == before {
		b.Skip("nothing was compiled: run this benchmark alone, with XLA's plug-in for the CPU")
	}
	b.ReportMetric(seconds[0], "s-compiling")
	b.ReportMetric(seconds[1], "s-from-disk")
}
