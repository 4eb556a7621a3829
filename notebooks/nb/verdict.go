// SPDX-License-Identifier: Apache-2.0

package nb

import (
	"cermic/cermiclib"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// Verdict shows the verdict on a claim of the paper, by its ID in paper.Claims: supported, contradicted, undecided or
// not tested, with task, budget, estimate, interval, significance and seeds. The first source that decides it counts;
// without sources these are the runs of the paper's budget, then the runs of the committed tables:
//
//	nb.Verdict("lifts-mappo")
func Verdict(claim string, sources ...paper.Source) {
	if len(sources) == 0 {
		sources = []paper.Source{plan.At(Store(), "paper"), plan.At(Store(), cermiclib.TableBudget)}
	}
	v := Must(Must(paper.FindClaim(claim)).Decide(sources...))
	Show(v.Box())
}

// NoClaim shows why a figure of the paper has no verdict:
//
//	nb.NoClaim("Figure 1 shows how the module is built.")
func NoClaim(instead string) { Show(viz.Box{Head: "no claim", Text: instead}) }

// Settings shows a searchable table of every setting of a method. Changed ones come first:
//
//	nb.Settings("mappo-cermic", "explore.alpha=0.5")
func Settings(method string, changes ...string) { Show(Must(plan.Settings(method, changes...))) }
