// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"bytes"
	"encoding/gob"
	"fmt"

	"cermic/cermiclib/rl"
	"cermic/envs/rng"
)

// reservoir keeps earlier agent steps, each with the number of steps that it represents. A uniform sample of a hundred
// thousand steps holds almost no steps from places with ten visits, so these would look new. Steps are therefore kept
// with a probability in proportion to their leverage, the part of a step that the others leave unexplained. Rare steps
// are all kept; common ones are represented by a few of large weight. The expectation of Σ w·ηηᵀ is the sum over all
// steps (Drineas et al. 2006; for streams: Cohen et al. 2016).
type reservoir struct {
	room     int // M
	seed     uint64
	obs, act int // lengths
	reservoirState
}

// reservoirState is the part of a reservoir that a checkpoint holds. encoding/gob writes floats bit for bit.
type reservoirState struct {
	Obs, Act []float32 // [≤M,I], [≤M,A]
	Weight   []float64 // [≤M] number of steps that each represents
}

func newReservoir(room, obs, act int, seed uint64) (*reservoir, error) {
	if size := 4 * room * (obs + act); size > reservoirBytes {
		return nil, fmt.Errorf("cermic: int_form.reservoir is %d steps of %d numbers, %d MiB, more than %d: lower it",
			room, obs+act, size>>20, reservoirBytes>>20)
	}
	return &reservoir{room: room, seed: seed, obs: obs, act: act}, nil
}

func (r *reservoir) rows() int { return len(r.Weight) }

// steps returns the kept steps.
func (r *reservoir) steps() steps {
	return steps{
		obs: func(to []float32, k int) { copy(to, r.Obs[k*r.obs:]) },
		act: func(to []float32, k int) { copy(to, r.Act[k*r.act:]) },
	}
}

// resample selects at most room steps from the kept ones and from the steps of living agents in the rollout x. old and
// now hold ηᵀΛ⁻¹η of the kept steps and of x; from has the inputs of x.
func (r *reservoir) resample(x *rl.Rollout, from steps, old, now []float64) {
	weight, leverage := append([]float64(nil), r.Weight...), make([]float64, 0, len(old)+len(now))
	for k, v := range old {
		leverage = append(leverage, min(weight[k]*v, 1)) // 1 for a direction that no other step covers
	}
	var rows []int // of the rollout
	for row, v := range now {
		if x.Alive[row] != 0 {
			rows, weight, leverage = append(rows, row), append(weight, 1), append(leverage, v/(1+v)) // by Λ plus the step itself
		}
	}
	chosen, chance := draw(weight, leverage, r.room, rng.New(r.seed, "cermic leverage", uint64(x.Iteration)))
	n := len(chosen)
	next := reservoirState{Obs: make([]float32, n*r.obs), Act: make([]float32, n*r.act), Weight: make([]float64, n)}
	for at, i := range chosen {
		source, row := r.steps(), i
		if i >= len(old) {
			source, row = from, rows[i-len(old)]
		}
		next.Weight[at] = weight[i] / chance[i]
		source.obs(next.Obs[at*r.obs:(at+1)*r.obs], row)
		source.act(next.Act[at*r.act:(at+1)*r.act], row)
	}
	r.reservoirState = next
}

const (
	commonShare  = 0.1   // share of the probability by weight alone; it bounds the weights
	leverageTiny = 1e-30 // keeps leverages that are all 0 from dividing by zero
)

// draw selects room steps by systematic sampling (Madow 1949), or all steps if there are not more. It returns each
// step's probability, at most 1. commonShare of it is in proportion to weight, the rest to leverage.
func draw(weight, leverage []float64, room int, random *rng.Rand) (chosen []int, chance []float64) {
	chance = make([]float64, len(weight))
	if len(weight) <= room {
		for i := range chance {
			chosen, chance[i] = append(chosen, i), 1
		}
		return chosen, chance
	}
	var weights, leverages float64
	for i := range weight {
		weights, leverages = weights+weight[i], leverages+leverage[i]
	}
	worth := make([]float64, len(weight))
	for i := range worth {
		worth[i] = commonShare*weight[i]/weights + (1-commonShare)*leverage[i]/max(leverages, leverageTiny)
	}
	total := func(scale float64) (n float64) {
		for _, v := range worth {
			n += min(scale*v, 1)
		}
		return n
	}
	low, high := 0.0, float64(room)
	for total(high) < float64(room) {
		low, high = high, 2*high
	}
	for range 60 {
		if middle := (low + high) / 2; total(middle) < float64(room) {
			low = middle
		} else {
			high = middle
		}
	}
	sum, next := 0.0, random.Float64()
	for i, v := range worth {
		chance[i] = min(high*v, 1)
		if sum += chance[i]; sum > next && len(chosen) < room {
			chosen, next = append(chosen, i), next+1
		}
	}
	return chosen, chance
}

func (r *reservoir) save() []byte {
	var data bytes.Buffer
	if err := gob.NewEncoder(&data).Encode(r.reservoirState); err != nil {
		panic("cermic: cannot save the reservoir of the bonus: " + err.Error()) // gob encodes every slice of numbers
	}
	return data.Bytes()
}

func (r *reservoir) load(state []byte) error {
	var s reservoirState
	if err := gob.NewDecoder(bytes.NewReader(state)).Decode(&s); err != nil {
		return fmt.Errorf("this is no saved state of int_form: %w", err)
	}
	if n := len(s.Weight); n > r.room || len(s.Obs) != n*r.obs || len(s.Act) != n*r.act {
		return fmt.Errorf("the saved state of int_form does not fit its settings or the task: it holds %d steps "+
			"of %d numbers, want at most %d steps", n, len(s.Obs)+len(s.Act), r.room)
	}
	r.reservoirState = s
	return nil
}
