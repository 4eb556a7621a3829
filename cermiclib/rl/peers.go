// SPDX-License-Identifier: Apache-2.0

package rl

import (
	"errors"

	"cermic/envs"
)

// peerChannel is the length of a peer's channel: 1 if it is visible, else 0; and where it is visible, its relative
// position in world half sizes.
const peerChannel = 3

// PeerSpec is s with one channel for each peer behind an agent's observation, O + 3·P numbers. A task whose
// observations show peers by themselves keeps its spec.
//
// paper:detector  each agent type has a dedicated channel in the observation tensor
func PeerSpec(s *envs.Spec) *envs.Spec {
	if !s.HidesPeers {
		return s
	}
	out := *s
	out.Obs, out.HidesPeers = []int{s.ObsLen() + peerChannel*s.Peers()}, false
	return &out
}

// WithPeers returns x with observations as s = PeerSpec(x.Spec) describes them, or an error if x holds no labels.
// All other fields are shared with x; buffer, an earlier result or an empty rollout, lends its memory.
func (x *Rollout) WithPeers(s *envs.Spec, buffer *Rollout) (*Rollout, error) {
	if !x.Spec.HidesPeers {
		return x, nil
	}
	if len(x.Visible) == 0 {
		return nil, errors.New("the rollout holds no presence labels: call its KeepLabels before the first step")
	}
	obs, last := buffer.Obs, buffer.last.obs
	*buffer = *x
	buffer.Spec = s
	buffer.Obs = appendPeers(obs[:0], x.Spec, x.Obs, x.Visible, x.RelPos)
	buffer.last.obs = appendPeers(last[:0], x.Spec, x.last.obs, x.last.visible, x.last.relPos)
	return buffer, nil
}

// appendPeers appends to dst, for each of the observations obs [B,O], the observation and the peers' channels made of
// visible [B,P] and relPos [B,P,2].
func appendPeers(dst []float32, s *envs.Spec, obs []float32, visible []uint8, relPos []float32) []float32 {
	o, p := s.ObsLen(), s.Peers()
	for b := range len(obs) / o {
		dst = append(dst, obs[b*o:(b+1)*o]...)
		for k := b * p; k < (b+1)*p; k++ {
			if visible[k] != 0 {
				dst = append(dst, 1, relPos[2*k], relPos[2*k+1])
			} else {
				dst = append(dst, 0, 0, 0)
			}
		}
	}
	return dst
}
