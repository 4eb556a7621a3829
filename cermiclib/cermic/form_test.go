// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn/graphtest"
	"cermic/cermiclib/rl"
	"cermic/envs/conf"
	"cermic/envs/envtest/must"
)

// formsUnderTest are all forms; the reservoir is full after the first rollout.
func formsUnderTest() map[string]Form {
	full := DefaultElliptical()
	full.Reservoir = 20
	return map[string]Form{"kl": KL{}, "elliptical": full}
}

func withForm(f Form) Config {
	c := small()
	c.Form, c.Steps, c.Embed = f, 1, 16
	c.Memory = memory.MLP{Embed: 4, Hidden: 8, Width: 8}
	return c
}

// Looking at a rollout, as figures do, changes nothing about training.
func TestLookingAtAFormTakesNothingIn(t *testing.T) {
	spec := fakeSpec(4)
	for name, f := range formsUnderTest() {
		c := withForm(f)
		plain, plainStore := newModule(t, c, spec, 1)
		looked, lookedStore := newModule(t, c, spec, 1)
		dst := make([]float32, 9*4*3)
		for it := range 2 {
			must.Do(t, looked.form.look(t.Context(), dst, fakeRollout(spec, 9, 7)))
			if !slices.Equal(iterate(t, plain, plainStore, spec, it, it+1), iterate(t, looked, lookedStore, spec, it, it+1)) {
				t.Fatalf("%s: a rollout that was looked at changes iteration %d", name, it)
			}
		}
	}
}

// The paper's form is encoded as if there were no other, so that earlier runs keep their identity.
func TestTheLetterKeepsItsIdentity(t *testing.T) {
	none := Default()
	none.Form = nil
	a := must.Value(conf.Marshal(none))
	b, err := conf.Marshal(Default())
	if err != nil || string(a) != string(b) || strings.Contains(string(b), "int_form") || strings.Contains(string(b), "int_others") {
		t.Errorf("the letter is written %s, %v", b, err)
	}
	c := Default()
	for _, text := range []string{"elliptical", "kl"} {
		if err := conf.Set(&c, "int_form", text); err != nil || c.Form.Kind() != text || c.Validate() != nil {
			t.Errorf("int_form=%s: %v, %v", text, err, c.Validate())
		}
	}
	if c != Default() {
		t.Errorf("back at kl, settings are %+v", c)
	}
}

func TestAReservoirOfGigabytesIsRefused(t *testing.T) {
	e := DefaultElliptical()
	e.Reservoir = 1 << 26
	if _, err := withForm(e).Build(graphtest.Build(fakeSpec(2), 1)); err == nil {
		t.Error("a reservoir of gigabytes is accepted")
	}
}

var _ rl.Saver = form(nil)
