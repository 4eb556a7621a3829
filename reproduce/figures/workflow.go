// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"fmt"
	"slices"

	"cermic/cermiclib/cermic"
	"cermic/cermiclib/experiment"
	"cermic/cermiclib/memory"
	"cermic/cermiclib/rl"
	"cermic/envs/conf"
	"cermic/viz"
)

// Workflow draws how data passes through CERMIC's module in an experiment that has one. It shows the shapes and
// numbers of parameters of the networks that the experiment builds. Dashed arrows pass no gradient.
//
// paper:fig1  the module's objective and networks
func Workflow(e experiment.Config) (viz.Diagram, error) {
	if e.Explore.Kind() != "cermic" {
		return viz.Diagram{}, fmt.Errorf("%s has no CERMIC module to draw; want mappo-cermic or qmix-cermic", e.Label())
	}
	parts, spec, err := experiment.Parts(e)
	if err != nil {
		return viz.Diagram{}, err
	}
	set := func(key string) string { value, _ := conf.Get(e, "explore."+key); return value }
	size := func(name string) string { return thousands(parameters(parts, "cermic/"+name)) + " parameters" }
	shape := func(n string) string { return "[B, " + n + "]" }
	ds, dx, df := set("d_s"), set("d_x"), set("memory.d_f")
	const data, network, loss = viz.Data, viz.Network, viz.Loss
	node := func(kind viz.NodeKind, name, title string, column, row float64, lines ...string) viz.Node {
		return viz.Node{Name: name, Title: title, Lines: lines, Column: column, Row: row, Kind: kind}
	}
	likelihood := []string{"log p(s_{t+1} | x_t)", "weight α = " + set("alpha")}
	if nce := set("explore_nce"); nce != "0" {
		likelihood = slices.Insert(likelihood, 1, "+ "+nce+" × contrast")
	}
	formula, source := bonus(set)
	scale := "norm " + set("int_norm")
	reads := []string{shape(fmt.Sprint(spec.ObsLen()))}
	if more := rl.PeerSpec(spec).ObsLen() - spec.ObsLen(); more > 0 && set("peer_channels") == "true" {
		reads = append(reads, "peers "+shape(fmt.Sprint(more)))
	}
	d := viz.Diagram{
		Title: fmt.Sprintf("%s on %s: α = %s, memory %s", e.Label(), e.Task.Kind(), set("alpha"), set("memory")),
		Nodes: []viz.Node{
			node(data, "o", "o_t", 0, 2, reads...), node(data, "a", "a_t", 0, 1, shape(fmt.Sprint(spec.Act.Len()))),
			node(data, "o'", "o_{t+1}", 0, 0, reads...), node(data, "r", "r^e_{t-1}", 0, 4, shape("1")),
			node(network, "momentum", "θᵐ", 1, 0, "follows θ"),
			node(network, "encoder", "θ", 1, 1.9, "s_t "+shape(ds), size("encoder")),
			node(network, "memory", "memory: "+set("memory"), 1, 3, "f_n "+shape(df), size("memory")),
			node(network, "transition", "φ", 2, 1.5, "μ, σ "+shape(dx), size("transition")),
			node(network, "critic", "InfoNCE critic", 2, 4, "γ", size("critic")),
			node(data, "x", "x_t ~ N(μ, σ²)", 3, 0.5, shape(dx)),
			node(data, "psi", "Ψ", 3, 2, "μ_Ψ, Σ_Ψ", "[B], closed form"),
			node(network, "decoder", "ψ", 4, 0.5, "ŝ_{t+1} "+shape(ds), size("decoder")),
			node(network, "calibration", "h", 3, 3.5, "h(γ f_n, μ_Ψ) [B]", size("calibration")),
			node(loss, "explore", "L_explore", 5, 0, likelihood...),
			node(viz.Reward, "reward", "r^i", 5, 1.6, formula, scale, "× "+set("int_coef")+", added to r^e"),
			node(loss, "exploit", "L_UB + L_LB", 5, 3,
				"h + β√Σ_Ψ ≤ c_bar = "+set("c_bar"), "h − β√Σ_Ψ ≥ c_low = "+set("c_low")),
			node(loss, "nce", "L_nce", 5, 4.2, "InfoNCE, weight "+set("nce_coef")),
		},
		Arrows: []viz.Arrow{
			{From: "o'", To: "momentum", Dashed: true}, {From: "o", To: "encoder"}, {From: "a", To: "transition"},
			{From: "o", To: "memory"}, {From: "encoder", To: "transition"}, {From: "transition", To: "x"},
			{From: "transition", To: "psi"}, {From: "x", To: "decoder"}, {From: "decoder", To: "explore"},
			{From: "momentum", To: "explore", Label: "s_{t+1}", Dashed: true}, {From: "psi", To: "calibration"},
			{From: "psi", To: "exploit", Label: "√Σ_Ψ"}, {From: "memory", To: "calibration", Label: "f_n"},
			{From: "memory", To: "critic", Label: "f_n, f_{n-1}"}, {From: "r", To: "critic"},
			{From: "critic", To: "calibration", Label: "γ", Dashed: true},
			{From: "calibration", To: "exploit"}, {From: "critic", To: "nce"},
			{From: source, To: "reward", Dashed: true},
		},
	}
	if set("memory.pretrain") == memory.PretrainNone { // of a graph; a pre-trained detector is frozen
		labels := fmt.Sprintf("[B, %d], labels", spec.Agents)
		d.Nodes = append(d.Nodes, node(data, "seen", "visible peers", 0, 5, labels, "for training only"),
			node(loss, "detector", "L_det", 1, 5, "cross-entropy of p_k", "weight "+set("memory.det_coef")))
		d.Arrows = append(d.Arrows, viz.Arrow{From: "memory", To: "detector", Label: "p_k"},
			viz.Arrow{From: "seen", To: "detector"})
	}
	return d, nil
}

// bonus is the formula of r^i by the settings of an experiment, and the node that it is computed from.
func bonus(set func(key string) string) (formula, source string) {
	if set("int_form") == cermic.DefaultElliptical().Kind() {
		return "½ log(1 + ηᵀΛ⁻¹η) of x_t", "x"
	}
	return "√μ_Ψ", "psi" // the paper's
}
