// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"fmt"
	"strings"

	"cermic/cermiclib/experiment"
	"cermic/reproduce/paper"
	"cermic/viz"
)

// compared is a value of ours beside what the paper prints; viz.Missing where either has none.
type compared struct{ what, ours, printed string }

// sizesOf are a memory's settings beside the printed ones of Table 5, which has no number of parameters.
func sizesOf(kind string, e experiment.Config) (out []compared) {
	for _, line := range memoryLines {
		out = append(out, compared{line.name + " (" + kind + ")", line.ours(kind, e), line.printed(kind)})
	}
	return out
}

// MemoryVerdict says whether the memories have the sizes of Table 5, and whether their numbers of parameters, counted
// in the networks that MAPPO-CERMIC builds for the task, are in its order: high, medium, low.
func MemoryVerdict(task string) (viz.Box, error) {
	var all []compared
	ranks := map[string]int{} // of "High", "Medium" and "Low"
	for _, kind := range memoryKinds {
		e, err := memoryExperiment(task, kind)
		if err != nil {
			return viz.Box{}, err
		}
		parts, _, err := experiment.Parts(e)
		if err != nil {
			return viz.Box{}, err
		}
		all, ranks[paper.Memories[kind].Parameters] = append(all, sizesOf(kind, e)...), parameters(parts, "cermic/memory")
	}
	ours, printed := "another order", "High, Medium, Low"
	if ranks["High"] > ranks["Medium"] && ranks["Medium"] > ranks["Low"] {
		ours = printed
	}
	return asPrinted("Table 5 claims nothing about results. Its numbers", append(all, compared{"order of the numbers of parameters", ours, printed})), nil
}

// HyperVerdict says whether the learners' hyper-parameters at budget "paper" are those of Table 6.
func HyperVerdict() (viz.Box, error) {
	t, err := HyperTable("paper")
	if err != nil {
		return viz.Box{}, err
	}
	var all []compared
	for _, row := range t.Rows {
		all = append(all, compared{row[0], row[2], row[1]})
	}
	return asPrinted("Table 6 claims nothing about results. Its numbers", all), nil
}

// asPrinted counts the printed values that ours equal, and names the others.
func asPrinted(subject string, all []compared) viz.Box {
	equal, asked := 0, 0
	var lines []string
	for _, c := range all {
		if c.printed == viz.Missing {
			continue
		}
		asked++
		if c.ours == c.printed {
			equal++
			continue
		}
		lines = append(lines, fmt.Sprintf("%s: %s here, %s printed", c.what, c.ours, c.printed))
	}
	out := viz.Box{Mark: viz.Good, Head: "as printed", Text: fmt.Sprintf("%s are those of the networks and settings here, %d of %d.", subject, equal, asked), Lines: lines}
	if equal < asked {
		out.Mark, out.Head = viz.Bad, "not as printed"
		out.Text = fmt.Sprintf("%s differ from those of the networks and settings here in %d of %d.", strings.TrimSpace(subject), asked-equal, asked)
	}
	return out
}
