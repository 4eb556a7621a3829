// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/rl"
)

// TestATellingExplorerIsAWiderObservationToTheActorAlone: with the numbers 3 and 4 of an observation told by an explorer instead of
// seen, an actor learns and acts the same, bit for bit; the critic looks at the state in both.
func TestATellingExplorerIsAWiderObservationToTheActorAlone(t *testing.T) {
	backend, err := nn.OpenConfig(nn.Sequential)
	if err != nil {
		t.Fatal(err)
	}
	wide, narrow := tdSpec(true), tdSpec(true)
	wide.Obs = []int{5}
	for _, p := range []policy.Config{plain, policy.GRU{Width: 3, Hidden: []int{4}, Steps: 3}} {
		t.Run(p.Kind(), func(t *testing.T) {
			c := DefaultMAPPO()
			c.Frames, c.Epochs, c.Minibatch, c.CriticHidden = 20, 2, 8, []int{4}
			sees, told := &nn.Build{Spec: wide, Backend: backend, Store: nn.NewStore(5), Seed: 5},
				&nn.Build{Spec: narrow, Backend: backend, Store: nn.NewStore(5), Seed: 5, Context: 2}
			a, errA := c.Build(sees, p)
			b, errB := c.Build(told, p)
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			x := withCarry(randomRollout(wide, 10), a.HiddenLen())
			y := *x
			y.Spec, y.Obs = narrow, nil
			for row := range (x.T + 1) * x.E * x.N {
				y.Obs = append(y.Obs, x.Obs[row*5:row*5+3]...)
				if row < x.Rows() {
					y.Context = append(y.Context, x.Obs[row*5+3:(row+1)*5]...)
				}
			}
			if _, err := a.Update(t.Context(), x); err != nil {
				t.Fatal(err)
			}
			if _, err := b.Update(t.Context(), &y); err != nil {
				t.Fatal(err)
			}
			for _, v := range nn.Variables(sees.Store, "/") {
				if !slices.Equal(values(sees.Store, v.Path()), values(told.Store, v.Path())) {
					t.Errorf("%s differs", v.Path())
				}
			}
			rows := x.E * x.N
			seen, heard := rl.NewDist(wide, a.HiddenLen()), rl.NewDist(narrow, b.HiddenLen())
			hidden := x.Hidden[:rows*a.HiddenLen()]
			errA = a.Act(&rl.Obs{Obs: x.Obs[:rows*5], Hidden: hidden}, seen)
			errB = b.Act(&rl.Obs{Obs: y.Obs[:rows*3], Hidden: hidden, Context: y.Context[:rows*2]}, heard)
			if errA != nil || errB != nil || !slices.Equal(seen.Logits, heard.Logits) || !slices.Equal(seen.Hidden, heard.Hidden) {
				t.Errorf("it acts by %v, want %v (%v, %v)", heard.Logits, seen.Logits, errA, errB)
			}
		})
	}
}

// TestWhoCannotBeToldSaysSo: value learners have no actor, and some policies take an observation apart.
func TestWhoCannotBeToldSaysSo(t *testing.T) {
	backend, err := nn.OpenConfig(nn.Sequential)
	if err != nil {
		t.Fatal(err)
	}
	for name, parts := range map[string]struct {
		l Config
		p policy.Config
	}{
		"qmix": {sixSteps(DefaultQMIX()), plain}, "policy cpm": {DefaultMAPPO(), policy.DefaultCPM()}, "policy spectra": {DefaultMAPPO(), policy.DefaultSPECTra()},
	} {
		b := &nn.Build{Spec: tdSpec(false), Backend: backend, Store: nn.NewStore(5), Seed: 5, Context: 2}
		if _, err := parts.l.Build(b, parts.p); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "actor_uses_context=false") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
