// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"fmt"
	"log/slog"
	"math"

	"cermic/cermiclib/rl"
	"cermic/cermiclib/stats"
)

// healthRanges are the healthy ranges of diagnostics. Outside of them, a run says little about the method.
var healthRanges = []struct {
	name     string
	min, max float64
	low      string // meaning of a value below min; empty: no warning
	high     string // meaning of a value above max; empty: no warning
}{
	{"enc_std", 0.1, 2, "the embeddings have collapsed", "the embeddings are not normalised"},
	{"context_std", 0.05, 2, "the memory's features have collapsed", "the memory's features are not normalised"},
	{"context_before", 0.02, 1, "few agent steps have an f_{n-1}; a graph memory may detect no peers", ""},
	{"kl", 0.02, 3, "the code carries no information", "the code is held by the clamp of its standard deviation"},
	{"nce_share", 0, 0.995, "", "the critic is no better than chance: γ is 0 and nothing is calibrated"},
	{"gamma_hi", 0.01, math.Inf(1), "f_{n-1} does not predict f_n, so nothing is calibrated", ""},
	{"upper_active", 0.05, 0.6, "", "L_UB is violated nearly everywhere"},
	{"lower_active", 0.05, 0.6, "", "L_LB is violated nearly everywhere"},
	{"detector_gain", -0.02, 1, "the detector is worse than a constant guess", ""},
	{"int_variation", 0.1, math.Inf(1), "the bonus hardly varies, so it guides exploration little", ""},
	{"int_rarity", 0.1, 1, "the bonus is no larger in places that were visited less", ""},
}

// healthSettle is the number of updates without warnings: initially the code moves from KL = 0 into its band.
const healthSettle = 10

// health tracks which warnings have been logged.
type health struct {
	updates int
	warned  map[string]bool
}

// check writes cermic/warn_<name> for each range: 1 if the value lies outside, else 0. After healthSettle updates it
// logs the first violation of each.
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
		meaning, want := r.high, fmt.Sprint("at most ", r.max)
		if value < r.min {
			meaning, want = r.low, fmt.Sprint("at least ", r.min)
		}
		if meaning == "" || h.updates <= healthSettle || h.warned[r.name] {
			continue
		}
		if h.warned == nil {
			h.warned = map[string]bool{}
		}
		h.warned[r.name] = true
		slog.Warn("cermic: "+meaning, "scalar", "cermic/"+r.name, "value", value, "want", want)
	}
}

// judgeBonus adds the health of r^i before normalisation, after which every bonus has the same spread and none looks
// dead (D27). Visits count the cell that a step led to; r^i includes the peers' part of int_others.
//
//	int_variation  standard deviation over |mean| of r^i over agent steps; 0 for a bonus that is 0 everywhere
//	int_rarity     rank correlation of r^i with the inverse of the visit counts, where x has these
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
			// Same ranks as the inverse.
			bonus, rarity = append(bonus, float64(r)), append(rarity, -float64(x.Visits[row]))
		}
	}
	s["cermic/int_rarity"] = stats.RankCorrelation(bonus, rarity)
}
