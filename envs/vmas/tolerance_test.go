// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"cermic/envs/envtest"
)

// tolerance is an entry of tolerance.json: the error of the original in float64 against the float32 recording.
// One-step tolerances are ten times that; see testdata/golden/README.md.
type tolerance struct {
	OneStep map[string]float64 `json:"one_step_tol"`
	FreeRun map[string]float64 `json:"free_run_pos_measured"`
}

// tolerances returns the tolerance of a recording. An unlisted recording gets, for each quantity, the largest
// tolerance among the recordings of its scenario or, if there are none, of all.
func tolerances(t *testing.T) func(key string) tolerance {
	t.Helper()
	listed := map[string]tolerance{}
	envtest.ReadRecording(t, envtest.Statistics(t, "vmas", "tolerance.json")[0], &listed)
	return func(key string) tolerance {
		if own, ok := listed[key]; ok {
			return own
		}
		family, _, _ := strings.Cut(key, "-")
		if widest := widen(listed, family+"-"); len(widest.OneStep) > 0 {
			return widest
		}
		return widen(listed, "")
	}
}

func widen(listed map[string]tolerance, prefix string) tolerance {
	widest := tolerance{map[string]float64{}, map[string]float64{}}
	for key, one := range listed {
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		for name, tol := range one.OneStep {
			widest.OneStep[name] = max(widest.OneStep[name], tol)
		}
		for name, tol := range one.FreeRun {
			widest.FreeRun[name] = max(widest.FreeRun[name], tol)
		}
	}
	return widest
}

// meter compares numbers of one recording with their tolerances and records the worst error of each quantity.
type meter struct {
	t        *testing.T
	tol      map[string]float64
	worst    map[string]float64 // error / tolerance
	largest  map[string]float64 // error
	failures int
}

func newMeter(t *testing.T, tol map[string]float64) *meter {
	return &meter{t: t, tol: tol, worst: map[string]float64{}, largest: map[string]float64{}}
}

// same compares one number; where identifies it in failure messages.
func (m *meter) same(quantity string, got, want float32, where ...any) {
	tol, ok := m.tol[quantity]
	if !ok {
		m.t.Fatalf("no tolerance for %s", quantity)
	}
	difference := math.Abs(float64(got) - float64(want))
	off := difference / tol
	m.largest[quantity] = max(m.largest[quantity], difference)
	if !(off <= m.worst[quantity]) {
		m.worst[quantity] = off
	}
	if !(off <= 1) {
		m.fail(quantity, got, want, where)
	}
}

// fail reports the first few failures only, because one mistake causes thousands.
func (m *meter) fail(quantity string, got, want any, where []any) {
	if m.failures++; m.failures <= 10 {
		m.t.Errorf("%s %v: got %v, want %v", quantity, where, got, want)
	}
}

// report logs the worst error of each quantity relative to its tolerance.
func (m *meter) report() {
	for _, name := range slices.Sorted(maps.Keys(m.worst)) {
		m.t.Logf("%-12s worst error / tolerance %.3f of %g", name, m.worst[name], m.tol[name])
	}
}
