// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"math"
	"slices"
	"testing"

	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

func TestDrawTakesEveryLivingStepOnce(t *testing.T) {
	x := fakeRollout(fakeSpec(4), 20, 0) // 240 agent steps
	x.Alive[7], x.Alive[100] = 0, 0
	s := sampler{chunk: 1}
	rows, weight := s.draw(x, 16, rng.New(1, "draw"))
	if len(rows) != 240 || len(weight) != 240 { // 238, padded to fifteen minibatches
		t.Fatalf("%d rows and %d weights, want 240", len(rows), len(weight))
	}
	seen := map[int32]bool{}
	for i, row := range rows {
		if counts := weight[i] == 1; counts != (i < 238) || (!counts && weight[i] != 0) {
			t.Errorf("row %d of the draw has weight %g", i, weight[i])
		} else if counts && seen[row] {
			t.Errorf("agent step %d is drawn twice", row)
		}
		seen[row] = true
	}
	if seen[7] || seen[100] {
		t.Error("a step of a dead agent is drawn")
	}
	again, _ := s.draw(x, 16, rng.New(2, "draw"))
	if slices.Equal(rows, again) {
		t.Error("another stream draws the same rows")
	}
}

func TestDrawKeepsChunksTogether(t *testing.T) {
	spec := fakeSpec(2)
	x := fakeRollout(spec, 10, 0) // chunks of 4: the third one of an agent has two steps
	dead := 9*6 + 2               // last step of agent 2 of environment 0
	x.Alive[dead] = 0
	s := sampler{chunk: 4}
	rows, weight := s.draw(x, 4, rng.New(1, "draw"))
	if len(rows) != 3*6*4 {
		t.Fatalf("%d rows, want 3 chunks of 4 steps for each of 6 agents", len(rows))
	}
	counted := 0
	for i := 0; i < len(rows); i += 4 {
		for l := range 4 {
			row, want := rows[i+l], rows[i]+int32(6*l)
			if want >= int32(x.Rows()) {
				if weight[i+l] != 0 || row != rows[i+l-1] {
					t.Errorf("step %d of a chunk from %d, beyond the end, is row %d with weight %g",
						l, rows[i], row, weight[i+l])
				}
				continue
			}
			if row != want || (weight[i+l] == 1) != (int(row) != dead) {
				t.Errorf("step %d of a chunk from %d is row %d with weight %g", l, rows[i], row, weight[i+l])
			}
			counted += int(weight[i+l])
		}
	}
	if counted != x.Rows()-1 {
		t.Errorf("%d agent steps have a positive weight, want %d", counted, x.Rows()-1)
	}
}

func TestMarginalNegativesComeFromOtherEnvs(t *testing.T) {
	x := fakeRollout(fakeSpec(3), 10, 0)
	s := sampler{chunk: 1}
	rows, weight := s.draw(x, 100, rng.New(1, "draw")) // 90 agent steps and ten of padding
	dst := make([]int32, 100*4)
	marginalRows(dst, 4, x, rows, weight, rng.New(1, "strangers"))
	for i, other := range dst {
		if weight[other] == 0 {
			t.Errorf("negative %d is padding", i)
		}
		if rows[i/4]/3%3 == rows[other]/3%3 {
			t.Errorf("negative %d comes from the environment of its own agent step", i)
		}
	}
}

func TestRewardBeforeStopsAtEpisodes(t *testing.T) {
	spec := fakeSpec(2)
	x := fakeRollout(spec, 10, 0) // environment 0 ends with step 6, environment 1 with step 5
	m, _ := newModule(t, small(), spec, 1)
	symlog := func(r float32) float32 {
		return float32(math.Copysign(math.Log1p(math.Abs(float64(r))), float64(r)))
	}
	for row := range x.Rows() {
		frame := row / 3
		want := float32(0)
		if started := frame < 2 || frame == 7*2 || frame == 6*2+1; !started {
			want = symlog(x.Extrinsic[row-6])
		}
		if got := m.rewardBefore(x, row); got != want {
			t.Errorf("row %d: the reward before is %g, want %g", row, got, want)
		}
	}
	must.Value(m.Update(t.Context(), x))
	x.IsFirst[0] = 0 // the episode of environment 0 began in the previous rollout batch
	if got, want := m.rewardBefore(x, 2), symlog(x.Extrinsic[9*6+2]); got != want {
		t.Errorf("the reward before the rollout batch is %g, want %g", got, want)
	}
	x.Extrinsic[0] = -(float32(math.E) - 1)
	if got := m.rewardBefore(x, 6); math.Abs(float64(got)+1) > 1e-6 {
		t.Errorf("symlog of 1-e is %g, want -1", got)
	}
}
