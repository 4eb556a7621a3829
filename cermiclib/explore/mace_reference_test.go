// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/ml/model"

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
		if r.x.Alive[row] != 0 && r.x.Alive[row+r.x.E*r.x.N] != 0 {
			sum += discount * r.surprise(j, r.x.NextRow(row))
		}
		discount *= r.cfg.Discount
	}
	return sum
}

// givens are the z that agent i's hindsight is given at (t, c), and the codes of whose they are.
func (r *maceReference) givens(t, c, i int) (z []float64, codes [][]float64) {
	for j := range r.x.N {
		if j == i {
			continue
		}
		code := make([]float64, r.x.N)
		code[j] = 1
		z, codes = append(z, r.future(t, c, j)), append(codes, code)
	}
	if !r.cfg.Reduce {
		return z, codes
	}
	total := 0.0
	for _, v := range z {
		total += v
	}
	return []float64{total}, [][]float64{nil}
}

// logHindsight is log h_i(a | o_i, z) of agent step row for each z.
func (r *maceReference) logHindsight(row int, upper float64) (logs, z []float64) {
	frame, i := row/r.x.N, row%r.x.N
	z, codes := r.givens(frame/r.x.E, frame%r.x.E, i)
	who := make([]float64, r.x.N)
	who[i] = 1
	for p := range z {
		in := append(r.input(r.x.ObsRow(row)), z[p]/upper)
		in = append(append(in, who...), codes[p]...)
		hidden := nntest.Apply(nntest.Linear(r.params, "hindsight/layer_0", in, true), nntest.ReLU)
		logs = append(logs, r.logAction(row, r.from(row, nntest.Linear(r.params, "hindsight/out", hidden, true))))
	}
	return logs, z
}

// from turns what hindsight's network returns for agent step row into the logits, or mean and scale, of h.
func (r *maceReference) from(row int, y []float64) []float64 {
	none := r.cfg.HindsightBase == BaseNone
	var base []float32
	if !none {
		base = r.policy[row*len(y) : (row+1)*len(y)]
	}
	switch {
	case r.x.Spec.Act.Choices == 0 && none:
		y[1] = math.Log1p(math.Exp(y[1]+math.Log(math.Exp(0.99)-1))) + 0.01
	case r.x.Spec.Act.Choices == 0:
		y[0] = float64(base[0]) + float64(base[1])*y[0]
		y[1] = float64(base[1]) * math.Exp(min(max(y[1], -2), 2))
	case !none:
		for i := range y {
			y[i] += float64(base[i])
		}
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
		logs, _ := r.logHindsight(row, upper)
		for _, l := range logs {
			if r.x.Alive[row] != 0 {
				sum, count = sum+l, count+1
			}
		}
	}
	return -sum / count
}

// pays is the reward of agent step row.
func (r *maceReference) pays(row int, upper float64) float64 {
	frame, i := row/r.x.N, row%r.x.N
	pay := 0.0
	for j := range r.x.N {
		other := frame*r.x.N + j
		if r.x.Done(frame/r.x.E, frame%r.x.E) || r.x.Alive[other] == 0 || r.x.Alive[other+r.x.E*r.x.N] == 0 {
			continue
		}
		weight := r.cfg.Other
		if j == i {
			weight = r.cfg.Self
		}
		pay += weight * r.surprise(j, r.x.NextRow(other))
	}
	logs, z := r.logHindsight(row, upper)
	for p, l := range logs {
		pay += r.cfg.Influence * z[p] * min(max(l-float64(r.x.LogP[row]), -r.cfg.RatioClip), r.cfg.RatioClip)
	}
	return pay * r.cfg.IntCoef
}
