// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"cmp"
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

// memoryLines are the rows of Table 5: a name, the setting explore.memory.<key>, and the paper's key.
var memoryLines = [][3]string{
	{"output of the observation encoder", "d_obs_enc", "obs_encoder_output_dim"},
	{"node embedding", "d_node", "node_embedding_dim"},
	{"edge embedding", "d_edge", "edge_embedding_dim"},
	{"output f_n", "d_f", "memory_output_dim"},
	{"graph layers", "gnn_layers", "gnn_layers"},
	{"width of the graph layers", "gnn_hidden", "gnn_hidden_dim"},
	{"heads", "gnn_heads", "gnn_heads"},
	{"units of the MLP's hidden layers", "hidden", "mlp_hidden_units"},
	{"GRU layers", "gru_layers", "gru_layers"},
}

// paramsKey is the paper's size of a memory in words: "High", "Medium" or "Low".
const paramsKey = "estimated_total_parameters"

// compared is a value of ours beside what the paper prints; viz.Missing where either has none.
type compared struct{ what, ours, printed string }

// memorySizes are the values of memoryLines for a kind of memory, and the parameters of its built networks.
func memorySizes(task, kind string) (sizes []compared, count int, err error) {
	e, err := plan.New(plan.Request{Task: task, Method: "mappo-cermic", Budget: "paper", Seed: 1,
		Set: []string{"explore.memory=" + kind}})
	if err != nil {
		return nil, 0, err
	}
	for _, line := range memoryLines {
		c := compared{line[0] + " (" + kind + ")", viz.Missing, cmp.Or(paper.MemorySize(kind, line[2]), viz.Missing)}
		if value, ok := conf.Get(e, "explore.memory."+line[1]); ok {
			c.ours = value
		} else if line[1] == "hidden" && kind == memory.DefaultGraph().Kind() { // fixed, of its node and edge encoders
			c.ours = strconv.Itoa(memory.PairHidden)
		}
		sizes = append(sizes, c)
	}
	parts, _, err := experiment.Parts(e)
	return sizes, parameters(parts, "cermic/memory"), err
}

// MemoryTable is Table 5 of the paper, the sizes of the three memories, beside the registered defaults. The numbers
// of parameters are counted in the networks that MAPPO-CERMIC builds for the task.
func MemoryTable(task string) (viz.Table, error) {
	t := viz.Table{Title: "Table 5. Sizes of the memories: ours (paper)",
		Notes: []string{"Parameters as counted in the networks built for " + task +
			". A dash: the memory has no such part, or the paper prints none."}}
	t.AddColumn("", append(mapped(memoryLines, func(line [3]string) string { return line[0] }), "parameters")...)
	for _, kind := range memoryKinds {
		sizes, count, err := memorySizes(task, kind)
		if err != nil {
			return t, err
		}
		sizes = append(sizes, compared{"", thousands(count), paper.MemorySize(kind, paramsKey)})
		beside := func(c compared) string { return fmt.Sprintf("%s (%s)", c.ours, c.printed) }
		t.AddColumn(kind, mapped(sizes, beside)...)
	}
	return t, nil
}

// MemoryVerdict says whether the memories have the sizes of Table 5, and whether their numbers of parameters are in its
// order: high, medium, low.
func MemoryVerdict(task string) (viz.Box, error) {
	var all []compared
	ranks := map[string]int{} // of "High", "Medium" and "Low"
	for _, kind := range memoryKinds {
		sizes, count, err := memorySizes(task, kind)
		if err != nil {
			return viz.Box{}, err
		}
		all, ranks[paper.MemorySize(kind, paramsKey)] = append(all, sizes...), count
	}
	ours, printed := "another order", "High, Medium, Low"
	if ranks["High"] > ranks["Medium"] && ranks["Medium"] > ranks["Low"] {
		ours = printed
	}
	return asPrinted("Table 5", append(all, compared{"order of the numbers of parameters", ours, printed})), nil
}

// HyperVerdict reports whether the learners' hyper-parameters at budget "paper" equal Table 6.
func HyperVerdict() (viz.Box, error) {
	t, err := HyperTable("paper")
	all := mapped(t.Rows, func(row []string) compared { return compared{row[0], row[2], row[1]} })
	return asPrinted("Table 6", all), err
}

