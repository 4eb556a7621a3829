// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"math"
	"os"
	"testing"

	"cermic/cermiclib/libtest"
	"cermic/cermiclib/results"
	"cermic/envs/envtest/must"
	"cermic/reproduce/plan"
)

// device names a backend, such as xla:cuda, whose first rollout batch is compared with that of xla:cpu.
const device = "CERMIC_DEVICE"

// On a device, the losses of the first rollout batch equal the CPU's within float32's tolerance. This holds for every
// learner and for CERMIC with each memory. Later batches follow other actions, since sampling amplifies the last bit.
func TestTheFirstUpdatesOnADeviceAreThoseOfTheCPU(t *testing.T) {
	backend := os.Getenv(device)
	if backend == "" {
		t.Skip("names no device: set " + device + "=xla:cuda")
	}
	const tolerance = 2e-3 // relative, of a mean over the updates of one batch
	for _, c := range []struct{ method, memory string }{
		{"mappo", ""}, {"qmix", ""}, {"mace", ""}, {"mappo-cermic", "mlp"}, {"mappo-cermic", "gru"}, {"mappo-cermic", "graph"},
	} {
		t.Run(c.method+c.memory, func(t *testing.T) {
			var set []string
			if c.memory != "" {
				set = []string{"explore.memory=" + c.memory}
			}
			first := func(backend string) *results.Record {
				t.Setenv("GOMLX_BACKEND", backend)
				e := must.Get(plan.New(plan.Request{Task: "vmas/navigation", Method: c.method, Budget: "smoke", Seed: 1,
					Set: append(set, "budget.frames=1000", "budget.eval_every=1000", "budget.eval_episodes=1")}))(t)
				return libtest.Train(t, e)
			}
			cpu, other := first("xla:cpu"), first(backend)
			for name, points := range cpu.Scalars {
				want, got := points[0].Value, other.Scalars[name][0].Value
				if miss := math.Abs(got - want); miss > tolerance*max(math.Abs(want), 0.1) {
					t.Errorf("%s is %g, on the CPU %g", name, got, want)
				}
			}
		})
	}
}
