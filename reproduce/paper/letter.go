// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
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

// Deviation is one setting that departs from what the paper prints.
type Deviation struct {
	Key, Value string   // as for -set
	Paper      []string // what the paper prints
	About      string
}

func (d Deviation) String() string {
	return fmt.Sprintf("%s=%s, where the paper has %s: %s", d.Key, d.Value, strings.Join(d.Paper, " or "), d.About)
}

// Deviations lists where an experiment, in its JSON form, departs from what the paper prints about its module. It is empty
// for methods without the module. The sparse horizon, about which the paper prints nothing, is told by Setting.
func Deviations(experiment json.RawMessage) []Deviation {
	if Setting(experiment, "explore") != "cermic" {
		return nil
	}
	var out []Deviation
	for _, l := range letters {
		if now := Setting(experiment, l.key); now != "" && !slices.Contains(l.values, now) {
			out = append(out, Deviation{l.key, now, l.values, l.about})
		}
	}
	return out
}

// Setting returns the value of a dotted key of an experiment in its JSON form, as -set would take it: the kind of a part,
// else a number, a word or a list. It is empty if there is no such key.
func Setting(experiment json.RawMessage, key string) string {
	now := experiment
	for name := range strings.SplitSeq(key, ".") {
		var object map[string]json.RawMessage
		if json.Unmarshal(now, &object) != nil || object[name] == nil {
			return ""
		}
		now = object[name]
	}
	var part struct{ Kind string }
	if json.Unmarshal(now, &part) == nil && part.Kind != "" {
		return part.Kind
	}
	return string(bytes.Trim(now, `"`))
}
