// SPDX-License-Identifier: Apache-2.0

package paper

// Concept says in which file an idea of the paper lives. The place itself carries the tag "paper:<label>" in a comment;
// a test fails when one is gone.
type Concept struct {
	Label string // LaTeX label, or a name where the paper has none
	File  string // from the root of the repository
	What  string
}

// Concepts lead a reader from the paper into the code.
var Concepts = []Concept{
	{"setup", "envs/env.go", "problem setup: the tuple (O, A, P, R, N, γ)"},
	{"table:sota", "reproduce/paper/tasks.go", "Table 1: tasks and published numbers"},
	{"tab:core_hyperparameters", "reproduce/paper/settings.go", "Table 6: hyper-parameters"},
	{"tab:memory_params_final", "reproduce/paper/settings.go", "Table 5: sizes of the memories"},
}
