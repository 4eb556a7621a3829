// SPDX-License-Identifier: Apache-2.0

package viz_test

import (
	"testing"

	"cermic/cermiclib/theory"
	"cermic/viz"
)

func TestSandwichLooksAsBefore(t *testing.T) {
	p, err := viz.Sandwich(theory.SandwichBand(theory.Grid(0, 8, 200), 6))
	if err != nil {
		t.Fatal(err)
	}
	checkImage(t, "sandwich", viz.Image(p, viz.Width, viz.Height))
}

func TestViolationsLookAsBefore(t *testing.T) {
	p, err := viz.Violations(theory.Violations{
		Scale: []float64{0.5, 2, 3, 4}, MinRatio: []float64{1.3, 1.05, 0.96, 0.9}, Violations: []int{0, 0, 55, 55}, FirstVisits: []int{44, 44, 55, 55},
	})
	if err != nil {
		t.Fatal(err)
	}
	checkImage(t, "violations", p.Image())
}

func TestEveryCurveOfTheTheoryIsDrawn(t *testing.T) {
	bonus := theory.Learning{Bonus: theory.UCB, Zeta: 0.5, MeanBonus: make([]float64, 60), Cumulative: make([]float64, 60)}
	other := bonus
	other.Bonus = theory.Information
	learning, err := viz.Learning([]theory.Learning{bonus, bonus, other})
	if err != nil || len(learning.Rows) != 1 || len(learning.Rows[0]) != 2 {
		t.Errorf("learning: %d rows, %v; want one of two panels", len(learning.Rows), err)
	}
	x := []float64{0.5, 1, 2}
	set := theory.DefaultAmbiguity()
	for name, draw := range map[string]func() error{
		"surprise": func() error { _, err := viz.Surprise(theory.SurpriseCurve(x, 1, 100, 1)); return err },
		"tails":    func() error { _, err := viz.Tails(theory.SampleTails(theory.Laws()[0], x, 100, 1)); return err },
		"informations": func() error {
			c := theory.Informations{Information: x, MainLower: x, AppendixLower: x, SoundLower: x, MainUpper: x, AppendixUpper: x, ContrastUpper: x}
			_, err := viz.Informations("", c, 9)
			return err
		},
		"worst case": func() error {
			_, err := viz.WorstCase(theory.WorstCurve(set, x, 11), theory.MultiplierCurve(set, []float64{0.1, 0.2}), 0.1)
			return err
		},
	} {
		if err := draw(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMarksAndAGivenBandLookAsBefore(t *testing.T) {
	x := []float64{0, 1, 2, 3}
	line := viz.Line("a", x, []float64{1, 2, 1.5, 3})
	line.Low, line.High = []float64{0, 1, 1, 2}, []float64{2, 3, 2, 3.5}
	p, err := viz.Curves(viz.Figure{Title: "Marks", X: "t", Low: 0, High: 4,
		Marks: []viz.Mark{{From: 0.5, To: 1.25}, {From: 2, To: 2.5, Agent: 1}, {From: 1.5, Label: "here"}, {From: 2.9, Label: "near the end"}, {From: 9}}}, line)
	if err != nil {
		t.Fatal(err)
	}
	checkImage(t, "marks", viz.Image(p, viz.Width, viz.Height))
	line.High = line.High[:2]
	if _, err := viz.Curves(viz.Figure{}, line); err == nil {
		t.Error("a band that is too short was drawn")
	}
}
