// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"
)

// below matches variables in the named scopes of the module.
func below(scopes ...string) func(path string) bool {
	return func(path string) bool {
		return slices.ContainsFunc(scopes, func(s string) bool { return strings.HasPrefix(path, "/"+scope+"/"+s+"/") })
	}
}

func TestExploreLossHasTheRightGradient(t *testing.T) {
	c := trialConfig()
	c.Exploit = false
	tr := newTrial(t, c, total)
	tr.stir()
	if n := tr.checkGradients(func(string) bool { return true }); n != len(tr.vars) {
		t.Errorf("%d of %d variables have a gradient", n, len(tr.vars))
	}
}

func TestExploitLossesHaveTheRightGradient(t *testing.T) {
	for _, form := range []string{CalibBounded, CalibPlain} {
		for _, term := range []string{"loss_upper", "loss_lower"} {
			c := trialConfig()
			c.CalibForm, c.Alpha = form, 0
			c.Upper, c.Lower = -50, 50 // both ReLUs on their slope
			c.ConsistencyDecay = 1     // fixes γ, as its gradient is stopped
			tr := newTrial(t, c, named(term))
			tr.stir()
			tr.set("critic/gamma_lo", 0.7)
			tr.set("critic/gamma_hi", 0.9)
			if n := tr.checkGradients(below("encoder", "transition", "calibration", "memory")); n == 0 {
				t.Errorf("%s, %s: no variable has a gradient", form, term)
			}
		}
	}
}

func TestConsistencyTrainsCriticAndFeaturesWithTheRightGradient(t *testing.T) {
	for _, kind := range []string{NegativesNoise, NegativesMarginal} {
		c := trialConfig()
		c.NegKind = kind
		tr := newTrial(t, c, named("loss_nce"))
		tr.stir()
		part, want := below("critic", "memory"), 0
		for _, v := range tr.vars {
			if part(v.Path()) {
				want++
			}
		}
		if n := tr.checkGradients(part); n != want {
			t.Errorf("%s: %d variables of critic and memory have a gradient, want %d", kind, n, want)
		}
	}
}

func TestGammaDoesNotMoveTheCritic(t *testing.T) {
	for _, bounds := range []string{BoundsSound, BoundsAppendix, BoundsPrinted} {
		c := trialConfig()
		c.MIBounds, c.ConsistencyCoef, c.Alpha = bounds, 0, 0
		c.Upper, c.Lower = -50, 50
		tr := newTrial(t, c, total)
		tr.stir()
		// Without biases the features differ. With f_{n-1} = f_n and a critic that compares the two, γ is well inside
		// the range to which the sound bounds clip it.
		for _, v := range tr.vars {
			if below("memory")(v.Path()) && strings.HasSuffix(v.Path(), "/bias") {
				tr.change(v, func(flat []float64) { clear(flat) })
			}
		}
		tr.args[inMemory+1] = tr.args[inMemory]
		tr.change(tr.store.GetVariable("/cermic/critic/weights"), func(flat []float64) {
			for k := range 8 {
				flat[(k+1)*8+k] = 1
			}
		})
		_, grads, terms := tr.run()
		if bounds == BoundsSound && !(terms["gamma_lo"] > 0.01 && terms["gamma_hi"] < 0.99) {
			t.Fatalf("γ is %g to %g, too close to a clip", terms["gamma_lo"], terms["gamma_hi"])
		}
		for i, v := range tr.vars {
			if below("critic")(v.Path()) && !zero(grads[i]) {
				t.Errorf("%s: L_UB and L_LB move the critic", bounds)
			}
		}
	}
}

// zero reports whether every component is exactly 0.
func zero(grad []float64) bool { return slices.Min(grad) == 0 && slices.Max(grad) == 0 }

func TestExploitLossesAreFlatInsideTheBand(t *testing.T) {
	c := trialConfig()
	c.Upper, c.Lower, c.ConsistencyCoef, c.Alpha = 1e3, -1e3, 0, 0
	tr := newTrial(t, c, total)
	tr.stir()
	loss, grads, terms := tr.run()
	if loss != 0 || terms["band"] != 1 || terms["upper_active"] != 0 || terms["lower_active"] != 0 {
		t.Errorf("the loss is %g with terms %v, want 0 and every step inside the band", loss, terms)
	}
	for i, v := range tr.vars {
		if !zero(grads[i]) {
			t.Errorf("%s has a gradient inside the band", v.Path())
		}
	}
}

