// SPDX-License-Identifier: Apache-2.0

package results

import "cermic/envs"

// Trace is one episode of a stored run with what its explorer makes of it: plain data, to be drawn. T is the number of steps
// and N of agents; agent step (t, i) is at t·N + i.
type Trace struct {
	Task, Method string
	Frames       int          // that the run had trained
	Score        float64      // of the episode, by the benchmark's metric
	Steps        int          // T
	Agents       int          // N
	Scenes       []envs.Scene // [T+1] before each step, and at the end
	Bonus        []float64    // [T·N] r^i, as measured: neither scaled nor shifted
	Visible      []bool       // [T·N·N] the simulator's label: agent i perceives j
	Embed        [][]float64  // [T·N] s_t
	Latent       [][]float64  // [T·N] the mean of x_t
	Predicted    [][]float64  // [T·N] ŝ_{t+1}, decoded from that mean: where x_t lies among the s_t
	Graphs       []Graph      // [T·N]; nil for a memory without graphs
}

// Graph is the memory of one agent at one step.
type Graph struct {
	Present     []bool    // [N] in the graph: detected now or lately, and the observer itself
	Probability []float64 // [N] that each other agent is in sight now, says the detector; 0 for the observer itself
	Attention   []float64 // [N] weight of each node in the last message to the observer's own; sums to 1
	Advanced    bool      // somebody was detected in this step, so that the graph is a new one
}

// Row is the place of an agent step.
func (in *Trace) Row(step, agent int) int { return step*in.Agents + agent }

// Sees reports whether agent i perceives anybody in a step, by the simulator's labels.
func (in *Trace) Sees(step, agent int) bool {
	for j := range in.Agents {
		if j != agent && in.Visible[in.Row(step, agent)*in.Agents+j] {
			return true
		}
	}
	return false
}
