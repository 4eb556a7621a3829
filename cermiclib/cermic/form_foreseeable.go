// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs/rng"
)

// With filter=foreseeable, features are those of P·o_t in place of o_t. P leaves out the directions of the observation in which nothing before
// tells what comes: where no linear function of o_t, another one for each action of the agent, explains any of the variance of o_{t+1} over all
// steps so far. A screen of random numbers is such a direction, and so is what a peer chooses at random; where an agent or a peer stands is none.
// A bonus that counts what its features tell apart would otherwise find each picture of a noisy screen new.
//
//	C = Cov(o_{t+1}) + λ   R = Cov(o_{t+1} | o_t, a_t)   (C - R)·v = ρ²·C·v   vᵀCv = 1
//	P = Σ w(ρ²)·C·v·vᵀ   w(ρ²) = (ρ² - chance) / foreseeableShare, at least 0 and at most 1
//
// Relation to the paper: L_explore's bottleneck, I(x;s_{t+1}), is to leave out of x what does not tell of the next state; this does so for s_t in the
// one case that has a closed form, since φ learns too slowly for it to show. What is hardly seen is kept, by λ. Where all is foretold in part,
// P is the identity.
type foreseeable struct {
	obs, act int // lengths of o_t and, where actions are continuous, of a_t
	choices  int // groups of steps: one for each discrete action
	seed     uint64
	Groups   [2][]pairs // of every other rollout [choices], so that what one half has learnt is tried on the other: noise is then explained no better than not at all
	NotZero  []float64  // [I] in how many steps each number of o_{t+1} was not 0
	keep     []float32  // [I,I] Pᵀ
}

// pairs are sums over steps of m = (o_{t+1}, o_t, a_t) [M]; without a_t where that is the group's.
type pairs struct {
	Count  float64
	Sum    []float64 // [M]
	Square []float64 // [M,M] Σ mmᵀ, upper triangle
}

// Numbers of the filter.
const (
	foreseeableRows  = 1000    // agent steps of a rollout that it learns from
	foreseeableShare = 0.01    // of the variance: what is explained to this part, or more, is kept whole; what follows one time in a hundred is
	foreseeablePrior = 1       // steps that λ stands for
	foreseeableBytes = 8 << 20 // most that its sums may take; longer observations, such as pictures, are not filtered
)

// newForeseeable returns nil where observations are too long.
func newForeseeable(b *nn.Build) *foreseeable {
	f := &foreseeable{obs: b.Spec.InLen(), choices: 1, seed: b.Seed}
	if b.Spec.Act.Choices > 0 {
		f.choices = b.Spec.Act.Choices
	} else {
		f.act = b.Spec.Act.Len()
	}
	m := 2*f.obs + f.act
	if 16*f.choices*m*m > foreseeableBytes {
		return nil
	}
	f.NotZero, f.keep = make([]float64, f.obs), make([]float32, f.obs*f.obs)
	for half := range f.Groups {
		for range f.choices {
			f.Groups[half] = append(f.Groups[half], newPairs(m))
		}
	}
	f.keepAll()
	return f
}

func (f *foreseeable) keepAll() {
	clear(f.keep)
	for i := range f.obs {
		f.keep[i*f.obs+i] = 1
	}
}

// learn takes in agent steps of x that are alive, and makes P anew.
func (f *foreseeable) learn(x *rl.Rollout) error {
	random := rng.New(f.seed, "cermic foreseeable", uint64(x.Iteration))
	rows := make([][]int, f.choices)
	for range foreseeableRows {
		if row := random.IntN(x.Rows()); x.Alive[row] != 0 {
			group := 0
			if f.choices > 1 {
				group = int(x.Act.Discrete[row])
			}
			rows[group] = append(rows[group], row)
		}
	}
	m := 2*f.obs + f.act
	one := make([]float32, m)
	for group, rows := range rows {
		if len(rows) == 0 {
			continue
		}
		p, all := &f.Groups[x.Iteration%2][group], mat.NewDense(len(rows), m, nil)
		for k, row := range rows {
			x.GatherNext(one[:f.obs], row)
			x.Gather(one[f.obs:2*f.obs], row)
			if f.act > 0 {
				x.ActionVector(one[2*f.obs:], row)
			}
			to := all.RawRowView(k)
			for i, v := range one {
				to[i] = float64(v)
				p.Sum[i] += to[i]
				if i < f.obs && v != 0 {
					f.NotZero[i]++
				}
			}
		}
		p.Count += float64(len(rows))
		square := mat.NewSymDense(m, p.Square)
		square.SymRankK(square, 1, all.T())
	}
	return f.solve()
}

// solve makes P of the sums.
func (f *foreseeable) solve() error {
	o, m := f.obs, 2*f.obs+f.act
	total, regressors := newPairs(m), 0.0
	together := make([]pairs, f.choices)
	for group := range together {
		together[group] = newPairs(m)
		for _, half := range f.Groups {
			together[group].add(half[group])
		}
		if total.add(together[group]); together[group].Count > 0 {
			regressors += float64(o + f.act)
		}
	}
	f.keepAll()
	chance := regressors / total.Count // what so many explain of anything in the steps that they are fitted to
	if !(chance < 1) {
		return nil
	}
	prior := make([]float64, m) // λ of each number, times the steps: its square where it is not 0
	for i := range prior {
		prior[i] = total.Square[i*m+i] / total.Count
		if i < 2*o {
			prior[i] = total.Square[i%o*m+i%o] / max(f.NotZero[i%o], 1)
		}
		prior[i] = foreseeablePrior * max(prior[i], scalingTiny)
	}
	whole, told := mat.NewSymDense(o, nil), mat.NewSymDense(o, nil) // C and C - R
	for i := range o {
		for j := i; j < o; j++ {
			v := total.cov(i, j)
			if i == j {
				v += prior[i] / total.Count
			}
			whole.SetSym(i, j, v)
			for _, p := range together {
				if p.Count > 0 {
					v -= p.Count / total.Count * p.cov(i, j)
				}
			}
			told.SetSym(i, j, v)
		}
	}
	for group, p := range together {
		for half := range f.Groups {
			fitted, tried := f.Groups[half][group], f.Groups[1-half][group]
			if err := addExplained(told, o, p.Count/total.Count/2, fitted, tried, prior); err != nil {
				return err
			}
		}
	}
	return f.leaveOut(whole, told, chance)
}

