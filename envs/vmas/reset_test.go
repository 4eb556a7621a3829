// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"

	"cermic/envs"
	"cermic/envs/envtest"
)

// resetStats is the original's distribution of worlds after resets; testdata/golden/README.md describes it.
type resetStats struct {
	NumEnvs      int             `json:"n_envs"`
	Names        []string        // bodies
	Quantiles    [][2][7]float64 `json:"pos_quantiles"`
	RotMean      []float64       `json:"rot_mean"`
	RotStd       []float64       `json:"rot_std"`
	PairDistance [][]float64     `json:"pair_dist_mean"`
	PairLeast    [][]float64     `json:"pair_dist_min"`
}

// levels are the probabilities of the recorded quantiles.
var levels = [7]float64{0, 0.05, 0.25, 0.5, 0.75, 0.95, 1}

func TestResetsAreDistributedAsInTheOriginal(t *testing.T) {
	var file struct{ Scenarios map[string]resetStats }
	envtest.ReadRecording(t, envtest.Statistics(t, "vmas", "reset_stats.json.gz")[0], &file)
	if len(file.Scenarios) == 0 {
		t.Fatal("no recording of resets")
	}
	for scenario, ref := range file.Scenarios {
		t.Run(scenario, func(t *testing.T) { checkResets(t, map[string]any{"kind": "vmas/" + scenario}, &ref) })
	}
}

// Keyword arguments change the positions and minimum distances after resets.
func TestResetsWithOtherSettingsAreDistributedAsInTheOriginal(t *testing.T) {
	var file struct {
		Cases []struct {
			Scenario string
			Kwargs   json.RawMessage
			resetStats
		}
	}
	envtest.ReadRecording(t, envtest.Statistics(t, "vmas", "reset_stats_kwargs.json.gz")[0], &file)
	if len(file.Cases) == 0 {
		t.Fatal("no recording of resets with other settings")
	}
	for k, c := range file.Cases {
		t.Run(fmt.Sprintf("%s-%d", c.Scenario, k), func(t *testing.T) {
			checkResets(t, withKwargs(t, c.Scenario, c.Kwargs), &c.resetStats)
		})
	}
}

// checkResets compares the distributions of all bodies that the task places in resets with these settings.
func checkResets(t *testing.T, overlay map[string]any, ref *resetStats) {
	t.Helper()
	overlay["copies"] = 2048
	e := buildOverlay(t, overlay, 5, 1)
	e.Reset(nil, envs.NewStep(e.Spec()))
	if len(ref.Names) != e.world.count {
		t.Fatalf("%d bodies, want %d", e.world.count, len(ref.Names))
	}
	for b := range ref.Names {
		checkBody(t, e.world, ref, b)
	}
}

// checkBody compares the position of one body, and its distances to the others, with the original's.
func checkBody(t *testing.T, w *World, ref *resetStats, b int) {
	t.Helper()
	x, y, rot := make([]float64, w.numEnvs), make([]float64, w.numEnvs), make([]float64, w.numEnvs)
	for c := range w.numEnvs {
		p := w.Pos(c, b)
		x[c], y[c], rot[c] = float64(p.X), float64(p.Y), float64(w.Rot(c, b))
	}
	name := ref.Names[b]
	for axis, sample := range [][]float64{x, y} {
		if d, limit := kolmogorov(sample, ref.Quantiles[b][axis], ref.NumEnvs); d > limit {
			t.Errorf("%s, axis %d: distributions differ by %.3f, want at most %.3f", name, axis, d, limit)
		}
	}
	checkMean(t, name+": rotation", rot, ref.RotMean[b], ref.RotStd[b], ref.NumEnvs)
	for other := range b {
		d := make([]float64, w.numEnvs)
		for c := range w.numEnvs {
			d[c] = float64(w.Pos(c, b).Sub(w.Pos(c, other)).Norm())
		}
		_, std := stat.PopMeanStdDev(d, nil)
		checkMean(t, name+": distance to "+ref.Names[other], d, ref.PairDistance[b][other], std, ref.NumEnvs)
		checkLeast(t, name+": distance to "+ref.Names[other], d, ref.PairLeast[b][other], ref.NumEnvs)
	}
}

// kolmogorov returns the largest difference between the sample's distribution and the recorded one at the recorded
// quantiles. It also returns the critical value of the two-sample Kolmogorov-Smirnov test at level 1e-3. Evaluating
// seven points only can only lower the statistic. Values within 1e-6, the rounding of positions, count as equal.
func kolmogorov(sample []float64, quantiles [7]float64, numEnvs int) (worst, limit float64) {
	for k, q := range quantiles {
		below, upTo := 0, 0
		for _, x := range sample {
			if x < q-1e-6 {
				below++
			}
			if x <= q+1e-6 {
				upTo++
			}
		}
		n := float64(len(sample))
		worst = max(worst, float64(below)/n-levels[k], levels[k]-float64(upTo)/n)
	}
	n, m := float64(len(sample)), float64(numEnvs)
	return worst, math.Sqrt(-math.Log(1e-3/2)/2) * math.Sqrt((n+m)/(n*m))
}

// checkMean allows four standard errors of the difference of two means, and the rounding of the recorded mean, a
// float32 sum of thousands.
func checkMean(t *testing.T, what string, sample []float64, want, wantStd float64, numEnvs int) {
	t.Helper()
	mean, std := stat.PopMeanStdDev(sample, nil)
	limit := 4*math.Sqrt(std*std/float64(len(sample))+wantStd*wantStd/float64(numEnvs)) + 1e-4
	if math.Abs(mean-want) > limit {
		t.Errorf("%s is %.4f on average, want %.4f within %.4f", what, mean, want, limit)
	}
}

// checkLeast counts numbers below the recorded minimum. If both samples have one distribution, k or more of them have
// a probability below 1e-6.
func checkLeast(t *testing.T, what string, sample []float64, least float64, numEnvs int) {
	t.Helper()
	n, below := float64(len(sample)), 0
	for _, x := range sample {
		if x < least-1e-6 { // rounding of positions
			below++
		}
	}
	if k := math.Log(1e-6) / math.Log(n/(n+float64(numEnvs))); float64(below) > k {
		t.Errorf("%s is below the recorded least of %.4f in %d of %.0f resets, want at most %.0f", what, least, below, n, k)
	}
}
