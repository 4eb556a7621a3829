// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"math"
	"strings"
	"testing"

	"cermic/cermiclib/learn"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/xlacache"
	"cermic/cermiclib/policy"
)

// The operations that rates are computed from are those of the products in the graph that trains, as XLA gets it.
func TestTheUpdatesProductsAreCountedAsInItsGraph(t *testing.T) {
	env, err := balance(60)
	if err != nil {
		t.Fatal(err)
	}
	backend, err := nn.Open()
	if err != nil {
		t.Fatal(err)
	}
	var seen xlacache.Graph
	xlacache.Watch(func(g xlacache.Graph) {
		if strings.HasPrefix(g.Name, "ppo") {
			seen = g
		}
	})
	defer xlacache.Watch(nil)
	b := &nn.Build{Spec: env.Spec(), Backend: backend, Store: nn.NewStore(1), Seed: 1}
	defer b.Close()
	if _, err := updateMAPPO().Build(b, policy.DefaultMLP()); err != nil {
		t.Fatal(err)
	}
	if seen.Flops == 0 {
		t.Skip("graphs do not pass through the folder of compiled ones here")
	}
	// The text also has the gradients of the first layers' inputs, which nothing reads and XLA drops.
	dropped := 2 * updateFrames * updateWidth * float64(env.Spec().Agents*env.Spec().InLen()+env.Spec().State)
	if want := updateFlops(env.Spec()) + dropped; math.Abs(seen.Flops/want-1) > 1e-9 {
		t.Errorf("the graph's products take %g operations, counted are %g", seen.Flops, want)
	}
}

// Parts are differences of times, so their sum is a step's time whatever else the machine does.
func TestSharesOfTheUpdateAddUp(t *testing.T) {
	m := newSmall(t, learn.DefaultMAPPO().Epochs)
	s, err := m.cfg.TimeProfile(m.build, m.policy, m.rollout)
	if err != nil {
		t.Fatal(err)
	}
	u := updateCost{TimeProfile: s}
	sum := u.share(s.Transfer) + u.share(s.Forward) + u.share(s.Activations) + u.share(s.Weights) + u.share(s.Optimiser)
	if s.Forward <= 0 || s.Transfer <= 0 || math.Abs(sum-100) > 1e-6 {
		t.Errorf("%+v: shares add up to %g %%", s, sum)
	}
}

// Every figure of the group comes from one measurement.
func TestFiguresOfTheUpdateShareOneMeasurement(t *testing.T) {
	defer func() { costOfUpdate = nil }()
	costOfUpdate = &updateCost{flops: 5e9, product: 2e11, whole: 5e7, TimeProfile: learn.TimeProfile{Forward: 3e7, Weights: 1e7}}
	values := map[string]float64{}
	for _, f := range updateFigures() {
		v, err := f.measure(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		values[f.name] = v
	}
	for name, want := range map[string]float64{"the update": 100, "its largest product alone": 200, "the update's rate over the product's": 50, "of a step gradients of weights": 25} {
		if math.Abs(values[name]-want) > 1e-9 {
			t.Errorf("%s is %g, want %g", name, values[name], want)
		}
	}
}
