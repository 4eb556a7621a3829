// SPDX-License-Identifier: Apache-2.0

package rl

import (
	"math"
	"slices"
	"sort"
	"strings"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// replaySpec has 2 environments, 2 agents, observations of length 3, a state of length 5 and 4 maskable choices.
func replaySpec() *envs.Spec {
	return &envs.Spec{Name: "fake", NumEnvs: 2, Agents: 2, Obs: []int{3}, State: 5,
		Act: envs.ActSpec{Choices: 4}, Masked: true}
}

// transition is an independent copy of a frame, for comparison with the replay's.
type transition struct {
	obs, next, state, nextState []float32
	mask, nextMask, alive       []uint8
	choice                      []int32
	reward, bonus               float64
	ended                       bool
}

// story is a fake task with unique observations that records every transition.
type story struct {
	spec  *envs.Spec
	step  *envs.Step
	rand  *rng.Rand
	ends  float64 // probability that an episode ends with a step
	count int
	all   []transition // in order of (t, c)
}

func newStory(ends float64) *story {
	s := &story{spec: replaySpec(), rand: rng.New(1, "story"), ends: ends}
	s.step = envs.NewStep(s.spec)
	for c := range s.spec.NumEnvs {
		s.show(c)
	}
	return s
}

func (s *story) show(c int) {
	for _, v := range [][]float32{part(s.step.Obs, c, 2), part(s.step.State, c, 2)} {
		for i := range v {
			s.count++
			v[i] = float32(s.count)
		}
	}
	for i := range part(s.step.Mask, c, 2) {
		part(s.step.Mask, c, 2)[i] = uint8(s.rand.IntN(2))
	}
	for i := range part(s.step.Alive, c, 2) {
		part(s.step.Alive, c, 2)[i] = uint8(s.rand.IntN(2))
	}
}

// part returns environment c's part of v.
func part[T any](v []T, c, e int) []T { return v[c*len(v)/e : (c+1)*len(v)/e] }

// collect fills x with the next steps.
func (s *story) collect(x *Rollout) {
	x.Clear()
	for t := range x.T {
		x.Observe(t, s.step)
		for c := range x.E {
			f := t*x.E + c
			for i := range x.N {
				x.Act.Discrete[f*x.N+i] = int32(s.rand.IntN(4))
				x.Extrinsic[f*x.N+i], x.Intrinsic[f*x.N+i] = s.rand.Norm(), s.rand.Norm()
			}
			x.Terminated[f], x.Truncated[f] = 0, 0
			if s.rand.Float64() < s.ends {
				x.Terminated[f] = uint8(s.rand.IntN(2))
				x.Truncated[f] = 1 - x.Terminated[f]
			}
			tr := transition{
				obs: slices.Clone(part(s.step.Obs, c, 2)), state: slices.Clone(part(s.step.State, c, 2)),
				mask: slices.Clone(part(s.step.Mask, c, 2)), alive: slices.Clone(part(s.step.Alive, c, 2)),
				choice: slices.Clone(x.Act.Discrete[f*2 : f*2+2]),
				reward: (float64(x.Extrinsic[f*2]) + float64(x.Extrinsic[f*2+1])) / 2,
				bonus:  (float64(x.Intrinsic[f*2]) + float64(x.Intrinsic[f*2+1])) / 2,
				ended:  x.Done(t, c),
			}
			s.show(c) // step
			tr.next, tr.nextState = slices.Clone(part(s.step.Obs, c, 2)), slices.Clone(part(s.step.State, c, 2))
			tr.nextMask = slices.Clone(part(s.step.Mask, c, 2))
			if x.Done(t, c) {
				x.End(t, c, s.step)
				s.show(c) // reset
			}
			s.all = append(s.all, tr)
		}
	}
	x.Observe(x.T, s.step)
}

func (p *Replay) transition(slot int) transition {
	return transition{
		obs: p.At(slot).Obs, next: p.Next(slot).Obs, state: p.At(slot).State, nextState: p.Next(slot).State,
		mask: p.At(slot).Mask, nextMask: p.Next(slot).Mask, choice: p.Discrete(slot), alive: p.Alive(slot),
		reward: float64(p.Reward(slot)), bonus: float64(p.Bonus(slot)), ended: p.Ended(slot),
	}
}

func (a transition) equals(b transition) bool {
	return slices.Equal(a.obs, b.obs) && slices.Equal(a.next, b.next) && slices.Equal(a.state, b.state) &&
		slices.Equal(a.nextState, b.nextState) && slices.Equal(a.mask, b.mask) && slices.Equal(a.nextMask, b.nextMask) &&
		slices.Equal(a.choice, b.choice) && slices.Equal(a.alive, b.alive) &&
		a.ended == b.ended &&
		// Float32 means of two numbers of order 1.
		math.Abs(a.reward-b.reward) < 1e-6 && math.Abs(a.bonus-b.bonus) < 1e-6
}

// All slots equal the recorded transitions while the ring wraps around several times and episodes end often.
func TestReplayReturnsEveryKeptTransition(t *testing.T) {
	for _, steps := range []int{1, 3, 7, 20} { // time steps of a rollout; the replay keeps 12
		s := newStory(0.3)
		p := must.Value(NewReplay(s.spec, 25, 1<<20, 0, 1)) // 25 frames of 2 environments are 12 whole steps
		x := NewRollout(s.spec, steps, 0)
		for range 60/steps + 1 {
			s.collect(x)
			must.Do(t, p.Add(x))
			if want := min(len(s.all), 24); p.Len() != want {
				t.Fatalf("the replay has %d frames, want %d", p.Len(), want)
			}
			for k, want := range s.all[len(s.all)-p.Len():] {
				step := p.steps - p.kept() + k/2
				slot := step%p.rows*2 + k%2
				if got := p.transition(slot); !got.equals(want) {
					t.Fatalf("rollouts of %d steps, frame %d: got\n%+v, want\n%+v", steps, k, got, want)
				}
			}
		}
		if p.ends > 24 {
			t.Errorf("the replay has %d last observations for 24 frames", p.ends)
		}
	}
}

func TestReplaySamplesKeptFramesUniformly(t *testing.T) {
	s := newStory(0.2)
	p := must.Value(NewReplay(s.spec, 10, 1<<20, 0, 1))
	x := NewRollout(s.spec, 8, 0)
	s.collect(x)
	must.Do(t, p.Add(x))
	const draws = 50_000
	slots := make([]int, draws)
	p.Sample(slots, rng.New(1, "sample"))
	count := map[float32]int{}
	for _, slot := range slots {
		count[p.At(slot).Obs[0]]++
	}
	for _, want := range s.all[len(s.all)-10:] {
		// Five standard errors of a proportion of a tenth.
		if got := float64(count[want.obs[0]]) / draws; math.Abs(got-0.1) > 5*math.Sqrt(0.1*0.9/draws) {
			t.Errorf("a frame is drawn with frequency %g, want 0.1", got)
		}
	}
	if len(count) != 10 {
		t.Errorf("%d different frames were drawn, want all 10", len(count))
	}
}

func TestReplayThatDoesNotFitIsRefusedWithItsSize(t *testing.T) {
	s := replaySpec()
	// 1001 steps of 2 environments: 6+5 float32, 8 bytes of mask, choice and alive of 2 agents, and 12 bytes per frame.
	const size = 2002 * (11*4 + 8 + 2*5 + 12)
	const ends = 2000 / 50 * (11*4 + 8)
	if _, err := NewReplay(s, 2000, size+ends-1, 0, 1); err == nil || !strings.Contains(err.Error(), "0.00 GB") {
		t.Errorf("got %v, want an error with the size", err)
	}
	p := must.Value(NewReplay(s, 2000, size+ends, 0, 1))
	real := 4*(cap(p.seen.Obs)+cap(p.seen.State)+cap(p.choice)+cap(p.reward)+cap(p.bonus)+cap(p.end)) +
		cap(p.seen.Mask) + cap(p.alive)
	if real != size {
		t.Errorf("the buffers have %d bytes, size gives %d", real, size)
	}
	balance := &envs.Spec{Name: "vmas/balance", NumEnvs: 60, Agents: 4, Obs: []int{16}, State: 64,
		Act: envs.ActSpec{Choices: 9}}
	big := Replay{spec: balance, chunk: 1, rows: 1_500_000/60 + 1}
	if size := big.size(1_500_000 / endsEvery); size > 2.5*GB {
		t.Errorf("the paper's replay of balance takes %.2f GB, want at most 2.5", float64(size)/GB)
	}
}

// The limit is the smallest that is accepted, and each step ends an episode.
func TestAcceptedReplayMayGrowBeyondItsLimit(t *testing.T) {
	s := newStory(1)
	smallest := sort.Search(1<<20, func(limit int) bool {
		_, err := NewReplay(s.spec, 200, int64(limit), 3, 2)
		return err == nil
	})
	p := must.Value(NewReplay(s.spec, 200, int64(smallest), 3, 2))
	x := NewRollout(s.spec, 50, 3)
	for range 5 {
		s.collect(x)
		if err := p.Add(x); err != nil {
			t.Fatalf("after %d frames: %v", p.Len(), err)
		}
	}
	if p.size(p.ends) <= float64(smallest) {
		t.Error("the last observations stay within the limit, so this test checks nothing")
	}
}

func TestReplayBeyondTheMachineIsRefusedWithItsSize(t *testing.T) {
	real := machineMemory
	defer func() { machineMemory = real }()
	if got := real(); got < 0 || got > 0 && got < 1<<26 {
		t.Errorf("machineMemory returns %d bytes", got)
	}
	machineMemory = func() int64 { return 100_000_000 }
	_, err := NewReplay(replaySpec(), 2_000_000, 1<<40, 0, 1)
	must.Refuse(t, err, "0.15 GB, more than the 0.10 GB of this machine")
	// Bytes overflow an integer.
	if _, err := NewReplay(replaySpec(), math.MaxInt/2, 1<<40, 0, 1); err == nil || strings.Contains(err.Error(), "-") {
		t.Errorf("got %v, want a refusal with the size", err)
	}
}

func TestImpossibleReplaysAreRefused(t *testing.T) {
	continuous := replaySpec()
	continuous.Act = envs.ActSpec{Dim: 1}
	for name, c := range map[string]struct {
		spec                  *envs.Spec
		frames, hidden, chunk int
	}{
		"continuous actions":             {continuous, 100, 0, 1},
		"less than one step":             {replaySpec(), 1, 0, 1},
		"12 steps in chunks of 7":        {replaySpec(), 25, 2, 7},
		"policy states beyond the limit": {replaySpec(), 25, 1 << 20, 2},
	} {
		if _, err := NewReplay(c.spec, c.frames, 1<<20, c.hidden, c.chunk); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestAddingAndSamplingAllocateNothing(t *testing.T) {
	s := newStory(0.2)
	p := must.Value(NewReplay(s.spec, 16, 1<<20, 0, 1))
	x, slots, r := NewRollout(s.spec, 8, 0), make([]int, 32), rng.New(1, "sample")
	s.collect(x)
	add := func() {
		must.Do(t, p.Add(x))
		p.Sample(slots, r)
	}
	for range 3 {
		add() // allocates the last observations
	}
	if n := testing.AllocsPerRun(20, add); n != 0 {
		t.Errorf("%g allocations for a rollout and a sample, want 0", n)
	}
}

func TestSavedBonusIsRestored(t *testing.T) {
	s := newStory(0.2)
	x := NewRollout(s.spec, 8, 0)
	first, _ := NewReplay(s.spec, 12, 1<<20, 0, 1)
	second, _ := NewReplay(s.spec, 12, 1<<20, 0, 1)
	for range 3 {
		s.collect(x)
		must.Do(t, first.Add(x))
		clear(x.Intrinsic) // repeating the actions does not restore it
		must.Do(t, second.Add(x))
	}
	if bonus, err := second.Load(first.Save(true)); err != nil || !bonus {
		t.Fatal(bonus, err)
	}
	for k := range len(first.bonus) {
		if first.Bonus(k) != second.Bonus(k) || first.Reward(k) != second.Reward(k) {
			t.Fatalf("slot %d: %g and %g became %g and %g",
				k, first.Reward(k), first.Bonus(k), second.Reward(k), second.Bonus(k))
		}
	}
	if bonus, err := second.Load(first.Save(false)); err != nil || bonus {
		t.Errorf("Load of a state without bonus returns %v, %v", bonus, err)
	}
	if _, err := second.Load([]byte{1, 2, 3}); err == nil {
		t.Error("Load accepts a state of another size")
	}
}
