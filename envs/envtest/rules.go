// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"math"
	"slices"
	"strings"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest/must"
)

func specIsComplete(t *testing.T, cfg envs.Config) {
	s := build(t, cfg, numEnvs, 1, 1).spec
	cells, continuous := len(s.Obs) == 2, s.Act.Choices < 1
	want := func(holds bool, claim string) {
		if !holds {
			t.Errorf("want that %s", claim)
		}
	}
	want(s.Name == cfg.Kind(), "Name is the config's kind")
	want(s.NumEnvs == numEnvs && s.Agents > 0, "NumEnvs is as set, and Agents at least 1")
	want(len(s.Teams) == s.Agents && slices.Min(s.Teams) >= 0 && slices.Max(s.Teams) < max(1, len(s.Groups)),
		"Teams has a group for each agent, 0 without Groups")
	want((len(s.Obs) == 1 || cells) && s.ObsLen()+s.CellLen() > 0, "Obs is [O] or [H W]")
	want(!cells || len(s.Pixels) > 0 && len(s.Pixels)%192 == 0, "Pixels has 8·8·3 bytes for each cell value")
	want(cells || s.Scalars == 0, "Scalars is 0 beside a vector observation")
	want(s.State >= 0 && s.Horizon > 0 && s.EvalHorizon > 0, "State is not negative, and horizons are positive")
	want(s.Metric != "", "Metric names the score")
	want(s.Sparse == (cfg.Shared().Reward == envs.Sparse), "Sparse follows the config's reward")
	want(!continuous || s.Act.Dim > 0 && len(s.Act.Low) == s.Act.Dim && len(s.Act.High) == s.Act.Dim,
		"Act has Choices, or Dim with as many bounds")
	if t.Failed() {
		t.Fatalf("the spec is %+v", *s)
	}
	for d := range s.Act.Dim {
		if low, high := s.Act.Low[d], s.Act.High[d]; continuous && !(low < high && high-low <= math.MaxFloat32) {
			t.Errorf("component %d of an action lies between %g and %g, want finite bounds in this order", d, low, high)
		}
	}
	if len(s.Groups) == 0 {
		entitiesAreSpans(t, s, s.Entities, s.ObsLen())
	}
	names := map[string]bool{"": true}
	for k, g := range s.Groups {
		if names[g.Name] || !slices.Contains(s.Teams, k) || !cells && (g.Obs < 1 || g.Obs > s.ObsLen()) {
			t.Errorf("group %d is %q and observes %d numbers, want a unique name, an agent, and 1 to %d numbers",
				k, g.Name, g.Obs, s.ObsLen())
		}
		names[g.Name] = true
		entitiesAreSpans(t, s, g.Entities, g.Obs)
	}
}

// entitiesAreSpans checks the named spans of an observation with width numbers.
func entitiesAreSpans(t *testing.T, s *envs.Spec, entities []envs.Entity, width int) {
	t.Helper()
	length, objects := map[envs.EntityKind]int{}, 0
	for _, x := range entities {
		if x.From < 0 || x.To <= x.From || x.To > width {
			t.Errorf("entity %q spans [%d, %d) of %d observation numbers", x.Name, x.From, x.To, width)
		}
		if n, ok := length[x.Kind]; ok && n != x.To-x.From {
			t.Errorf("entity %q has %d numbers, others of kind %q have %d, so they cannot share an encoder",
				x.Name, x.To-x.From, x.Kind, n)
		}
		length[x.Kind] = x.To - x.From
		if x.Kind == envs.Object {
			objects++
		}
	}
	if s.Act.Targets < 0 || s.Act.Targets > min(objects, s.Act.Choices) {
		t.Errorf("Targets is %d, with %d choices and %d objects", s.Act.Targets, s.Act.Choices, objects)
	}
}

func impossibleNumEnvsAreRefused(t *testing.T, cfg envs.Config) {
	for _, bad := range []envs.Common{{NumEnvs: 0, Reward: envs.Dense}, {NumEnvs: 2, Reward: "dence"}} {
		_, err := cfg.WithShared(bad).Build(1, 1)
		must.RefuseAs(t, err, cfg.Kind()+": ", "")
	}
}

