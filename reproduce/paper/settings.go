// SPDX-License-Identifier: Apache-2.0

package paper

import "strings"

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
