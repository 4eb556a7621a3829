// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"encoding/binary"
	"fmt"
	"slices"

	"cermic/cermiclib/rl"
)

// moment is where a graph G_n of one observer was made: an observation, and the agents detected in it.
type moment struct {
	row   int32     // of the rollout
	past  []float32 // [I] the observation, of an earlier rollout; nil where row has it
	seen  uint64    // bit j: slot j was refreshed; the observer's own bit is set if any other is
	first bool      // the first graph of an episode
}

// queue keeps, for every observer (a lane: environment and agent), the moments at which its graph advanced. It is
// filled once for each rollout. Moments that a later rollout still needs are copied out of it.
//
// paper:app:memory_update  the graph advances to G_{n+1} only when another agent is detected
//
// Reading: an episode starts with G_0 of its first observation. G_0 holds the observer alone unless another agent is
// detected there. It counts as f_{n-1} of G_1, but a moment without detections is no entry of the attention's history.
type queue struct {
	obs     int        // I
	keep    int        // moments that a row can refer to: the present one, the one before, and the history of that
	lanes   [][]moment // [E·N] of the rollout last watched, behind the moments of earlier rollouts
	number  []int32    // [T·E·N] index of the moment in force at each agent step in its lane
	carried [][]moment // [E·N] the last ones, oldest first, for the next rollout
}

func newQueue(rows, obs, keep int) *queue {
	return &queue{obs: obs, keep: keep, lanes: make([][]moment, rows), carried: make([][]moment, rows)}
}

// watch walks x in time order; seen [T,E,N] has bit j set where an agent step detects agent j.
func (q *queue) watch(x *rl.Rollout, seen []uint64) {
	rows := len(q.lanes)
	q.number = make([]int32, x.Rows())
	for lane := range rows {
		list := append(q.lanes[lane][:0], q.carried[lane]...)
		for row := lane; row < x.Rows(); row += rows {
			bits := seen[row]
			if x.Alive[row] == 0 {
				bits = 0 // dead agents detect none
			}
			if bits != 0 {
				bits |= 1 << (lane % x.N)
			}
			first := x.IsFirst[row/x.N] != 0 || len(list) == 0
			if first || bits != 0 {
				list = append(list, moment{row: int32(row), seen: bits, first: first})
			}
			q.number[row] = int32(len(list) - 1)
		}
		q.lanes[lane], q.carried[lane] = list, q.last(x, list)
	}
}

// last returns the last moments of list with their observations.
func (q *queue) last(x *rl.Rollout, list []moment) (kept []moment) {
	for k := len(list) - 1; k >= 0 && len(kept) < q.keep; k-- {
		m := list[k]
		if m.past == nil {
			m.past = make([]float32, q.obs)
			x.Gather(m.past, int(m.row))
		}
		kept = append(kept, m)
		if m.first {
			break
		}
	}
	slices.Reverse(kept)
	return kept
}

// observe writes the observer's observation into dst [I].
func (m moment) observe(dst []float32, x *rl.Rollout) {
	if m.past == nil {
		x.Gather(dst, int(m.row))
		return
	}
	copy(dst, m.past)
}

// behind calls visit for moment i of a lane (age 0) and for up to count-1 before it in the episode.
func (q *queue) behind(lane, i, count int, visit func(age int, m moment)) {
	for age := range min(count, i+1) {
		m := q.lanes[lane][i-age]
		visit(age, m)
		if m.first {
			return
		}
	}
}

// hasBefore reports whether the episode has a graph before the one in force at an agent step.
func (q *queue) hasBefore(row int) bool {
	n := q.number[row]
	return n > 0 && !q.lanes[row%len(q.lanes)][n].first
}

// save returns the state for the next rollout: the moments of each lane, oldest first, each with the place of its
// observation, and keep places.
func (q *queue) save() []byte {
	var dst []byte
	for _, list := range q.carried {
		dst = append(dst, byte(len(list)))
		places := make([]float32, q.keep*q.obs)
		for i, m := range list {
			place, first := len(list)-1-i, byte(0)
			if m.first {
				first = 1
			}
			dst = append(binary.LittleEndian.AppendUint64(dst, m.seen), first, byte(place))
			copy(places[place*q.obs:], m.past)
		}
		dst = appendFloats(dst, places)
	}
	return dst
}

// load continues from what save returned.
func (q *queue) load(src []byte) error {
	const size = 10 // bytes of a moment
	bad := fmt.Errorf("memory graph: the saved queue does not fit %d observers with %d moments of %d numbers: "+
		"its sizes stay as they were", len(q.lanes), q.keep, q.obs)
	for lane := range q.carried {
		places := make([]float32, q.keep*q.obs)
		if len(src) < 1 || int(src[0]) > q.keep || len(src) < 1+size*int(src[0])+4*len(places) {
			return bad
		}
		list, moments := make([]moment, src[0]), src[1:]
		src = readFloats(places, moments[size*len(list):])
		for i := range list {
			m := moments[size*i:]
			place := int(m[9])
			if place >= q.keep {
				return bad
			}
			list[i] = moment{seen: binary.LittleEndian.Uint64(m), first: m[8] != 0, past: places[place*q.obs : (place+1)*q.obs]}
		}
		q.carried[lane] = list
	}
	if len(src) != 0 {
		return bad
	}
	return nil
}

// appendFloats appends the bits of v, little-endian, to dst.
func appendFloats(dst []byte, v []float32) []byte {
	dst, _ = binary.Append(dst, binary.LittleEndian, v) // float32 has a fixed size
	return dst
}

// readFloats fills v from the bits at the start of src, which must suffice, and returns the rest.
func readFloats(v []float32, src []byte) []byte {
	n, _ := binary.Decode(src, binary.LittleEndian, v)
	return src[n:]
}