func equalSeedsGiveEqualRuns(t *testing.T, cfg envs.Config) {
	a, b, other := start(t, cfg, numEnvs, 1, 1), start(t, cfg, numEnvs, 1, 1), start(t, cfg, numEnvs, 2, 1)
	differs := false
	for range steps {
		sameOutput(t, a, b, "differs between two runs of one seed")
		for c := range numEnvs {
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
	// 67 environments make several ranges per worker.
	a, b := start(t, cfg, numEnvs, 1, 1), start(t, cfg, 67, 1, 3)
	for range steps {
		sameOutput(t, a, b, "depends on the number of environments or workers")
		a.next()
		b.next()
	}
}

func stepAllocatesNothing(t *testing.T, cfg envs.Config) {
	for _, workers := range []int{1, 2} {
		p := start(t, cfg, 67, 1, workers)
		step := func() { // actions must be allowed in each state, and choosing them does not allocate
			p.choose()
			p.env.Step(p.act, p.out)
		}
		if n := testing.AllocsPerRun(20, step); n != 0 {
			t.Errorf("Step makes %g allocations with %d workers, want 0", n, workers)
		}
	}
}

func numbersAreInRange(t *testing.T, cfg envs.Config) {
	p := start(t, cfg, numEnvs, 1, 1)
	for c := range numEnvs {
		if n := p.spec.Agents; !slices.Contains(p.out.Alive[c*n:(c+1)*n], 1) {
			t.Errorf("no agent of environment %d is alive after a Reset", c)
		}
	}
	for range steps {
		checkNumbers(t, p)
		if len(p.out.Cells) > 0 && int(slices.Max(p.out.Cells)) >= len(p.spec.Pixels)/192 {
			t.Fatalf("cell value %d has no tile in Pixels", slices.Max(p.out.Cells))
		}
		checkFlags(t, p)
		checkPadding(t, p)
		p.next()
	}
}

// checkPadding checks that observations shorter than their rows are padded with zeros.
func checkPadding(t *testing.T, p *player) {
	t.Helper()
	o := p.spec.ObsLen()
	for row := range len(p.out.Obs) / max(1, o) {
		length := o
		if len(p.spec.Groups) > 0 {
			length = p.spec.Groups[p.spec.Teams[row%p.spec.Agents]].Obs
		}
		nonzero := func(x float32) bool { return x != 0 }
		if beyond := p.out.Obs[row*o+length : (row+1)*o]; slices.ContainsFunc(beyond, nonzero) {
			t.Fatalf("agent row %d has numbers %v at step %d, beyond its observation; want 0", row, beyond, p.t)
		}
	}
}

// checkNumbers checks that all output is finite.
func checkNumbers(t *testing.T, p *player) {
	t.Helper()
	for name, numbers := range map[string][]float32{
		"Obs": p.out.Obs, "State": p.out.State, "Dense": p.out.Dense, "Sparse": p.out.Sparse, "Score": p.out.Score,
		"RelPos": p.out.RelPos,
	} {
		if slices.ContainsFunc(numbers, func(x float32) bool { return x-x != 0 }) {
			t.Fatalf("%s has numbers that are not finite at step %d: %v", name, p.t, numbers)
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
			t.Fatalf("agent row %d is alive without an allowed action at step %d", row, p.t)
		}
		for j := range n {
			at, self := row*n+j, j == row%n
			if p.out.Visible[at] > 1 || self && p.out.Visible[at] != 0 {
				t.Fatalf("Visible of agent row %d and peer %d is %d; want 0 or 1, and 0 for itself", row, j, p.out.Visible[at])
			}
			if self && [2]float32(p.out.RelPos[2*at:]) != [2]float32{} {
				t.Fatalf("agent row %d is not at its own position", row)
			}
		}
	}
}

func resetTouchesOnlyItsEnvs(t *testing.T, cfg envs.Config) {
	p, whole := start(t, cfg, numEnvs, 1, 1), start(t, cfg, numEnvs, 1, 1)
	for range 10 {
		p.play()
		whole.play()
	}
	mask := []uint8{0, 1, 0, 1, 0}
	p.env.Reset(mask, p.out)
	for c, m := range mask {
		field := p.row(c).difference(whole.row(c))
		if m == 0 && field != "" {
			t.Errorf("%s of environment %d changed although only others were reset", field, c)
		}
		if m != 0 {
			if field == "" {
				t.Errorf("the output of environment %d is the same after its reset as before", c)
			}
			e := p.spec.NumEnvs
			zero := slices.Concat(part(p.out.Dense, e, c), part(p.out.Sparse, e, c), part(p.out.Score, e, c))
			if slices.ContainsFunc(zero, func(x float32) bool { return x != 0 }) || p.out.Terminated[c]|p.out.Truncated[c] != 0 {
				t.Errorf("environment %d has a reward or an end after its reset", c)
			}
		}
	}
	p.play()
	whole.play()
	for c, m := range mask {
		if field := p.row(c).difference(whole.row(c)); m == 0 && field != "" {
			t.Errorf("%s of environment %d differs because others were reset", field, c)
		}
	}
}

// observed copies what the agents of environment c observe.
func (p *player) observed(c int) []float32 {
	return append(part(p.out.Obs, p.spec.NumEnvs, c), part(p.out.Cells, p.spec.NumEnvs, c)...)
}

// episodesEnd steps until every environment has ended once.
func episodesEnd(t *testing.T, cfg envs.Config) {
	p := start(t, cfg, numEnvs, 1, 1)
	age, ended := make([]int, numEnvs), make([]bool, numEnvs)
	for range p.spec.Horizon {
		p.play()
		checkNumbers(t, p)
		done := make([]uint8, numEnvs)
		last := make([][]float32, numEnvs)
		for c := range numEnvs {
			age[c]++
			over, limit := p.out.Terminated[c], p.out.Truncated[c]
			if over != 0 && limit != 0 {
				t.Fatalf("environment %d is terminated and truncated at once, want one", c)
			}
			if limit != 0 && age[c] != p.spec.Horizon {
				t.Fatalf("environment %d is truncated after %d steps, want %d", c, age[c], p.spec.Horizon)
			}
			if over|limit == 0 && age[c] >= p.spec.Horizon {
				t.Fatalf("environment %d continues after its horizon of %d steps", c, p.spec.Horizon)
			}
			done[c], last[c] = over|limit, p.observed(c)
		}
		p.env.Reset(done, p.out)
		for c := range numEnvs {
			if done[c] == 0 {
				continue
			}
			age[c], ended[c] = 0, true
			if sameBits(last[c], p.observed(c)) {
				t.Errorf("environment %d has the new episode's first observation instead of the old one's last", c)
			}
		}
	}
	if slices.Contains(ended, false) {
		t.Errorf("within the horizon of %d steps, environments ended: %v; want all", p.spec.Horizon, ended)
	}
}

func saveAndLoadContinue(t *testing.T, cfg envs.Config) {
	a, used, fresh := start(t, cfg, numEnvs, 1, 1), start(t, cfg, numEnvs, 1, 2), build(t, cfg, numEnvs, 1, 1)
	for range steps / 2 {
		a.next()
	}
	state := a.env.Save([]byte("before"))
	if !strings.HasPrefix(string(state), "before") {
		t.Fatal("Save does not append to its argument")
	}
	used.next()
	for _, b := range []*player{used, fresh} { // like a resumed run, fresh loads before any reset
		must.Do(t, b.env.Load(state[len("before"):]))
		b.t = a.t
		// Masks at the time of saving are part of the last Step, which the caller keeps.
		copy(b.out.Mask, a.out.Mask)
	}
	for range steps {
		a.next()
		for name, b := range map[string]*player{"a used environment": used, "a fresh one": fresh} {
			b.next()
			sameOutput(t, a, b, "differs from the uninterrupted run after Load into "+name)
		}
	}
}

func foreignStatesAreRefused(t *testing.T, cfg envs.Config) {
	a, wider := start(t, cfg, numEnvs, 1, 1), start(t, cfg, numEnvs+1, 1, 1)
	state := a.env.Save(nil)
	if len(state) == 0 {
		t.Fatal("Save writes nothing")
	}
	changed := func(at int) []byte {
		other := slices.Clone(state)
		other[at] ^= 0x40
		return other
	}
	for name, bad := range map[string][]byte{
		"nothing": nil, "a cut state": state[:len(state)-1], "another number of environments": wider.env.Save(nil),
		"an overlong state": append(slices.Clone(state), 0), "a changed head": changed(0), "a changed seed": changed(8),
		"a changed end": changed(len(state) - 1),
	} {
		if err := a.env.Load(bad); err == nil {
			t.Errorf("Load accepts %s", name)
		}
	}
	if err := a.env.Load(state); err != nil {
		t.Errorf("Load rejects its own state after it rejected others: %v", err)
	}
}

// rewardModesShareOneGame checks that the trained reward changes neither the game nor the reward streams.
func rewardModesShareOneGame(t *testing.T, cfg envs.Config) {
	shared := cfg.Shared()
	shared.Reward = envs.Dense
	dense := start(t, cfg.WithShared(shared), numEnvs, 1, 1)
	shared.Reward = envs.Sparse
	sparse := start(t, cfg.WithShared(shared), numEnvs, 1, 1)
	if dense.spec.EvalHorizon != sparse.spec.EvalHorizon {
		t.Errorf("EvalHorizon is %d and %d, so scores do not compare", dense.spec.EvalHorizon, sparse.spec.EvalHorizon)
	}
	for range min(steps, dense.spec.Horizon-1, sparse.spec.Horizon-1) {
		dense.next()
		sparse.next()
		sameOutput(t, dense, sparse, "depends on the trained reward")
	}
}

// coverageCellsExist checks that every written cell of a projection can be visited.
func coverageCellsExist(t *testing.T, cfg envs.Config) {
	p := start(t, cfg, numEnvs, 1, 1)
	of, ok := p.env.(envs.Coverer)
	if !ok {
		t.Skip("the task declares no projection")
	}
	about := of.Coverage()
	if cells := about.Columns * about.Rows; about.About == "" || about.Cells() < 1 ||
		about.Blocked != nil && len(about.Blocked) != cells {
		t.Fatalf("the projection is %+v, want About and at least one cell that is not blocked", about)
	}
	dst := make([]int32, numEnvs*p.spec.Agents)
	for range steps {
		of.Cover(dst)
		for row, cell := range dst {
			if cell < -1 || int(cell) >= about.Columns*about.Rows || cell >= 0 && about.Blocked != nil && about.Blocked[cell] {
				t.Fatalf("agent row %d is in impossible cell %d of %d × %d at step %d", row, cell, about.Columns, about.Rows, p.t)
			}
		}
		p.next()
	}
	if n := testing.AllocsPerRun(10, func() { of.Cover(dst) }); n != 0 {
		t.Errorf("Cover makes %g allocations, want 0", n)
	}
}
