// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs"
)

// Reading: "each agent type is represented by a dedicated channel in the observation tensor", says the appendix, but the
// observations of most VMAS tasks hold nothing about peers. With peer_channels the module reads such channels beside
// o_t: θ, θᵐ, the memory and its detector. Actor and critic keep the benchmark's observation, so that methods stay
// comparable (D36).

// spec returns s as the module observes it: s itself where no peer has a channel.
func (c Config) spec(s *envs.Spec) *envs.Spec {
	if !c.PeerChannels {
		return s
	}
	return rl.PeerSpec(s)
}

// reads returns b for the networks of the module.
func (c Config) reads(b *nn.Build) *nn.Build {
	if s := c.spec(b.Spec); s != b.Spec {
		return b.For(s)
	}
	return b
}

// read returns x as the module observes it; view lends its memory.
func (m *module) read(x, view *rl.Rollout) (*rl.Rollout, error) {
	if !m.cfg.PeerChannels {
		return x, nil
	}
	return x.WithPeers(m.build.Spec, view)
}

// sightings is the share of the agent steps of x that would have an f_{n-1} if the graph memory detected whom the labels
// name: an earlier or the present step of the episode, other than its first, sees a peer.
func (m *module) sightings(x *rl.Rollout) float64 {
	lanes, peers := x.E*x.N, x.Spec.Peers()
	if len(m.sighted) != lanes {
		m.sighted = make([]bool, lanes)
	}
	with, alive := 0, 0
	for row := range x.Rows() {
		lane := row % lanes
		if x.IsFirst[row/x.N] != 0 {
			m.sighted[lane] = false
		}
		if x.Alive[row] == 0 {
			continue
		}
		if x.IsFirst[row/x.N] == 0 {
			for _, v := range x.Visible[row*peers : (row+1)*peers] {
				m.sighted[lane] = m.sighted[lane] || v != 0
			}
		}
		alive++
		if m.sighted[lane] {
			with++
		}
	}
	return float64(with) / float64(max(1, alive))
}
