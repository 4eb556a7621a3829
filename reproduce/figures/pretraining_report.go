// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/memory"
	"cermic/cermiclib/results"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// ReportFrames are the sizes of pre-training that a report looks for, the best first: the usual one, and smaller ones for slow
// tasks or machines.
var ReportFrames = []int{plan.PretrainFrames, 20_000, 5000, 3000}

// PretrainingReport tabulates what pre-training a memory, by its kind and with default settings, was worth on every
// task: the largest pre-training of ReportFrames that the store or the committed records know. Tasks without any are
// named in a note.
func PretrainingReport(st *results.Store, kind string) (viz.Table, error) {
	var done []experiment.Pretraining
	var open []string
	for _, task := range plan.Tasks() {
		p, err := plan.NewPretraining(task.ID, kind)
		if err != nil {
			return viz.Table{}, err
		}
		known := slices.IndexFunc(ReportFrames, func(frames int) bool {
			p.Frames = frames
			_, err := p.Find(st)
			return !errors.Is(err, fs.ErrNotExist) // the table names another error
		})
		if known < 0 {
			open = append(open, task.ID)
		} else {
			done = append(done, p)
		}
	}
	t, err := TabulatePretraining(st, done)
	if len(done) == 0 {
		t.Header, t.Notes = nil, nil // names of columns without a row say nothing
	}
	if len(open) > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("Not pre-trained here: %s. go run ./reproduce pretrain -memory %s -task all does it.", strings.Join(open, ", "), kind))
	}
	return t, err
}

// TabulatePretraining lists what pre-trainings were worth on held-out play. One that neither the store nor the records
// know has dashes.
func TabulatePretraining(st *results.Store, list []experiment.Pretraining) (viz.Table, error) {
	t := viz.Table{Title: "Pre-training, on held-out random play",
		Header: []string{"task", "memory", "frames", "weights", "visible pairs", "detector: AUC", "positions: RMSE", "predicting the mean"}}
	var blind []string
	for _, p := range list {
		row := []string{p.Task.Kind(), p.Memory.Kind(), thousands(p.Frames), viz.Missing, viz.Missing, viz.Missing, viz.Missing, viz.Missing}
		made, err := p.Find(st)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return t, err
		}
		if err == nil {
			copy(row[3:], []string{made.Weights, fmt.Sprintf("%.1f %%", 100*made.Present), number(made.AUC), number(made.RMSE), number(made.Spread)})
			if made.Blind() {
				blind = append(blind, p.Task.Kind())
			}
		}
		t.Rows = append(t.Rows, row)
	}
	t.Notes = []string{"AUC: the probability that a visible pair is ranked above an invisible one; 0.5 is chance. " +
		"Positions of visible peers, in world half sizes (on Melting Pot in units of 11 cells), beside the error of always predicting their mean. " +
		"A dash: not pre-trained here, or nothing to measure."}
	if len(blind) > 0 {
		t.Notes = append(t.Notes, memory.BlindNote+": "+strings.Join(blind, ", ")+".")
	}
	return t, nil
}
