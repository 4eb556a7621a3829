// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/ml/model"
	"gonum.org/v1/gonum/stat"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/nntest"
	"cermic/cermiclib/rl"
)

// maceReference computes MACE in float64 from its formulas: forward only, in plain loops.
type maceReference struct {
	cfg    MACE
	x      *rl.Rollout
	params map[string][]float64 // by path below MACE's scope
	mean   []float64
	std    []float64
	scale  []float64 // [N] standard deviation of each agent's u
	policy []float32 // [T,E,N,K] or [T,E,N,2D] that h starts from
}

func maceWeights(store *model.Store) map[string][]float64 {
	return nntest.Read(nn.Variables(store, "/"+maceScope), "/"+maceScope+"/")
}

func newMACEReference(c MACE, x *rl.Rollout, store *model.Store) *maceReference {
	o := x.Spec.ObsLen()
	r := &maceReference{cfg: c, x: x, params: maceWeights(store), mean: make([]float64, o), std: make([]float64, o)}
	for d := range o {
		sum, square, count := 0.0, 0.0, 0.0
		for row := range x.Rows() {
			if v := float64(x.ObsRow(row)[d]); x.Alive[row] != 0 {
				sum, square, count = sum+v, square+v*v, count+1
			}
		}
		r.mean[d] = sum / count
		r.std[d] = math.Sqrt(square/count - r.mean[d]*r.mean[d])
	}
	u := make([][]float64, x.N)
	for row := range x.Rows() {
		if i := row % x.N; r.counts(row) {
			u[i] = append(u[i], r.surprise(i, x.NextRow(row)))
		}
	}
	for _, of := range u {
		r.scale = append(r.scale, stat.PopStdDev(of, nil))
	}
	return r
}

func (r *maceReference) input(obs []float32) []float64 {
	out := make([]float64, len(obs))
	for d, v := range obs {
		out[d] = min(max((float64(v)-r.mean[d])/r.std[d], -5), 5)
	}
	return out
}

// own runs agent i's layers of a network whose weights are [N,in,out].
func (r *maceReference) own(net string, i, layers int, x []float64) []float64 {
	for l := range layers + 1 {
		name := fmt.Sprintf("%s/layer_%d", net, l)
		if l == layers {
			name = net + "/out"
		}
		x = nntest.GroupLinear(r.params, name, i, r.x.N, x)
		if l < layers {
			nntest.Apply(x, nntest.ReLU)
		}
	}
	return x
}

// surprise is u of an observation of agent i.
func (r *maceReference) surprise(i int, obs []float32) float64 {
	in, sum := r.input(obs), 0.0
	guess, truth := r.own(predictorScope, i, r.cfg.NoveltyLayers+2, in), r.own(targetScope, i, r.cfg.NoveltyLayers, in)
	for k := range guess {
		sum += (guess[k] - truth[k]) * (guess[k] - truth[k]) / float64(len(guess))
	}
	return sum
}

// counts reports whether agent step row has a novelty: not at the end of an episode, nor of dead agents.
func (r *maceReference) counts(row int) bool {
	frame := row / r.x.N
	return !r.x.Done(frame/r.x.E, frame%r.x.E) && r.x.Alive[row] != 0 && r.x.Alive[row+r.x.E*r.x.N] != 0
}

// novelty is u of agent step row over the standard deviation of the agent's u.
func (r *maceReference) novelty(row int) float64 {
	if !r.counts(row) {
		return 0
	}
	return r.surprise(row%r.x.N, r.x.NextRow(row)) / r.scale[row%r.x.N]
}

// noveltyLoss is the predictors' mean error on what was seen.
func (r *maceReference) noveltyLoss() float64 {
	sum, count := 0.0, 0.0
	for row := range r.x.Rows() {
		if r.x.Alive[row] != 0 {
			sum, count = sum+r.surprise(row%r.x.N, r.x.ObsRow(row)), count+1
		}
	}
	return sum / count
}

// future is z of agent step (t, c, j).
func (r *maceReference) future(t, c, j int) float64 {
	sum, discount := 0.0, 1.0
	for ; t < r.x.T; t++ {
		row := (t*r.x.E+c)*r.x.N + j
		if r.x.Done(t, c) {
			break // no novelty at the end of an episode
		}
		sum += discount * r.novelty(row)
		discount *= r.cfg.Discount
	}
	return sum
}

// given is the sum of z that agent i's hindsight is given at (t, c).
func (r *maceReference) given(t, c, i int) float64 {
	sum := 0.0
	for j := range r.x.N {
		if j != i {
			sum += r.future(t, c, j)
		}
	}
	return sum
}

// logHindsight is log h_i(a | o_i, z) of agent step row, and z.
func (r *maceReference) logHindsight(row int, upper float64) (log, z float64) {
	frame, i := row/r.x.N, row%r.x.N
	z = r.given(frame/r.x.E, frame%r.x.E, i)
	who := make([]float64, r.x.N)
	who[i] = 1
	in := append(append(r.input(r.x.ObsRow(row)), z/upper), who...)
	hidden := nntest.Apply(nntest.Linear(r.params, "hindsight/layer_0", in, true), nntest.ReLU)
	return r.logAction(row, r.from(row, nntest.Linear(r.params, "hindsight/out", hidden, true))), z
}

// from turns what hindsight's network returns for agent step row into the logits, or mean and scale, of h.
func (r *maceReference) from(row int, y []float64) []float64 {
	base := r.policy[row*len(y) : (row+1)*len(y)]
	if r.x.Spec.Act.Choices == 0 {
		y[0] = float64(base[0]) + float64(base[1])*y[0]
		y[1] = float64(base[1]) * math.Exp(min(max(y[1], -2), 2))
		return y
	}
	for i := range y {
		y[i] += float64(base[i])
	}
	return y
}

func (r *maceReference) logAction(row int, y []float64) float64 {
	if k := r.x.Spec.Act.Choices; k > 0 {
		total := 0.0
		for i := range k {
			total += math.Exp(y[i]) * float64(r.x.Mask[row*k+i])
		}
		return y[r.x.Act.Discrete[row]] - math.Log(total)
	}
	a := &r.x.Spec.Act
	return nntest.LogTanhNormal(float64(r.x.Raw[row]), y[0], y[1], a.Low[0], a.High[0])
}

// hindsightLoss is the negative mean log-likelihood of the actions taken.
func (r *maceReference) hindsightLoss(upper float64) float64 {
	sum, count := 0.0, 0.0
	for row := range r.x.Rows() {
		if r.x.Alive[row] != 0 {
			log, _ := r.logHindsight(row, upper)
			sum, count = sum+log, count+1
		}
	}
	return -sum / count
}

// pays is the reward of agent step row.
func (r *maceReference) pays(row int, upper float64) float64 {
	frame, i := row/r.x.N, row%r.x.N
	pay := 0.0
	for j := range r.x.N {
		weight := r.cfg.Other
		if j == i {
			weight = r.cfg.Self
		}
		pay += weight * r.novelty(frame*r.x.N+j)
	}
	log, z := r.logHindsight(row, upper)
	pay += r.cfg.Influence * z * min(max(log-float64(r.x.LogP[row]), -r.cfg.RatioClip), r.cfg.RatioClip)
	return pay * r.cfg.IntCoef
}
