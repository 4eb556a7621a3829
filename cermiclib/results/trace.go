// SPDX-License-Identifier: Apache-2.0

package results

import "cermic/envs"

// Trace is one episode of a stored run with the internals of its explorer: plain data, to be drawn. T is the number of
// steps and N of agents; agent step (t, i) is at t·N + i.
type Trace struct {
	Task, Method string
	Frames       int          // trained by the run
	Score        float64      // of the episode, by the benchmark's metric
	Steps        int          // T
	Agents       int          // N
	Scenes       []envs.Scene // [T+1] before each step, and at the end
	Bonus        []float64    // [T·N] r^i, neither scaled nor shifted
	Visible      []bool       // [T·N·N] the simulator's label: agent i perceives j
	Embed        [][]float64  // [T·N] s_t
	Latent       [][]float64  // [T·N] the mean of x_t
	Predicted    [][]float64  // [T·N] ŝ_{t+1}, decoded from that mean: the place of x_t among the s_t
	Graphs       []Graph      // [T·N]; nil for a memory without graphs
}

// Graph is the memory of one agent at one step.
type Graph struct {
	Present     []bool    // [N] in the graph: detected now or lately, and the observer itself
	Probability []float64 // [N] of each other agent being in sight now, by the detector; 0 for the observer itself
	Attention   []float64 // [N] weight of each node in the last message to the observer's own; sums to 1
	Advanced    bool      // an agent was detected in this step, so that the graph is a new one
}

// Row is the index of an agent step.
func (in *Trace) Row(step, agent int) int { return step*in.Agents + agent }

// Sees reports whether an agent perceives any other in a step, by the simulator's labels.
func (in *Trace) Sees(step, agent int) bool {
	for j := range in.Agents {
		if j != agent && in.Visible[in.Row(step, agent)*in.Agents+j] {
			return true
		}
	}
	return false
}

// Visits counts how often a run has visited each cell of the projection that its task declares (envs.Coverer). It also
// has the bonus there. It is plain data, to be drawn.
type Visits struct {
	Projection envs.Projection
	Scene      envs.Scene // the world at the start of an episode, to draw them on; empty if it cannot be drawn
	Frames     int        // trained by the run
	Counts     []uint64   // [Rows·Columns] agent steps that ended in the cell since training began
	Recent     []uint64   // [Rows·Columns] of these, the ones in the last rollout batch
	Bonus      []float64  // [Rows·Columns] mean r^i, as added to r^e, over Recent; 0 in other cells
}

// Coverage is the share of the reachable cells that were visited.
func (v *Visits) Coverage() float64 {
	seen := 0
	for _, n := range v.Counts {
		if n > 0 {
			seen++
		}
	}
	return float64(seen) / float64(v.Projection.Cells())
}
