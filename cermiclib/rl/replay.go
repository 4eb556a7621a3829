// SPDX-License-Identifier: Apache-2.0

package rl

import (
	"encoding/binary"
	"fmt"

	"cermic/envs"
	"cermic/envs/rng"
)

// Replay keeps the transitions of the most recent frames of a discrete task for learners that train on old experience. Each
// time step is stored once, and the next step of a frame is found one row on; only the true last observations of episodes,
// which a reset replaces, lie apart.
//
// A slot names a frame that is kept. It stays valid until the next Add.
//
// For learners with a recurrent policy it gives chunks of L successive steps, those that begin at a multiple of L since the start
// of the run, and keeps the policy's state before each: KeepHidden.
type Replay struct {
	spec       *envs.Spec
	chunk      int       // L
	rows       int       // R: time steps in the ring, one more than the frames kept need
	steps      int       // seen since the start
	limit      int64     // of bytes, for the settings to keep to
	obs        []float32 // [R,E,N,O]; [R,E,N,X] beside cells
	cells      []uint16  // [R,E,N,H,W] or nil
	state      []float32 // [R,E,S]
	mask       []uint8   // [R,E,N,K] or nil
	choice     []int32   // [R,E,N]
	alive      []uint8   // [R,E,N]
	reward     []float32 // [R,E] extrinsic, mean over agents
	bonus      []float32 // [R,E] intrinsic, mean over agents
	terminated []uint8   // [R,E]
	truncated  []uint8   // [R,E]
	end        []int32   // [R,E] position of the true next step in the finals, or -1
	finals     finals    // of kept frames; n counts the positions ever made
	free       []int32   // positions of finals that no frame uses any more
	carryLen   int       // C
	hidden     []float32 // [chunks,E,N,C] a ring of its own: policy state before each chunk
}

// GB is what memory limits are counted in.
const GB = 1e9

// endsEvery is how many frames are taken to end one episode when memory is counted in advance: about a battle of SMACv2. Where episodes
// are shorter, a replay grows beyond its limit: no run may end in the middle for what its agents do.
const endsEvery = 50

// NewReplay makes room for frames, rounded down to whole steps of all environments, unless that takes more than limit bytes. Then the
// error says how many it takes.
func NewReplay(spec *envs.Spec, frames int, limit int64) (*Replay, error) {
	if spec.Act.Choices == 0 {
		return nil, fmt.Errorf("a replay needs discrete actions, which %s has not", spec.Name)
	}
	if frames < spec.NumEnvs {
		return nil, fmt.Errorf("a replay of %d frames is less than one step of the %d parallel environments of %s", frames, spec.NumEnvs, spec.Name)
	}
	p := &Replay{spec: spec, chunk: 1, rows: frames/spec.NumEnvs + 1, limit: limit}
	if err := p.fits(); err != nil {
		return nil, err
	}
	slots := p.rows * spec.NumEnvs
	p.obs, p.state = make([]float32, slots*p.obsLen()), make([]float32, slots*spec.State)
	p.cells = make([]uint16, slots*p.cellLen())
	if spec.Masked {
		p.mask = make([]uint8, slots*p.maskLen())
	}
	p.choice, p.alive = make([]int32, slots*spec.Agents), make([]uint8, slots*spec.Agents)
	p.reward, p.bonus = make([]float32, slots), make([]float32, slots)
	p.terminated, p.truncated, p.end = make([]uint8, slots), make([]uint8, slots), make([]int32, slots)
	for slot := range p.end {
		p.end[slot] = -1
	}
	return p, nil
}

// KeepHidden makes an empty replay give chunks of that many steps and keep the policy's state, hidden numbers of each agent,
// before each of them. It needs room for two chunks.
func (p *Replay) KeepHidden(hidden, chunk int) error {
	p.carryLen, p.chunk = hidden, chunk
	if p.rows-1 < 2*chunk {
		return fmt.Errorf("a replay of %d steps cannot give chunks of %d: it needs twice as many", p.rows-1, chunk)
	}
	if err := p.fits(); err != nil {
		return err
	}
	p.hidden = make([]float32, p.chunkRows()*p.eachHidden())
	return nil
}

