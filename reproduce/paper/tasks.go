// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"cermic/envs/conf"
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
	Abbreviation string // the column head of Table 1, star included: "GiveWa*"
	ID           string // our registered name: "vmas/give_way"
	Suite        Suite  //
	Star         bool   // adapted to a sparse reward for training; the others are called "originally sparse"
	Decimals     int    // digits after the point that the paper prints in this column, in every table
	About        string // one line: what the agents have to do
}

// Published reports whether the paper has the task; others are of this program or of its users.
func (t Task) Published() bool { return t.Suite != "" }

// Tasks are the 15 columns of Table 1, in its order.
//
// paper:table:sota  the columns
var Tasks = []Task{
	{"Disperse", "Disper", "vmas/dispersion", VMAS, false, 2,
		"4 agents start together and eat 4 pieces of food, one for each"},
	{"Navigation", "Naviga", "vmas/navigation", VMAS, false, 2,
		"3 agents reach their own goals without touching each other"},
	{"Sampling", "Sampli*", "vmas/sampling", VMAS, true, 1,
		"3 agents sample a field of Gaussians, each cell once"},
	{"Passage", "Passag*", "vmas/passage", VMAS, true, 0,
		"5 agents in formation pass a wall through one hole"},
	{"Transport", "Transp*", "vmas/transport", VMAS, true, 2,
		"4 agents push a heavy package to its goal"},
	{"Balance", "Balanc*", "vmas/balance", VMAS, true, 1,
		"4 agents lift a line with a loose ball on it, against gravity"},
	{"GiveWay", "GiveWa*", "vmas/give_way", VMAS, true, 2,
		"2 agents swap sides of a corridor that fits one"},
	{"WheelGathering", "Wheel*", "vmas/wheel", VMAS, true, 2,
		"4 agents turn a heavy line at a given speed"},
	{"Flocking", "Flocki*", "vmas/flocking", VMAS, true, 2,
		"4 agents flock round a moving target among obstacles"},
	{"StagHuntRepeated", "StaHun", "meltingpot/stag_hunt_in_the_matrix__repeated", MeltingPot, false, 2,
		"2 players: hunt the stag together or the hare alone"},
	{"Cleanup", "CleaUp", "meltingpot/clean_up", MeltingPot, false, 1,
		"7 players: clean the river so that apples grow, or just eat"},
	{"ChickenGameRepeated", "ChiGam", "meltingpot/chicken_in_the_matrix__repeated", MeltingPot, false, 2,
		"2 players: hawk or dove, again and again"},
	{"PrisonersDilemmaRepeated", "PriDil", "meltingpot/prisoners_dilemma_in_the_matrix__repeated", MeltingPot, false, 2,
		"2 players: cooperate or defect, again and again"},
	{"Protoss5v5", "pro5v5*", "smac/protoss_5_vs_5", SMACv2, true, 2,
		"5 units against 5, drawn from stalker, zealot and colossus"},
	{"Zerg5v5", "zer5v5*", "smac/zerg_5_vs_5", SMACv2, true, 2,
		"5 units against 5, drawn from zergling, hydralisk and baneling"},
}

// noiseTasks are the two tasks of the noise figure; they are no column of any table.
var noiseTasks = []Task{
	{"Simple Adversary", "", "vmas/simple_adversary", VMAS, true, 2,
		"2 agents reach a goal that an adversary must not find out"},
	{"Ball Trajectory", "", "vmas/ball_trajectory", VMAS, true, 2,
		"2 agents joined to a ball keep it rolling at a given speed"},
}

// AllTasks are the tasks of Table 1 followed by the two of the noise figure.
func AllTasks() []Task { return slices.Concat(Tasks, noiseTasks) }

// FindTask accepts our name, its last part, the paper's name or its abbreviation, in any case and with or without the
// star. The error names near ones.
func FindTask(name string) (Task, error) {
	plain := fold(name)
	var known []string
	for _, t := range AllTasks() {
		for _, alias := range []string{t.ID, path.Base(t.ID), t.Name, t.Abbreviation} {
			if alias != "" && fold(alias) == plain {
				return t, nil
			}
		}
		known = append(known, t.ID)
	}
	return Task{}, UnknownTask(name, known)
}

// UnknownTask is the error for a task that is not among ids. A name without its family is compared without.
func UnknownTask(name string, ids []string) error {
	known := slices.Clone(ids)
	if !strings.Contains(name, "/") {
		for i, id := range known {
			known[i] = path.Base(id)
		}
	}
	return fmt.Errorf("unknown task %q%s", name, conf.Near(name, known))
}

// separators are what spellings of one name differ in.
var separators = strings.NewReplacer("*", "", "_", "", " ", "", "-", "")

// fold makes spellings of one name equal: "Give Way*", "give_way" and "GiveWay".
func fold(name string) string { return separators.Replace(strings.ToLower(name)) }
