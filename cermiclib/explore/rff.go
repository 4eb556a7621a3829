// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs/rng"
)

// RFF rewards an agent for observations unlike its earlier ones, by an elliptical count on their random Fourier
// features (Rahimi and Recht 2007). Nothing is learned: it is the control for bonuses on learned features.
//
//	η(o) = [√2·cos(w_k·o/ℓ_i + b_k), 1] [D]   w_k ~ N(0, I), b_k ~ U(0, 2π), drawn once
//	Λ_i  = λI + Σ ηηᵀ                         over agent i's steps of all earlier rollout batches
//	u_i  = √(½·log(1 + ηᵀΛ_i⁻¹η))             root of the information gain about an output linear in η
//	r_i  = u_i + int_others·Σ_{j≠i} u_j
//
// η·η' is about D·exp(−‖o−o'‖²/2ℓ²). After n visits ηᵀΛ⁻¹η is about 1/n where all other observations are further away
// than ℓ. The first rollout batch is measured against itself, since all of it would be equally new against λI.
//
// Reading: ℓ_i is bandwidth·√V. V is the summed variance of the components of agent i's observations in its first
// rollout batch, or 1 if they are constant. So features stay fixed and suit tasks of any scale. Scaling each component
// by its own deviation would blow up components that hardly vary at first.
//
// Reading: for cells, η takes the features of a random convolutional network, as MACE does.
type RFF struct {
	Waves     int     `json:"waves" range:"1..8192" help:"number of random Fourier features, D − 1"`
	Bandwidth float64 `json:"bandwidth" range:"(0..)" help:"kernel width ℓ, in standard deviations of the first observations"`
	Lambda    float64 `json:"lambda" range:"(0..)" help:"ridge term λ; smaller values resolve smaller differences"`
	Others    float64 `json:"int_others" range:"0.." help:"weight of each peer's u_j in an agent's reward, in training"`
	Bonus             // normalisation and weight of r
}

func init() { Register(DefaultRFF()) }

// DefaultRFF has the waves, bandwidth, λ and weight of the peers that CERMIC's elliptical bonus has by default.
func DefaultRFF() RFF {
	return RFF{Waves: 255, Bandwidth: 0.5, Lambda: 0.1, Others: 1, Bonus: DefaultBonus("rff")}
}

// Kind is "rff".
func (RFF) Kind() string { return "rff" }

// rff is an RFF in a running experiment.
type rff struct {
	none
	cfg     RFF
	encoder *obsEncoder
	waves   *mat.Dense // [F,D] frequencies w_k; 0 for the constant
	phase   []float64  // [D] b_k
	agents  []rffCount // [N]
	RewardNormaliser
}

// rffCount is what an agent's bonus depends on; its fields are exported to be saved.
type rffCount struct {
	Length float64   // ℓ_i
	Lambda []float64 // Λ_i [D,D], upper triangle; empty before the first rollout batch
}

var _ rl.Saver = (*rff)(nil)

// Build draws the waves from the seed.
func (c RFF) Build(b *nn.Build) (Module, error) {
	width, d := nn.ObsFeatures(b.Spec), c.Waves+1
	m := &rff{
		cfg: c, waves: mat.NewDense(width, d, nil), phase: make([]float64, d), agents: make([]rffCount, b.Spec.Agents),
		RewardNormaliser: NewRewardNormaliser(c.Bonus),
	}
	r := rng.New(b.Seed, "rff waves")
	for k := range c.Waves {
		for i := range width {
			m.waves.Set(i, k, float64(r.Norm()))
		}
		m.phase[k] = 2 * math.Pi * r.Float64()
	}
	m.phase[c.Waves] = math.Pi / 4 // √2·cos(π/4) = 1, the constant
	var err error
	m.encoder, err = newObsEncoder(b, "rff")
	return m, err
}

// Reward rates the observations of x against earlier rollout batches, and then counts them.
func (m *rff) Reward(ctx context.Context, x *rl.Rollout) (rl.Scalars, error) {
	if err := m.encoder.watch(ctx, x); err != nil {
		return nil, err
	}
	raw := make([]float32, x.Rows())
	for i := range m.agents {
		obs, count, of := m.distinct(x, i)
		if len(count) == 0 {
			continue
		}
		novelty, err := m.rate(ctx, &m.agents[i], mat.NewDense(len(count), len(obs)/len(count), obs), count)
		if err != nil {
			return nil, err
		}
		for frame, k := range of {
			raw[frame*x.N+i] = novelty[k]
		}
	}
	AddPeers(raw, x.Alive, x.N, m.cfg.Others)
	return m.Apply(x, raw, "rff"), nil
}

