// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"testing"

	"cermic/cermiclib/theory"
)

func TestSandwichLooksAsBefore(t *testing.T) {
	looksAsBefore(t, "sandwich")(Sandwich(theory.SandwichBand(theory.Linspace(0, 8, 200), 6)))
}

func TestViolationsLookAsBefore(t *testing.T) {
	looksAsBefore(t, "violations")(Violations(theory.Violations{
		Scale: []float64{0.5, 2, 3, 4}, MinRatio: []float64{1.3, 1.05, 0.96, 0.9}, Violations: []float64{0, 0, 55, 55}, FirstVisits: []float64{44, 44, 55, 55},
	}))
}

func TestLearningLooksAsBefore(t *testing.T) {
	falling := func(c theory.Learning, from float64) theory.Learning {
		sum := 0.0
		for k := range 60 {
			sum += from / float64(k+1)
			c.MeanBonus, c.Cumulative = append(c.MeanBonus, from/float64(k+1)), append(c.Cumulative, sum)
		}
		return c
	}
	looksAsBefore(t, "learning")(Learning([]theory.Learning{falling(theory.Learning{Bonus: theory.UCB, Zeta: 0.5}, 2), falling(theory.Learning{Bonus: theory.UCB, Zeta: 1}, 3), falling(theory.Learning{Bonus: theory.Information}, 1)}))
}

func TestSurpriseLooksAsBefore(t *testing.T) {
	looksAsBefore(t, "surprise")(Surprise(theory.SurpriseCurve(theory.Linspace(0.1, 6, 12), 6, 2000, 1)))
}

func TestWorstCaseLooksAsBefore(t *testing.T) {
	set := theory.DefaultAmbiguity()
	looksAsBefore(t, "worst")(WorstCase(theory.WorstCurve(set, theory.Linspace(0.5, 6, 40), 41), theory.MultiplierCurve(set, theory.Linspace(0.02, 0.4, 40)), 0.1))
}

func TestTailsLookAsBefore(t *testing.T) {
	looksAsBefore(t, "tails")(Tails(theory.SampleTails(theory.Laws()[0], theory.Linspace(0.2, 4, 20), 4000, 1), theory.SampleTails(theory.Laws()[1], theory.Linspace(0.2, 4, 20), 4000, 1)))
}

func TestInformationsLookAsBefore(t *testing.T) {
	x := []float64{0.5, 1, 2, 4}
	scaled := func(by float64) []float64 {
		out := make([]float64, len(x))
		for i, v := range x {
			out[i] = by * v
		}
		return out
	}
	looksAsBefore(t, "informations")(Informations("Bounds", theory.Informations{Information: x,
		Estimates: [6][]float64{scaled(-0.5), scaled(0.8), scaled(0.7), scaled(1.6), scaled(0.3), scaled(1.2)}}, 6))
}
func TestMarksAndAGivenBandLookAsBefore(t *testing.T) {
	x := []float64{0, 1, 2, 3}
	line := Line("a", x, []float64{1, 2, 1.5, 3})
	line.Low, line.High = []float64{0, 1, 1, 2}, []float64{2, 3, 2, 3.5}
	looksAsBefore(t, "marks")(Curves(Figure{Title: "Marks", X: "t", Low: 0, High: 4,
		Marks: []mark{{From: 0.5, To: 1.25}, {From: 2, To: 2.5, Agent: 1}, {From: 1.5, Label: "here"}, {From: 2.9, Label: "near the end"}, {From: 9}}}, line))
	line.High = line.High[:2]
	if _, err := Curves(Figure{}, line); err == nil {
		t.Error("a band that is too short was drawn")
	}
}
