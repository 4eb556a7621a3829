// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// clusters are points around three corners of a cube in ten dimensions, at distances large against their standard
// deviation of 1.
func clusters(each int) (rows [][]float64, label []int) {
	r := rng.New(1, "clusters")
	for k := range 3 {
		for range each {
			row := normals(r, 10)
			row[k] += 12
			rows, label = append(rows, row), append(label, k)
		}
	}
	return rows, label
}

// pure is the share of points whose nearest other point is in their own cluster.
func pure(points [][2]float64, label []int) float64 {
	right := 0
	for i, p := range points {
		best, nearest := math.Inf(1), -1
		for j, q := range points {
			if d := math.Hypot(p[0]-q[0], p[1]-q[1]); j != i && d < best {
				best, nearest = d, j
			}
		}
		if label[nearest] == label[i] {
			right++
		}
	}
	return float64(right) / float64(len(points))
}

func TestProjectionsKeepClustersApart(t *testing.T) {
	rows, label := clusters(40)
	plane, share, err := PCA(rows)
	must.Do(t, err)
	if part := pure(plane, label); part != 1 {
		t.Errorf("PCA: %g of the points are among their own", part)
	}
	if share[0] < share[1] || share[0]+share[1] < 0.8 || share[0]+share[1] > 1 { // between clusters 2·48 of about 106
		t.Errorf("PCA: shares %v, want most of the variance in falling order", share)
	}
	layout := must.Value(TSNE(rows, 15, 7))
	if part := pure(layout, label); part != 1 {
		t.Errorf("t-SNE: %g of the points are among their own", part)
	}
	// Clusters are separate: no point is farther from its own centre than from another one.
	var centre [3][2]float64
	for i, p := range layout {
		centre[label[i]][0] += p[0] / 40
		centre[label[i]][1] += p[1] / 40
	}
	for i, p := range layout {
		for k, c := range centre {
			own := centre[label[i]]
			if math.Hypot(p[0]-c[0], p[1]-c[1]) < math.Hypot(p[0]-own[0], p[1]-own[1]) {
				t.Errorf("t-SNE: point %d of cluster %d lies with cluster %d", i, label[i], k)
			}
		}
	}
	again, _ := TSNE(rows, 15, 7)
	other, _ := TSNE(rows, 15, 8)
	if !reflect.DeepEqual(layout, again) || reflect.DeepEqual(layout, other) {
		t.Error("t-SNE: want equal pictures from equal seeds and others from others")
	}
}

func TestPCAFindsTheAxesOfAnEllipse(t *testing.T) {
	var rows [][]float64
	for k := range 100 {
		sin, cos := math.Sincos(2 * math.Pi * float64(k) / 100)
		rows = append(rows, []float64{5 + 0.6*3*cos - 0.8*sin, 0.8*3*cos + 0.6*sin}) // turned, centre (5, 0), half axes 3 and 1
	}
	points, share, err := PCA(rows)
	must.Do(t, err)
	for k, p := range points {
		sin, cos := math.Sincos(2 * math.Pi * float64(k) / 100)
		if math.Abs(p[0]-3*cos) > 1e-9 || math.Abs(math.Abs(p[1])-math.Abs(sin)) > 1e-9 { // rounding of an eigenvector
			t.Fatalf("point %d is %v, want (%g, ±%g)", k, p, 3*cos, sin)
		}
	}
	if math.Abs(share[0]-0.9) > 1e-9 || math.Abs(share[1]-0.1) > 1e-9 {
		t.Errorf("shares %v, want 9 to 1", share)
	}
}

func TestAffinitiesHaveTheWantedPerplexity(t *testing.T) {
	rows, _ := clusters(10)
	square, p := make([]float64, len(rows)), make([]float64, len(rows))
	for j, row := range rows {
		square[j] = math.Pow(floats.Distance(row, rows[4], 2), 2)
	}
	fitWidth(p, square, 4, math.Log(6))
	entropy := stat.Entropy(p)
	if math.Abs(entropy-math.Log(6)) > 1e-5 || p[4] != 0 { // ten times the tolerance of the search
		t.Errorf("perplexity %g with %g for the point itself, want 6 and 0", math.Exp(entropy), p[4])
	}
}

func TestProjectionsRefuseWhatCannotBeLaidOut(t *testing.T) {
	three := [][]float64{{1}, {2}, {4}}
	for name, rows := range map[string][][]float64{
		"two rows": {{1}, {2}}, "no columns": {{}, {}, {}}, "other lengths": {{1, 2}, {1}, {2}}, "no number": {{1}, {math.NaN()}, {2}},
	} {
		if _, _, err := PCA(rows); err == nil {
			t.Errorf("PCA of %s", name)
		}
		if _, err := TSNE(rows, 1, 1); err == nil {
			t.Errorf("t-SNE of %s", name)
		}
	}
	if _, err := TSNE(three, 2, 1); err == nil {
		t.Error("t-SNE with more neighbours than there are")
	}
	if p, _, err := PCA(three); err != nil || p[0][1] != 0 || p[2][0]-p[0][0] != 3 {
		t.Errorf("PCA of one column: %v, %v", p, err)
	}
}
