// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"slices"

	"cermic/envs/rng"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
)

// reservoir is a uniform sample of the agent steps of all earlier rollouts (Vitter 1985, algorithm R), or one that forgets: what is
// kept of a rollout then shrinks geometrically.
type reservoir struct {
	room     int // M
	seed     uint64
	weighted bool         // steps have weights of their own
	obs, act int          // lengths
	Obs, Act []float32    // [≤M,I], [≤M,A]
	Agent    []int32      // [≤M]
	Episode  []uint64     // [≤M] names of their episodes
	By       []uint64     // [≤M] who detected the agent
	Weight   []float64    // [≤M] how many steps it stands for, where each has its own: form_leverage.go
	Count    []float64    // [N] steps of each agent so far, as much of them as is not forgotten
	Number   []uint32     // [E] episodes so far
	filter   *foreseeable // what features see of observations; nil for all
}

func newReservoir(room, act int, b *nn.Build) (*reservoir, error) {
	obs := b.Spec.InLen()
	if size := 4 * room * (obs + act); size > reservoirBytes {
		return nil, fmt.Errorf("cermic: int_form.reservoir is %d steps of %d numbers, %d MiB, more than %d: lower it",
			room, obs+act, size>>20, reservoirBytes>>20)
	}
	return &reservoir{room: room, seed: b.Seed, obs: obs, act: act, Count: make([]float64, b.Spec.Agents), Number: make([]uint32, b.Spec.NumEnvs)}, nil
}

func (r *reservoir) rows() int { return len(r.Agent) }

// draw returns at most as many of the steps that are kept, at random.
func (r *reservoir) draw(most, iteration int) []int32 {
	rows := make([]int32, r.rows())
	rng.New(r.seed, "cermic reservoir draw", uint64(iteration)).Perm(rows)
	rows = rows[:min(most, len(rows))]
	slices.Sort(rows)
	return rows
}

// steps are those of rows, or all that are kept where rows is nil.
func (r *reservoir) steps(rows []int32) steps {
	at := func(k int) int {
		if rows == nil {
			return k
		}
		return int(rows[k])
	}
	return steps{
		obs:   func(to []float32, k int) { copy(to, r.Obs[at(k)*r.obs:(at(k)+1)*r.obs]) },
		act:   func(to []float32, k int) { copy(to, r.Act[at(k)*r.act:(at(k)+1)*r.act]) },
		agent: func(k int) int { return int(r.Agent[at(k)]) },
		by:    func(k int) uint64 { return r.By[at(k)] },
	}
}

// total is the number of steps so far.
func (r *reservoir) total() (n float64) {
	for _, c := range r.Count {
		n += c
	}
	return n
}

// fade leaves steps so far as much of their weight.
func (r *reservoir) fade(keep float64) {
	for i := range r.Count {
		r.Count[i] *= keep
	}
	for i := range r.Weight {
		r.Weight[i] *= keep
	}
}

// episodes names the episodes of x, [T,E]; take must not have seen x yet.
func (r *reservoir) episodes(x *rl.Rollout) []uint64 {
	names, number := make([]uint64, x.T*x.E), slices.Clone(r.Number)
	for frame := range names {
		c := frame % x.E
		if x.IsFirst[frame] != 0 {
			number[c]++
		}
		names[frame] = uint64(c)<<32 | uint64(number[c])
	}
	return names
}

// begin is episodes of a rollout that is taken in: from now on they count among those so far.
func (r *reservoir) begin(x *rl.Rollout) []uint64 {
	names := r.episodes(x)
	for frame, first := range x.IsFirst {
		r.Number[frame%x.E] += uint32(first)
	}
	return names
}

// take samples the agent steps of x that are alive; from has what is kept of them.
func (r *reservoir) take(x *rl.Rollout, from steps) {
	names := r.begin(x)
	random := rng.New(r.seed, "cermic reservoir", uint64(x.Iteration))
	total := r.total()
	for row := range x.Rows() {
		if x.Alive[row] == 0 {
			continue
		}
		total++
		r.Count[row%x.N]++
		at := r.rows()
		if at == r.room {
			if at = int(random.Float64() * max(total, float64(r.room))); at >= r.room {
				continue
			}
		} else {
			r.Obs = append(r.Obs, make([]float32, r.obs)...)
			r.Act = append(r.Act, make([]float32, r.act)...)
			r.Agent, r.Episode, r.By = append(r.Agent, 0), append(r.Episode, 0), append(r.By, 0)
		}
		from.obs(r.Obs[at*r.obs:(at+1)*r.obs], row)
		from.act(r.Act[at*r.act:(at+1)*r.act], row)
		r.Agent[at], r.Episode[at] = int32(row%x.N), names[row/x.N]
		if from.by != nil {
			r.By[at] = from.by(row)
		}
	}
}