// chunkRows is the number of chunks of which a step can be in the ring.
func (p *Replay) chunkRows() int { return (p.rows-1)/p.chunk + 2 }

// eachHidden is the number of values of all agents' states, E·N·C.
func (p *Replay) eachHidden() int { return p.spec.NumEnvs * p.spec.Agents * p.carryLen }

func (p *Replay) obsLen() int  { return p.spec.Agents * p.spec.ObsLen() }
func (p *Replay) cellLen() int { return p.spec.Agents * p.spec.CellLen() }
func (p *Replay) maskLen() int { return p.spec.Agents * p.spec.Act.Choices }

// size is the number of bytes that the replay takes with that many last observations apart.
func (p *Replay) size(finals int) float64 {
	seen := 4*float64(p.obsLen()+p.spec.State) + 2*float64(p.cellLen())
	if p.spec.Masked {
		seen += float64(p.maskLen())
	}
	const each = 4 + 4 + 1 + 1 + 4 // reward, bonus, terminated, truncated, end
	return float64(p.rows)*float64(p.spec.NumEnvs)*(seen+5*float64(p.spec.Agents)+each) + float64(finals)*seen + 4*float64(p.chunkRows())*float64(p.eachHidden())
}

// frames is how many are kept in the end.
func (p *Replay) frames() int { return (p.rows - 1) * p.spec.NumEnvs }

// fits refuses what will be beyond the limit, or beyond the machine.
func (p *Replay) fits() error {
	if size := p.size(p.frames() / endsEvery); size > float64(p.limit) {
		return fmt.Errorf("a replay of %d frames of %s takes %.2f GB of memory, more than the %.2f GB allowed: keep fewer frames or allow more",
			p.frames(), p.spec.Name, size/GB, float64(p.limit)/GB)
	}
	return p.fitsMachine(p.frames() / endsEvery)
}

// fitsMachine refuses so many last observations as this machine has no memory for.
func (p *Replay) fitsMachine(finals int) error {
	size, machine := p.size(finals), float64(machineMemory())
	if machine > 0 && size > machine {
		return fmt.Errorf("a replay of %d frames of %s takes %.2f GB of memory, more than the %.2f GB of this machine: keep fewer frames",
			p.frames(), p.spec.Name, size/GB, machine/GB)
	}
	return nil
}

// Add takes in a rollout batch, which pushes out the oldest frames.
func (p *Replay) Add(x *Rollout) error {
	o, h, s, m, n := p.obsLen(), p.cellLen(), p.spec.State, p.maskLen(), p.spec.Agents
	for t := range x.T + 1 {
		to, from := (p.steps+t)%p.rows*x.E, t*x.E // first slot, first frame
		copy(p.obs[to*o:(to+x.E)*o], x.Obs[from*o:])
		copy(p.cells[to*h:(to+x.E)*h], x.Cells[from*h:])
		copy(p.state[to*s:(to+x.E)*s], x.State[from*s:])
		if p.mask != nil {
			copy(p.mask[to*m:(to+x.E)*m], x.Mask[from*m:])
		}
		for c := range x.E {
			p.release(to + c)
		}
		if t == x.T {
			break // only what the last frames lead to
		}
		if each := p.eachHidden(); each > 0 && (p.steps+t)%p.chunk == 0 {
			copy(p.hidden[(p.steps+t)/p.chunk%p.chunkRows()*each:], x.Hidden[t*each:(t+1)*each])
		}
		copy(p.choice[to*n:(to+x.E)*n], x.Act.Discrete[from*n:])
		copy(p.alive[to*n:(to+x.E)*n], x.Alive[from*n:])
		copy(p.terminated[to:to+x.E], x.Terminated[from:])
		copy(p.truncated[to:to+x.E], x.Truncated[from:])
		for c := range x.E {
			p.reward[to+c] = mean(x.Extrinsic[(from+c)*n : (from+c+1)*n])
			p.bonus[to+c] = mean(x.Intrinsic[(from+c)*n : (from+c+1)*n])
			if x.Done(t, c) {
				p.keepFinal(to+c, x, from+c)
			}
		}
	}
	p.steps += x.T
	return p.fitsMachine(p.finals.n)
}

