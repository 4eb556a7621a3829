// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
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
