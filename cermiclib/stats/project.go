// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"cermic/envs/rng"
)

// PCA projects rows [n][d] on their first two principal components, and returns each one's share of the variance. The
// sign of a component is arbitrary; here, its largest weight is positive.
func PCA(rows [][]float64) (points [][2]float64, share [2]float64, err error) {
	x, err := matrix(rows)
	if err != nil {
		return nil, share, err
	}
	var pc stat.PC
	if !pc.PrincipalComponents(x, nil) {
		return nil, share, errors.New("principal components: no decomposition was found")
	}
	var axes, projected mat.Dense
	pc.VectorsTo(&axes)
	n, d := x.Dims()
	for j := range d {
		mean := stat.Mean(mat.Col(nil, j, x), nil)
		for i := range n {
			x.Set(i, j, x.At(i, j)-mean)
		}
	}
	projected.Mul(x, &axes)
	points = make([][2]float64, n)
	vars := pc.VarsTo(nil)
	total := floats.Sum(vars)
	for k := range min(2, d, len(vars)) {
		flip := 1.0
		if axis := mat.Col(nil, k, &axes); floats.Max(axis) < -floats.Min(axis) {
			flip = -1
		}
		for i := range points {
			points[i][k] = flip * projected.At(i, k)
		}
		if total > 0 {
			share[k] = vars[k] / total
		}
	}
	return points, share, nil
}

// matrix copies rows. They must be finite and of equal length, at least three.
func matrix(rows [][]float64) (*mat.Dense, error) {
	if len(rows) < 3 || len(rows[0]) < 1 {
		return nil, errors.New("a projection needs at least three rows of numbers")
	}
	x := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, row := range rows {
		if len(row) != len(rows[0]) {
			return nil, errors.New("a projection needs rows of one length")
		}
		for j, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, errors.New("a projection needs finite numbers")
			}
			x.Set(i, j, v)
		}
	}
	return x, nil
}

// Settings of van der Maaten and Hinton (2008), with the exaggeration and the rate of later practice (Belkina et al.
// 2019).
const (
	tsneSteps       = 500
	tsneEarly       = 125 // steps with exaggerated attraction, in which clusters form
	tsneExaggerated = 12.0
)

// TSNE lays rows [n][d] out in the plane so that neighbours stay close, by exact t-distributed stochastic neighbour
// embedding in time n². perplexity is about how many neighbours count, at most a third of n. Distances between far
// points and sizes of clusters mean nothing. Equal seeds give equal pictures.
func TSNE(rows [][]float64, perplexity float64, seed uint64) ([][2]float64, error) {
	if _, err := matrix(rows); err != nil {
		return nil, err
	}
	n := len(rows)
	if !(perplexity >= 1 && perplexity <= float64(n)/3) {
		return nil, fmt.Errorf("t-SNE: perplexity %g for %d rows, want 1 to a third of them", perplexity, n)
	}
	p := affinities(rows, perplexity)
	y, step, gain := make([][2]float64, n), make([][2]float64, n), make([][2]float64, n)
	r := rng.New(seed, "stats/tsne")
	for i := range y {
		y[i] = [2]float64{1e-4 * float64(r.Norm()), 1e-4 * float64(r.Norm())}
		gain[i] = [2]float64{1, 1}
	}
	rate := max(float64(n)/tsneExaggerated, 50)
	grad := make([][2]float64, n)
	for t := range tsneSteps {
		exaggerate, momentum := 1.0, 0.8
		if t < tsneEarly {
			exaggerate, momentum = tsneExaggerated, 0.5
		}
		gradient(grad, p, y, exaggerate)
		for i := range y {
			for k := range 2 {
				if (grad[i][k] > 0) == (step[i][k] > 0) { // uphill last time: smaller steps
					gain[i][k] = max(gain[i][k]*0.8, 0.01)
				} else {
					gain[i][k] += 0.2
				}
				step[i][k] = momentum*step[i][k] - rate*gain[i][k]*grad[i][k]
				y[i][k] += step[i][k]
			}
		}
	}
	return y, nil
}

// gradient writes the gradient of the divergence between p, times exaggerate, and the affinities q of the points y:
//
//	∂/∂y_i = 4·Σ_j (p_ij − q_ij)·(y_i − y_j)/(1 + |y_i − y_j|²)
func gradient(dst [][2]float64, p []float64, y [][2]float64, exaggerate float64) {
	n, total := len(y), 0.0
	near := func(i, j int) float64 {
		dx, dy := y[i][0]-y[j][0], y[i][1]-y[j][1]
		return 1 / (1 + dx*dx + dy*dy)
	}
	for i := range n {
		for j := range i {
			total += 2 * near(i, j)
		}
	}
	clear(dst)
	for i := range n {
		for j := range i {
			q := near(i, j)
			f := 4 * (exaggerate*p[i*n+j] - q/total) * q
			for k := range 2 {
				pull := f * (y[i][k] - y[j][k])
				dst[i][k] += pull
				dst[j][k] -= pull
			}
		}
	}
}

// affinities are the joint probabilities p_ij [n·n] of neighbours. The perplexity sets the width of each row's
// Gaussian.
func affinities(rows [][]float64, perplexity float64) []float64 {
	n := len(rows)
	p, square := make([]float64, n*n), make([]float64, n)
	for i := range n {
		for j := range n {
			square[j] = 0
			for k, v := range rows[i] {
				square[j] += (v - rows[j][k]) * (v - rows[j][k])
			}
		}
		fitWidth(p[i*n:(i+1)*n], square, i, math.Log(perplexity))
	}
	joint := make([]float64, n*n)
	for i := range n {
		for j := range n {
			joint[i*n+j] = max((p[i*n+j]+p[j*n+i])/float64(2*n), 1e-12)
		}
	}
	return joint
}

// fitWidth writes the probabilities of row i's neighbours at the precision, found by bisection, that has the wanted
// entropy.
func fitWidth(p, square []float64, i int, entropy float64) {
	low, high, precision := 0.0, math.Inf(1), 1.0
	for range 64 {
		sum, mean := 0.0, 0.0
		for j, d := range square {
			p[j] = 0
			if j != i {
				p[j] = math.Exp(-d * precision)
			}
			sum += p[j]
			mean += d * p[j]
		}
		if sum == 0 { // too narrow for any neighbour
			high = precision
			precision = (low + high) / 2
			continue
		}
		for j := range p {
			p[j] /= sum
		}
		switch found := math.Log(sum) + precision*mean/sum; {
		case math.Abs(found-entropy) < 1e-6:
			return
		case found > entropy:
			low = precision
		default:
			high = precision
		}
		if precision = (low + high) / 2; math.IsInf(high, 1) {
			precision = 2 * low
		}
	}
}
