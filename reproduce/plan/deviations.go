// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"

	"cermic/cermiclib/conf"
	"cermic/cermiclib/run"
)

// letter is what the paper prints about a setting of its module. Where it prints nothing there is nothing to depart from.
type letter struct {
	key    string   // as for -set
	values []string // two where text and appendix differ
	about  string
}

// letters in the order of the paper.
var letters = []letter{
	{"explore.memory", []string{"graph"}, "the intention model of Section 4.2 is a graph"},
	{"explore.explore_reduce", []string{"sum"}, "L_explore is the log-likelihood of s_{t+1}, a sum over its components"},
	{"explore.explore_nce", []string{"0"}, "L_explore has no contrastive term"},
	{"explore.lb_sign", []string{"printed"}, "the sign of c̲ in L_LB"},
	{"explore.neg_kind", []string{"noise"}, "negatives are f_n plus noise"},
	{"explore.mi_bounds", []string{"printed", "appendix"}, "γ is bracketed by the InfoNCE forms of Eq. 4 or of the appendix"},
	{"explore.reward_feat", []string{"raw"}, "the received reward itself is part of γ's context"},
	{"explore.nce_coef", []string{"0"}, "the total loss has no InfoNCE term"},
	{"explore.int_norm", []string{"none"}, "r^i is added as it is"},
	{"explore.int_coef", []string{"1"}, "r = r^e + r^i"},
}

// Preset names the settings of e: "default" are ours, "literal" follow the paper's letter; "changed" is added where the
// method's label lists single changes.
func Preset(e run.Experiment) string {
	id, _, changed := strings.Cut(e.Method, " ")
	preset := "default"
	if strings.HasSuffix(id, literalSuffix) {
		preset = "literal"
	}
	if changed {
		preset += ", changed"
	}
	return preset
}

// literalSuffix ends the name of a method whose settings follow the paper's letter.
const literalSuffix = "-literal"

// Deviations lists where the settings of e depart from what the paper prints about its module, one line each; it is empty
// for other methods. The sparse horizon, which the paper does not state, is a fact of the task: see its Spec.
func Deviations(e run.Experiment) []string {
	if e.Explore.Kind() != "cermic" {
		return nil
	}
	keys := conf.Keys(e)
	var out []string
	for _, l := range letters {
		if now, ok := find(keys, l.key); ok && !slices.Contains(l.values, now) {
			out = append(out, fmt.Sprintf("%s=%s, where the paper has %s: %s", l.key, now, strings.Join(l.values, " or "), l.about))
		}
	}
	return out
}
