// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cermic/cermiclib/cermic"
	"cermic/cermiclib/experiment"
	"cermic/cermiclib/memory"
	"cermic/envs/conf"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// memoryKinds are the columns of Table 5.
var memoryKinds = []string{memory.DefaultGraph().Kind(), memory.DefaultMLP().Kind(), memory.DefaultGRU().Kind()}

// memoryLine is a row of Table 5.
type memoryLine struct {
	name, key string // the setting explore.memory.<key>
	paper     func(paper.MemorySize) *int
}

var memoryLines = []memoryLine{
	{"output of the observation encoder", "d_obs_enc", func(m paper.MemorySize) *int { return m.Encoder }},
	{"node embedding", "d_node", func(m paper.MemorySize) *int { return m.Node }},
	{"edge embedding", "d_edge", func(m paper.MemorySize) *int { return m.Edge }},
	{"output f_n", "d_f", func(m paper.MemorySize) *int { return m.Output }},
	{"graph layers", "gnn_layers", func(m paper.MemorySize) *int { return m.GNNLayers }},
	{"width of the graph layers", "gnn_hidden", func(m paper.MemorySize) *int { return m.GNNHidden }},
	{"heads", "gnn_heads", func(m paper.MemorySize) *int { return m.GNNHeads }},
	{"units of the MLP's hidden layers", "hidden", func(m paper.MemorySize) *int { return m.MLPUnits }},
	{"GRU layers", "gru_layers", func(m paper.MemorySize) *int { return m.GRULayers }},
}

// ours is the setting of an experiment with that kind of memory.
func (l memoryLine) ours(kind string, e experiment.Config) string {
	if k, ok := conf.Get(e, "explore.memory."+l.key); ok {
		return k
	}
	if l.key == "hidden" && kind == memory.DefaultGraph().Kind() { // fixed, of its node and edge encoders
		return strconv.Itoa(memory.PairHidden)
	}
	return viz.Missing
}

// printed is what the paper has.
func (l memoryLine) printed(kind string) string {
	if n := l.paper(paper.Memories[kind]); n != nil {
		return strconv.Itoa(*n)
	}
	return viz.Missing
}

func memoryExperiment(task, kind string) (experiment.Config, error) {
	return plan.New(plan.Request{Task: task, Method: "mappo-cermic", Budget: "paper", Seed: 1, Set: []string{"explore.memory=" + kind}})
}

// MemoryTable is Table 5 of the paper, the sizes of the three memories, beside those of the registered defaults; the
// numbers of parameters are counted in the networks that MAPPO-CERMIC builds for the task.
func MemoryTable(task string) (viz.Table, error) {
	t := viz.Table{Title: "Table 5. Sizes of the memories: ours (paper)", Header: append([]string{""}, memoryKinds...),
		Notes: []string{"Parameters as counted in the networks built for " + task + ". A dash: the memory has no such part, or the paper prints none."}}
	last := []string{"parameters"}
	for _, line := range memoryLines {
		t.Rows = append(t.Rows, []string{line.name})
	}
	for _, kind := range memoryKinds {
		e, err := memoryExperiment(task, kind)
		if err != nil {
			return t, err
		}
		for i, line := range memoryLines {
			t.Rows[i] = append(t.Rows[i], fmt.Sprintf("%s (%s)", line.ours(kind, e), line.printed(kind)))
		}
		parts, _, err := experiment.Parts(e)
		if err != nil {
			return t, err
		}
		last = append(last, fmt.Sprintf("%s (%s)", thousands(parameters(parts, "cermic/memory")), paper.Memories[kind].Parameters))
	}
	t.Rows = append(t.Rows, last)
	return t, nil
}

// PartsTable lists the networks of an experiment with their numbers of parameters.
func PartsTable(e experiment.Config) (viz.Table, error) {
	parts, _, err := experiment.Parts(e)
	t := viz.Table{Title: e.Label() + " on " + e.Task.Kind(), Header: []string{"network", "parameters", "not trained by an optimiser"}}
	total := 0
	for _, p := range parts {
		t.Rows = append(t.Rows, []string{p.Name, thousands(p.Parameters), thousands(p.Frozen)})
		total += p.Parameters
	}
	t.Rows = append(t.Rows, []string{"altogether", thousands(total), ""})
	return t, err
}

