// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"fmt"

	"cermic/cermiclib/results"
	"cermic/cermiclib/theory"
)

// Claims are what the paper says of results, in its order.
var Claims = []Claim{
	{ID: "theorem-1", Label: "theo:1", Shown: "10_theory",
		Says:  "In linear MDPs r^i lies between ρ and √2·ρ times the UCB bonus, for any ρ > 0.",
		proof: sandwich},
	{ID: "sparse-sota", Label: "abstract", Shown: "t1_performance",
		Says: "Exploration with CERMIC significantly outperforms state-of-the-art algorithms on sparse rewards.",
		rule: every, tests: against(starred(), "mappo-cermic", "cpm", "qmix-spectra")},
	{ID: "curiosity-above-standard", Label: "sec:exp", Shown: "t1_performance",
		Says: "Curiosity-driven methods tend to outperform traditional ones.",
		rule: most, tests: curiosity()},
	{ID: "lifts-mappo", Label: "table:sota", Shown: "t1_performance",
		Says: "CERMIC improves MAPPO on every task.",
		rule: every, tests: against(Tasks, "mappo-cermic", "mappo")},
	{ID: "lifts-qmix", Label: "table:sota", Shown: "t1_performance",
		Says: "CERMIC improves QMIX on every task.",
		rule: every, tests: against(Tasks, "qmix-cermic", "qmix")},
	{ID: "best-on-12", Label: "table:sota", Shown: "t1_performance",
		Says: "A method with CERMIC is the best on 12 of the tasks (the paper says of 16; its table has 15).",
		rule: twelve, tests: best()},
	{ID: "strongest-on-melting-pot", Label: "sec:exp", Shown: "t1_performance",
		Says: "CERMIC's gain over MAPPO, as a share of MAPPO's score, is largest on Melting Pot.",
		rule: every, tests: strongest()},
	{ID: "db-falls-with-agents", Label: "tab155", Shown: "t2_agents",
		Says: "The contribution of each agent under MAPPO-DB decreases from 4 to 8 agents in Balance*.",
		rule: every, tests: []comparison{twoOf("Balance*", "MAPPO-DB per agent: 4 agents − 8 agents",
			Agents.trial("MAPPO-DB", 1), Agents.trial("MAPPO-DB", 3))}},
	{ID: "agents-above-db", Label: "tab155", Shown: "t2_agents",
		Says: "Each agent contributes more under MAPPO-CERMIC than under MAPPO-DB, for 2 to 8 agents in Balance*.",
		rule: every, tests: rowsOf(Agents, "MAPPO-CERMIC", "MAPPO-DB")},
	{ID: "closer-encounters", Label: "fig2", Shown: "f2_embeddings",
		Says: "Agents with CERMIC come close to each other and cross paths more often than with MAPPO.",
		Why:  "Records hold no trajectories; the notebook draws those of runs with weights on this machine."},
	{ID: "latents-at-endpoints", Label: "fig2", Shown: "f2_embeddings",
		Says: "Latents x_t disperse around s_t and concentrate where state trajectories end.",
		Why:  "Records hold no latents; the notebook draws those of runs with weights on this machine."},
	{ID: "encounters-raise-bonus", Label: "sec:qa", Shown: "11_inside",
		Says: "Encounters of agents trigger a surge of the intrinsic reward.",
		Why:  "Records hold no steps of episodes; the notebook shows those of runs with weights on this machine."},
	{ID: "slower-start", Label: "sec:qa", Shown: "f3_pretraining",
		Says: "Learning curves with CERMIC can rise more slowly at first: over the first quarter of the frames, " +
			"MAPPO is above.",
		rule: some, tests: early(against(suiteTasks(VMAS), "mappo", "mappo-cermic"))},
	{ID: "pre-training-faster", Label: "fig3", Shown: "f3_pretraining",
		Says: "With a pre-trained detector and intention memory, CERMIC converges significantly faster.",
		Why: "Records cannot be found for it: a run with pre-trained weights is identified by their hash; " +
			"the notebook compares such runs."},
	{ID: "explore-loss-needed", Label: "tab222", Shown: "t3_ablations",
		Says: "Without L_explore, scores are lower.",
		rule: every, tests: rowsOf(Ablation, "MAPPO-CERMIC", "w/o L_explore")},
	{ID: "exploit-loss-needed", Label: "tab222", Shown: "t3_ablations",
		Says: "Without L_exploit, scores are lower.",
		rule: every, tests: mechanism(rowsOf(Ablation, "MAPPO-CERMIC", "w/o L_exploit"))},
	{ID: "exploit-loss-stabilises", Label: "tab222", Shown: "t3_ablations",
		Says: "Without L_exploit, results fluctuate more: their variance over seeds is larger.",
		rule: every, tests: mechanism(variances(rowsOf(Ablation, "w/o L_exploit", "MAPPO-CERMIC")))},
	{ID: "alpha-lowers-returns", Label: "tab222", Shown: "t3_ablations",
		Says: "A larger α lowers returns: α = 0.2 is above α = 1.",
		rule: every, tests: rowsOf(Ablation, "0.2", "1.0")},
	{ID: "alpha-stabilises", Label: "tab222", Shown: "t3_ablations",
		Says: "A larger α reduces the variance of performance: that of α = 0.2 is above that of α = 1.",
		rule: every, tests: variances(rowsOf(Ablation, "0.2", "1.0"))},
	{ID: "graph-above-gru", Label: "tab222", Shown: "t3_ablations",
		Says: "More expressive intention models improve scores: the graph memory is above the GRU.",
		rule: every, tests: mechanism(rowsOf(Ablation, "Graph", "GRU"))},
	{ID: "dense-training-lower", Label: "tab:generalization_across_rewards", Shown: "t4_density",
		Says: "All methods score lower when they were trained on the dense reward than on the sparse one.",
		rule: every, tests: drops()},
	{ID: "smaller-drop", Label: "tab:generalization_across_rewards", Shown: "t4_density",
		Says: "That drop is smaller for CERMIC than for CPM and QPLEX-ICES.",
		rule: most, tests: smallerDrops()},
	{ID: "curves-above", Label: "fig:app_additional_comparisons_placeholder", Shown: "f_curves",
		Says: "On VMAS, MAPPO-CERMIC consistently surpasses earlier methods and other curiosity-driven ones.",
		rule: every, tests: against(suiteTasks(VMAS), "mappo-cermic", "cpm", "qmix-spectra",
			"mappo-db", "mace", "qplex-ices")},
	{ID: "narrower-bands", Label: "fig:app_additional_comparisons_placeholder", Shown: "f_curves",
		Says: "On VMAS, error bands of MAPPO-CERMIC are narrower than MAPPO's: the variance over seeds is smaller.",
		rule: most, tests: variances(against(suiteTasks(VMAS), "mappo", "mappo-cermic"))},
	{ID: "noise-stable", Label: "fig:app_noise_experiments_placeholder", Shown: "f_noise",
		Says: "Under random-box noise, error bands of MAPPO-CERMIC are narrower than MAPPO's: " +
			"the variance over seeds is smaller.",
		rule: every, tests: variances(noisy(against(noiseTasks, "mappo", "mappo-cermic")))},
	{ID: "roles-gain", Label: "fig:app_noise_experiments_placeholder", Shown: "f_noise",
		Says: "CERMIC's gain over MAPPO, as a share of MAPPO's score, is larger with diverse roles " +
			"(Simple Adversary) than without (Ball Trajectory).",
		rule: every, tests: []comparison{gains("Simple Adversary against Ball Trajectory", noiseTasks[:1], noiseTasks[1:])}},
	{ID: "bonus-fades", Label: "fig:app_rew", Shown: "f_intrinsic",
		Says: "The intrinsic reward decreases over an episode of Balance*, as agents grow familiar with it.",
		Why: "Records hold no steps of episodes; the notebook tests the episode that it traces, " +
			"early steps against late ones."},
}

