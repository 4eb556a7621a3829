// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"slices"
	"testing"

	"cermic/envs"

	"cermic/cermiclib/rl"
	"cermic/envs/envtest/must"
)

// detectionsOf returns the bits [T,E,N] of lane 0 (environment 0, agent 0) of a two-agent environment. Agent 0
// detects agent 1 at the given steps.
func detectionsOf(x *rl.Rollout, steps ...int) []uint64 {
	seen := make([]uint64, x.Rows())
	for _, t := range steps {
		seen[t*x.E*x.N] = 1 << 1
	}
	return seen
}

// oneEnv has 2 agents that see 1 number, which wander makes different at every step.
func oneEnv() *envs.Spec {
	return &envs.Spec{Name: "fake", NumEnvs: 1, Agents: 2, Obs: []int{1}, Act: envs.ActSpec{Choices: 2}}
}

// observation is what the observer saw at m [I].
func (q *queue) observation(x *rl.Rollout, m moment) []float32 {
	dst := make([]float32, q.obs)
	m.observe(dst, x)
	return dst
}

// history lists the moments that q refers to at a row of lane 0: the observation and the detections of each.
func history(q *queue, x *rl.Rollout, row int) (obs []float32, seen []uint64) {
	q.behind(row%len(q.lanes), int(q.number[row]), q.keep, func(k int, m moment) {
		obs = append(obs, q.observation(x, m)[0])
		seen = append(seen, m.seen)
	})
	return obs, seen
}

func TestGraphAdvancesAtDetectionsOnly(t *testing.T) {
	x := wander(oneEnv(), 10, 1, 0)
	q := newQueue(2, 1, 4)
	q.watch(x, detectionsOf(x, 2, 5, 9))
	for step, want := range []int32{0, 0, 1, 1, 1, 2, 2, 2, 2, 3} {
		if got := q.number[step*2]; got != want {
			t.Errorf("detections at 2, 5 and 9: the graph at step %d is G_%d, want G_%d", step, got, want)
		}
		if got := q.number[step*2+1]; got != 0 {
			t.Errorf("agent 1 detects nobody, yet has G_%d at step %d", got, step)
		}
	}
	see := func(step int) float32 { return x.ObsRow(step * 2)[0] }
	for _, c := range []struct {
		step   int
		obs    []float32
		seen   []uint64
		before bool
	}{
		{1, []float32{see(0)}, []uint64{0}, false}, // G_0: made at the start, no detection
		{4, []float32{see(2), see(0)}, []uint64{3, 0}, true},
		{7, []float32{see(5), see(2), see(0)}, []uint64{3, 3, 0}, true},
	} {
		obs, seen := history(q, x, c.step*2)
		if !slices.Equal(obs, c.obs) || !slices.Equal(seen, c.seen) || q.hasBefore(c.step*2) != c.before {
			t.Errorf("step %d refers to %v with detections %v, before %v; want %v, %v, %v", c.step, obs, seen, q.hasBefore(c.step*2), c.obs, c.seen, c.before)
		}
	}
}

// Each task has detections of agent 0 at some steps. The graph at a step refers to the observations of these steps.
func TestAStepRefersToTheLastDetectionsOfItsEpisode(t *testing.T) {
	for name, c := range map[string]struct {
		starts, detections []int
		dead, keep         int
		refers             map[int][]int // steps by step; the first of several is that of f_n
	}{
		"detected at the start": {[]int{0}, []int{0, 3}, -1, 4, map[int][]int{0: {0}, 2: {0}, 3: {3, 0}}},
		"the last three alone":  {[]int{0}, []int{1, 2, 3, 4, 6}, -1, 3, map[int][]int{6: {6, 4, 3}}},
		"two episodes":          {[]int{0, 3}, []int{1, 4}, -1, 4, map[int][]int{0: {0}, 1: {1, 0}, 3: {3}, 4: {4, 3}, 5: {4, 3}}},
		"dead at step 2":        {[]int{0}, []int{1, 2}, 2, 4, map[int][]int{3: {1, 0}}},
	} {
		x := wander(oneEnv(), 7, 1, c.starts...)
		if c.dead >= 0 {
			x.Alive[c.dead*2] = 0
		}
		q := newQueue(2, 1, c.keep)
		q.watch(x, detectionsOf(x, c.detections...))
		for step, steps := range c.refers {
			var want []float32
			for _, s := range steps {
				want = append(want, x.Obs[s*2])
			}
			if obs, _ := history(q, x, step*2); !slices.Equal(obs, want) || q.hasBefore(step*2) != (len(steps) > 1) {
				t.Errorf("%s: step %d refers to %v, before %v; want the observations of steps %v", name, step, obs, q.hasBefore(step*2), steps)
			}
		}
	}
}

// Splitting an episode into two rollouts must not change the moments that a step refers to.
func TestQueueGoesOnAcrossRollouts(t *testing.T) {
	whole := wander(oneEnv(), 12, 1, 0, 10)
	steps := []int{1, 2, 4, 7, 9, 11}
	want := newQueue(2, 1, 4)
	want.watch(whole, detectionsOf(whole, steps...))

	got := newQueue(2, 1, 4)
	for part := range 3 { // of 4 steps
		x := rl.NewRollout(oneEnv(), 4, 0)
		copy(x.Obs, whole.Obs[part*8:])
		copy(x.Alive, whole.Alive[part*8:])
		copy(x.IsFirst, whole.IsFirst[part*4:])
		var local []int
		for _, s := range steps {
			if s/4 == part {
				local = append(local, s-part*4)
			}
		}
		loaded := newQueue(2, 1, 4) // through a checkpoint each time
		must.Do(t, loaded.load(got.save()))
		got = loaded
		got.watch(x, detectionsOf(x, local...))
		for step := range 4 {
			obs, seen := history(got, x, step*2)
			wantObs, wantSeen := history(want, whole, (part*4+step)*2)
			if !slices.Equal(obs, wantObs) || !slices.Equal(seen, wantSeen) || got.hasBefore(step*2) != want.hasBefore((part*4+step)*2) {
				t.Errorf("step %d refers to %v %v in parts, to %v %v as a whole", part*4+step, obs, seen, wantObs, wantSeen)
			}
		}
	}
}

func TestForeignQueueIsRefused(t *testing.T) {
	q := newQueue(2, 1, 4)
	for _, state := range [][]byte{nil, {1}, newQueue(2, 2, 4).save(), newQueue(3, 1, 4).save(), append(q.save(), 0)} {
		if q.load(state) == nil {
			t.Errorf("a saved state of %d bytes is accepted, want %d", len(state), len(q.save()))
		}
	}
}