func parameters(parts []experiment.Part, name string) int {
	for _, p := range parts {
		if p.Name == name {
			return p.Parameters
		}
	}
	return 0
}

// thousands writes a count with spaces: 1 007 059.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}

// HyperTable is Table 6 of the paper, its hyper-parameters, beside what MAPPO and QMIX get at the budgets.
func HyperTable(budgets ...string) (viz.Table, error) {
	h := paper.Hyper
	t := viz.Table{Title: "Table 6. Hyper-parameters", Header: append([]string{"", "paper"}, budgets...),
		Notes: []string{"Ours are read from the experiments that the names stand for, not typed."}}
	for _, line := range []struct{ name, printed, method, key string }{
		{"discount γ", fmt.Sprint(h.General.Discount), "mappo", "learner.discount"},
		{"learning rate (Adam)", fmt.Sprint(h.General.LearningRate), "mappo", "learner.lr"},
		{"ε of Adam", strconv.FormatFloat(h.General.AdamEps, 'f', -1, 64), "mappo", "learner.adam_eps"},
		{"soft target updates, τ", fmt.Sprint(h.TargetUpdates.Polyak), "qmix", "learner.polyak_tau"},
		{"initial ε of exploration", fmt.Sprint(h.Exploration.EpsInit), "qmix", "learner.eps_init"},
		{"final ε of exploration", fmt.Sprint(h.Exploration.EpsEnd), "qmix", "learner.eps_end"},
		{"frames", fmt.Sprint(h.Duration.MaxFrames), "mappo", "budget.frames"},
		{"on-policy: frames of a rollout batch", fmt.Sprint(h.OnPolicy.Frames), "mappo", "learner.frames_per_batch"},
		{"on-policy: parallel environments", fmt.Sprint(h.OnPolicy.NumEnvs), "mappo", "task.copies"},
		{"on-policy: epochs over a batch", fmt.Sprint(h.OnPolicy.Epochs), "mappo", "learner.minibatch_iterations"},
		{"on-policy: minibatch", fmt.Sprint(h.OnPolicy.Minibatch), "mappo", "learner.minibatch_size"},
		{"off-policy: updates after a rollout batch", fmt.Sprint(h.OffPolicy.Steps), "qmix", "learner.optimizer_steps_per_collection"},
		{"off-policy: batch", fmt.Sprint(h.OffPolicy.TrainBatch), "qmix", "learner.train_batch_size"},
		{"off-policy: replay", fmt.Sprint(h.OffPolicy.Replay), "qmix", "learner.replay_buffer_size"},
	} {
		row := []string{line.name, line.printed}
		for _, budget := range budgets {
			e, err := plan.New(plan.Request{Task: "balance", Method: line.method, Budget: budget, Seed: 1})
			if err != nil {
				return t, err
			}
			value, ok := conf.Get(e, line.key)
			if !ok {
				return t, fmt.Errorf("%s has no setting %s", line.method, line.key)
			}
			row = append(row, value)
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// Departures lists where a method, with its defaults or changes of them as for -set, differs from the paper's settings,
// with what the paper prints.
func Departures(method string, changes ...string) (viz.Table, error) {
	t := viz.Table{Title: "Where " + method + " departs from the paper's settings", Header: []string{"setting", "ours", "printed"}}
	e, err := plan.New(plan.Request{Task: "balance", Method: method, Budget: "paper", Seed: 1, Set: changes})
	if err != nil {
		return t, err
	}
	if len(changes) > 0 {
		t.Notes = []string{"With " + strings.Join(changes, ", ") + "."}
	}
	text, err := conf.Marshal(e)
	if err != nil {
		return t, err
	}
	if e.Explore.Kind() != (cermic.Config{}).Kind() {
		return t, nil
	}
	for _, d := range slices.Concat(paper.Deviations(text), paper.Always) {
		t.Rows = append(t.Rows, []string{d.Key, d.Value, strings.Join(d.Values, " or ")})
	}
	return t, nil
}
