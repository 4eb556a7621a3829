// SPDX-License-Identifier: Apache-2.0

package rl

import (
	"encoding/binary"
	"fmt"
	"slices"

	"cermic/envs"
	"cermic/envs/rng"
)

// Replay is a ring buffer of the most recent frames of a discrete task, for off-policy learners. Each time step is
// stored once, since the next step of a frame is the next row. Only the true last observations of episodes are stored
// separately.
//
// A slot is the index of a kept frame. It stays valid until the next Add.
//
// For recurrent policies it returns chunks of L consecutive steps and stores the policy's state before each. Chunks
// begin at multiples of L since the start of the run.
type Replay struct {
	spec      *envs.Spec
	chunk     int       // L
	rows      int       // R: time steps in the ring, one more than the kept frames need
	steps     int       // time steps added since the start
	seen      Observed  // [R,E,.]
	choice    []int32   // [R,E,N]
	alive     []uint8   // [R,E,N]
	reward    []float32 // [R,E] extrinsic, mean over agents
	bonus     []float32 // [R,E] intrinsic, mean over agents
	end       []int32   // [R,E] row of the true next step in finals if the frame ended its episode, else -1
	finals    Observed  // last observations of kept frames
	ends      int       // rows of finals
	free      []int32   // unused rows of finals
	hiddenLen int       // C
	hidden    []float32 // [chunks,E,N,C] ring of the policy states before each chunk
}

// GB is the unit of memory limits, in bytes.
const GB = 1e9

// endsEvery is the assumed length of an episode, about a battle of SMACv2, for sizes computed in advance. With shorter
// episodes a replay grows beyond its limit, because no run may abort due to its agents' actions.
const endsEvery = 50

// NewReplay allocates a replay of the given frames, rounded down to whole steps of all environments. For a policy with
// a state of hidden numbers per agent, it keeps the state before each chunk of chunk steps; others have 0 and 1.
// If that needs more than limit bytes, it returns an error with the size.
func NewReplay(spec *envs.Spec, frames int, limit int64, hidden, chunk int) (*Replay, error) {
	if spec.Act.Choices == 0 {
		return nil, fmt.Errorf("a replay needs discrete actions, but %s has continuous ones: use another learner",
			spec.Name)
	}
	if frames < spec.NumEnvs {
		return nil, fmt.Errorf("a replay of %d frames is too small: %s needs at least %d, one per parallel environment",
			frames, spec.Name, spec.NumEnvs)
	}
	p := &Replay{spec: spec, chunk: chunk, rows: frames/spec.NumEnvs + 1, hiddenLen: hidden}
	if hidden > 0 && p.rows-1 < 2*chunk {
		return nil, fmt.Errorf("a replay of %d steps is too small for chunks of %d: it needs at least %d",
			p.rows-1, chunk, 2*chunk)
	}
	if size := p.size(p.frames() / endsEvery); size > float64(limit) {
		return nil, fmt.Errorf(
			"a replay of %d frames of %s takes %.2f GB, more than the %.2f GB allowed: keep fewer frames or allow more",
			p.frames(), spec.Name, size/GB, float64(limit)/GB)
	}
	if err := p.fitsMachine(p.frames() / endsEvery); err != nil {
		return nil, err
	}
	slots := p.rows * spec.NumEnvs
	p.seen = newObserved(spec, slots)
	p.choice, p.alive = make([]int32, slots*spec.Agents), make([]uint8, slots*spec.Agents)
	p.reward, p.bonus = make([]float32, slots), make([]float32, slots)
	p.end = make([]int32, slots)
	for slot := range p.end {
		p.end[slot] = -1
	}
	p.hidden = make([]float32, p.chunkRows()*p.eachHidden())
	return p, nil
}

// chunkRows is the largest number of chunks with a step in the ring.
func (p *Replay) chunkRows() int { return (p.rows-1)/p.chunk + 2 }

// eachHidden is the length of all agents' states, E·N·C.
func (p *Replay) eachHidden() int { return p.spec.NumEnvs * p.spec.Agents * p.hiddenLen }

// size is the number of bytes of a replay with the given number of separate last observations.
func (p *Replay) size(finals int) float64 {
	n, observed := float64(p.spec.Agents), observedSize(p.spec)
	const frame = 4 + 4 + 4 // reward, bonus, end
	const agent = 4 + 1     // choice, alive
	return float64(p.rows)*float64(p.spec.NumEnvs)*(observed+agent*n+frame) +
		float64(finals)*observed + 4*float64(p.chunkRows())*float64(p.eachHidden())
}

// frames is the capacity.
func (p *Replay) frames() int { return (p.rows - 1) * p.spec.NumEnvs }

// fitsMachine returns an error if a replay with that many last observations exceeds the machine's memory.
func (p *Replay) fitsMachine(finals int) error {
	return fitsMachine(p.size(finals), "replay", p.frames(), p.spec.Name, "keep fewer frames")
}

// Add appends a rollout batch and drops the oldest frames.
func (p *Replay) Add(x *Rollout) error {
	n := p.spec.Agents
	for t := range x.T + 1 {
		to, from := (p.steps+t)%p.rows*x.E, t*x.E // first slot, first frame
		for c := range x.E {
			p.At(to + c).set(x.frame(from + c))
			p.release(to + c)
		}
		if t == x.T {
			break // only the observations after the last frames
		}
		if each := p.eachHidden(); each > 0 && (p.steps+t)%p.chunk == 0 {
			copy(p.hidden[(p.steps+t)/p.chunk%p.chunkRows()*each:], row(x.Hidden, t, each))
		}
		copy(p.choice[to*n:], row(x.Act.Discrete, t, x.E*n))
		copy(p.alive[to*n:], row(x.Alive, t, x.E*n))
		for c := range x.E {
			p.reward[to+c] = mean(row(x.Extrinsic, from+c, n))
			p.bonus[to+c] = mean(row(x.Intrinsic, from+c, n))
			if x.Done(t, c) {
				p.keepFinal(to+c, x.next(from+c))
			}
		}
	}
	p.steps += x.T
	return p.fitsMachine(p.ends)
}

