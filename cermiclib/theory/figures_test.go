// SPDX-License-Identifier: Apache-2.0

package theory

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestSandwichBandCrossesItsLowerBoundAtTheRoot(t *testing.T) {
	s := SandwichBand(Linspace(0, 5, 501), 6)
	for i, x := range s.X {
		if (s.Reward[i] < s.Lower[i]*(1-Slack)) != (x > s.Root) || s.Reward[i] > s.Upper[i]*(1+Slack) {
			t.Errorf("x = %g: %g ≤ %g ≤ %g, and the root is %g", x, s.Lower[i], s.Reward[i], s.Upper[i], s.Root)
		}
	}
}

func TestViolationScanSwitchesOnAtTheRoot(t *testing.T) {
	l := DefaultLSVI()
	l.Episodes = 100
	v, err := ViolationScan(must(Chain(6, 8, 1)), l, []float64{1, 2.51, 2.52, 5})
	if err != nil {
		t.Fatal(err)
	}
	for i, scale := range v.Scale {
		near(t, "smallest ratio", v.MinRatio[i], Ratio(scale), 1e-12)
		want := 0
		if scale > Root() {
			want = v.FirstVisits[i]
		}
		if v.Violations[i] != want {
			t.Errorf("‖η‖²/λ = %g: %d violations, want %d", scale, v.Violations[i], want)
		}
	}
}

func TestCurvesHoldOneEntryPerAbscissa(t *testing.T) {
	x := []float64{0.5, 2, 4}
	if s := SurpriseCurve(x, 1, 2000, 1); len(s.Expected) != 3 || len(s.Sampled) != 3 || s.Expected[2] >= s.Low[2] || s.Expected[1] <= s.Low[1] {
		t.Errorf("%+v, want three entries and the mean below the band at x = 4 only", s)
	}
	w := WorstCurve(DefaultAmbiguity(), x, 101)
	for i := range x {
		near(t, "search", w.Search[i], w.Closed[i], 1e-4) // half the second derivative times the squared step of 0.002
	}
	m := MultiplierCurve(DefaultAmbiguity(), []float64{0.05, 0.1})
	if len(m.Beta) != 2 || m.Beta[0] <= m.Beta[1] || m.Enough[0] >= m.Beta[0] {
		t.Errorf("%+v, want β falling with ε and above what a Gaussian needs", m)
	}
	proto := DefaultPair(0)
	proto.Steps, proto.Eval = 50, 512
	c, err := InformationCurve(proto, []float64{0.5, 4})
	if err != nil || len(c.SoundLower) != 2 || c.SoundLower[0] >= c.SoundLower[1] || c.MainLower[0] <= c.MainLower[1] {
		t.Errorf("%+v (%v), want Lr rising and Lm falling with the information", c, err)
	}
}

func TestTheorem1TableListsTheReferenceCases(t *testing.T) {
	l := DefaultLSVI()
	l.Episodes = 50
	table, err := Theorem1Table(must(Cases(1)), l)
	if err != nil {
		t.Fatal(err)
	}
	var data bytes.Buffer
	if err := table.WriteCSV(&data); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&data).ReadAll()
	if err != nil || len(rows) != 7 {
		t.Fatalf("CSV has %d rows (%v), want a header and six cases", len(rows), err)
	}
	for i, violated := range []bool{false, false, true, true, true, false} {
		cells := map[string]string{}
		for k, name := range rows[0] {
			cells[name] = rows[i+1][k]
		}
		if (cells["violations"] != "0") != violated || cells["visits"] != "400" || cells["bonus_100"] != "" {
			t.Errorf("case %d is %v", i+1, cells)
		}
	}
	if text := fmt.Sprint(table.Title, rows, table.Notes); !strings.Contains(text, "0.8466") || !strings.Contains(text, "seed 0") {
		t.Errorf("the table lacks the ratio at x = 5 or the seed: %s", text)
	}
}

func TestTraceCSVHoldsEveryVisit(t *testing.T) {
	trace := must(LSVI{Episodes: 3, Lambda: 0.1, Zeta: 1, Output: 1, Bonus: UCB}.Run(must(Chain(3, 4, 1))))
	var data bytes.Buffer
	if err := trace.WriteCSV(&data); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&data).ReadAll()
	if err != nil || len(rows) != 13 {
		t.Fatalf("%d rows (%v), want a header and 12 visits", len(rows), err)
	}
	if first := strings.Join(rows[1], " "); !strings.HasPrefix(first, "1 1 0 10 ") || !strings.Contains(first, " true true ") {
		t.Errorf("first visit is %q, want episode 1, step 1, pair 0, x = 10, first and violating", first)
	}
}

func TestInformationTableMarksViolatedBounds(t *testing.T) {
	p := DefaultPair(0)
	p.Steps, p.Eval = 0, 64 // an untrained critic scores ½ everywhere: Lm = log 17, which exceeds I = 0
	table, err := InformationTable([]Pair{p})
	if err != nil {
		t.Fatal(err)
	}
	if row := table.Rows[0]; row[4] != "2.833*" || row[6] != "0.000" || math.Abs(math.Log(17)-2.833) > 5e-4 {
		t.Errorf("row is %v, want Lm = log 17 marked and Lr = 0 not", row)
	}
	if n := len(Pairs()); n < 30 {
		t.Errorf("%d reference rows, want at least 30", n)
	}
}
