// SPDX-License-Identifier: Apache-2.0

package nb

import (
	"cermic/cermiclib"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// Verdict shows what records say of a claim of the paper, by its ID in paper.Claims: supported, contradicted, undecided or not tested, with task,
// budget, estimate, interval, significance and seeds. Of several sources the first one counts that decides it; without one these are the
// runs of the paper's budget, and then those of the committed tables:
//
//	nb.Verdict("lifts-mappo")
func Verdict(claim string, sources ...paper.Source) {
	if len(sources) == 0 {
		sources = []paper.Source{plan.At(Store(), "paper"), plan.At(Store(), cermiclib.TableBudget)}
	}
	v := Must(Must(paper.FindClaim(claim)).Decide(sources...))
	Show(v.Box())
}

// NoClaim stands in the place of a verdict where what the paper shows claims nothing that runs could decide, and says what it shows instead:
//
//	nb.NoClaim("Figure 1 shows how the module is built.")
func NoClaim(instead string) { Show(viz.Box{Head: "no claim", Text: instead}) }

// Settings shows every setting of a method with what it is, in a table that can be searched. Settings that the given changes, as for -set, move
// away from their defaults stand first:
//
//	nb.Settings("mappo-cermic", "explore.alpha=0.5")
func Settings(method string, changes ...string) { Show(Must(plan.Settings(method, changes...))) }
