// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"encoding/binary"
	"fmt"
	"slices"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/rng"
)

// frameLayout says how one frame lies in a flat []float32 of width W, as hindsight reads it: for each of the N agents
// in turn
//
//	observation [F], z [P], alive [1], parameters of the policy's distribution [K] or [2D], action [1] or [D], mask [K] of discrete actions
type frameLayout struct {
	spec                                      *envs.Spec
	given, alive, policy, action, mask, agent int // offsets of the parts within an agent's numbers, and how many numbers an agent has
}

// newFrameLayout is the layout of frames of s where each agent is given peers z.
func newFrameLayout(s *envs.Spec, peers int) frameLayout {
	l := frameLayout{spec: s, given: nn.ObsFeatures(s)}
	l.alive = l.given + peers
	l.policy = l.alive + 1
	l.action = l.policy + nn.ActionOutputs(&s.Act)
	l.mask = l.action + max(1, s.Act.Dim)
	l.agent = l.mask + s.Act.Choices
	return l
}

// width is W.
func (l frameLayout) width() int { return l.spec.Agents * l.agent }

// write fills dst [W] with a frame of x: look returns what was observed at an agent step [F], z holds what each is
// given [T,E,N,P], and policy the parameters of the distributions that the actions were drawn from [T,E,N,K] or
// [T,E,N,2D].
func (l frameLayout) write(dst []float32, x *rl.Rollout, frame int, look func(row int) []float32, z, policy []float32) {
	peers, outputs, k := l.alive-l.given, l.action-l.policy, l.spec.Act.Choices
	for i := range x.N {
		row, to := frame*x.N+i, dst[i*l.agent:(i+1)*l.agent]
		copy(to, look(row))
		copy(to[l.given:], z[row*peers:(row+1)*peers])
		to[l.alive] = float32(x.Alive[row])
		copy(to[l.policy:], policy[row*outputs:(row+1)*outputs])
		if k == 0 {
			d := l.spec.Act.Dim
			copy(to[l.action:l.mask], x.Raw[row*d:])
			continue
		}
		to[l.action] = float32(x.Act.Discrete[row])
		for c := range k {
			to[l.mask+c] = 1
			if x.Mask != nil {
				to[l.mask+c] = float32(x.Mask[row*k+c])
			}
		}
	}
}

// frameBuffer keeps frames of the most recent rollout batches: as many of each, drawn at random, as fit beside those
// of the others.
type frameBuffer struct {
	frameLayout
	batches int       // most rollout batches
	limit   int       // most frames
	each    int       // frames kept of a batch, 0 before the first one
	frames  []float32 // [≤ batches, each, W] a ring of batches
	next    int       // place in the ring of the batch to come
}

// len is the number of frames kept.
func (b *frameBuffer) len() int { return len(b.frames) / b.width() }

// frame is the k-th frame kept, [W].
func (b *frameBuffer) frame(k int) []float32 { return b.frames[k*b.width() : (k+1)*b.width()] }

// add takes in frames of a rollout batch, whose indices order [T·E] it permutes by r; write fills a frame.
func (b *frameBuffer) add(order []int32, r *rng.Rand, write func(dst []float32, frame int)) {
	if b.each == 0 {
		b.each = min(len(order), max(1, b.limit/b.batches))
	}
	size := b.each * b.width()
	if b.next*size == len(b.frames) {
		b.frames = slices.Grow(b.frames, size)[:len(b.frames)+size]
	}
	r.Perm(order)
	for k, f := range order[:b.each] {
		write(b.frame(b.next*b.each+k), int(f))
	}
	b.next = (b.next + 1) % b.batches
}

// upper is the quantile of all z kept.
func (b *frameBuffer) upper(quantile float64) float64 {
	var all []float32
	for from := 0; from < len(b.frames); from += b.agent {
		all = append(all, b.frames[from+b.given:from+b.alive]...)
	}
	slices.Sort(all)
	return float64(all[int(quantile*float64(len(all)-1))])
}

// save appends the frames and their places to dst.
func (b *frameBuffer) save(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(b.next))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(b.each))
	dst, err := binary.Append(dst, binary.LittleEndian, b.frames)
	if err != nil {
		panic("explore: " + err.Error()) // float32 has a fixed size
	}
	return dst
}

// load continues from what save appended.
func (b *frameBuffer) load(data []byte) error {
	const header = 16
	if len(data) < header {
		return fmt.Errorf("explore: the saved buffer of mace has %d bytes, want at least %d", len(data), header)
	}
	next, each := int(binary.LittleEndian.Uint64(data)), int(binary.LittleEndian.Uint64(data[8:]))
	data = data[header:]
	batch := 4 * each * b.width()
	if next < 0 || next >= b.batches || each < 0 || len(data) > 0 && (batch == 0 || len(data)%batch != 0 || len(data)/batch > b.batches) {
		return fmt.Errorf("explore: the saved buffer of mace does not fit %d rollout batches of frames of %d numbers", b.batches, b.width())
	}
	b.next, b.each, b.frames = next, each, make([]float32, len(data)/4)
	_, err := binary.Decode(data, binary.LittleEndian, b.frames)
	return err
}
