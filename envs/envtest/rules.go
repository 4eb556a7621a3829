// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"math"
	"slices"
	"strings"
	"testing"

	"cermic/envs"
)

func specIsComplete(t *testing.T, cfg envs.Config) {
	s := build(t, cfg, copies, 1, 1).spec
	switch {
	case s.Name != cfg.Kind():
		t.Errorf("Name is %q, want the config's kind %q", s.Name, cfg.Kind())
	case s.NumEnvs != copies || s.Agents < 1 || len(s.Teams) != s.Agents:
		t.Fatalf("%d copies, %d agents, %d teams; want %d copies and a team for every agent", s.NumEnvs, s.Agents, len(s.Teams), copies)
	case len(s.Obs) != 1 && len(s.Obs) != 2, s.ObsLen()+s.CellLen() < 1:
		t.Errorf("Obs is %v, want [O] or [H W]", s.Obs)
	case len(s.Obs) == 2 && (len(s.Pixels) == 0 || len(s.Pixels)%192 != 0):
		t.Errorf("Pixels has %d bytes, want 8·8·3 for each cell value", len(s.Pixels))
	case len(s.Obs) == 1 && s.Scalars != 0:
		t.Errorf("Scalars is %d beside a vector observation, want 0", s.Scalars)
	case s.State < 0, s.Horizon < 1, s.EvalHorizon < 1:
		t.Errorf("State %d, Horizon %d, EvalHorizon %d; want ≥ 0, ≥ 1, ≥ 1", s.State, s.Horizon, s.EvalHorizon)
	case s.Metric == "":
		t.Error("Metric is empty: nobody could say what a score is")
	case s.Sparse != (cfg.Shared().Reward == envs.Sparse):
		t.Errorf("Sparse is %v with reward %q", s.Sparse, cfg.Shared().Reward)
	case s.Act.Choices < 1 && (s.Act.Dim < 1 || len(s.Act.Low) != s.Act.Dim || len(s.Act.High) != s.Act.Dim):
		t.Fatalf("Act is %+v, want Choices, or Dim with as many bounds", s.Act)
	}
	for d := range s.Act.Dim {
		if low, high := s.Act.Low[d], s.Act.High[d]; s.Act.Choices == 0 && !(low < high && high-low <= math.MaxFloat32) {
			t.Errorf("component %d of an action lies between %g and %g, want finite bounds in this order", d, low, high)
		}
	}
	if len(s.Groups) == 0 {
		if slices.Max(s.Teams) != 0 || slices.Min(s.Teams) != 0 {
			t.Errorf("Teams is %v without Groups, want 0 for every agent", s.Teams)
		}
		entitiesAreSpans(t, s, s.Entities, s.ObsLen())
		return
	}
	names := map[string]bool{}
	for k, g := range s.Groups {
		if g.Name == "" || names[g.Name] || !slices.Contains(s.Teams, k) {
			t.Errorf("group %d is called %q, want a name of its own and an agent at least in Teams %v", k, g.Name, s.Teams)
		}
		names[g.Name] = true
		if len(s.Obs) == 1 && (g.Obs < 1 || g.Obs > s.ObsLen()) {
			t.Errorf("group %s observes %d numbers, want 1 to %d", g.Name, g.Obs, s.ObsLen())
		}
		entitiesAreSpans(t, s, g.Entities, g.Obs)
	}
	if slices.Max(s.Teams) >= len(s.Groups) || slices.Min(s.Teams) < 0 {
		t.Errorf("Teams is %v, want numbers below %d, one for each group", s.Teams, len(s.Groups))
	}
}

