// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"iter"
	"math/rand/v2"
	"slices"

	"cermic/envs/rng"

	"cermic/cermiclib/rl"
)

// sampler draws the agent steps of an epoch over a rollout. A sample is a chunk of consecutive steps of one agent.
// Chunks do not overlap; the last one of a rollout may be shorter.
type sampler struct {
	chunk int
	start []int32 // first row of every sample with a step in which its agent is alive
}

// draw returns the rows of all samples in random order, padded to full minibatches of b rows with weight 0.
func (s *sampler) draw(x *rl.Rollout, b int, r *rng.Rand) (rows []int32, weight []float32) {
	s.start = s.start[:0]
	agents := x.E * x.N
	for t := 0; t < x.T; t += s.chunk {
		for a := range agents {
			if s.alive(x, t*agents+a) {
				s.start = append(s.start, int32(t*agents+a))
			}
		}
	}
	for i := range s.start {
		j := i + r.IntN(len(s.start)-i)
		s.start[i], s.start[j] = s.start[j], s.start[i]
	}
	for _, first := range s.start {
		row := int(first)
		for range s.chunk {
			weight = append(weight, float32(x.Alive[row]))
			if row >= x.Rows() {
				row, weight[len(weight)-1] = row-agents, 0 // beyond the end: repeat the last step
			}
			rows = append(rows, int32(row))
			row += agents
		}
	}
	for len(rows)%b != 0 {
		rows, weight = append(rows, rows[len(rows)-s.chunk]), append(weight, 0)
	}
	return rows, weight
}

// minibatches yields the rows and weights, [B] each, of every gradient step on x.
func (m *module) minibatches(x *rl.Rollout) iter.Seq2[[]int32, []float32] {
	return func(yield func([]int32, []float32) bool) {
		for epoch, taken := 0, 0; taken < m.cfg.Steps; epoch++ {
			rows, weight := m.sampler.draw(x, m.minibatch, m.stream("cermic rows", x.Iteration, epoch))
			if len(rows) == 0 { // no agent is alive
				return
			}
			for b := range slices.Chunk(rows, m.minibatch) {
				if taken == m.cfg.Steps || !yield(b, weight[:m.minibatch]) {
					return
				}
				weight = weight[m.minibatch:]
				taken++
			}
		}
	}
}

// alive reports whether the agent is alive in any step of the sample that starts at row.
func (s *sampler) alive(x *rl.Rollout, row int) bool {
	for l := range s.chunk {
		at := row + l*x.E*x.N
		if at < x.Rows() && x.Alive[at] != 0 {
			return true
		}
	}
	return false
}

// normal fills dst with standard normal numbers from r.
func normal(dst []float32, r *rng.Rand) {
	ziggurat := rand.New(r) // several times faster than r.Norm; a gradient step needs tens of thousands of numbers
	for i := range dst {
		dst[i] = float32(ziggurat.NormFloat64())
	}
}

// marginalRows fills dst [B,K] with minibatch rows whose f_n is a negative. It draws among rows of positive weight,
// from another environment if the minibatch has one.
func marginalRows(dst []int32, k int, x *rl.Rollout, rows []int32, weight []float32, r *rng.Rand) {
	var valid []int32
	for b, w := range weight {
		if w != 0 {
			valid = append(valid, int32(b))
		}
	}
	env := func(b int32) int32 { return rows[b] / int32(x.N) % int32(x.E) }
	for i := range dst {
		for range 16 { // all fail only if there is no other environment, or with probability E⁻¹⁶
			dst[i] = valid[r.IntN(len(valid))]
			if env(dst[i]) != env(int32(i/k)) {
				break
			}
		}
	}
}
