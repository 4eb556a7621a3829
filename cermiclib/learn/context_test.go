// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"slices"
	"testing"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/graphtest"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/envtest/must"
)

// If numbers 3 and 4 of an observation come as a context instead, an actor learns and acts the same, bit for bit. The
// critic reads the state in both cases. With another context, the actor acts differently.
func TestAContextIsAWiderObservationOfTheActorAlone(t *testing.T) {
	wide, narrow := tdSpec(true), tdSpec(true)
	wide.Obs = []int{5}
	for _, p := range []policy.Config{plain, policy.GRU{Width: 3, Hidden: []int{4}, Steps: 3}} {
		t.Run(p.Kind(), func(t *testing.T) {
			c := DefaultMAPPO()
			c.Frames, c.Epochs, c.Minibatch, c.CriticHidden = 20, 2, 8, []int{4}
			observes, receives := graphtest.Build(wide, 5), graphtest.Build(narrow, 5)
			receives.Context = 2
			a, b := must.Get(c.Build(observes, p))(t), must.Get(c.Build(receives, p))(t)
			x := withCarry(randomRollout(wide, 10), a.HiddenLen())
			y := *x
			y.Spec, y.Obs = narrow, nil
			for row := range (x.T + 1) * x.E * x.N {
				y.Obs = append(y.Obs, x.Obs[row*5:row*5+3]...)
				if row < x.Rows() {
					y.Context = append(y.Context, x.Obs[row*5+3:(row+1)*5]...)
				}
			}
			must.Value(a.Update(t.Context(), x))
			must.Value(b.Update(t.Context(), &y))
			for _, v := range nn.Variables(observes.Store, "/") {
				if !slices.Equal(values(observes.Store, v.Path()), values(receives.Store, v.Path())) {
					t.Errorf("%s differs", v.Path())
				}
			}
			rows := x.E * x.N
			act := func(l Learner, spec *envs.Spec, in rl.Obs) *rl.Dist {
				out := rl.NewDist(spec, l.HiddenLen())
				in.Hidden = x.Hidden[:rows*l.HiddenLen()]
				must.Do(t, l.Act(&in, out))
				return out
			}
			want := act(a, wide, rl.Obs{Obs: x.Obs[:rows*5]})
			got := act(b, narrow, rl.Obs{Obs: y.Obs[:rows*3], Context: y.Context[:rows*2]})
			if !slices.Equal(got.Logits, want.Logits) || !slices.Equal(got.Hidden, want.Hidden) {
				t.Errorf("it acts by %v, want %v", got.Logits, want.Logits)
			}
			other := act(b, narrow, rl.Obs{Obs: y.Obs[:rows*3], Context: make([]float32, rows*2)})
			if slices.Equal(other.Logits, want.Logits) {
				t.Error("another context changes no action")
			}
		})
	}
}

// Value learners have no actor, and some policies split an observation into its parts.
func TestAContextThatCannotBeReadIsRefused(t *testing.T) {
	for name, parts := range map[string]struct {
		l Config
		p policy.Config
	}{
		"qmix": {sixSteps(DefaultQMIX()), plain}, "policy cpm": {DefaultMAPPO(), policy.DefaultCPM()},
		"policy spectra": {DefaultMAPPO(), policy.DefaultSPECTra()},
	} {
		b := graphtest.Build(tdSpec(false), 5)
		b.Context = 2
		_, err := parts.l.Build(b, parts.p)
		must.Refuse(t, err, name)
		must.Refuse(t, err, "actor_uses_context=false")
	}
}
