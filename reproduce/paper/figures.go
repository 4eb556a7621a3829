// SPDX-License-Identifier: Apache-2.0

package paper

// Figure is one of the paper's figures. The paper's source holds no figure data, so there is nothing published to draw.
type Figure struct {
	Name  string // on the command line and of the notebook: "curves"
	Label string // the LaTeX label
	Shows string // from caption and text
}

// Figures are the paper's figures in its order.
var Figures = []Figure{
	{"workflow", "fig1", "the module: objective of one step, and networks"},
	{"latents", "fig2", "embeddings s_t and latents x_t along trajectories, with and without CERMIC"},
	{"pretrain", "fig3", "learning curves with and without a pre-trained intention memory, VMAS"},
	{"curves", "fig:app_additional_comparisons_placeholder", "learning curves of the methods, VMAS"},
	{"noise", "fig:app_noise_experiments_placeholder", "learning curves under random-box noise, Ball Trajectory and Simple Adversary"},
	{"reward", "fig:app_rew", "intrinsic reward through one episode of Balance*"},
}
