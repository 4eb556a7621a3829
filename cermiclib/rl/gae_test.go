// SPDX-License-Identifier: Apache-2.0

package rl

import (
	"math"
	"slices"
	"testing"

	"cermic/cermiclib/nn/graphtest"
	"cermic/envs"
	"cermic/envs/rng"
)

// spec is a small task: 2 environments, 2 agents, 3 observations, 6 state values.
func spec() *envs.Spec {
	return &envs.Spec{NumEnvs: 2, Agents: 2, Obs: []int{3}, State: 6,
		Act: envs.ActSpec{Dim: 2, Low: []float32{-1, -2}, High: []float32{1, 2}}}
}

// Five steps of one environment whose episode ends after the third, computed by hand with γ = 0.5, λ = 0.5:
//
//	V = 1 2 3 4 5 | 6, r = 1 0 2 -1 3, done after t = 2
//	δ4 = 3 + 0.5·6 − 5 = 1        Â4 = 1
//	δ3 = −1 + 0.5·5 − 4 = −2.5    Â3 = −2.5 + 0.25·1 = −2.25
//	δ2 = 2 − 3 = −1               Â2 = −1
//	δ1 = 0 + 0.5·3 − 2 = −0.5     Â1 = −0.5 + 0.25·(−1) = −0.75
//	δ0 = 1 + 0.5·2 − 1 = 1        Â0 = 1 + 0.25·(−0.75) = 0.8125
func TestAdvantagesByHand(t *testing.T) {
	s := &envs.Spec{NumEnvs: 1, Agents: 1, Obs: []int{1}, State: 1, Act: envs.ActSpec{Choices: 2}}
	value := []float32{1, 2, 3, 4, 5, 6}
	reward := []float32{1, 0, 2, -1, 3}
	want := []float32{0.8125, -0.75, -1, -2.25, 1}
	for _, c := range []struct {
		name                  string
		terminated, truncated uint8
	}{
		{"termination", 1, 0},
		{"termination at the time limit", 1, 1},
		{"time limit counted as termination", 0, 1},
	} {
		x := NewRollout(s, 5, 0)
		x.Terminated[2], x.Truncated[2] = c.terminated, c.truncated
		adv, target := make([]float32, 5), make([]float32, 5)
		x.Advantages(adv, target, reward, value, 0.5, 0.5)
		for k := range adv {
			if adv[k] != want[k] || target[k] != want[k]+value[k] {
				t.Errorf("%s, step %d: advantage %g, target %g, want %g, %g",
					c.name, k, adv[k], target[k], want[k], want[k]+value[k])
			}
		}
	}
}

// The recursion equals Σ (γλ)^l δ_{t+l}, cut at episode ends, in float64.
func TestAdvantagesAreTheDirectSum(t *testing.T) {
	const steps, gamma, lambda = 40, 0.97, 0.8
	s, r := spec(), rng.New(1, "gae")
	x := NewRollout(s, steps, 0)
	value, reward := make([]float32, (steps+1)*2), make([]float32, steps*4)
	for _, v := range [][]float32{value, reward} {
		graphtest.Normal(r, v)
	}
	for f := range x.Terminated {
		x.Terminated[f] = uint8(r.IntN(10) / 9)
	}
	adv, target := make([]float32, steps*4), make([]float32, steps*4)
	x.Advantages(adv, target, reward, value, gamma, lambda)
	for c := range 2 {
		for i := range 2 {
			for t0 := range steps {
				sum, weight := 0.0, 1.0
				for k := t0; k < steps; k++ {
					f := k*2 + c
					ahead := float64(value[f+2])
					if x.Done(k, c) {
						ahead = 0
					}
					sum += weight * (float64(reward[f*2+i]) + gamma*ahead - float64(value[f]))
					weight *= gamma * lambda
					if x.Done(k, c) {
						break
					}
				}
				// A float32 recursion over up to 40 terms of order 1.
				if got := float64(adv[(t0*2+c)*2+i]); math.Abs(got-sum) > 1e-5 {
					t.Fatalf("step %d, environment %d, agent %d: %g, want %g", t0, c, i, got, sum)
				}
			}
		}
	}
}

func TestNextObservationIsTheTrueLastOneAcrossAnEnd(t *testing.T) {
	s := spec()
	x := NewRollout(s, 3, 0)
	step := envs.NewStep(s)
	show := func(v float32) {
		for i := range step.Obs {
			step.Obs[i] = v + float32(i)/100
		}
		for i := range step.State {
			step.State[i] = v + float32(i)/100
		}
	}
	for k := range 3 {
		show(float32(k))
		x.Observe(k, step)
		if k == 1 { // environment 1 ends with action 1
			show(50)
			x.Terminated[k*2+1] = 1
			x.End(k, 1, step)
		}
	}
	show(3)
	x.Observe(3, step)
	rows := []int{0, 4, 6, 7, 11} // (t,c,i): (0,0,0) (1,0,0) (1,1,0) (1,1,1) (2,1,1)
	got := make([]float32, 3)
	for k, want := range []float32{1, 2, 50.06, 50.09, 3.09} {
		if x.GatherNext(got, rows[k]); math.Abs(float64(got[0]-want)) > 1e-5 {
			t.Errorf("row %d: next observation starts with %g, want %g", rows[k], got[0], want)
		}
	}
	if got := x.NextState(3)[0]; got != 50.06 {
		t.Errorf("next state of the ended frame starts with %g", got)
	}
	x.Clear()
	if x.NextRow(6)[0] >= 50 {
		t.Error("Clear keeps a last observation of the previous rollout")
	}
}

func TestActionVectorIsOneHotOrScaledToTheBox(t *testing.T) {
	x := NewRollout(spec(), 1, 0)
	copy(x.Act.Continuous, []float32{1, -2, 0, 1})
	var v [2]float32
	x.ActionVector(v[:], 0)
	if v != [2]float32{1, -1} {
		t.Errorf("box action (1, -2) became %v, want (1, -1)", v)
	}
	x.ActionVector(v[:], 1)
	if v != [2]float32{0, 0.5} {
		t.Errorf("box action (0, 1) became %v, want (0, 0.5)", v)
	}
	s := spec()
	s.Act = envs.ActSpec{Choices: 3}
	x = NewRollout(s, 1, 0)
	x.Act.Discrete[1] = 2
	one := []float32{9, 9, 9}
	x.ActionVector(one, 1)
	if one[0] != 0 || one[1] != 0 || one[2] != 1 {
		t.Errorf("choice 2 became %v", one)
	}
}

// One agent with γ = 1/2 is dead at steps 1, 2 and 4 and at the end of the rollout. Step 2 ends an episode at its time
// limit. V of the steps 0 and 3, in which it is alive, does not change:
//
//	r = 1 2 3 4 5: V4 = 5 + 0.5·0, V2 = 3, V1 = 2 + 0.5·3
func TestValueOfDeadAgentsIsTheirReturn(t *testing.T) {
	x := NewRollout(&envs.Spec{NumEnvs: 1, Agents: 1, Obs: []int{1}, State: 1, Act: envs.ActSpec{Choices: 2}}, 5, 0)
	x.Alive[0], x.Alive[3], x.Truncated[2] = 1, 1, 1
	value := []float32{70, 71, 72, 73, 74, 75}
	x.EarnedByDead([]float32{1, 2, 3, 4, 5}, value, 0.5)
	if want := []float32{70, 3.5, 3, 73, 5, 0}; !slices.Equal(value, want) {
		t.Errorf("V is %v, want %v", value, want)
	}
}