func TestTotalIsTheSumOfItsTerms(t *testing.T) {
	c := trialConfig()
	c.Alpha, c.ConsistencyCoef, c.Contrast = 0.3, 0.7, 0.2
	tr := newTrial(t, c, total)
	tr.stir()
	got, _, s := tr.run()
	want := s["loss_upper"] + s["loss_lower"] + 0.7*s["loss_nce"] - 0.3*(s["explore"]+0.2*s["explore_nce"])
	// Sums of six numbers of order one in another order: a few times 2⁻⁵³.
	if math.Abs(got-want) > 1e-14 || s["loss_upper"]+s["loss_lower"] == 0 || s["loss"] != got {
		t.Errorf("the total is %.15f, its terms %v make %.15f", got, s, want)
	}
}

// Padding and an f_{n-1} that does not exist have no effect.
func TestPaddingHasNoEffect(t *testing.T) {
	for negatives, form := range map[string]string{NegativesNoise: CalibPlain, NegativesMarginal: CalibBounded} {
		c := trialConfig()
		c.NegKind, c.CalibForm = negatives, form
		tr := newTrial(t, c, total)
		tr.stir()
		loss, grads, _ := tr.run()
		shift := func(at int, rows ...int) {
			tensors.MustMutableFlatData(tr.args[at].(*tensors.Tensor), func(flat []float64) {
				width := len(flat) / trialRows
				for _, row := range rows {
					for k := row * width; k < (row+1)*width; k++ {
						flat[k] += 3
					}
				}
			})
		}
		for at := range tr.args {
			if at != inWeight && (at != inNegative || negatives == NegativesNoise) {
				shift(at, trialCount)
			}
		}
		shift(inMemory+1, 1, 5) // in trialBatch these two rows have no f_{n-1}
		after, afterGrads, _ := tr.run()
		if after != loss {
			t.Errorf("%s: the loss changes from %.15f to %.15f", form, loss, after)
		}
		for i, v := range tr.vars {
			if !slices.Equal(grads[i], afterGrads[i]) {
				t.Errorf("%s: the gradient at %s changes", form, v.Path())
			}
		}
	}
}

func TestPartsThatAreSwitchedOffHaveNoVariables(t *testing.T) {
	parts := func(c Config) map[string]bool {
		found := map[string]bool{}
		for v := range newTrial(t, c, total).store.IterVariables() {
			found[strings.Split(v.Path(), "/")[2]] = true
		}
		return found
	}
	full := parts(trialConfig())
	for name, test := range map[string]struct {
		change func(*Config)
		gone   []string
	}{
		"alpha=0":       {func(c *Config) { c.Alpha = 0 }, []string{"contrast", "decoder", "momentum"}},
		"explore_nce=0": {func(c *Config) { c.Contrast = 0 }, []string{"contrast"}},
		"exploit=false": {func(c *Config) { c.Exploit = false }, []string{"calibration", "critic", "memory"}},
	} {
		c := trialConfig()
		test.change(&c)
		var gone []string
		left := parts(c)
		for _, part := range slices.Sorted(maps.Keys(full)) {
			if !left[part] {
				gone = append(gone, part)
			}
		}
		if !slices.Equal(gone, test.gone) {
			t.Errorf("%s removes %v, want %v", name, gone, test.gone)
		}
	}
}

// Before the first detection no agent step has an f_{n-1}. With neg_filter γ is then 0, without it γ keeps its last
// value. The running mean does not move in either case.
func TestGammaIsZeroWhereNoAgentStepHasAFeatureBefore(t *testing.T) {
	for _, filter := range []bool{true, false} {
		c := trialConfig()
		c.ConsistencyDecay, c.NegFilter = 0.9, filter
		tr := newTrial(t, c, total)
		exists := tr.args[len(tr.args)-1].(*tensors.Tensor)
		var kept []float64
		tensors.MustMutableFlatData(exists, func(flat []float64) { kept = slices.Clone(flat); clear(flat) })
		tr.set("critic/gamma_lo", 0.3)
		tr.set("critic/gamma_hi", 0.4)
		lo, hi := 0.3, 0.4
		if filter {
			lo, hi = 0, 0
		}
		for range 3 {
			// 0.9·γ + 0.1·γ, in float64.
			_, _, s := tr.run()
			if math.Abs(s["gamma_lo"]-lo) > 1e-12 || math.Abs(s["gamma_hi"]-hi) > 1e-12 || s["loss_nce"] != 0 {
				t.Fatalf("neg_filter=%v: γ is %g and %g with a loss of %g, want %g, %g and 0",
					filter, s["gamma_lo"], s["gamma_hi"], s["loss_nce"], lo, hi)
			}
		}
		tensors.MustMutableFlatData(exists, func(flat []float64) { copy(flat, kept) })
		if _, _, s := tr.run(); s["gamma_lo"] < 0.9*0.3 {
			t.Errorf("neg_filter=%v: γ continues at %g, want at least 0.9·0.3", filter, s["gamma_lo"])
		}
	}
}
