// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs"
)

// Reading: "each agent type is represented by a dedicated channel in the observation tensor", says the appendix, but
// most VMAS observations contain nothing about peers. With peer_channels the module (θ, θᵐ, the memory and its
// detector) reads such channels beside o_t. Actor and critic keep the benchmark's observation, so methods stay
// comparable (D36).

// spec returns s with the peers' channels of the module, or s itself if there are none.
func (c Config) spec(s *envs.Spec) *envs.Spec {
	if !c.PeerChannels {
		return s
	}
	return rl.PeerSpec(s)
}

// reads returns b with the spec that the module's networks read.
func (c Config) reads(b *nn.Build) *nn.Build {
	if s := c.spec(b.Spec); s != b.Spec {
		return b.For(s)
	}
	return b
}

// read returns x with the peers' channels, in the buffers of view.
func (m *module) read(x, view *rl.Rollout) (*rl.Rollout, error) {
	if !m.cfg.PeerChannels {
		return x, nil
	}
	return x.WithPeers(m.build.Spec, view)
}

// sightings is the share of agent steps of x that would have an f_{n-1} if the graph memory detected every labelled
// peer. Such a step, or an earlier step of its episode, sees a peer; the first step of an episode does not count.
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
