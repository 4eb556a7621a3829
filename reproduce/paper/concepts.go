// SPDX-License-Identifier: Apache-2.0

package paper

// concept says in which file an idea of the paper lives. The place itself carries the tag "paper:<label>" in a comment.
// A test fails when one of the two is missing, in either direction.
type concept struct {
	Label string // LaTeX label, equation number, or a name where the paper has none
	File  string // from the root of the repository
	What  string
}

// concepts lead a reader from the paper into the code, in the paper's order.
var concepts = []concept{
	{"setup", "envs/env.go", "Sec. 3: the tuple (O, A, P, R, N, γ)"},
	{"encoder", "cermiclib/cermic/encoder.go", "Sec. 3: embeddings s_t of observations"},
	{"momentum", "cermiclib/cermic/encoder.go", "Sec. 3: θᵐ, the slow copy that embeds o_{t+1}"},
	{"g_phi", "cermiclib/cermic/predict.go", "Sec. 3: the latent x_t ~ g_φ(s_t, a_t)"},
	{"p_psi", "cermiclib/cermic/predict.go", "Sec. 4.1: the decoder of s_{t+1}"},
	{"L_explore", "cermiclib/cermic/predict.go", "Sec. 4.1: the exploration loss"},
	{"Eq5", "cermiclib/cermic/psi.go", "Sec. 4.2: Ψ_t, its mean and its variance"},
	{"beta", "cermiclib/cermic/beta.go", "Sec. 4.2: β of γ₁, γ₂ and ε"},
	{"Eq2", "cermiclib/cermic/exploit.go", "Sec. 4.2: the upper exploitation loss"},
	{"Eq3", "cermiclib/cermic/exploit.go", "Sec. 4.2: the lower exploitation loss"},
	{"h", "cermiclib/cermic/calibration.go", "Sec. 4.2: the calibrated mean h(γ·f_n, μ_Ψ)"},
	{"Eq4", "cermiclib/cermic/consistency.go", "Sec. 4.2: γ from InfoNCE"},
	{"eq:loss", "cermiclib/cermic/loss.go", "Sec. 4.3: the loss of the module"},
	{"eq:int_r", "cermiclib/cermic/form.go", "Sec. 4.4: the intrinsic reward"},
	{"Algorithm1", "cermiclib/experiment/trainer.go", "Sec. 4.4: one training iteration"},
	{"Theorem1", "cermiclib/theory/sandwich.go", "Sec. 4.4 and App. D: r^i beside the UCB bonus in linear MDPs"},
	{"Theorem1", "cermiclib/theory/surprise.go", "App. D: expected and realised surprise"},
	{"fig1", "reproduce/figures/workflow.go", "Fig. 1: the module's objective and networks"},
	{"fig2", "viz/paths.go", "Fig. 2: paths of s_t with CERMIC and a baseline, x_t among them"},
	{"fig3", "reproduce/figures/pretraining_axis.go", "Fig. 3: learning with and without a pre-trained memory"},
	{"table:sota", "reproduce/paper/methods.go", "Table 1: the methods"},
	{"table:sota", "reproduce/paper/tasks.go", "Table 1: the tasks"},
	{"app:memory_update", "cermiclib/memory/queue.go", "App. A: the graph advances at detections"},
	{"app:graph_structure", "cermiclib/memory/context.go", "App. A: nodes, relations, attention over the queue, graph network"},
	{"detector", "cermiclib/memory/detector.go", "App. A: the detector"},
	{"eq:detector_loss_condensed", "cermiclib/memory/detector.go", "App. A: the detector's loss"},
	{"app:pretraining_details_v3", "cermiclib/memory/objective_graph.go", "App. A: pre-training of detector, nodes and edges"},
	{"detector", "cermiclib/rl/peers.go", "App. A: a channel of each peer, which the detector reads"},
	{"detector", "envs/vmas/labels.go", "App. A: who sees whom, the detector's labels"},
	{"detector", "envs/smac/env.go", "App. A: the same, in battles"},
	{"Cantelli", "cermiclib/theory/cantelli.go", "App. B: Cantelli's inequality"},
	{"Cantelli", "cermiclib/theory/robust.go", "App. B: the worst case over the ambiguity set"},
	{"InfoNCE", "cermiclib/theory/bounds.go", "App. C: the bounds on the mutual information as printed"},
	{"InfoNCE", "cermiclib/theory/critic.go", "App. C: the score function"},
	{"InfoNCE", "cermiclib/theory/information.go", "App. C: variables of known mutual information"},
	{"sparse", "envs/vmas/sparse.go", "App. E: rewards for success only"},
	{"sparse", "envs/smac/reward.go", "App. E: rewards for the outcome of a battle only"},
	{"noise", "envs/noise.go", "App. F: random-box noise"},
	{"fig:app_rew", "viz/trace.go", "App. F: r^i through one episode"},
	{"tab:memory_params_final", "reproduce/paper/settings.go", "Table 5: sizes of the memories"},
	{"tab:core_hyperparameters", "reproduce/paper/settings.go", "Table 6: hyper-parameters"},
}
