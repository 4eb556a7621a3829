// SPDX-License-Identifier: Apache-2.0

package rl

import (
	"errors"

	"cermic/envs"
)

// peerChannel is the length of a peer's channel: 1 and its relative position in world half sizes if it is visible, else
// zeros.
const peerChannel = 3

// PeerSpec returns s with a channel for each peer after an agent's observation, O + 3·P numbers. Tasks with
// observations that show peers keep their spec.
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

// WithPeers returns x with observations of s = PeerSpec(x.Spec), or an error if x has no labels. Other fields are
// shared with x. buffer is an earlier result or an empty rollout, whose memory is reused.
func (x *Rollout) WithPeers(s *envs.Spec, buffer *Rollout) (*Rollout, error) {
	if !x.Spec.HidesPeers {
		return x, nil
	}
	if len(x.Visible) == 0 {
		return nil, errors.New("the rollout holds no presence labels: call its KeepLabels before the first step")
	}
	obs, last := buffer.Obs, buffer.last.Obs
	*buffer = *x
	buffer.Spec = s
	buffer.Obs = appendPeers(obs[:0], x.Spec, x.Obs, x.Visible, x.RelPos)
	buffer.last.Obs = appendPeers(last[:0], x.Spec, x.last.Obs, x.last.visible, x.last.relPos)
	return buffer, nil
}

// appendPeers appends each observation of obs [B,O] to dst, followed by the channels of visible [B,P] and relPos
// [B,P,2].
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
