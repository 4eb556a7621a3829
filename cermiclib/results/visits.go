// SPDX-License-Identifier: Apache-2.0

package results

import "cermic/envs"

// Visits says how often a run has visited each cell of the projection that its task declares (envs.Coverer), and what it was rewarded for
// that: plain data, to be drawn.
type Visits struct {
	Projection envs.Projection
	Scene      envs.Scene // the world at the start of an episode, to draw them on; empty where it cannot be drawn
	Frames     int        // that the run had trained
	Counts     []uint64   // [Rows·Columns] agent steps that ended in the cell since training began
	Recent     []uint64   // [Rows·Columns] those of the last rollout batch
	Bonus      []float64  // [Rows·Columns] mean r^i, as added to r^e, of the agent steps in Recent; 0 where there are none
}

// Coverage is the share of the cells that can be visited which have been.
func (v *Visits) Coverage() float64 {
	seen := 0
	for _, n := range v.Counts {
		if n > 0 {
			seen++
		}
	}
	return float64(seen) / float64(v.Projection.Cells())
}
