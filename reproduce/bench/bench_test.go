// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"cermic/cermiclib/learn"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/xlacache"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/results"
	"cermic/cermiclib/rl"
	"cermic/reproduce/paper"
)

func TestRatioSaysHowManyTimesBetter(t *testing.T) {
	for _, c := range []struct {
		f     Figure
		value float64
		want  float64
	}{
		{Figure{peer: 100}, 250, 2.5},              // frames a second: more is better
		{Figure{peer: 30, smaller: true}, 15, 2},   // milliseconds: less is better
		{Figure{peer: 30, smaller: true}, 60, 0.5}, //
		{Figure{smaller: true}, 60, 0},             // no peer
	} {
		if got := c.f.ratio(c.value); got != c.want {
			t.Errorf("%+v at %g: %g, want %g", c.f, c.value, got, c.want)
		}
	}
}

func TestJSONFiguresAreOneObjectALineWithNullForNoPeer(t *testing.T) {
	var out bytes.Buffer
	for _, f := range []Figure{{name: "a", unit: "ms", peer: 30, of: "torch", smaller: true}, {name: "b", unit: "MiB"}} {
		if err := f.Print(&out, 15, true); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{`{"name":"a","value":15,"unit":"ms","peer":30,"ratio":2}`, `{"name":"b","value":15,"unit":"MiB","peer":null,"ratio":null}`}
	for i, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		if line != want[i] || !json.Valid([]byte(line)) {
			t.Errorf("got %s, want %s", line, want[i])
		}
	}
}

// Drawn actions are kept where they are allowed; battles refuse all others.
func TestBenchmarksPlayWhatIsAllowed(t *testing.T) {
	dst := make([]int32, 3)
	allow(dst, []int32{1, 2, 2}, []uint8{0, 1, 0, 1, 0, 0, 0, 1, 1})
	if !slices.Equal(dst, []int32{1, 0, 2}) {
		t.Errorf("allowed %v of the drawn 1, 2, 2, want 1, 0, 2", dst)
	}
	if allow(dst, []int32{2, 1, 0}, nil); !slices.Equal(dst, []int32{2, 1, 0}) {
		t.Errorf("without a mask %v, want what was drawn", dst)
	}
	if got := Figures[slices.IndexFunc(Figures, func(f Figure) bool { return f.name == "smac/zerg_5_vs_5, 60 environments" })]; got.of != "SMAX" {
		t.Errorf("%+v", got)
	}
}

func TestTextFiguresNameThePeer(t *testing.T) {
	var out bytes.Buffer
	f := Figure{name: "Balance alone", unit: "frames/s", peer: 16_200, of: "VMAS"}
	if err := f.Print(&out, 32_400, false); err != nil {
		t.Fatal(err)
	}
	if line := strings.Join(strings.Fields(out.String()), " "); line != "Balance alone 32400 frames/s VMAS 16200: 2×" {
		t.Errorf("got %q", line)
	}
}

// small is a MAPPO of eight units on Balance, and a rollout of 480 frames by it.
type small struct {
	cfg     learn.MAPPO
	policy  policy.MLP
	build   *nn.Build
	learner learn.Learner
	rollout *rl.Rollout
}

func newSmall(t *testing.T, epochs int) (s small) {
	t.Helper()
	env, err := balance(4)
	if err != nil {
		t.Fatal(err)
	}
	backend, err := nn.OpenConfig(nn.Sequential)
	if err != nil {
		t.Fatal(err)
	}
	s.cfg, s.policy = learn.DefaultMAPPO(), policy.MLP{Hidden: []int{8}}
	s.cfg.Frames, s.cfg.Minibatch, s.cfg.Epochs, s.cfg.CriticHidden = 480, 480, epochs, []int{8}
	s.build = &nn.Build{Spec: env.Spec(), Backend: backend, Store: nn.NewStore(1), Seed: 1}
	t.Cleanup(s.build.Close)
	if s.learner, err = s.cfg.Build(s.build, s.policy); err != nil {
		t.Fatal(err)
	}
	if s.rollout, err = collect(env, s.learner, s.cfg.Frames); err != nil {
		t.Fatal(err)
	}
	return s
}

// The update is timed on this rollout, so a learner must be able to train on it: without an end every advantage would
// come from the critic alone.
func TestTheMeasuredRolloutCanBeTrainedOn(t *testing.T) {
	s := newSmall(t, 1)
	learner, x := s.learner, s.rollout
	ended := 0
	for c := range x.E {
		for step := range x.T {
			if x.Done(step, c) {
				ended++
			}
		}
	}
	scalars, err := learner.Update(t.Context(), x)
	// Before the first step the new policy is the old one: the ratio is 1 up to float32's rounding of log densities.
	if ratio := scalars["ratio"]; err != nil || ended < 4 || ratio < 0.999 || ratio > 1.001 {
		t.Errorf("%d episodes ended, mean ratio %g in %v (%v)", ended, ratio, scalars, err)
	}
}

func TestPeakMemoryIsThatOfThisProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("read from Linux's /proc")
	}
	if mib, err := peakMemory(t.Context()); err != nil || mib < 5 || mib > 1<<20 {
		t.Errorf("%g MiB (%v)", mib, err)
	}
}

func TestProcessorTimeIsThatOfThisProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("read from Linux's /proc")
	}
	before, err := results.ProcessorSeconds()
	if err != nil {
		t.Fatal(err)
	}
	sum := 1.0
	now := before
	for ; err == nil && now < before+0.05; now, err = results.ProcessorSeconds() {
		for i := range 100_000 {
			sum += 1 / (sum + float64(i))
		}
	}
	if err != nil || before < 0 || now > 1e6 || sum < 1 {
		t.Errorf("%g s after %g s (%v)", now, before, err)
	}
}

