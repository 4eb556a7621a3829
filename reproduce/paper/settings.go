// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Hyper is a value of Table 6, the hyper-parameters, by its key in tables.json: "on_policy.minibatch_size". A frame is
// one step of one environment, by all its agents.
//
// paper:tab:core_hyperparameters
func Hyper(key string) string { return Setting(data.Hyper, key) }

// MemorySize is a value of Table 5 by the kind of memory, "graph", "mlp" or "gru", and its key in tables.json:
// "gnn_heads". It is empty where the paper prints a dash.
//
// paper:tab:memory_params_final
func MemorySize(kind, key string) string {
	return strings.TrimPrefix(Setting(data.Memory.Modules, kind+"."+key), "null")
}

// PrintedSetting is what the paper prints about a setting of its module. Where it prints nothing there is nothing to
// depart from.
type PrintedSetting struct {
	Key    string   // as for -set
	Values []string // two where text and appendix differ
	About  string
}

// PrintedSettings are in the order of the paper.
var PrintedSettings = []PrintedSetting{
	{"explore.memory", []string{"graph"}, "the intention model of Sec. 4.2"},
	{"explore.explore_reduce", []string{"sum"}, "the log-likelihood in L_explore"},
	{"explore.explore_nce", []string{"0"}, "no contrastive term in L_explore"},
	{"explore.calib_form", []string{"plain"}, "h(γ·f_n, μ_Ψ), a function without a bound"},
	{"explore.calib_centre", []string{"false"}, "that function itself, not less its mean over the minibatch"},
	{"explore.lb_sign", []string{"printed"}, "the sign of c̲ in L_LB"},
	{"explore.critic_squash", []string{"softmax"}, "bilinear and softmax in Sec. 4.2 and in App. C"},
	{"explore.neg_kind", []string{"noise", "marginal"}, "f_n plus noise in Sec. 4.2, independent samples in App. C"},
	{"explore.mi_bounds", []string{"printed", "appendix"}, "the InfoNCE forms of Eq. 4 and of App. C"},
	{"explore.reward_feat", []string{"raw"}, "the received reward itself beside f_{n-1}"},
	{"explore.nce_coef", []string{"0"}, "no InfoNCE term in the loss"},
	{"explore.int_form", []string{"kl"}, "√KL between the code's distribution and N(0, I) in Sec. 4.4"},
	{"explore.int_others", []string{"0"}, "an agent's own r^i"},
	{"explore.int_norm", []string{"none"}, "r^i as it is"},
	{"explore.int_coef", []string{"1"}, "r = r^e + r^i"},
}

// Deviation is one setting that departs from what the paper prints.
type Deviation struct {
	PrintedSetting
	Value string // as for -set
}

// String is "explore.memory=mlp (paper: graph, the intention model of Section 4.2)".
func (d Deviation) String() string {
	return fmt.Sprintf("%s=%s (paper: %s, %s)", d.Key, d.Value, strings.Join(d.Values, " or "), d.About)
}

// Always are departures that no setting undoes, with what takes the place of a value.
var Always = []Deviation{
	{PrintedSetting{"bias of the critic", []string{"a bilinear layer"}, "Sec. 4.2 and App. C"}, "none"},
	{PrintedSetting{"networks behind r^i", []string{"expectation over Θ"}, "the reward of Sec. 4.4"}, "one"},
	{PrintedSetting{"s_{t+1} in r^i", []string{"conditioned on"}, "the reward of Sec. 4.4"}, "no part"},
}

// Deviations lists where an experiment, in its JSON form, departs from what the paper prints about its module. It is empty
// for methods without the module, and says nothing of what no setting undoes. The sparse horizon, about which the paper
// prints nothing, is named by Setting.
func Deviations(experiment json.RawMessage) []Deviation {
	if Setting(experiment, "explore") != "cermic" {
		return nil
	}
	var out []Deviation
	for _, l := range PrintedSettings {
		if now := Setting(experiment, l.Key); now != "" && !slices.Contains(l.Values, now) {
			out = append(out, Deviation{l, now})
		}
	}
	return out
}

// Setting returns the value of a dotted key of an experiment in its JSON form, as -set would take it: the kind of a
// part, else a number, a word or a list. It is empty if there is no such key.
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