// formState is what a form of r^i keeps outside the variable store. encoding/gob writes floats bit for bit.
type formState struct {
	Obs, Act []float32
	Agent    []int32
	Episode  []uint64
	By       []uint64
	Weight   []float64
	Count    []float64
	Number   []uint32
	Inverse  []float64
	Filter   foreseeableState
}

// encodeForm saves a reservoir and, if there are any, the running episodes.
func encodeForm(r *reservoir, p *episodes) []byte {
	s := formState{Obs: r.Obs, Act: r.Act, Agent: r.Agent, Episode: r.Episode, By: r.By, Weight: r.Weight, Count: r.Count, Number: r.Number}
	if p != nil {
		s.Inverse = p.Inverse
	}
	if r.filter != nil {
		s.Filter = r.filter.save()
	}
	var data bytes.Buffer
	if err := gob.NewEncoder(&data).Encode(s); err != nil {
		panic("cermic: cannot save the form of the bonus: " + err.Error()) // gob encodes every slice of numbers
	}
	return data.Bytes()
}

// decodeForm is the way back.
func decodeForm(state []byte, r *reservoir, p *episodes) error {
	s, err := r.read(state)
	if err != nil {
		return err
	}
	inverse := 0
	if p != nil {
		inverse = len(p.Inverse)
	}
	if len(s.Inverse) != inverse || len(s.Number) != len(r.Number) {
		return fmt.Errorf("the saved state of int_form does not fit its scope or the number of parallel environments: it holds %d, want %d", len(s.Number), len(r.Number))
	}
	if err := r.restore(s); err != nil {
		return err
	}
	r.Number = s.Number
	if p != nil {
		p.Inverse = s.Inverse
	}
	return nil
}

// recallForm is decodeForm without what counts running episodes, of which there are as many as copies.
func recallForm(state []byte, r *reservoir) error {
	s, err := r.read(state)
	if err != nil {
		return err
	}
	return r.restore(s)
}

// read decodes a state and returns an error unless it holds earlier agent steps of this experiment.
func (r *reservoir) read(state []byte) (s formState, err error) {
	if err := gob.NewDecoder(bytes.NewReader(state)).Decode(&s); err != nil {
		return s, fmt.Errorf("this is no saved state of int_form: %w", err)
	}
	n := len(s.Agent)
	if n > r.room || len(s.Obs) != n*r.obs || len(s.Act) != n*r.act || len(s.Episode) != n || len(s.By) != n || len(s.Weight) != 0 && len(s.Weight) != n || len(s.Count) != len(r.Count) {
		return s, fmt.Errorf("the saved state of int_form does not fit its settings or the task: it holds %d agent steps of %d agents, want at most %d of %d",
			n, len(s.Count), r.room, len(r.Count))
	}
	if len(s.Weight) > 0 && !r.weighted {
		return s, fmt.Errorf("the saved state of int_form holds steps of different weights, which a uniform sample has not: leave int_form.earlier as it was")
	}
	return s, nil
}

func (r *reservoir) restore(s formState) error {
	if r.filter != nil && len(s.Filter.NotZero) > 0 { // what was saved before there was a filter has none
		if err := r.filter.restore(s.Filter); err != nil {
			return err
		}
	}
	if r.weighted && len(s.Weight) == 0 { // a uniform sample goes on as a weighted one
		all := reservoir{Count: s.Count}
		s.Weight = slices.Repeat([]float64{all.total() / float64(max(len(s.Agent), 1))}, len(s.Agent))
	}
	r.Obs, r.Act, r.Agent, r.Episode, r.By, r.Weight, r.Count = s.Obs, s.Act, s.Agent, s.Episode, s.By, s.Weight, s.Count
	return nil
}
