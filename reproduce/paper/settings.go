// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"cermic/envs/conf"
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
	return strings.TrimPrefix(Setting(data.Memories, kind+"."+key), "null")
}

// PrintedSetting is what the paper prints about a setting of its module. Where it prints nothing there is nothing to
// depart from.
type PrintedSetting struct {
	Key    string   // as for -set
	Values []string // two where text and appendix differ
	About  string
}

// PrintedSettings are in the order of the paper.
var PrintedSettings = data.Settings

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

// Deviations lists where an experiment, in its JSON form, departs from what the paper prints about its module. It is
// empty for methods without the module, and says nothing of what no setting undoes. The sparse horizon, about which
// the paper prints nothing, is named by Setting.
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

// Setting returns the value of a dotted key of an experiment in its JSON form, in the syntax of -set. The value is
// the kind of a part, or else a number, a word or a list. It is empty if there is no such key.
func Setting(experiment json.RawMessage, key string) string {
	values, _ := conf.Values(experiment) // none of a run without settings
	return values[key]
}
