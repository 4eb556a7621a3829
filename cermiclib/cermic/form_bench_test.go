// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"testing"

	"cermic/cermiclib/nn"
)

// BenchmarkForms is what r^i of a rollout of 6,000 frames of four agents costs by form, the reservoir full; the module's
// gradient steps on the same rollout are there to compare.
func BenchmarkForms(b *testing.B) {
	backend, err := nn.Open()
	if err != nil {
		b.Fatal(err)
	}
	waves := DefaultElliptical()
	waves.Features, waves.Squash, waves.Waves = FeatureEmbed, SquashFourier, 512
	hidden := DefaultElliptical()
	hidden.Features = FeatureHidden
	episodic := DefaultElliptical()
	episodic.Scope = ScopeProduct
	for _, f := range []struct {
		name string
		form Form
	}{{"kl", KL{}}, {"aggregate", DefaultAggregate()}, {"context", DefaultContext()}, {"progress", Progress{}}, {"waves", waves}, {"elliptical", DefaultElliptical()}, {"hidden", hidden}, {"product", episodic}} {
		spec := paperSpec()
		c := Default()
		c.Form = f.form
		built, err := c.Build(&nn.Build{Spec: spec, Backend: backend, Store: nn.NewStore(1), Seed: 1})
		if err != nil {
			b.Fatal(err)
		}
		m, x := built.(*module), fakeRollout(spec, 100, 0)
		b.Run(f.name, func(b *testing.B) {
			if _, err := m.Reward(b.Context(), x); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := m.Reward(b.Context(), x); err != nil {
					b.Fatal(err)
				}
			}
		})
		if f.name != "kl" {
			continue
		}
		b.Run("update", func(b *testing.B) {
			for b.Loop() {
				if _, err := m.Update(b.Context(), x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