// sandwich looks for a place where Theorem 1 fails.
func sandwich() (State, string) {
	edge := theory.Root()
	for x := edge / 100; x < 100; x *= 1.01 {
		if theory.Violates(x) {
			return Conditional, fmt.Sprintf("It holds where x = ηᵀΛ⁻¹η ≤ %.2f, which ‖η‖ ≤ 1 and λ = 1 give (any λ ≥ ‖η‖²/%.2f "+
				"does), and not for any ρ: c and ζ fix one. Beyond, at x = %.2f, the ratio r^i/(ρ·r^ucb) is %.4f, below 1.",
				edge, edge, x, theory.Ratio(x))
		}
	}
	return Supported, "The ratio r^i/(ρ·r^ucb) lies between 1 and √2 for all x = ηᵀΛ⁻¹η up to 100."
}

// firstQuarter is the mean of a run's evaluations within the first quarter of its frames.
func firstQuarter(g results.Group) (out []float64, err error) {
	for _, r := range g.Runs {
		sum, n := 0.0, 0
		for _, e := range r.Evals {
			if 4*e.Frames <= r.Frames {
				sum, n = sum+e.Score(), n+1
			}
		}
		if n > 0 {
			out = append(out, sum/float64(n))
		}
	}
	return out, g.Check()
}
