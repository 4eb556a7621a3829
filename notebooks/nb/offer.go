// SPDX-License-Identifier: Apache-2.0

package nb

import (
	"fmt"
	"html"
	"os"
	"slices"
	"strconv"
	"strings"

	"cermic/cermiclib"
	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// Values of cell.Train: which button has run the cell.
const (
	trainMissing = "train"
	trainAgain   = "again"
	stopLeft     = "stop" // what the cell has left to a detached process
)

// Cell reproduces one number of a table of the paper. It shows the published number, ours, their difference, the cost
// of missing runs with a button that trains them, and the learning curves. Options are budget=short, seeds=3,
// train=true, which trains without a button, again=true, which trains committed records here, and CERMIC's settings:
//
//	nb.Cell(paper.Sota, "MAPPO-CERMIC", "Balanc*", "budget=smoke", "explore.alpha=0.5")
func Cell(t *paper.Benchmark, row, column string, options ...string) {
	budget, seeds, train := Budget("short"), 3, thisCell().Train
	var settings []string
	for _, option := range options {
		key, value, _ := strings.Cut(option, "=")
		on, err := strconv.ParseBool(value)
		switch key {
		case "budget":
			budget, err = value, nil
		case "seeds":
			seeds, err = strconv.Atoi(value)
		case trainMissing, trainAgain:
			if on {
				train = key
			}
		default:
			settings, err = append(settings, option), nil
		}
		if err != nil {
			Check(fmt.Errorf("option %s: want budget=short, seeds=3, train=true, again=true or a setting such as "+
				"explore.alpha=0.5", option))
		}
	}
	c, st, report := Must(plan.NewCell(t, row, column, budget, seeds, settings...)), Store(), NewScreen()
	report.Show(Must(c.Report(st)))
	offer(c.Experiments, st, train, "cermic-train")
	report.Show(Must(c.Report(st)))
	runs := Must(c.Runs(st))
	if len(runs) == 0 {
		return
	}
	Show(viz.Curves(viz.Figure{Title: c.Name + ", budget " + budget, X: "frames", Y: "score"}, viz.Evals(runs)...))
	Show(runs)
}

// TrainMissing lists the experiments without a complete run and the cost of training them, with a button. Cells below
// are then run again. Without a page, runs of budgets smoke and demo are trained at once. NB_TRAIN=first, which a
// test of all notebooks sets, trains the first run alone.
func TrainMissing(es []experiment.Config, err error) {
	Check(err)
	train := thisCell().Train
	if Headless() && len(es) > 0 && (es[0].Budget.Name == "smoke" || es[0].Budget.Name == "demo") {
		train = trainMissing
	}
	offer(es, Store(), train, "cermic-train cermic-ask cermic-below")
}

// offer lists the missing runs of es and trains them if train names a button. The classes are read by the page.
func offer(es []experiment.Config, st *results.Store, train, classes string) {
	own := Must(results.Open(storeFolder()))
	look := func() (missing, elsewhere []experiment.Config) { // elsewhere: without weights here
		return Must(plan.Missing(es, st)), Must(plan.Missing(es, own))
	}
	missing, elsewhere := look()
	place := newBlock()
	train, another := leftHere(st).resume(train, missing, elsewhere)
	if first := os.Getenv("NB_TRAIN") == "first"; train != "" || first {
		if train == trainAgain {
			missing, st = elsewhere, own
		}
		if first {
			missing = missing[:min(1, len(missing))]
		}
		bar, ctx := NewProgress(missing...), Interruptible()
		warnings.begin()
		for _, e := range missing {
			if ctx.Err() == nil {
				Must(Train(ctx, e, st, bar.Watch))
			}
		}
		missing, elsewhere = look()
	}
	say := fmt.Sprintf("Stored: %s; none is missing.", viz.Count(len(es), "run"))
	button := ""
	switch {
	case len(missing) > 0:
		say = fmt.Sprintf("Missing: %d of %s. Training takes %s.",
			len(missing), viz.Count(len(es), "run"), Must(plan.Takes(missing, st, st)))
		button = fmt.Sprintf(`<button class="%s">Train %s</button>`, classes, viz.Count(len(missing), "run"))
	case len(elsewhere) > 0:
		say += fmt.Sprintf(" Committed without weights: %s. Training again takes %s.",
			viz.Count(len(elsewhere), "run"), Must(plan.Takes(elsewhere, own, st)))
		button = fmt.Sprintf(`<button class="%s cermic-again">Train again here</button>`, classes)
	}
	if Headless() {
		button = ""
	}
	if another != "" {
		say += another
		button += ` <button class="cermic-train cermic-stop">Stop it</button>`
	}
	place.put(asHTML("<div><span>"+html.EscapeString(say)+"</span> "+button+"</div>", say))
}

// resume returns what a cell trains whose button is train. A cell that has left one of its own runs goes on with it;
// another sentence is returned about any other run. The stop button ends what was left, and nothing is trained.
func (l *left) resume(train string, missing, elsewhere []experiment.Config) (trains, another string) {
	stop := train == stopLeft
	if stop {
		train = ""
	}
	if Headless() || train != "" || !l.lives() {
		return train, ""
	}
	is := func(e experiment.Config) bool { return Must(e.ID()) == l.Run }
	switch {
	case stop:
		l.stop()
		l.forget()
		return "", ""
	case slices.ContainsFunc(missing, is):
		return trainMissing, ""
	case slices.ContainsFunc(elsewhere, is):
		return trainAgain, ""
	}
	return "", fmt.Sprintf(" This cell has left a training that goes on: %s, run %s. Training here stops it.",
		l.Method, shortID(l.Run))
}

// Chosen returns all items if a cell's switch is on, else none, or the first with NB_TRAIN=first.
func Chosen[T any](on bool, all []T) []T {
	if !on {
		return all[:Brief(0, min(1, len(all)))]
	}
	return all
}

// Brief returns brief with NB_TRAIN=first, in tests of all notebooks, else normal.
func Brief[T any](normal, brief T) T {
	if os.Getenv("NB_TRAIN") == "first" {
		return brief
	}
	return normal
}

// Verdict shows the verdict on a claim of the paper, by its ID in paper.Claims: supported, contradicted, undecided or
// not tested. It states task, budget, estimate, interval, significance and seeds. Runs of the paper's budget decide the
// claim, or else the runs of the committed tables:
//
//	nb.Verdict("lifts-mappo")
func Verdict(claim string) {
	st, c := Store(), Must(paper.FindClaim(claim))
	Show(Must(c.Decide(plan.At(st, "paper"), plan.At(st, cermiclib.TableBudget))).Box())
}

// NoClaim shows why a figure of the paper has no verdict:
//
//	nb.NoClaim("Figure 1 shows how the module is built.")
func NoClaim(instead string) { Show(viz.Box{Head: "no claim", Text: instead}) }

// Settings shows a searchable table of every setting of a method. Changed ones come first:
//
//	nb.Settings("mappo-cermic", "explore.alpha=0.5")
func Settings(method string, changes ...string) { Show(Must(plan.Settings(method, changes...))) }
