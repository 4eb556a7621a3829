// SPDX-License-Identifier: Apache-2.0

package paper

// Note records a place where the paper's sources disagree, or are silent about something that a result depends on.
type Note struct {
	About string // where
	Says  string // what the paper says
	Finds string // what a reader finds
}

// Notes are the recorded inconsistencies. Those about printed numbers are checked against the tables by a test.
var Notes = []Note{
	{"Sec. 5.2, Table 1", "best on 12 of the 16 evaluated scenarios",
		"Table 1 has 15 columns. CERMIC is best in 12, one of them (Zerg5v5, 0.48) a tie with QPLEX-ICES, of which only MAPPO-CERMIC is bold."},
	{"Tables 1 and 3", "MAPPO-CERMIC in both",
		"The values differ in four of five columns: Navigation 1.44 and 1.43, Passage 172 and 171, Cleanup 78.3 and 78.1, ChickenGameRepeated 10.03 and 10.02. " +
			"Table 1 has no standard deviation; the ± of Table 3 is not defined and the number of seeds is not given."},
	{"Sec. 5.2", "CERMIC consistently enhances its base algorithms",
		"True of the printed numbers: MAPPO-CERMIC is above MAPPO and QMIX-CERMIC above QMIX in all 15 columns."},
	{"Table 2", "MAPPO-DB's per-agent contribution decreases with the number of agents",
		"Printed 12.3, 13.7, 13.6, 12.1: not monotone. Four agents times 16.7 is 66.8 against 67.3 in Table 1, four times 13.7 is 54.8 against 55.2: about the return divided by the agents."},
	{"Table 4 and App. E", "tested in a sparse-reward setting; final performance measured on the dense reward",
		"The sparse columns repeat Table 1, so Table 1 is trained on the sparse reward; which reward it evaluates stays open. Δ is dense − sparse, printed negative and called a drop."},
	{"Table 1", "tasks without a star are originally sparse",
		"True of Disperse, which rewards food only. Navigation is shaped by distance in the benchmark's default."},
	{"App. E", "SMACv2: a loss is rewarded with \"negative or zero\", a draw \"neutral or slightly negative\"",
		"The values are not given."},
	{"Table 6", "hyper-parameters",
		"Fields of BenchMARL, but not its defaults. Absent: size of the off-policy rollout batch, length of the ε schedule, clip norm, GAE λ, PPO clip, evaluation protocol, c̄, c̲, ε, γ₁, γ₂, " +
			"number and noise of negatives, queue length, detector threshold, size of x_t, epochs of the module. The rows on target networks do not apply to MAPPO."},
	{"References", "sources of MAPPO and QMIX", "Not the original papers, and QMIX's differs between text and table."},
	{"α", "Eq. 1, the loss, Table 3, the text and App. H",
		"Multiplies compression in Eq. 1 and exploration in the loss; called coverage level, curiosity scale and exploitation weight. Task-specific values are promised; only 0.2, 0.5 and 1.0 appear, in Table 3."},
	{"Eq. 4 and App. C", "InfoNCE bounds on the mutual information",
		"Sign, a missing log N, the denominator and the variables of the expectation differ between the two places; the printed upper form is no bound. The appendix on Cantelli and Theorem 1 need conditions that are not stated."},
	{"Sec. 4.1", "p_φ(s_{t+1} | x_t) is called a variational encoder",
		"It decodes. The paragraph on the MLP memory breaks off; edge features have 2 numbers in the text and 16 in Table 5; node features of 256 are regressed onto embeddings of 64."},
	{"Eq. 7", "the upper exploitation loss",
		"A reviewer remarks that its label should read exploit; the source of the final version has it so."},
	{"Task names", "WheelGathering, StagHuntRepeated, …",
		"Renamed from VMAS wheel and Melting Pot stag_hunt_in_the_matrix__repeated, and so on."},
	{"Noise figure", "Simple Adversary and Ball Trajectory", "Not among the 15 tasks; both exist in VMAS. Whether an adversary's memory knows its opponents is not said: " +
		"BenchMARL trains each group on its own agents' experience, so that it does not (task.opponents=objects)."},
}
