// SPDX-License-Identifier: Apache-2.0

package theory

import (
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"cermic/envs/envtest/must"
)

func TestSandwichBandCrossesItsLowerBoundAtTheRoot(t *testing.T) {
	s := SandwichBand(Linspace(0, 5, 501), 6)
	for i, x := range s.X {
		if (s.Reward[i] < s.Lower[i]*(1-slack)) != (x > Root()) || s.Reward[i] > s.Upper[i]*(1+slack) {
			t.Errorf("x = %g: %g ≤ %g ≤ %g, and the root is %g", x, s.Lower[i], s.Reward[i], s.Upper[i], Root())
		}
	}
}

// A first visit has x = ‖η‖²/λ. After a visit x/(1+x) < 1 is left, so that no second visit can violate.
func TestViolationScanSwitchesOnAtTheRoot(t *testing.T) {
	l := DefaultLSVI()
	l.Episodes = 100
	v := must.Value(ViolationScan(must.Value(Chain(6, 8, 1)), l, []float64{1, 2.51, 2.52, 5}))
	for i, scale := range v.Scale {
		near(t, "smallest ratio", v.MinRatio[i], Ratio(scale), 1e-12)
		want := 0.
		if scale > Root() {
			want = v.FirstVisits[i]
		}
		if v.Violations[i] != want {
			t.Errorf("‖η‖²/λ = %g: %g violations, want %g", scale, v.Violations[i], want)
		}
	}
}

func TestCurvesHoldOneEntryPerAbscissa(t *testing.T) {
	x := []float64{0.5, 2, 4}
	w := WorstCurve(DefaultAmbiguity(), x, 101)
	for i := range x {
		near(t, "search", w.Search[i], w.Closed[i], 1e-4) // half the second derivative times the squared step of 0.002
	}
	m := MultiplierCurve(DefaultAmbiguity(), []float64{0.05, 0.1})
	if len(m.Beta) != 2 || m.Beta[0] <= m.Beta[1] {
		t.Errorf("%+v, want β falling with ε", m)
	}
	near(t, "multiplier that a Gaussian needs", m.Enough[1], 1.28, 5e-3)
	near(t, "its coverage at β", distuv.UnitNormal.CDF(m.Beta[1]), 0.9994, 1e-4) // published as 0.9993 to 0.9995
	proto := DefaultPair(0)
	proto.Steps, proto.Eval = 50, 512
	c := must.Value(InformationCurve(proto, []float64{0.5, 4}))
	if low, loss := c.Estimates[SoundLower], c.Estimates[MainLower]; len(low) != 2 || low[0] >= low[1] || loss[0] <= loss[1] {
		t.Errorf("%+v, want Lr rising and Lm falling with the information", c)
	}
}

func TestTheorem1TableListsTheReferenceCases(t *testing.T) {
	l := DefaultLSVI()
	l.Episodes = 50
	table := must.Value(Theorem1Table(must.Value(Cases(1)), l))
	if len(table.Rows) != 6 || table.Rows[2][5] != "0.8466" || !strings.Contains(table.Title, "seed 0") {
		t.Fatalf("%+v, want six cases, the ratio at x = 5 and the seed", table)
	}
	for i, violated := range []bool{false, false, true, true, true, false} {
		cells := map[string]string{}
		for k, name := range table.Header {
			cells[name] = table.Rows[i][k]
		}
		if (cells["violations"] != "0") != violated || cells["visits"] != "400" || cells["bonus 100"] != "" || cells["bonus 10"] == "" {
			t.Errorf("case %d is %v", i+1, cells)
		}
	}
}

func TestInformationTableMarksViolatedBounds(t *testing.T) {
	p := DefaultPair(0)
	p.Steps, p.Eval = 0, 64 // an untrained critic scores ½ everywhere: Lm = log 17 = 2.833, which exceeds I = 0
	if row := must.Value(InformationTable([]Pair{p})).Rows[0]; row[4] != "2.833*" || row[6] != "0.000" {
		t.Errorf("row is %v, want Lm = log 17 marked and Lr = 0 not", row)
	}
}
