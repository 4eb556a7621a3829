// SPDX-License-Identifier: Apache-2.0

package nb

import "cermic/reproduce/paper"

// Verdict shows what records say of a claim of the paper, by its ID in paper.Claims: supported, contradicted or not tested, with task,
// budget, estimate, interval, significance and seeds. Of several sources the first one that has runs for it counts:
//
//	nb.Verdict("lifts-mappo", plan.At(nb.Store(), "paper"), plan.At(nb.Store(), "short"))
func Verdict(claim string, sources ...paper.Source) {
	v := Must(Must(paper.FindClaim(claim)).Decide(sources...))
	Show(v.Box())
}