// TestEveryMethodOfThePaperIsMeasured: a figure for its speed and one for its processor time, on two tasks.
func TestEveryMethodOfThePaperIsMeasured(t *testing.T) {
	count := map[string]int{}
	for _, f := range Figures {
		if name, _, ok := strings.Cut(f.name, ", "); ok && f.group == MethodsGroup {
			count[name]++
		}
	}
	for _, m := range paper.Methods {
		if count[m.ID] != 4 {
			t.Errorf("%s has %d Figures, want 4", m.ID, count[m.ID])
		}
	}
}

func TestEachFigureIsInItsGroups(t *testing.T) {
	chosen := 0
	for _, f := range Figures {
		if f.In(GPUGroup) {
			chosen++
		}
		if f.In(GPUGroup) && f.group == "env" || f.In("") != (f.group != MethodsGroup && f.group != ProductsGroup) || !f.In(f.group) {
			t.Errorf("%s is in the wrong groups", f.name)
		}
	}
	if chosen < 8 {
		t.Errorf("a GPU is measured by %d figures", chosen)
	}
}

// One network alone and as one of two side by side take the same step: what is compared does the same work.
func TestNetworksSideBySideLearnAsAlone(t *testing.T) {
	backend, err := nn.OpenPure()
	if err != nil {
		t.Fatal(err)
	}
	b := &nn.Build{Backend: backend, Store: nn.NewStore(1), Seed: 1}
	defer b.Close()
	for _, groups := range []int{1, 2} {
		p, err := regression(b, fmt.Sprint("net-", groups), groups, 8)
		if err != nil {
			t.Fatal(err)
		}
		var losses []float64
		for range 30 {
			if err := p.Run(); err != nil {
				t.Fatal(err)
			}
			losses = append(losses, p.Scalar(0))
		}
		if last := losses[len(losses)-1]; !(last < losses[0]/10) { // it falls to a fortieth; Adam's momentum makes it swing
			t.Errorf("%d groups: the loss does not fall: %v", groups, losses)
		}
	}
}

func TestRunsAreTimedWhileAllOfThemTrain(t *testing.T) {
	s := span{runs: 2, began: map[uint64]bool{}}
	iteration := func(seed uint64, frames int) {
		s.watch(results.Event{Record: &results.Record{Seed: seed}, Scalars: map[string]float64{}, Frames: frames, Total: 600})
	}
	iteration(1, 100)
	iteration(1, 200) // the other has not begun
	iteration(2, 100)
	iteration(1, 300)
	iteration(2, 200)
	iteration(1, 600)
	iteration(2, 300) // the other has ended
	if s.frames != 300 || !s.ended {
		t.Errorf("counted %d frames, want three iterations of 100", s.frames)
	}
}

// The prediction by hand: launches bind small graphs, operations large ones, and what the host does for each seed does not get faster.
func TestPredictionForAGPUAddsUp(t *testing.T) {
	a := accelerator{flops: 1e12, bandwidth: 1e12, kernel: time.Microsecond, execute: 10 * time.Microsecond, transfer: 2 * time.Microsecond, link: 1e9}
	small := work{xlacache.Graph{Products: 2, Sums: 1, Flops: 1e6, Bytes: 1e6}, 1000, 3} // 5 kernels: 5 µs; 1 µs of work; host 10 + 6 + 1
	large := work{xlacache.Graph{Products: 1, Flops: 1e9, Bytes: 1e6}, 0, 1}             // 2 kernels; 1000 µs of work; host 12
	it := iteration{act: small, update: large, steps: 2, updates: 1, env: 3 * time.Microsecond, gather: 8 * time.Microsecond}
	if got, want := a.time(it, 1), (2*(3+17+5)+8+12+1000)*time.Microsecond; got != want {
		t.Errorf("one seed takes %v, want %v", got, want)
	}
	if got, want := a.time(it, 8), (2*(24+24+8)+64+12+8000)*time.Microsecond; got != want {
		t.Errorf("eight seeds take %v, want %v", got, want)
	}
}

func TestEveryMethodAndMemoryIsCompiled(t *testing.T) {
	all := variants()
	if len(all) != len(paper.Methods)+4 { // the two with CERMIC have three memories
		t.Errorf("%d variants of %d methods", len(all), len(paper.Methods))
	}
	for _, v := range all {
		if _, err := v.smoke(1); err != nil {
			t.Errorf("%s: %v", v, err)
		}
	}
	for name, want := range map[string]string{"ppo_12": "ppo", "cermic_update_1": "cermic_update", "plain": "plain", "a_b": "a_b"} {
		if got := graphName(name); got != want {
			t.Errorf("%s is shown as %s, want %s", name, got, want)
		}
	}
}

// Where graphs run on this machine's processor, those of an update are counted and a GPU's time for them is predicted.
func TestWithoutAGPUItsFiguresArePredicted(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles an update and times it")
	}
	backend, err := nn.Open()
	if err != nil || backend.Label != "xla:cpu" {
		t.Skipf("graphs run on %s here (%v)", backend.Label, err)
	}
	defer func(before time.Duration) { window = before }(window)
	window = time.Millisecond
	var out bytes.Buffer
	if err := predictGPU(t.Context(), &out, "short"); err != nil || !strings.Contains(out.String(), "MAPPO update of 2400 frames (ms)") || !strings.Contains(out.String(), "8 seeds in one program") {
		t.Errorf("got %q (%v)", &out, err)
	}
}
