// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// PCA projects rows [n][d] on their first two principal components, and returns the share of the variance that each of
// the two holds. The sign of a component, which is arbitrary, is such that its largest weight is positive.
func PCA(rows [][]float64) (points [][2]float64, share [2]float64, err error) {
	x, err := matrix(rows)
	if err != nil {
		return nil, share, err
	}
	var pc stat.PC
	if !pc.PrincipalComponents(x, nil) {
		return nil, share, errors.New("principal components: no decomposition was found")
	}
	var axes mat.Dense
	pc.VectorsTo(&axes)
	n, d := x.Dims()
	points = make([][2]float64, n)
	total, vars := 0.0, pc.VarsTo(nil)
	for _, v := range vars {
		total += v
	}
	centre := make([]float64, d)
	for j := range centre {
		centre[j] = stat.Mean(mat.Col(nil, j, x), nil)
	}
	for k := range min(2, d, len(vars)) {
		axis := mat.Col(nil, k, &axes)
		flip := 1.0
		if largest(axis) < 0 {
			flip = -1
		}
		for i, row := range rows {
			for j, v := range row {
				points[i][k] += flip * axis[j] * (v - centre[j])
			}
		}
		if total > 0 {
			share[k] = vars[k] / total
		}
	}
	return points, share, nil
}

// largest is the value with the largest size.
func largest(v []float64) float64 {
	best := 0.0
	for _, x := range v {
		if math.Abs(x) > math.Abs(best) {
			best = x
		}
	}
	return best
}

// matrix copies rows that are of one length and finite, three of them at least.
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
