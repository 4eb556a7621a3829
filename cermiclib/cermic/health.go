// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"log/slog"
	"math"

	"cermic/cermiclib/rl"
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
	{"kl", 0.02, 3, "the code tells nothing", "the code runs into the clamp of its spread"},
	{"gamma_hi", 0.01, math.Inf(1), "the memory does not foretell itself, so that nothing is calibrated", ""},
	{"upper_active", 0.05, 0.6, "", "L_UB is violated nearly everywhere"},
	{"lower_active", 0.05, 0.6, "", "L_LB is violated nearly everywhere"},
	{"detector_gain", -0.02, 1, "the detector is worse than one that always says the same", ""},
	{"int_alive", 0.2, 1, "the bonus is nearly the same everywhere", ""},
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

// alive is the share of the bonus that tells agent steps apart, of what Reward reported: 1 for a centred one that varies, 0 for
// one that is the same everywhere.
func alive(paid rl.Scalars) float64 {
	spread := paid["cermic/int_norm_std"]
	return spread / max(spread+math.Abs(paid["cermic/int_norm_mean"]), 1e-12) // a bonus that is 0 everywhere tells nothing apart
}
