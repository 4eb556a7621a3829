// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"bytes"
	"encoding/gob"
	"fmt"

	"cermic/envs/rng"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
)

// reservoir is a uniform sample of the agent steps of all earlier rollouts (Vitter 1985, algorithm R), or one that forgets: what is
// kept of a rollout then shrinks geometrically.
type reservoir struct {
	room     int // M
	seed     uint64
	obs, act int       // lengths
	Obs, Act []float32 // [≤M,I], [≤M,A]
	Agent    []int32   // [≤M]
	Count    []float64 // [N] steps of each agent so far, as much of them as is not forgotten
}

func newReservoir(room, act int, b *nn.Build) (*reservoir, error) {
	obs := b.Spec.InLen()
	if size := 4 * room * (obs + act); size > reservoirBytes {
		return nil, fmt.Errorf("cermic: int_form.reservoir is %d steps of %d numbers, %d MiB, more than %d: lower it",
			room, obs+act, size>>20, reservoirBytes>>20)
	}
	return &reservoir{room: room, seed: b.Seed, obs: obs, act: act, Count: make([]float64, b.Spec.Agents)}, nil
}

func (r *reservoir) rows() int { return len(r.Agent) }

// steps are those that are kept.
func (r *reservoir) steps() steps {
	return steps{
		func(to []float32, row int) { copy(to, r.Obs[row*r.obs:(row+1)*r.obs]) },
		func(to []float32, row int) { copy(to, r.Act[row*r.act:(row+1)*r.act]) },
		func(row int) int { return int(r.Agent[row]) },
	}
}

// weight is how many steps each that is kept stands for, of agent k or of all.
func (r *reservoir) weight(k int, whose string) float64 {
	if whose == WhoseAll {
		return r.total() / max(float64(r.rows()), 1)
	}
	kept := 0.0
	for _, agent := range r.Agent {
		if int(agent) == k {
			kept++
		}
	}
	return r.Count[k] / max(kept, 1)
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
}

// take samples the agent steps of x that are alive; from has what is kept of them.
func (r *reservoir) take(x *rl.Rollout, from steps) {
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
			r.Agent = append(r.Agent, 0)
		}
		from.obs(r.Obs[at*r.obs:(at+1)*r.obs], row)
		from.act(r.Act[at*r.act:(at+1)*r.act], row)
		r.Agent[at] = int32(row % x.N)
	}
}

// formState is what a form of r^i keeps outside the variable store. encoding/gob writes floats bit for bit.
type formState struct {
	Obs, Act []float32
	Agent    []int32
	Count    []float64
	Inverse  []float64
}

// encodeForm saves a reservoir and, if there are any, the running episodes.
func encodeForm(r *reservoir, p *episodes) []byte {
	s := formState{Obs: r.Obs, Act: r.Act, Agent: r.Agent, Count: r.Count}
	if p != nil {
		s.Inverse = p.Inverse
	}
	var data bytes.Buffer
	if err := gob.NewEncoder(&data).Encode(s); err != nil {
		panic("cermic: cannot save the form of the bonus: " + err.Error()) // gob encodes every slice of numbers
	}
	return data.Bytes()
}

// decodeForm is the way back.
func decodeForm(state []byte, r *reservoir, p *episodes) error {
	var s formState
	if err := gob.NewDecoder(bytes.NewReader(state)).Decode(&s); err != nil {
		return fmt.Errorf("this is no saved state of int_form: %w", err)
	}
	inverse := 0
	if p != nil {
		inverse = len(p.Inverse)
	}
	if n := len(s.Agent); n > r.room || len(s.Obs) != n*r.obs || len(s.Act) != n*r.act || len(s.Count) != len(r.Count) || len(s.Inverse) != inverse {
		return fmt.Errorf("the saved state of int_form does not fit its settings or the task: it holds %d agent steps of %d agents, want at most %d of %d",
			n, len(s.Count), r.room, len(r.Count))
	}
	r.Obs, r.Act, r.Agent, r.Count = s.Obs, s.Act, s.Agent, s.Count
	if p != nil {
		p.Inverse = s.Inverse
	}
	return nil
}