// entitiesAreSpans checks the named spans of an observation of that many numbers.
func entitiesAreSpans(t *testing.T, s *envs.Spec, entities []envs.Entity, width int) {
	t.Helper()
	length, objects := map[envs.EntityKind]int{}, 0
	for _, x := range entities {
		if x.From < 0 || x.To <= x.From || x.To > width {
			t.Errorf("entity %q spans [%d, %d) of %d observation numbers", x.Name, x.From, x.To, width)
		}
		if n, ok := length[x.Kind]; ok && n != x.To-x.From {
			t.Errorf("entity %q has %d numbers, others of kind %q have %d: they could not share an encoder", x.Name, x.To-x.From, x.Kind, n)
		}
		length[x.Kind] = x.To - x.From
		if x.Kind == envs.Object {
			objects++
		}
	}
	if s.Act.Targets < 0 || s.Act.Targets > min(objects, s.Act.Choices) {
		t.Errorf("%d choices aim at one object each, of %d choices and %d objects", s.Act.Targets, s.Act.Choices, objects)
	}
}

func impossibleNumEnvsAreRefused(t *testing.T, cfg envs.Config) {
	for _, bad := range []envs.Common{{NumEnvs: 0, Reward: envs.Dense}, {NumEnvs: 2, Reward: "dence"}} {
		_, err := cfg.WithShared(bad).Build(1, 1)
		if err == nil {
			t.Errorf("Build accepts %+v", bad)
		} else if !strings.HasPrefix(err.Error(), cfg.Kind()) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %q, want one sentence that starts with the task", err)
		}
	}
}

func equalSeedsGiveEqualRuns(t *testing.T, cfg envs.Config) {
	a, b, other := build(t, cfg, copies, 1, 1), build(t, cfg, copies, 1, 1), build(t, cfg, copies, 2, 1)
	a.reset()
	b.reset()
	other.reset()
	differs := false
	for range steps {
		for c := range copies {
			if field := a.row(c).difference(b.row(c)); field != "" {
				t.Fatalf("%s differs between two runs of one seed at step %d", field, a.t)
			}
			differs = differs || a.row(c).difference(other.row(c)) != ""
		}
		a.next()
		b.next()
		other.next()
	}
	if differs == a.spec.Deterministic {
		t.Errorf("two seeds give different runs: %v; the spec says deterministic: %v", differs, a.spec.Deterministic)
	}
}

func envsAndWorkersDoNotMatter(t *testing.T, cfg envs.Config) {
	// 67 environments are enough for several ranges of environments per worker.
	a, b := build(t, cfg, copies, 1, 1), build(t, cfg, 67, 1, 3)
	a.reset()
	b.reset()
	for range steps {
		for c := range copies {
			if field := a.row(c).difference(b.row(c)); field != "" {
				t.Fatalf("%s of copy %d at step %d depends on the number of copies or workers", field, c, a.t)
			}
		}
		a.next()
		b.next()
	}
}

func stepAllocatesNothing(t *testing.T, cfg envs.Config) {
	for _, workers := range []int{1, 2} {
		p := build(t, cfg, 67, 1, workers)
		p.reset()
		step := func() { // choices must be allowed in each state, and choosing allocates nothing itself
			p.choose()
			p.env.Step(p.act, p.out)
		}
		if n := testing.AllocsPerRun(20, step); n != 0 {
			t.Errorf("Step makes %g allocations with %d workers, want 0", n, workers)
		}
	}
}

func numbersAreInRange(t *testing.T, cfg envs.Config) {
	p := build(t, cfg, copies, 1, 1)
	p.reset()
	for c := range copies {
		if n := p.spec.Agents; !slices.Contains(p.out.Alive[c*n:(c+1)*n], 1) {
			t.Errorf("no agent of copy %d is alive after a Reset: nobody would learn there", c)
		}
	}
	for range steps {
		checkNumbers(t, p)
		for _, cell := range p.out.Cells {
			if int(cell) >= len(p.spec.Pixels)/192 {
				t.Fatalf("cell value %d has no picture in Pixels", cell)
			}
		}
		checkFlags(t, p)
		checkPadding(t, p)
		p.next()
	}
}

// checkPadding checks that rows hold zeros behind what an agent of a group with shorter observations sees.
func checkPadding(t *testing.T, p *player) {
	t.Helper()
	if len(p.spec.Groups) == 0 {
		return
	}
	n, o := p.spec.Agents, p.spec.Obs[0]
	for row := range p.spec.NumEnvs * n {
		for i := p.spec.Groups[p.spec.Teams[row%n]].Obs; i < o; i++ {
			if x := p.out.Obs[row*o+i]; x != 0 {
				t.Fatalf("number %d of agent row %d is %g at step %d, behind what its group observes; want 0", i, row, x, p.t)
			}
		}
	}
}

