// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"image/color"
	"maps"
	"math"
	"slices"
	"testing"
)

// deficiencies holds the simulation matrices of Machado, Oliveira and Fernandes (2009) at severity 1, for linear RGB.
var deficiencies = map[string][3][3]float64{
	"none":         {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

func TestColoursStayApart(t *testing.T) {
	// ΔE*ab of 2.3 is just noticeable side by side; 12 keeps thin lines apart, 8 is enough where the dashes differ too.
	for name, m := range deficiencies {
		for a, x := range methods {
			for b, y := range methods {
				if a >= b {
					continue
				}
				want := 12.0
				if len(x.Dashes) != len(y.Dashes) {
					want = 8
				}
				if name == "deuteranopia" && slices.Equal(x.Dashes, y.Dashes) && x.Width == y.Width {
					want = 20 // no other cue
				}
				if d := distance(lab(x.Color, m), lab(y.Color, m)); d < want {
					t.Errorf("%s: %s and %s are only %.1f apart, want %.0f", name, a, b, d, want)
				}
			}
		}
	}
}

// One figure may hold methods, other labels, settings of one method, memories and recorded curves. Lines with the
// same dashes differ by 20 under deuteranopia.
func TestLinesOfAFigureDifferInDashesOrColour(t *testing.T) {
	var names []lineName
	for _, key := range slices.Sorted(maps.Keys(methods)) {
		names = append(names, lineName{label: key, method: key})
	}
	for i := range spare {
		names = append(names, lineName{label: fmt.Sprint("label ", i)})
	}
	for _, memory := range []string{"gru", "mlp"} {
		names = append(names, lineName{"mappo-cermic explore.memory=" + memory, "mappo-cermic", cues{memory: memory}})
	}
	styles := stylesOf(names)
	styles = append(styles, looksOf(Series{Label: "recorded", Reference: true})...)
	for i, x := range styles {
		for _, y := range styles[:i] {
			d := distance(lab(x.Color, deficiencies["deuteranopia"]), lab(y.Color, deficiencies["deuteranopia"]))
			if slices.Equal(x.Dashes, y.Dashes) && d < 20 {
				t.Errorf("%s and %s share their dashes and are %.1f apart", x.Name, y.Name, d)
			}
		}
	}
}

func lab(c color.NRGBA, m [3][3]float64) (out [3]float64) {
	linear := func(v uint8) float64 {
		f := float64(v) / 255
		if f <= 0.04045 {
			return f / 12.92
		}
		return math.Pow((f+0.055)/1.055, 2.4)
	}
	in := [3]float64{linear(c.R), linear(c.G), linear(c.B)}
	var seen [3]float64
	for i := range 3 {
		for j := range 3 {
			seen[i] += m[i][j] * in[j]
		}
		seen[i] = min(max(seen[i], 0), 1)
	}
	// sRGB to XYZ relative to the D65 white point, then CIE 1976 L*a*b*.
	xyz := [3]float64{
		(0.4124*seen[0] + 0.3576*seen[1] + 0.1805*seen[2]) / 0.95047,
		0.2126*seen[0] + 0.7152*seen[1] + 0.0722*seen[2],
		(0.0193*seen[0] + 0.1192*seen[1] + 0.9505*seen[2]) / 1.08883,
	}
	for i, v := range xyz {
		if v > 0.008856 {
			xyz[i] = math.Cbrt(v)
		} else {
			xyz[i] = 7.787*v + 16.0/116
		}
	}
	return [3]float64{116*xyz[1] - 16, 500 * (xyz[0] - xyz[1]), 200 * (xyz[1] - xyz[2])}
}

func distance(a, b [3]float64) float64 {
	return math.Sqrt(math.Pow(a[0]-b[0], 2) + math.Pow(a[1]-b[1], 2) + math.Pow(a[2]-b[2], 2))
}

func TestAMethodHasOneLookEverywhere(t *testing.T) {
	for key, style := range methods {
		got := stylesOf([]lineName{{label: "x", method: ""}, {label: key}, {label: style.Name}, {label: key + " task.reward=dense", method: key}, {label: "mace task.reward=dense", method: "mace"}, {label: "qmix task.reward=dense", method: "qmix"}})
		if got[1].key() != style.key() || got[2].key() != style.key() {
			t.Errorf("%s and %s are drawn as %v and %v, want %v", key, style.Name, got[1], got[2], style)
		}
		if got[3].Color != style.Color || got[3].key() == style.key() {
			t.Errorf("%s with a changed setting is drawn as %v, want another line of the same colour", key, got[3])
		}
		if got[0].Color == style.Color {
			t.Errorf("a label that is no method has the colour of %s beside it", key)
		}
	}
	if got := stylesOf([]lineName{{label: "mappo-cermic explore.alpha=0.5", method: "mappo-cermic"}})[0].Name; got != "MAPPO-CERMIC alpha=0.5" {
		t.Errorf("a method with a changed setting is called %q", got)
	}
	one := stylesOf([]lineName{{label: "mappo-cermic", method: "mappo-cermic"}, {label: "mappo-cermic explore.alpha=0.5", method: "mappo-cermic"}, {label: "mappo-cermic explore.alpha=1", method: "mappo-cermic"}})
	if one[0].Color != vermilion || one[1].Color == vermilion || one[2].Color == one[1].Color {
		t.Errorf("three settings of one method alone are drawn as %v, want three colours", one)
	}
}

// If all lines share a cue, colour shows their differences.
func TestSettingsOfOneMethodDifferInColourWhateverTheyShare(t *testing.T) {
	shared := cues{memory: "mlp"}
	got := stylesOf([]lineName{{"mappo-cermic explore.alpha=0", "mappo-cermic", shared}, {"mappo-cermic explore.alpha=1", "mappo-cermic", shared}, {}})
	if got[0].Color == got[1].Color {
		t.Errorf("two α of one memory are drawn as %v", got[:2])
	}
	got = stylesOf([]lineName{{"mappo-cermic explore.memory=mlp", "mappo-cermic", shared}, {"mappo-cermic explore.memory=gru", "mappo-cermic", cues{memory: "gru"}}})
	if got[0].Color == got[1].Color || got[0].Color != shared.on(methods["mappo-cermic"]).Color {
		t.Errorf("memories that differ are drawn as %v, want shades of the method's colour", got)
	}
}

// The look of a line follows from its given method, never from the wording of its label.
func TestALabelIsNotReadForItsLook(t *testing.T) {
	got := stylesOf([]lineName{{label: "mappo of somebody else", method: ""}, {label: "a variant", method: "mappo"}, {label: "qmix", method: ""}})
	if got[0].Color == black || got[1].Color != black || got[1].Name != "a variant" {
		t.Errorf("drawn as %v", got)
	}
}

func TestNoTwoLinesOfAFigureLookAlike(t *testing.T) {
	var all, changed, settings, others []lineName
	for _, key := range slices.Sorted(maps.Keys(methods)) {
		all, changed = append(all, lineName{label: key, method: key}), append(changed, lineName{label: key + " task.reward=dense", method: key})
	}
	for i := range 16 {
		settings, others = append(settings, lineName{label: fmt.Sprintf("mappo learner.lr=%d", i), method: "mappo"}), append(others, lineName{label: fmt.Sprintf("alpha=%d", i)})
	}
	for _, names := range [][]lineName{others, settings, slices.Concat(all, changed), slices.Concat(changed, all), slices.Concat(others, all),
		slices.Concat(all, settings), append(settings[:15:15], lineName{label: "qmix", method: ""}), {{label: "mappo", method: ""}, {label: "mappo a=1", method: "mappo"}, {label: "mappo b=2", method: "mappo"}, {label: "MAPPO c=1", method: "mappo"}}} {
		seen := map[string]lineName{}
		for i, s := range stylesOf(names) {
			if before, ok := seen[s.key()]; ok {
				t.Errorf("%s and %s look alike among %v", before.label, names[i].label, names)
			}
			seen[s.key()] = names[i]
		}
	}
	references := make([]Series, 16)
	for i := range references {
		references[i] = Series{Label: fmt.Sprint("imported ", i), Reference: true}
	}
	seen := map[string]bool{}
	for _, s := range looksOf(references...) {
		if seen[s.key()] {
			t.Errorf("%s looks like another reference", s.Name)
		}
		seen[s.key()] = true
		for _, m := range methods {
			if m.Color == s.Color {
				t.Errorf("%s has the colour of %s", s.Name, m.Name)
			}
		}
	}
}

func TestShortNumbers(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.25: "0.25", -3: "−3", 6000: "6000", 10_000: "10k", 300_000: "300k", 999_999: "1M", 1_200_000: "1.2M",
	} {
		if got := Short(v); got != want {
			t.Errorf("Short(%g) = %q, want %q", v, got, want)
		}
	}
	for v, want := range map[float64]string{1.25: "1.2", -0.01: "0.0", 1e300: "1e300", math.Inf(-1): "−Inf"} {
		if got := Fixed(v, 1); got != want {
			t.Errorf("Fixed(%g, 1) = %q, want %q", v, got, want)
		}
	}
	clocks := map[float64]string{0.4: "0 s", 59.6: "1 min 00 s", 185: "3 min 05 s", 7620: "2 h 07 min"}
	for seconds, want := range clocks {
		if got := Clock(seconds); got != want {
			t.Errorf("Clock(%g) = %q, want %q", seconds, got, want)
		}
	}
}

// The note counts the seeds of means, and does not present a line of one seed as a mean.
func TestTheNoteSaysWhichLinesAreOneSeed(t *testing.T) {
	one, three := Line("one", []float64{0, 1}, []float64{0, 1}), Series{Label: "three", X: []float64{0, 1}, Y: [][]float64{{0, 1}, {1, 2}, {2, 3}}}
	level := one
	level.Reference = true
	banded := one
	banded.Low, banded.High, banded.Band = []float64{0, 0}, []float64{1, 1}, "95 % interval"
	bare := one
	bare.Band = banded.Band
	long := Series{Label: "long", X: make([]float64, manyPoints+1), Y: make([][]float64, 2)}
	for want, series := range map[string][]Series{
		"mean of 2 to 3 seeds, which are the dots or thin lines": {three, long},
		"":                                    {one, level},
		"mean of 3 seeds, which are the dots": {three, level},
		"mean of 3 seeds, which are the dots; other lines are one seed each": {three, one},
		"95 % interval; lines without one have too few runs for it":          {banded, bare},
	} {
		if got := bandNote(series); got != want {
			t.Errorf("the note is %q, want %q", got, want)
		}
	}
}

func TestEndLabelsStayInTheFrame(t *testing.T) {
	at := []float64{-3, 0, 0, 99, 100}
	spread(at, 10, 5, 95)
	if at[0] != 5 || at[4] != 95 || !slices.IsSorted(at) {
		t.Errorf("labels lie at %v, want from 5 to 95", at)
	}
}
