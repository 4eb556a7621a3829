// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"encoding/binary"
	"fmt"
	"slices"

	"cermic/cermiclib/rl"
)

// moment is where a graph G_n of one observer was made: an observation, and whom the observer detected in it.
type moment struct {
	at    int32  // ≥ 0: row of the rollout; < 0: slot -1-at of the lane's past
	seen  uint64 // bit j: slot j was refreshed; the observer's own bit is set if any other is
	first bool   // the first graph of an episode
}

// queue keeps, for every observer (a lane: environment and agent), the moments at which its graph advanced. It is
// filled once for each rollout; what a later one still needs is copied out of it.
//
// paper:app:memory_update  the graph advances to G_{n+1} only when another agent is detected
//
// Reading: an episode starts with G_0 of its first observation, which holds the observer alone unless someone is
// detected there; G_0 counts as f_{n-1} of G_1 but a moment without detections is no entry of the attention's
// history.
type queue struct {
	obs        int        // I
	keep       int        // moments that a row can refer to: the present one, the one before, and the history of that
	lanes      [][]moment // [E·N] of the rollout last watched
	number     []int32    // [T·E·N] index of the moment in force at each agent step in its lane
	past, next past       // of the rollout last watched, and for the one after it
}

// past holds the last moments of every lane with their observations.
type past struct {
	moments [][]moment // [E·N], at = -1-k for observation k
	obs     []float32  // [E·N,keep,I]
}

func newQueue(rows, obs, keep int) *queue {
	empty := func() past { return past{moments: make([][]moment, rows), obs: make([]float32, rows*keep*obs)} }
	return &queue{obs: obs, keep: keep, lanes: make([][]moment, rows), past: empty(), next: empty()}
}

// watch walks x in time order; seen [T,E,N] has bit j set where an agent step detects agent j.
func (q *queue) watch(x *rl.Rollout, seen []uint64) {
	q.past, q.next = q.next, q.past
	rows := len(q.lanes)
	if len(q.number) != x.Rows() {
		q.number = make([]int32, x.Rows())
	}
	for lane := range rows {
		list := append(q.lanes[lane][:0], q.past.moments[lane]...)
		for row := lane; row < x.Rows(); row += rows {
			bits := seen[row]
			if x.Alive[row] == 0 {
				bits = 0 // the dead see nobody
			}
			if bits != 0 {
				bits |= 1 << (lane % x.N)
			}
			first := x.IsFirst[row/x.N] != 0 || len(list) == 0
			if first || bits != 0 {
				list = append(list, moment{int32(row), bits, first})
			}
			q.number[row] = int32(len(list) - 1)
		}
		q.lanes[lane] = list
		q.carry(x, lane)
	}
}

// carry copies the last moments of a lane into next.
func (q *queue) carry(x *rl.Rollout, lane int) {
	list := q.lanes[lane]
	kept := q.next.moments[lane][:0]
	for k := len(list) - 1; k >= 0 && len(kept) < q.keep; k-- {
		m := list[k]
		at := (lane*q.keep + len(kept)) * q.obs
		q.observe(q.next.obs[at:at+q.obs], x, lane, m)
		m.at = int32(-1 - len(kept))
		kept = append(kept, m)
		if m.first {
			break
		}
	}
	slices.Reverse(kept) // oldest first
	q.next.moments[lane] = kept
}

// observe writes the observer's observation at m into dst [I].
func (q *queue) observe(dst []float32, x *rl.Rollout, lane int, m moment) {
	if m.at >= 0 {
		x.Gather(dst, int(m.at))
		return
	}
	at := (lane*q.keep + int(-1-m.at)) * q.obs
	copy(dst, q.past.obs[at:at+q.obs])
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

// save returns what the next rollout needs.
func (q *queue) save() []byte {
	var dst []byte
	for lane, list := range q.next.moments {
		dst = append(dst, byte(len(list)))
		for _, m := range list {
			first := byte(0)
			if m.first {
				first = 1
			}
			dst = append(binary.LittleEndian.AppendUint64(dst, m.seen), first, byte(-1-m.at))
		}
		dst = appendFloats(dst, q.next.obs[lane*q.keep*q.obs:(lane+1)*q.keep*q.obs])
	}
	return dst
}

// load continues from what save returned.
func (q *queue) load(src []byte) error {
	const size = 10 // bytes of a moment
	bad := fmt.Errorf("memory graph: the saved queue does not fit %d observers with %d moments of %d numbers: its sizes stay as they were",
		len(q.lanes), q.keep, q.obs)
	floats := q.keep * q.obs
	for lane := range q.next.moments {
		if len(src) < 1 || int(src[0]) > q.keep || len(src) < 1+size*int(src[0])+4*floats {
			return bad
		}
		list := make([]moment, src[0])
		src = src[1:]
		for i := range list {
			list[i] = moment{seen: binary.LittleEndian.Uint64(src), first: src[8] != 0, at: -1 - int32(src[9])}
			if int(src[9]) >= q.keep {
				return bad
			}
			src = src[size:]
		}
		q.next.moments[lane] = list
		src = readFloats(q.next.obs[lane*floats:(lane+1)*floats], src)
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