// checkNumbers checks that what p shows is finite.
func checkNumbers(t *testing.T, p *player) {
	t.Helper()
	for name, numbers := range map[string][]float32{
		"Obs": p.out.Obs, "State": p.out.State, "Dense": p.out.Dense, "Sparse": p.out.Sparse, "Score": p.out.Score,
		"RelPos": p.out.RelPos,
	} {
		for i, x := range numbers {
			if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
				t.Fatalf("number %d of %s is %g at step %d", i, name, x, p.t)
			}
		}
	}
}

// checkFlags checks masks and labels.
func checkFlags(t *testing.T, p *player) {
	t.Helper()
	n, k := p.spec.Agents, p.spec.Act.Choices
	for row := range p.spec.NumEnvs * n {
		if p.out.Alive[row] > 1 {
			t.Fatalf("Alive of agent row %d is %d, want 0 or 1", row, p.out.Alive[row])
		}
		if p.out.Mask != nil && p.out.Alive[row] != 0 && !slices.Contains(p.out.Mask[row*k:(row+1)*k], 1) {
			t.Fatalf("agent row %d lives and has no allowed action at step %d", row, p.t)
		}
		for j := range n {
			at, self := row*n+j, j == row%n
			if p.out.Visible[at] > 1 || self && p.out.Visible[at] != 0 {
				t.Fatalf("Visible of agent row %d and peer %d is %d; want 0 or 1, and 0 for oneself", row, j, p.out.Visible[at])
			}
			if self && (p.out.RelPos[2*at] != 0 || p.out.RelPos[2*at+1] != 0) {
				t.Fatalf("agent row %d is not at its own position", row)
			}
		}
	}
}

func resetTouchesOnlyItsEnvs(t *testing.T, cfg envs.Config) {
	p, whole := build(t, cfg, copies, 1, 1), build(t, cfg, copies, 1, 1)
	p.reset()
	whole.reset()
	for range 10 {
		p.play()
		whole.play()
	}
	mask := []uint8{0, 1, 0, 1, 0}
	p.env.Reset(mask, p.out)
	for c, m := range mask {
		field := p.row(c).difference(whole.row(c))
		if m == 0 && field != "" {
			t.Errorf("%s of copy %d changed though only others were reset", field, c)
		}
		if m != 0 {
			if field == "" {
				t.Errorf("copy %d shows the same after its reset as before", c)
			}
			fresh := p.row(c)
			zero := append(append(fresh.dense, fresh.sparse...), fresh.score...)
			if slices.ContainsFunc(zero, func(x float32) bool { return x != 0 }) || fresh.ends[0]|fresh.ends[1] != 0 {
				t.Errorf("copy %d shows a reward or an end after its reset", c)
			}
		}
	}
	p.play()
	whole.play()
	for c, m := range mask {
		if field := p.row(c).difference(whole.row(c)); m == 0 && field != "" {
			t.Errorf("%s of copy %d goes on differently because others were reset", field, c)
		}
	}
}