// distinct returns an agent's distinct observations [U,F] while it is alive and the number of steps [U] with each. of
// is the index of its observation in each frame [T,E].
func (m *rff) distinct(x *rl.Rollout, agent int) (obs, count []float64, of []int) {
	known := map[string]int{} // by the bits of an observation
	of = make([]int, x.T*x.E)
	for frame := range of {
		row := frame*x.N + agent
		if x.Alive[row] == 0 {
			continue
		}
		seen := m.encoder.now(row)
		bits := unsafe.String((*byte)(unsafe.Pointer(unsafe.SliceData(seen))), 4*len(seen))
		k, ok := known[bits]
		if !ok {
			k = len(count)
			known[bits], count = k, append(count, 0)
			for _, v := range seen {
				obs = append(obs, float64(v))
			}
		}
		count[k]++
		of[frame] = k
	}
	return obs, count, of
}

// rate returns u [U] of an agent's observations, and adds these to its Λ.
func (m *rff) rate(ctx context.Context, a *rffCount, obs *mat.Dense, count []float64) ([]float32, error) {
	first, d := len(a.Lambda) == 0, len(m.phase)
	if first {
		*a = rffCount{m.cfg.Bandwidth, make([]float64, d*d)}
		var c mat.SymDense
		stat.CovarianceMatrix(&c, obs, count)
		if v := mat.Trace(&c); v > 1e-12 { // more than rounding
			a.Length *= math.Sqrt(v)
		}
		for i := range d {
			a.Lambda[i*d+i] = m.cfg.Lambda
		}
	}
	obs.Scale(1/a.Length, obs)
	lambda, novelty := mat.NewSymDense(d, a.Lambda), make([]float32, len(count))
	add := func(_ int, eta *mat.Dense) { blas64.Syrk(blas.Trans, 1, eta.RawMatrix(), 1, lambda.RawSymmetric()) }
	if first {
		if err := m.each(ctx, obs, count, add); err != nil {
			return nil, err
		}
	}
	var past mat.Cholesky
	if !past.Factorize(lambda) {
		return nil, errors.New("explore: rff got observations that are not finite, or explore.lambda is too small: raise it")
	}
	var u mat.TriDense // Λ = UᵀU
	past.UTo(&u)
	return novelty, m.each(ctx, obs, count, func(from int, eta *mat.Dense) {
		if !first {
			add(from, eta)
		}
		blas64.Trsm(blas.Right, blas.NoTrans, 1, u.RawTriangular(), eta.RawMatrix()) // ηᵀΛ⁻¹η = |ηᵀU⁻¹|²
		for k := range eta.RawMatrix().Rows {
			y := eta.RowView(k)
			novelty[from+k] = float32(math.Sqrt(0.5 * math.Log1p(mat.Dot(y, y)/count[from+k])))
		}
	})
}

// each calls f with √count·η of observations, a block [≤256,D] at a time, from the first of them on.
func (m *rff) each(ctx context.Context, obs *mat.Dense, count []float64, f func(from int, eta *mat.Dense)) error {
	rows, width := obs.Dims()
	for from := 0; from < rows; from += 256 {
		if err := ctx.Err(); err != nil {
			return err
		}
		var eta mat.Dense
		eta.Mul(obs.Slice(from, min(from+256, rows), 0, width), m.waves)
		eta.Apply(func(k, i int, v float64) float64 {
			return math.Sqrt(2*count[from+k]) * math.Cos(v+m.phase[i])
		}, &eta)
		f(from, &eta)
	}
	return nil
}

// rffState is the state carried between rollout batches.
type rffState struct {
	Bonus  []byte
	Agents []rffCount
}

// Save returns statistics and counts; encoding/gob writes floats bit for bit.
func (m *rff) Save() []byte {
	var data bytes.Buffer
	if err := gob.NewEncoder(&data).Encode(rffState{m.RewardNormaliser.Save(), m.agents}); err != nil {
		panic("explore: cannot save rff: " + err.Error()) // gob encodes every slice of numbers
	}
	return data.Bytes()
}

// Load continues from what Save returned.
func (m *rff) Load(state []byte) error {
	var s rffState
	if err := gob.NewDecoder(bytes.NewReader(state)).Decode(&s); err != nil {
		return fmt.Errorf("explore: this is no saved state of rff: %w", err)
	}
	size := len(m.phase) * len(m.phase)
	misfit := func(a rffCount) bool { return len(a.Lambda) != 0 && len(a.Lambda) != size }
	if len(s.Agents) != len(m.agents) || slices.ContainsFunc(s.Agents, misfit) {
		return fmt.Errorf("explore: the saved state of rff does not fit %d agents and explore.waves=%d",
			len(m.agents), m.cfg.Waves)
	}
	m.agents = s.Agents
	return m.RewardNormaliser.Load(s.Bonus)
}
