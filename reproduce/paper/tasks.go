// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"path"
	"slices"
	"strings"
)

// Suite is one of the paper's three benchmark suites.
type Suite string

// The suites, in the order of Table 1.
const (
	VMAS       Suite = "VMAS"
	MeltingPot Suite = "Melting Pot"
	SMACv2     Suite = "SMACv2"
)

// Task is one column of Table 1, or one of the two tasks of the noise figure.
type Task struct {
	Name         string // the paper's full name: "GiveWay"
	Abbreviation string // the column head of Table 1, star included: "GiveWa*"; empty: the task is in no table
	ID           string // our registered name: "vmas/give_way"
	Suite        Suite  //
	Star         bool   // adapted to a sparse reward for training; the others are called "originally sparse"
	Decimals     int    // digits after the point that the paper prints in this column, in every table
	About        string // one line: the agents' goal
}

// Published reports whether the paper has the task; others are of this program or of its users.
func (t Task) Published() bool { return t.Suite != "" }

// AllTasks are the tasks of Table 1 followed by the two of the noise figure, which are no column of any table.
var AllTasks = data.Tasks

// Tasks are the 15 columns of Table 1, in its order.
//
// paper:table:sota  the columns
var Tasks = tasksWith(AllTasks, func(t Task) bool { return t.Abbreviation != "" })

// noiseTasks are the two tasks of the noise figure.
var noiseTasks = tasksWith(AllTasks, func(t Task) bool { return t.Abbreviation == "" })

// tasksWith are the tasks for which f is true.
func tasksWith(tasks []Task, f func(Task) bool) []Task {
	return slices.DeleteFunc(slices.Clone(tasks), func(t Task) bool { return !f(t) })
}

// Is reports whether a name means the task: our name, its last part, the paper's name or its abbreviation. Case and
// the star do not matter.
func (t Task) Is(name string) bool {
	aliases := []string{t.ID, path.Base(t.ID), t.Name, t.Abbreviation}
	return slices.ContainsFunc(aliases, func(alias string) bool { return alias != "" && fold(alias) == fold(name) })
}

// FindTask returns the first of some tasks that a name means. The error names near ones; a name without its family is
// compared without.
func FindTask(name string, among []Task) (Task, error) {
	return find("task", name, among, func(t Task) string {
		if strings.Contains(name, "/") {
			return t.ID
		}
		return path.Base(t.ID)
	}, func(t Task) bool { return t.Is(name) })
}

// separators are what spellings of one name differ in.
var separators = strings.NewReplacer("*", "", "_", "", " ", "", "-", "", "ε", "eps")

// fold makes spellings of one name equal: "Give Way*", "give_way" and "GiveWay".
func fold(name string) string { return separators.Replace(strings.ToLower(name)) }