// episodesEnd plays until every environment has ended once.
func episodesEnd(t *testing.T, cfg envs.Config) {
	p := build(t, cfg, copies, 1, 1)
	p.reset()
	age, ended := make([]int, copies), make([]bool, copies)
	for range p.spec.Horizon {
		p.play()
		checkNumbers(t, p)
		done := make([]uint8, copies)
		last := make([]row, copies)
		for c := range copies {
			age[c]++
			over, limit := p.out.Terminated[c], p.out.Truncated[c]
			if over != 0 && limit != 0 {
				t.Fatalf("copy %d is terminated and truncated at once, want one: learners take it for terminated", c)
			}
			if limit != 0 && age[c] != p.spec.Horizon {
				t.Fatalf("copy %d is truncated after %d steps, want %d", c, age[c], p.spec.Horizon)
			}
			if over|limit == 0 && age[c] >= p.spec.Horizon {
				t.Fatalf("copy %d goes on after its horizon of %d steps", c, p.spec.Horizon)
			}
			done[c], last[c] = over|limit, p.row(c)
		}
		p.env.Reset(done, p.out)
		for c := range copies {
			if done[c] == 0 {
				continue
			}
			age[c], ended[c] = 0, true
			if fresh := p.row(c); sameBits(last[c].obs, fresh.obs) && slices.Equal(last[c].cells, fresh.cells) {
				t.Errorf("copy %d shows the new episode's first observation in place of the old one's last", c)
			}
		}
	}
	if slices.Contains(ended, false) {
		t.Errorf("within the horizon of %d steps, copies ended: %v; want all", p.spec.Horizon, ended)
	}
}

func saveAndLoadContinue(t *testing.T, cfg envs.Config) {
	a, used, fresh := build(t, cfg, copies, 1, 1), build(t, cfg, copies, 1, 2), build(t, cfg, copies, 1, 1)
	a.reset()
	for range steps / 2 {
		a.next()
	}
	state := a.env.Save([]byte("before"))
	if !strings.HasPrefix(string(state), "before") {
		t.Fatal("Save does not append to what it is given")
	}
	used.reset() // whatever it was, it is forgotten
	used.next()
	for _, b := range []*player{used, fresh} { // as a resumed run does, fresh loads before any reset
		if err := b.env.Load(state[len("before"):]); err != nil {
			t.Fatalf("Load of what Save wrote: %v", err)
		}
		b.t = a.t
		// Masks of the moment of saving are part of the last Step, which the caller keeps.
		copy(b.out.Mask, a.out.Mask)
	}
	for range steps {
		a.next()
		for name, b := range map[string]*player{"a used environment": used, "a fresh one": fresh} {
			b.next()
			for c := range copies {
				if field := a.row(c).difference(b.row(c)); field != "" {
					t.Fatalf("%s of copy %d, loaded into %s, differs from the uninterrupted run at step %d", field, c, name, a.t)
				}
			}
		}
	}
}

func foreignStatesAreRefused(t *testing.T, cfg envs.Config) {
	a, wider := build(t, cfg, copies, 1, 1), build(t, cfg, copies+1, 1, 1)
	a.reset()
	wider.reset()
	state := a.env.Save(nil)
	if len(state) == 0 {
		t.Fatal("Save writes nothing")
	}
	for name, bad := range map[string][]byte{
		"nothing": nil, "a cut state": state[:len(state)-1], "another number of copies": wider.env.Save(nil),
		"an overlong state": append(slices.Clone(state), 0),
	} {
		if err := a.env.Load(bad); err == nil {
			t.Errorf("Load accepts %s", name)
		}
	}
	if err := a.env.Load(state); err != nil {
		t.Errorf("Load refuses its own state after it refused others: %v", err)
	}
}

// rewardModesShareOneGame: which reward is trained on changes neither the game nor the streams.
func rewardModesShareOneGame(t *testing.T, cfg envs.Config) {
	shared := cfg.Shared()
	shared.NumEnvs, shared.Reward = copies, envs.Dense
	dense := buildShared(t, cfg, shared, 1, 1)
	shared.Reward = envs.Sparse
	sparse := buildShared(t, cfg, shared, 1, 1)
	if dense.spec.EvalHorizon != sparse.spec.EvalHorizon {
		t.Errorf("EvalHorizon is %d and %d: scores would not compare", dense.spec.EvalHorizon, sparse.spec.EvalHorizon)
	}
	dense.reset()
	sparse.reset()
	for range min(steps, dense.spec.Horizon-1, sparse.spec.Horizon-1) {
		dense.next()
		sparse.next()
		for c := range copies {
			if field := dense.row(c).difference(sparse.row(c)); field != "" {
				t.Fatalf("%s of copy %d at step %d depends on the reward that is trained on", field, c, dense.t)
			}
		}
	}
}