// mean of v, summed in order.
func mean(v []float32) float32 {
	sum := float32(0)
	for _, x := range v {
		sum += x
	}
	return sum / float32(len(v))
}

// release gives the place of slot's true next step back.
func (p *Replay) release(slot int) {
	if k := p.end[slot]; k >= 0 {
		p.free = append(p.free, k)
		p.end[slot] = -1
	}
}

// keepFinal stores the true next step of a frame that ended an episode.
func (p *Replay) keepFinal(slot int, x *Rollout, frame int) {
	o, h, s, m := p.obsLen(), p.cellLen(), p.spec.State, p.maskLen()
	if len(p.free) == 0 {
		p.free = append(p.free, int32(p.finals.n))
		p.finals.n++
		p.finals.obs = append(p.finals.obs, make([]float32, o)...)
		p.finals.cells = append(p.finals.cells, make([]uint16, h)...)
		p.finals.state = append(p.finals.state, make([]float32, s)...)
		if p.mask != nil {
			p.finals.mask = append(p.finals.mask, make([]uint8, m)...)
		}
	}
	k := int(p.free[len(p.free)-1])
	p.free = p.free[:len(p.free)-1]
	p.end[slot] = int32(k)
	obs, cells := x.nextFrame(frame)
	copy(p.finals.obs[k*o:(k+1)*o], obs)
	copy(p.finals.cells[k*h:(k+1)*h], cells)
	copy(p.finals.state[k*s:(k+1)*s], x.NextState(frame))
	if p.mask != nil {
		copy(p.finals.mask[k*m:(k+1)*m], x.NextMask(frame))
	}
}

// Len is the number of frames kept.
func (p *Replay) Len() int { return p.kept() * p.spec.NumEnvs }

func (p *Replay) kept() int { return min(p.steps, p.rows-1) }

// chunks returns which chunk is the first that is kept whole, counted since the start, and how many are.
func (p *Replay) chunks() (first, n int) {
	first = (p.steps - p.kept() + p.chunk - 1) / p.chunk
	return first, p.steps/p.chunk - first
}

// Sample fills dst with frames drawn uniformly, with replacement, from those kept, of which there must be some. If the replay
// gives chunks, it draws len(dst)/L of them and writes their slots in time order, [L, len(dst)/L].
func (p *Replay) Sample(dst []int32, r *rng.Rand) {
	e, width := p.spec.NumEnvs, len(dst)/p.chunk
	first, n := p.chunks()
	for b := range width {
		k := r.IntN(n * e)
		for t := range p.chunk {
			dst[t*width+b] = int32(((first+k/e)*p.chunk+t)%p.rows*e + k%e)
		}
	}
}

// SampleFrames is Sample for single frames, whether or not the replay gives chunks.
func (p *Replay) SampleFrames(dst []int32, r *rng.Rand) {
	e, first := p.spec.NumEnvs, p.steps-p.kept()
	for b := range dst {
		k := r.IntN(p.Len())
		dst[b] = int32((first+k/e)%p.rows*e + k%e)
	}
}

// next returns the position of the step after slot, among the finals or in the ring.
func (p *Replay) next(slot int32) (final bool, at int) {
	if k := p.end[slot]; k >= 0 {
		return true, int(k)
	}
	e := p.spec.NumEnvs
	return false, (int(slot)/e+1)%p.rows*e + int(slot)%e
}

// row returns the width values of row at.
func row[T any](v []T, at, width int) []T { return v[at*width : (at+1)*width] }

// Obs returns the numbers that the agents of the frame observed, [N,O]; Gather adds the cells.
func (p *Replay) Obs(slot int32) []float32 { return row(p.obs, int(slot), p.obsLen()) }

