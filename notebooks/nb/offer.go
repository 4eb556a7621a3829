// SPDX-License-Identifier: Apache-2.0

package nb

import (
	"fmt"
	"html"
	"os"
	"strconv"
	"strings"

	"github.com/janpfeifer/gonb/gonbui/protocol"

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
)

// Cell reproduces one number of a table of the paper. It shows the published number, ours and the difference between them, what training costs, and a
// button that trains the runs that are missing, then the learning curves. Options are budget=short, seeds=3, train=true, which trains without a
// button, again=true, which trains here what is only a committed record, and settings of CERMIC's rows as for -set:
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
			Check(fmt.Errorf("option %s: want budget=short, seeds=3, train=true, again=true or a setting such as explore.alpha=0.5", option))
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

// TrainMissing says which of es have no complete run and what training them costs, with a button that trains them. Cells below are then run again. Without a
// page, runs of budgets smoke and demo are trained at once; NB_TRAIN=first, which a test of all notebooks sets, trains the first run alone.
func TrainMissing(es []experiment.Config, err error) {
	Check(err)
	train := thisCell().Train
	if Headless() && len(es) > 0 && (es[0].Budget.Name == "smoke" || es[0].Budget.Name == "demo") {
		train = trainMissing
	}
	offer(es, Store(), train, "cermic-train cermic-ask cermic-below")
}

// offer says what of es is missing and trains it if train says so. The button has classes by which JupyterLab's extension knows what to do.
func offer(es []experiment.Config, st *results.Store, train, classes string) {
	missing, own := Must(plan.Missing(es, st)), Must(results.Open(storeFolder()))
	elsewhere := Must(plan.Missing(es, own)) // has no weights here
	place := newBlock()
	if first := os.Getenv("NB_TRAIN") == "first"; train != "" || first {
		if train == trainAgain {
			missing, st = elsewhere, own
		}
		if first {
			missing = missing[:min(1, len(missing))]
		}
		bar, ctx := NewProgress(missing...), Interruptible()
		for _, e := range missing {
			if ctx.Err() == nil {
				Must(Train(ctx, e, st, bar.Watch))
			}
		}
		missing = Must(plan.Missing(es, st))
		elsewhere = Must(plan.Missing(es, own))
	}
	say := fmt.Sprintf("Stored: all %s.", viz.Count(len(es), "run"))
	button := ""
	switch {
	case len(missing) > 0:
		say = fmt.Sprintf("Missing: %d of %s. Training takes %s.", len(missing), viz.Count(len(es), "run"), Must(plan.Takes(missing, st)))
		button = fmt.Sprintf(`<button class="%s">Train %s</button>`, classes, viz.Count(len(missing), "run"))
	case len(elsewhere) > 0:
		say += fmt.Sprintf(" Of %d the records are committed without weights. Training takes %s.", len(elsewhere), Must(plan.Takes(elsewhere, st)))
		button = fmt.Sprintf(`<button class="%s cermic-again">Train again here</button>`, classes)
	}
	if Headless() {
		button = ""
	}
	place.put(content{protocol.MIMETextHTML: "<div><span>" + html.EscapeString(say) + "</span> " + button + "</div>", protocol.MIMETextPlain: say})
}

// Chosen is what a cell that pre-trains or computes should do: all if its switch is on, else nothing. NB_TRAIN=first makes that the first.
func Chosen[T any](on bool, all []T) []T {
	if !on {
		return all[:Brief(0, min(1, len(all)))]
	}
	return all
}

// Brief is normal, or brief where cells are executed only to prove that they can be.
func Brief[T any](normal, brief T) T {
	if os.Getenv("NB_TRAIN") == "first" {
		return brief
	}
	return normal
}
