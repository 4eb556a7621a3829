// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"cermic/cermiclib/memory"
	"cermic/envs/conf"
	"cermic/envs/envtest/must"
)

// decisions lists the settings that select a reading, for every decision, each with a value that Validate must refuse.
// Decisions without settings are fixed in the code.
var decisions = map[int]map[string]string{
	1:  {"alpha": "-1"},
	2:  {"lb_sign": "negative", "c_low": "9"},
	3:  {"d_x": "0", "logstd_min": "2", "logstd_max": "30"},
	4:  {"explore_nce": "-1"},
	5:  {}, // Ψ is divided by the length of x_t
	6:  {"eps": "0", "amb_gamma1": "0", "amb_gamma2": "0.5"},
	7:  {"c_bar": "-1"},
	8:  {"calib_form": "free", "calib_kappa": "-1"},
	9:  {"neg_kind": "none", "n_neg": "0"},
	10: {"mi_bounds": "main", "gamma_ema": "2", "nce_coef": "-1"},
	11: {}, // sign(r)·log(1+|r|)
	12: {"memory.d_node": "0", "memory.d_edge": "0"},
	13: {"memory.pretrain": "half"},
	14: {"int_norm": "rank", "int_memory": "2", "int_coef": "-1", "int_clip": "0"},
	15: {"actor_uses_context": ""},
	16: {"cermic_minibatch": "1"},
	17: {}, // a setting of value learners
	18: {"ema_tau": "2"},
	19: {}, // the detector distinguishes agents
	20: {"memory.queue_len": "0", "memory.gnn_heads": "3"},
	21: {}, // r^i does not depend on s_{t+1}
	22: {}, // θ is not the policy's
	24: {"neg_filter": ""},
	25: {"calib_centre": ""},
	26: {"psi_spread": "wide"},
	27: {}, // health of a bonus
	28: {}, // the scale on which γ is reported
}

func TestDecisionsPageNamesEveryDecisionWithItsSettings(t *testing.T) {
	page := must.Value(os.ReadFile("DECISIONS.md"))
	for d, keys := range decisions {
		row := regexp.MustCompile(fmt.Sprintf(`(?m)^\| D%d \|.*$`, d)).Find(page)
		if row == nil {
			t.Errorf("DECISIONS.md does not list D%d", d)
		}
		for key := range keys {
			if !strings.Contains(string(row), "`"+key+"`") {
				t.Errorf("DECISIONS.md does not name %s at D%d", key, d)
			}
		}
	}
}

func TestEveryDecisionHasSettingsThatAreValidated(t *testing.T) {
	graph := Default()
	graph.Memory = memory.DefaultGraph()
	known := map[string]bool{}
	for _, k := range conf.Keys(graph) {
		known[k.Key] = true
	}
	for d := 1; d <= 28; d++ {
		keys, listed := decisions[d]
		if !listed && d != 23 { // there is no D23
			t.Errorf("D%d is not listed", d)
		}
		for key, bad := range keys {
			if !known[key] {
				t.Errorf("D%d: there is no setting %s", d, key)
				continue
			}
			if bad == "" { // a switch: both values are legal
				continue
			}
			c := graph
			if err := conf.Set(&c, key, bad); err != nil {
				t.Errorf("D%d: %v", d, err)
				continue
			}
			name := key[strings.LastIndex(key, ".")+1:]
			if err := c.Validate(); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("D%d: %s=%s gives %v, want an error that names the setting", d, key, bad, err)
			}
		}
	}
}

func TestEveryDecisionIsCommentedInTheCode(t *testing.T) {
	var source strings.Builder
	for _, pattern := range []string{"*.go", "../memory/*.go"} {
		files := must.Value(filepath.Glob(pattern))
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			text := must.Value(os.ReadFile(f))
			source.Write(text)
		}
	}
	for d := range decisions {
		if !regexp.MustCompile(fmt.Sprintf(`\(D%d\)`, d)).MatchString(source.String()) {
			t.Errorf("no comment mentions D%d", d)
		}
	}
}