// Gather writes what the agents of the frame saw, as networks read it, into dst [N,I] with I = Spec.InLen().
func (p *Replay) Gather(dst []float32, slot int32) {
	gather(dst, p.spec, p.Obs(slot), row(p.cells, int(slot), p.cellLen()))
}

// State returns the state of the frame, [S].
func (p *Replay) State(slot int32) []float32 { return row(p.state, int(slot), p.spec.State) }

// Mask returns what was allowed in the frame, [N,K]; the task must have masks.
func (p *Replay) Mask(slot int32) []uint8 { return row(p.mask, int(slot), p.maskLen()) }

// NextObs returns the numbers of the true next observations, [N,O], also across the end of an episode; GatherNext adds the cells.
func (p *Replay) NextObs(slot int32) []float32 {
	final, at := p.next(slot)
	if final {
		return row(p.finals.obs, at, p.obsLen())
	}
	return row(p.obs, at, p.obsLen())
}

// GatherNext writes the true next observations, as networks read them, into dst [N,I].
func (p *Replay) GatherNext(dst []float32, slot int32) {
	cells := p.cells
	final, at := p.next(slot)
	if final {
		cells = p.finals.cells
	}
	gather(dst, p.spec, p.NextObs(slot), row(cells, at, p.cellLen()))
}

// NextState returns the true next state, [S], also across the end of an episode.
func (p *Replay) NextState(slot int32) []float32 {
	final, at := p.next(slot)
	if final {
		return row(p.finals.state, at, p.spec.State)
	}
	return row(p.state, at, p.spec.State)
}

// NextMask returns what was allowed in the true next step, [N,K]; the task must have masks.
func (p *Replay) NextMask(slot int32) []uint8 {
	final, at := p.next(slot)
	if final {
		return row(p.finals.mask, at, p.maskLen())
	}
	return row(p.mask, at, p.maskLen())
}

// Discrete returns the actions of the frame, [N].
func (p *Replay) Discrete(slot int32) []int32 { return row(p.choice, int(slot), p.spec.Agents) }

// Alive says which agents took part in the frame, [N].
func (p *Replay) Alive(slot int32) []uint8 { return row(p.alive, int(slot), p.spec.Agents) }

// Reward returns the extrinsic reward of the frame, the mean over its agents.
func (p *Replay) Reward(slot int32) float32 { return p.reward[slot] }

// Bonus returns the intrinsic reward of the frame as it was when collected, the mean over its agents.
func (p *Replay) Bonus(slot int32) float32 { return p.bonus[slot] }

// Ended says whether the frame ended its episode, and whether by a time limit.
func (p *Replay) Ended(slot int32) (terminated, truncated bool) {
	return p.terminated[slot] != 0, p.truncated[slot] != 0
}

// Hidden returns the policy's state before the frame, [N,C]; the frame must be the first of a chunk.
func (p *Replay) Hidden(slot int32) []float32 {
	e, n := p.spec.NumEnvs, p.spec.Agents*p.carryLen
	age := ((p.steps-1-int(slot)/e)%p.rows + p.rows) % p.rows
	chunk := (p.steps - 1 - age) / p.chunk
	return row(p.hidden, chunk%p.chunkRows()*e+int(slot)%e, n)
}

// Save returns what playing the actions of all rollout batches again does not bring back: the policy's states and, if it is asked
// for, the intrinsic rewards.
func (p *Replay) Save(bonus bool) []byte {
	var data []byte
	parts := [][]float32{p.hidden[:p.usedHidden()]}
	if bonus {
		parts = append(parts, p.bonus)
	}
	for _, part := range parts {
		var err error
		if data, err = binary.Append(data, binary.LittleEndian, part); err != nil {
			panic("rl: " + err.Error()) // float32 has a fixed size
		}
	}
	return data
}

// usedHidden is how much of hidden has been written.
func (p *Replay) usedHidden() int {
	return min((p.steps+p.chunk-1)/p.chunk, p.chunkRows()) * p.eachHidden()
}

// Load continues from what Save returned, once all rollout batches up to then have been added, and says whether it held intrinsic
// rewards. To a replay without rollout batches, as of a learner that only plays, it does nothing.
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
