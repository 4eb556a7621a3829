// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"log/slog"

	"cermic/cermiclib/rl"
)

// healthRanges are the values between which a claim about the module is worth making.
var healthRanges = []struct {
	name     string
	min, max float64
	low      string // what a value below min means; empty: nothing to worry about once the code lies inside its band
	high     string
}{
	{"enc_std", 0.1, 2, "the embeddings have collapsed", "the embeddings are not normalised"},
	{"context_std", 0.05, 2, "the memory's features have collapsed", "the memory's features are not normalised"},
	{"upper_active", 0.05, 0.6, "", "L_UB is violated nearly everywhere"},
	{"lower_active", 0.05, 0.6, "", "L_LB is violated nearly everywhere"},
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
	h.updates++
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
