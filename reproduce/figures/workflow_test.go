// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"slices"
	"strings"
	"testing"

	"cermic/envs/envtest/must"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// The drawing must change with the object that it shows.
func TestTheWorkflowShowsTheExperimentsOwnNetworks(t *testing.T) {
	drawn := func(method string, set ...string) viz.Diagram {
		e := configure(t, plan.Request{Task: "navigation", Method: method, Budget: "short", Set: set})
		d := must.Get(Workflow(e))(t)
		must.Do(t, d.Check())
		return d
	}
	for memory, count := range map[string]string{"mlp": "86 208", "graph": "1 008 211", "gru": "670 400"} {
		d := drawn("mappo-cermic", "explore.memory="+memory, "explore.alpha=0.7")
		var all strings.Builder
		for _, n := range d.Nodes {
			all.WriteString(n.Title + " " + strings.Join(n.Lines, " ") + "\n")
		}
		if has := strings.Contains(all.String(), "L_det"); has != (memory == "graph") {
			t.Errorf("%s: a loss of a detector: %v, want it of the graph alone", memory, has)
		}
		for _, want := range []string{count, "memory: " + memory, "α = 0.7", "[B, 18]", "peers [B, 9]", "28 352"} {
			if !strings.Contains(all.String(), want) {
				t.Errorf("%s: nothing says %q:\n%s", memory, want, all.String())
			}
		}
	}
	for form, want := range map[string][2]string{"kl": {"√μ_Ψ", "psi"}, "elliptical": {"ηᵀΛ⁻¹η) of x_t", "x"}} {
		d := drawn("mappo-cermic-ucb", "explore.memory=mlp", "explore.int_form="+form)
		said := slices.ContainsFunc(d.Nodes, func(n viz.Node) bool { return n.Name == "reward" && strings.Contains(n.Lines[0], want[0]) })
		led := slices.ContainsFunc(d.Arrows, func(a viz.Arrow) bool { return a.From == want[1] && a.To == "reward" })
		if !said || !led {
			t.Errorf("form %s: the formula of r^i stands there: %v, an arrow from %s leads to it: %v", form, said, want[1], led)
		}
	}
	if _, err := Workflow(configure(t, plan.Request{Task: "navigation", Method: "mappo", Budget: "smoke"})); err == nil {
		t.Error("a module is drawn that does not exist")
	}
}
