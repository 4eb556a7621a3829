// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"context"
	"slices"

	"cermic/envs/rng"

	"cermic/cermiclib/rl"
)

// With earlier=leverage, Λ is that of earlier rollout batches alone, and x = ηᵀΛ⁻¹η says how little they tell of a step, so that ½·log(1+x) is what
// the step would add to what is known. A uniform sample of a hundred thousand steps, small enough for features to be computed anew, holds
// nearly no step of where agents have been ten times, and takes that for where nobody has been. So a step is kept with a probability in
// proportion to its leverage, what the others leave open of it, and stands for the inverse of that probability of steps: what is rare
// is kept as it is, what is common by few steps of a large weight, and Σ w·ηηᵀ stays that of all steps in expectation (Drineas et al. 2006;
// of a stream: Cohen et al. 2016).

// learnEarlier makes Λ of the earlier steps that are kept; where there are none, of the rollout beside, whose features are in f.now, unless that is nil.
func (f *elliptical) learnEarlier(ctx context.Context, beside *rl.Rollout) error {
	earlier := f.past.steps(nil)
	if err := f.measure(ctx, &f.old, f.past.rows(), earlier); err != nil {
		return err
	}
	old := func(k, row int) bool { return f.mine(k, earlier.agent(row)) }
	now := func(k, row int) bool {
		return beside != nil && beside.Alive[row] != 0 && f.mine(k, row%beside.N)
	}
	return f.sumUp(old, now, func(_ int, e *ellipsoid, old, now func(row int) bool) error {
		if f.past.rows() == 0 {
			return e.addWeighted(&f.now, now, func(int) float64 { return 1 })
		}
		return e.addWeighted(&f.old, old, func(row int) float64 { return f.past.Weight[row] })
	})
}

// keepByLeverage takes in the rollout x, which has been rated.
func (f *elliptical) keepByLeverage(x *rl.Rollout) error {
	earlier := f.past.steps(nil)
	old := make([]float32, f.past.rows())
	for k, e := range f.known {
		if err := e.distance(old, &f.old, func(row int) bool { return f.mine(k, earlier.agent(row)) }); err != nil {
			return err
		}
	}
	f.past.resample(x, f.stepsOf(x), old, f.far)
	return nil
}

// commonShare is the part of the probability that goes by the number of steps alone, so that no weight grows beyond what a sum bears.
const commonShare = 0.1

// resample keeps room of the earlier steps, with x = ηᵀΛ⁻¹η old, and of those of the rollout x that are alive, with now; from has what is kept of these.
func (r *reservoir) resample(x *rl.Rollout, from steps, old, now []float32) {
	kept := r.rows()
	names := r.begin(x)
	var rows []int // of the rollout
	for row := range x.Rows() {
		if x.Alive[row] != 0 {
			rows = append(rows, row)
			r.Count[row%x.N]++
		}
	}
	weight, leverage := slices.Clone(r.Weight), make([]float64, kept+len(rows))
	for i, v := range old {
		leverage[i] = min(weight[i]*float64(v), 1) // 1 for what nothing else tells of
	}
	for i, row := range rows {
		v := float64(now[row])
		weight, leverage[kept+i] = append(weight, 1), v/(1+v) // beside Λ with the step itself
	}
	chosen, chance := draw(weight, leverage, r.room, rng.New(r.seed, "cermic leverage", uint64(x.Iteration)))
	next := reservoir{}
	for _, i := range chosen {
		next.Weight = append(next.Weight, weight[i]/chance[i])
		if i < kept {
			next.Obs, next.Act = append(next.Obs, r.Obs[i*r.obs:(i+1)*r.obs]...), append(next.Act, r.Act[i*r.act:(i+1)*r.act]...)
			next.Agent, next.Episode, next.By = append(next.Agent, r.Agent[i]), append(next.Episode, r.Episode[i]), append(next.By, r.By[i])
			continue
		}
		row, at := rows[i-kept], len(next.Agent)
		next.Obs, next.Act = append(next.Obs, make([]float32, r.obs)...), append(next.Act, make([]float32, r.act)...)
		from.obs(next.Obs[at*r.obs:], row)
		from.act(next.Act[at*r.act:], row)
		next.Agent, next.Episode, next.By = append(next.Agent, int32(row%x.N)), append(next.Episode, names[row/x.N]), append(next.By, 0)
	}
	r.Obs, r.Act, r.Agent, r.Episode, r.By, r.Weight = next.Obs, next.Act, next.Agent, next.Episode, next.By, next.Weight
}

// draw chooses room of the steps of these weights, or all if there are no more, systematically (Madow 1949), each with the chance that it returns:
// in proportion to leverage but for commonShare, in proportion to weight, and at most 1.
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

// leverageTiny keeps leverages that are all 0 from dividing by zero.
const leverageTiny = 1e-30