// asPrinted counts the printed values that ours equal, and names the others.
func asPrinted(table string, all []compared) viz.Box {
	all = slices.DeleteFunc(all, func(c compared) bool { return c.printed == viz.Missing })
	out := viz.Box{Mark: viz.Good, Head: "as printed",
		Text: fmt.Sprintf("%s claims nothing about results. Its numbers are those of the networks and settings here, "+
			"%d of %[2]d.", table, len(all))}
	for _, c := range all {
		if c.ours != c.printed {
			out.Lines = append(out.Lines, fmt.Sprintf("%s: %s here, %s printed", c.what, c.ours, c.printed))
		}
	}
	if n := len(out.Lines); n > 0 {
		out.Mark, out.Head = viz.Bad, "not as printed"
		out.Text = fmt.Sprintf("%s claims nothing about results. Its numbers differ from those of the networks and "+
			"settings here in %d of %d.", table, n, len(all))
	}
	return out
}

// PartsTable lists the networks of an experiment with their numbers of parameters.
func PartsTable(e experiment.Config) (viz.Table, error) {
	parts, _, err := experiment.Parts(e)
	t := viz.Table{Title: e.Label() + " on " + e.Task.Kind(),
		Header: []string{"network", "parameters", "not trained by an optimiser"}}
	total := 0
	for _, p := range parts {
		t.Rows = append(t.Rows, []string{p.Name, thousands(p.Parameters), thousands(p.Frozen)})
		total += p.Parameters
	}
	t.Rows = append(t.Rows, []string{"altogether", thousands(total), ""})
	return t, err
}

func parameters(parts []experiment.Part, name string) int {
	i := slices.IndexFunc(parts, func(p experiment.Part) bool { return p.Name == name })
	if i < 0 {
		return 0
	}
	return parts[i].Parameters
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
	t := viz.Table{Title: "Table 6. Hyper-parameters", Header: append([]string{"", "paper"}, budgets...),
		Notes: []string{"Ours are read from the experiments that the names stand for, not typed."}}
	for _, line := range []struct{ name, printed, method, key string }{
		{"discount γ", "general.discount_gamma", "mappo", "learner.discount"},
		{"learning rate (Adam)", "general.learning_rate_adam", "mappo", "learner.lr"},
		{"ε of Adam", "general.adam_eps", "mappo", "learner.adam_eps"},
		{"soft target updates, τ", "target_updates.polyak_tau", "qmix", "learner.polyak_tau"},
		{"initial ε of exploration", "exploration.eps_init", "qmix", "learner.eps_init"},
		{"final ε of exploration", "exploration.eps_end", "qmix", "learner.eps_end"},
		{"frames", "duration.max_frames", "mappo", "budget.frames"},
		{"on-policy: frames of a rollout batch", "on_policy.collected_frames_per_batch", "mappo", "learner.frames_per_batch"},
		{"on-policy: parallel environments", "on_policy.envs_per_worker", "mappo", "task.copies"},
		{"on-policy: epochs over a batch", "on_policy.minibatch_iterations", "mappo", "learner.minibatch_iterations"},
		{"on-policy: minibatch", "on_policy.minibatch_size", "mappo", "learner.minibatch_size"},
		{"off-policy: updates after a rollout batch", "off_policy.optimizer_steps_per_collection", "qmix",
			"learner.optimizer_steps_per_collection"},
		{"off-policy: batch", "off_policy.train_batch_size", "qmix", "learner.train_batch_size"},
		{"off-policy: replay", "off_policy.replay_buffer_size", "qmix", "learner.replay_buffer_size"},
	} {
		row := []string{line.name, paper.Hyper(line.printed)}
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

// Departures lists the settings in which a method, with its defaults or changes of them as for -set, differs from the
// paper, with the printed values.
func Departures(method string, changes ...string) (viz.Table, error) {
	t := viz.Table{Title: "Where " + method + " departs from the paper's settings",
		Header: []string{"setting", "ours", "printed"}}
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