// mean sums v in index order.
func mean(v []float32) float32 {
	sum := float32(0)
	for _, x := range v {
		sum += x
	}
	return sum / float32(len(v))
}

// release frees the final observation of slot.
func (p *Replay) release(slot int) {
	if k := p.end[slot]; k >= 0 {
		p.free = append(p.free, k)
		p.end[slot] = -1
	}
}

// keepFinal stores the true next step of a frame that ends an episode.
func (p *Replay) keepFinal(slot int, next Observed) {
	if len(p.free) == 0 {
		p.end[slot] = int32(p.ends)
		p.ends++
		p.finals.append(next)
		return
	}
	p.end[slot] = p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	p.finals.row(p.spec, int(p.end[slot])).set(next)
}

// Len is the number of frames kept.
func (p *Replay) Len() int { return p.kept() * p.spec.NumEnvs }

func (p *Replay) kept() int { return min(p.steps, p.rows-1) }

// chunks returns the index of the first complete chunk, counted since the start, and the number of complete chunks.
func (p *Replay) chunks() (first, n int) {
	first = (p.steps - p.kept() + p.chunk - 1) / p.chunk
	return first, p.steps/p.chunk - first
}

// Sample fills dst with slots of kept frames, drawn uniformly with replacement; the replay must not be empty. With
// chunks it draws len(dst)/L of them and writes their slots in time order, [L, len(dst)/L].
func (p *Replay) Sample(dst []int, r *rng.Rand) {
	e, width := p.spec.NumEnvs, len(dst)/p.chunk
	first, n := p.chunks()
	for b := range width {
		k := r.IntN(n * e)
		for t := range p.chunk {
			dst[t*width+b] = ((first+k/e)*p.chunk+t)%p.rows*e + k%e
		}
	}
}

// SampleFrames is Sample for single frames, with or without chunks.
func (p *Replay) SampleFrames(dst []int, r *rng.Rand) {
	e, first := p.spec.NumEnvs, p.steps-p.kept()
	for b := range dst {
		k := r.IntN(p.Len())
		dst[b] = (first+k/e)%p.rows*e + k%e
	}
}

// At returns the observations of the frame in slot.
func (p *Replay) At(slot int) Observed { return p.seen.row(p.spec, slot) }

// Next returns the true next observations after slot, also at the end of an episode.
func (p *Replay) Next(slot int) Observed {
	if k := p.end[slot]; k >= 0 {
		return p.finals.row(p.spec, int(k))
	}
	e := p.spec.NumEnvs
	return p.At((slot/e+1)%p.rows*e + slot%e)
}

// Discrete returns the actions of the frame, [N].
func (p *Replay) Discrete(slot int) []int32 { return row(p.choice, slot, p.spec.Agents) }

// Alive returns 1 for agents that are alive in the frame, [N].
func (p *Replay) Alive(slot int) []uint8 { return row(p.alive, slot, p.spec.Agents) }

// Reward returns the extrinsic reward of the frame, the mean over its agents.
func (p *Replay) Reward(slot int) float32 { return p.reward[slot] }

// Bonus returns the intrinsic reward of the frame at collection, the mean over its agents.
func (p *Replay) Bonus(slot int) float32 { return p.bonus[slot] }

// Ended reports whether the frame ended its episode, by termination or a time limit.
func (p *Replay) Ended(slot int) bool { return p.end[slot] >= 0 }

// Hidden returns the policy's state before the frame, [N,C]; the frame must be the first of a chunk.
func (p *Replay) Hidden(slot int) []float32 {
	e := p.spec.NumEnvs
	age := ((p.steps-1-slot/e)%p.rows + p.rows) % p.rows
	chunk := (p.steps - 1 - age) / p.chunk
	return row(p.hidden, chunk%p.chunkRows()*e+slot%e, p.spec.Agents*p.hiddenLen)
}

// Save returns the state that repeating all actions does not restore: the policy's states and, if bonus is set, the
// intrinsic rewards.
func (p *Replay) Save(bonus bool) []byte {
	values := p.hidden[:p.usedHidden()]
	if bonus {
		values = slices.Concat(values, p.bonus)
	}
	data, err := binary.Append(nil, binary.LittleEndian, values)
	if err != nil {
		panic("rl: " + err.Error()) // float32 has a fixed size
	}
	return data
}

// usedHidden is the length of the written part of hidden.
func (p *Replay) usedHidden() int {
	return min((p.steps+p.chunk-1)/p.chunk, p.chunkRows()) * p.eachHidden()
}

// Load restores a state of Save after all rollout batches up to it have been added, and reports whether it has
// intrinsic rewards. An empty replay, as of an evaluation, ignores it.
func (p *Replay) Load(data []byte) (bonus bool, err error) {
	if p.steps == 0 {
		return false, nil
	}
	used := p.usedHidden()
	bonus = len(data) == 4*(used+len(p.bonus))
	if !bonus && len(data) != 4*used {
		return false, fmt.Errorf("the saved replay has %d bytes, the learner's %d, or %d with intrinsic rewards",
			len(data), 4*used, 4*(used+len(p.bonus)))
	}
	if _, err = binary.Decode(data, binary.LittleEndian, p.hidden[:used]); err == nil && bonus {
		_, err = binary.Decode(data[4*used:], binary.LittleEndian, p.bonus)
	}
	return bonus, err
}
