// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"log/slog"
	"math"

	"cermic/cermiclib/rl"
	"cermic/cermiclib/stats"
)

// healthRanges are the values between which a claim about the module is worth making.
var healthRanges = []struct {
	name     string
	min, max float64
	low      string // what a value below min means; empty: nothing to worry about once the code lies inside its band
	high     string // what a value above max means
}{
	{"enc_std", 0.1, 2, "the embeddings have collapsed", "the embeddings are not normalised"},
	{"context_std", 0.05, 2, "the memory's features have collapsed", "the memory's features are not normalised"},
	{"context_before", 0.02, 1, "hardly any agent step has a feature before it, so that the critic learns next to nothing; with the graph memory, nobody is detected", ""},
	{"kl", 0.02, 3, "the code carries no information", "the code is held by the clamp of its standard deviation"},
	{"nce_share", 0, 0.995, "", "the critic tells f_n from other features no better than chance: γ is 0 and nothing is calibrated"},
	{"gamma_hi", 0.01, math.Inf(1), "the memory does not foretell itself, so that nothing is calibrated", ""},
	{"upper_active", 0.05, 0.6, "", "L_UB is violated nearly everywhere"},
	{"lower_active", 0.05, 0.6, "", "L_LB is violated nearly everywhere"},
	{"detector_gain", -0.02, 1, "the detector is worse than one that always says the same", ""},
	{"int_variation", 0.1, math.Inf(1), "the bonus is nearly the same everywhere", ""},
	{"int_rarity", 0.1, 1, "the bonus does not go with rarity: it is no larger where the task has been visited less", ""},
}

// healthSettle is the number of updates before a warning is logged: the first ones bring the code from KL = 0 into its band.
const healthSettle = 10

// health remembers what has been warned of.
type health struct {
	updates int
	warned  map[string]bool
}

// check adds 1 or 0 under cermic/warn_<name> for each range that was left or kept. Once things have settled, it logs the first
// time that each is left.
func (h *health) check(s rl.Scalars) {
	for _, r := range healthRanges {
		value, known := s["cermic/"+r.name]
		if !known {
			continue
		}
		s["cermic/warn_"+r.name] = 0
		if value >= r.min && value <= r.max {
			continue
		}
		s["cermic/warn_"+r.name] = 1
		meaning := r.high
		if value < r.min {
			meaning = r.low
		}
		if meaning == "" || h.updates <= healthSettle || h.warned[r.name] {
			continue
		}
		if h.warned == nil {
			h.warned = map[string]bool{}
		}
		h.warned[r.name] = true
		slog.Warn("cermic: "+meaning, "scalar", "cermic/"+r.name, "value", value, "from", r.min, "to", r.max)
	}
}

// judgeBonus adds to what Reward reported how healthy r^i is before it is normalised: after that, every bonus has the spread that
// its normalisation gives it, and none looks dead (D27).
//
//	int_variation  standard deviation over |mean| of r^i over agent steps; 0 for a bonus that is 0 everywhere
//	int_rarity     rank correlation of r^i with the inverse of the visit counts, where x has these
//
// r^i has the part of peers in it that int_others gives; visits are of the cell that a step led to.
func judgeBonus(s rl.Scalars, x *rl.Rollout, raw []float32) {
	s["cermic/int_variation"] = 0
	if mean := math.Abs(s["cermic/int_mean"]); mean > 0 {
		s["cermic/int_variation"] = s["cermic/int_std"] / mean
	}
	if len(x.Visits) != len(raw) {
		return
	}
	var bonus, rarity []float64
	for row, r := range raw {
		if x.Alive[row] != 0 {
			bonus, rarity = append(bonus, float64(r)), append(rarity, -float64(x.Visits[row])) // ranks as the inverse does
		}
	}
	s["cermic/int_rarity"] = stats.RankCorrelation(bonus, rarity)
}
