// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs/conf"
)

// formsUnderTest are all forms, with the settings that keep something of their own.
func formsUnderTest() map[string]Form {
	own, episode, next, hidden := DefaultElliptical(), DefaultElliptical(), DefaultElliptical(), DefaultElliptical()
	own.Whose, own.Reservoir, own.Keep = WhoseOwn, 40, 0.5 // full after the first rollout
	episode.Scope, episode.Shape = ScopeProduct, ShapeLog
	next.Features, next.Scale = FeatureNext, ScaleStd
	hidden.Features, hidden.Squash = FeatureHidden, SquashTanh
	waves := DefaultElliptical()
	waves.Features, waves.Squash = FeatureEmbed, SquashFourier
	leverage := DefaultElliptical()
	leverage.Earlier, leverage.Whose, leverage.Reservoir = EarlierLeverage, WhoseOwn, 20
	filtered := leverage
	filtered.Filter, filtered.Features, filtered.Squash = FilterForeseeable, FeatureEmbed, SquashFourier
	foretold := DefaultElliptical()
	foretold.Features, foretold.Sample = FeaturePred, 16
	return map[string]Form{
		"kl": KL{}, "aggregate": Aggregate{Codes: 16, Keep: 0.5}, "context": DefaultContext(), "progress": Progress{},
		"elliptical": DefaultElliptical(), "own": own, "episode": episode, "next": next, "hidden": hidden, "waves": waves, "predicted": foretold, "leverage": leverage, "filtered": filtered,
	}
}

func withForm(f Form) Config {
	c := small()
	c.Form, c.Steps, c.Embed = f, 1, 16
	c.Memory = memory.MLP{Embed: 4, Hidden: 8, Width: 8}
	if _, ok := f.(Context); ok { // has a hidden state that watching a rollout twice would advance twice
		c.Memory = memory.GRU{Embed: 4, Layers: 1, Width: 8, Chunk: 4}
	}
	return c
}

func TestEveryFormContinuesBitExactly(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a module for each form")
	}
	spec := fakeSpec(4)
	for name, f := range formsUnderTest() {
		c := withForm(f)
		if !continues(t, c, spec, 2, 4) {
			t.Errorf("%s: the resumed module departs from the uninterrupted one", name)
		}
	}
}

// Looking at a rollout, as figures do, changes nothing about training.
func TestLookingAtAFormTakesNothingIn(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a module for each form")
	}
	spec := fakeSpec(4)
	for name, f := range formsUnderTest() {
		c := withForm(f)
		plain, plainStore := newModule(t, c, spec, 1)
		looked, lookedStore := newModule(t, c, spec, 1)
		dst := make([]float32, 9*4*3)
		for it := range 2 {
			if err := looked.form.look(t.Context(), dst, fakeRollout(spec, 9, 7)); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(iterate(t, plain, plainStore, spec, it, it+1), iterate(t, looked, lookedStore, spec, it, it+1)) {
				t.Fatalf("%s: a rollout that was looked at changes iteration %d", name, it)
			}
		}
	}
}

// A form that is each agent's own must not read what other agents see.
func TestOwnFormsReadTheirAgentAlone(t *testing.T) {
	spec := fakeSpec(2)
	episode := DefaultElliptical()
	episode.Whose, episode.Scope, episode.Scale = WhoseOwn, ScopeProduct, ScaleStd
	for name, f := range map[string]Form{"kl": KL{}, "context": DefaultContext(), "progress": Progress{}, "elliptical": episode, "leverage": formsUnderTest()["leverage"]} {
		bonus := func(strange bool) []float32 {
			m, _ := newModule(t, withForm(f), spec, 1)
			x := fakeRollout(spec, 5, 0)
			for row := range (x.T + 1) * x.E * x.N {
				if strange && row%x.N == 2 {
					for i := range x.ObsRow(row) {
						x.ObsRow(row)[i] = 1e3
					}
				}
			}
			dst := make([]float32, x.Rows())
			if err := m.form.reward(t.Context(), dst, x); err != nil {
				t.Fatal(err)
			}
			return dst
		}
		plain, strange := bonus(false), bonus(true)
		for row := range plain {
			if row%spec.Agents != 2 && plain[row] != strange[row] {
				t.Errorf("%s: row %d gets %g, and %g where another agent sees something else", name, row, plain[row], strange[row])
			}
		}
	}
}

// The letter is written as if there were no other form, so that runs of before keep their identity.
func TestTheLetterKeepsItsIdentity(t *testing.T) {
	none := Default()
	none.Form = nil
	a, err := conf.Marshal(none)
	if err != nil {
		t.Fatal(err)
	}
	b, err := conf.Marshal(Default())
	if err != nil || string(a) != string(b) || strings.Contains(string(b), "int_form") || strings.Contains(string(b), "int_others") {
		t.Errorf("the letter is written %s, %v", b, err)
	}
	c := Default()
	for _, text := range []string{"elliptical", "aggregate", "context", "progress", "kl"} {
		if err := conf.Set(&c, "int_form", text); err != nil || c.Form.Kind() != text || c.Validate() != nil {
			t.Errorf("int_form=%s: %v, %v", text, err, c.Validate())
		}
	}
	if c != Default() {
		t.Errorf("back at kl, settings are %+v", c)
	}
}

func TestImpossibleFormsAreRefused(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"features":           func(c *Config) { e := DefaultElliptical(); e.Features = "codes"; c.Form = e },
		"lambda is 0":        func(c *Config) { e := DefaultElliptical(); e.Lambda = 0; c.Form = e },
		"reservoir is 0":     func(c *Config) { e := DefaultElliptical(); e.Reservoir = 0; c.Form = e },
		"keep is 2":          func(c *Config) { e := DefaultElliptical(); e.Keep = 2; c.Form = e },
		"codes is 1":         func(c *Config) { c.Form = Aggregate{Codes: 1} },
		"hidden is 0":        func(c *Config) { c.Form = Context{} },
		"exploit is false":   func(c *Config) { c.Form, c.Exploit = DefaultContext(), false },
		"alpha is 0":         func(c *Config) { c.Form, c.Alpha = Progress{}, 0 },
		"int_others is -0.5": func(c *Config) { c.Others = -0.5 },
	} {
		c := Default()
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	spec := fakeSpec(2)
	e := DefaultElliptical()
	e.Reservoir = 1 << 26
	if _, err := withForm(e).Build(&nn.Build{Spec: spec, Backend: pureGo(t), Store: nn.NewStore(1), Seed: 1}); err == nil {
		t.Error("a reservoir of gigabytes is accepted")
	}
}

func TestFormsThatNeedARolloutSayWhatToDo(t *testing.T) {
	spec := fakeSpec(2)
	for name, f := range formsUnderTest() {
		m, _ := newModule(t, withForm(f), spec, 1)
		x := fakeRollout(spec, 4, 0)
		reward(t, m, x)
		act := make([]float32, x.Rows()*2)
		for row := range x.Rows() {
			x.ActionVector(act[row*2:(row+1)*2], row)
		}
		dst := make([]float32, x.Rows())
		err := m.Score(t.Context(), dst, x.Obs[:x.Rows()*5], act, x.Alive[:x.Rows()])
		if can := m.CanScore(); (can == nil) != (err == nil) {
			t.Errorf("%s: it can score: %v; scoring: %v", name, can, err)
		}
		switch name {
		case "context", "progress", "next", "episode":
			if err == nil || !strings.Contains(err.Error(), "learner.int_at=collect") {
				t.Errorf("%s: %v", name, err)
			}
		default:
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

var _ rl.Saver = form(nil)