func newPairs(m int) pairs { return pairs{Sum: make([]float64, m), Square: make([]float64, m*m)} }

// add adds the sums of other pairs.
func (p *pairs) add(q pairs) {
	p.Count += q.Count
	for i, v := range q.Sum {
		p.Sum[i] += v
	}
	for i, v := range q.Square {
		p.Square[i] += v
	}
}

// cov is the covariance of two numbers, i ≤ j.
func (p *pairs) cov(i, j int) float64 {
	return (p.Square[i*len(p.Sum)+j] - p.Sum[i]*p.Sum[j]/p.Count) / p.Count
}

// addExplained adds share of the covariance of o_{t+1} [o] that the linear function of the other numbers which fits the one pairs best explains in
// the others.
func addExplained(to *mat.SymDense, o int, share float64, fitted, tried pairs, prior []float64) error {
	if fitted.Count == 0 || tried.Count == 0 {
		return nil
	}
	n := len(fitted.Sum) - o
	before, between, there := mat.NewSymDense(n, nil), mat.NewDense(n, o, nil), mat.NewDense(n, o, nil)
	for i := range n {
		for j := i; j < n; j++ {
			before.SetSym(i, j, fitted.cov(o+i, o+j))
		}
		before.SetSym(i, i, before.At(i, i)+prior[o+i]/fitted.Count)
		for j := range o {
			between.Set(i, j, fitted.cov(j, o+i))
			there.Set(i, j, tried.cov(j, o+i))
		}
	}
	var c mat.Cholesky
	if !c.Factorize(before) {
		return errNotFinite
	}
	var weights, explained mat.Dense
	if err := c.SolveTo(&weights, between); err != nil {
		return fmt.Errorf("%w: %w", errNotFinite, err)
	}
	explained.Mul(there.T(), &weights)
	for i := range o {
		for j := i; j < o; j++ {
			to.SetSym(i, j, to.At(i, j)+share*(explained.At(i, j)+explained.At(j, i))/2)
		}
	}
	return nil
}

var errNotFinite = errors.New("cermic: observations are not finite or differ too much in size, so that int_form.filter cannot tell what can be foreseen; set filter=")

// leaveOut makes P = L·Q·w(ρ²)·Qᵀ·L⁻¹ of C = LLᵀ and L⁻¹(C - R)L⁻ᵀ = Q·ρ²·Qᵀ.
func (f *foreseeable) leaveOut(whole, told *mat.SymDense, chance float64) error {
	var c mat.Cholesky
	if !c.Factorize(whole) {
		return errNotFinite
	}
	var lower, inverse mat.TriDense
	c.LTo(&lower)
	if err := inverse.InverseTri(&lower); err != nil {
		return fmt.Errorf("%w: %w", errNotFinite, err)
	}
	var half, full mat.Dense
	half.Mul(&inverse, told)
	full.Mul(&half, inverse.T())
	shares := mat.NewSymDense(f.obs, nil)
	for i := range f.obs {
		for j := i; j < f.obs; j++ {
			shares.SetSym(i, j, (full.At(i, j)+full.At(j, i))/2)
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(shares, true) {
		return errNotFinite
	}
	w := eigen.Values(nil)
	for i, v := range w {
		w[i] = min(max((v-chance)/foreseeableShare, 0), 1)
	}
	var q, scaled, middle, left, p mat.Dense
	eigen.VectorsTo(&q)
	scaled.Apply(func(_, j int, v float64) float64 { return v * w[j] }, &q)
	middle.Mul(&scaled, q.T())
	left.Mul(&lower, &middle)
	p.Mul(&left, &inverse)
	for i := range f.obs {
		for j := range f.obs {
			f.keep[j*f.obs+i] = float32(p.At(i, j))
		}
	}
	return nil
}

// foreseeableState is all that it knows of steps so far.
type foreseeableState struct {
	Groups  [2][]pairs
	NotZero []float64
}

func (f *foreseeable) save() foreseeableState { return foreseeableState{f.Groups, f.NotZero} }

// restore goes on from what save returned.
func (f *foreseeable) restore(s foreseeableState) error {
	for half, groups := range s.Groups {
		fits := len(groups) == f.choices && len(s.NotZero) == f.obs
		for i, p := range groups {
			fits = fits && len(p.Sum) == len(f.Groups[half][i].Sum) && len(p.Square) == len(f.Groups[half][i].Square)
		}
		if !fits {
			return fmt.Errorf("the saved state of int_form does not fit the task: its filter is one of %d actions and %d numbers, want %d and %d",
				len(groups), len(s.NotZero), f.choices, f.obs)
		}
	}
	f.Groups, f.NotZero = s.Groups, s.NotZero
	return f.solve()
}
