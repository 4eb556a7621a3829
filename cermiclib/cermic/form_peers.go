// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"github.com/gomlx/gomlx/core/tensors"

	"cermic/cermiclib/memory"
	"cermic/cermiclib/rl"
)

// What int_form.peers=true adds to the elliptical form: the Λ of an agent counts steps of the peers that it has detected.

// use keeps the module, whose memory there is by now.
func (f *elliptical) use(m *module) error { f.m = m; return nil }

// detectedBy tells of each agent step of x, which the memory has watched, who detects the agent in it: bit i is set where agent i does.
func (f *elliptical) detectedBy(x *rl.Rollout) func(row int) uint64 {
	seen := f.m.mem.(memory.Detecting).Detected()
	return func(row int) (bits uint64) {
		for i, first := 0, row-row%x.N; i < x.N; i++ {
			bits |= seen[first+i] >> (row % x.N) & 1 << i
		}
		return bits
	}
}

// addPeers adds to the Λ of agent k the steps of the peers that it detected, γ of each: what they have explored is not all new to it.
func (f *elliptical) addPeers(e *ellipsoid, k int, x *rl.Rollout, earlier steps, drawn int) error {
	var gamma float64
	tensors.MustConstFlatData(f.store.GetVariable("/"+scope+"/critic/gamma_lo").MustValue(), func(flat []float32) { gamma = max(float64(flat[0]), 0) })
	err := e.add(&f.old, func(row int) bool { return earlier.agent(row) != k && earlier.by(row)>>k&1 != 0 }, gamma*f.past.total()/max(float64(drawn), 1))
	if err != nil || x == nil {
		return err
	}
	now := f.stepsOf(x)
	return e.add(&f.now, func(row int) bool { return row%x.N != k && x.Alive[row] != 0 && now.by(row)>>k&1 != 0 }, gamma)
}
