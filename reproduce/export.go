// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/cermiclib/results/export"
	"cermic/envs/conf"
	"cermic/reproduce/plan"
	"cermic/reproduce/records"
	"cermic/viz"
)

// exportForm writes runs for other programs; output is the default file or folder.
type exportForm struct {
	name, output string
	write        func(x *runExport, st *results.Store, rs []*results.Record) (runs int, err error)
}

var exportForms = []exportForm{
	{"csv", "runs.csv", (*runExport).csv},
	{"tensorboard", "tensorboard", (*runExport).tensorBoard},
	{"weights", "weights", (*runExport).safetensors},
	{"records", "records", (*runExport).records},
}

type runExport struct {
	task, method, budget, to string
	weights                  []string
	out                      io.Writer
}

func exportCommand() *cobra.Command {
	var x runExport
	var names []string
	for _, form := range exportForms {
		names = append(names, form.name)
	}
	forms := strings.Join(names, ", ")
	cmd := &cobra.Command{
		Use:     "export FORM",
		Short:   "Write runs for other programs: " + forms,
		Example: "  export csv -budget short\n  export weights -task balance -method mappo -o weights",
		Args:    arguments(1, 1, "a form: "+forms),
		RunE: onStore(readStore, func(cmd *cobra.Command, st *results.Store, args []string) error {
			form, err := conf.Find("form", args[0], exportForms, func(f exportForm) string { return f.name })
			if err != nil {
				return usageError{err}
			}
			stored := form.name == "records"
			if len(x.weights) > 0 && !stored {
				return usagef("export %s does not read -weights: leave it out, or export records", form.name)
			}
			x.out, x.to = cmd.OutOrStdout(), cmp.Or(x.to, form.output)
			rs, err := x.find(st, stored)
			if err != nil {
				return err
			}
			runs, err := form.write(&x, st, rs)
			if err == nil {
				fmt.Fprintf(x.out, "%s: %s\n", x.to, viz.Count(runs, "run"))
			}
			return err
		}),
	}
	f := cmd.Flags()
	f.StringVar(&x.task, "task", "", "only runs of this `task`")
	f.StringVar(&x.method, "method", "", "only runs of this `method`, with its changed settings as status shows them")
	storedBudgetFlag(f, &x.budget)
	storeFlag(f)
	f.StringArrayVar(&x.weights, "weights", nil, "with records: only run `ID`, with its weights; may be repeated")
	f.StringVarP(&x.to, "output", "o", "", "`file` (csv) or folder to write (default named after the form)")
	return cmd
}

// find returns the complete runs that the flags choose, with today's labels or with their stored ones.
func (x *runExport) find(st *results.Store, stored bool) (rs []*results.Record, err error) {
	if err := storedBudget(x.budget); err != nil {
		return nil, err
	}
	q := results.Query{Budget: x.budget, Complete: true}
	if x.task != "" {
		t, err := plan.FindTask(x.task)
		if err != nil {
			return nil, usageError{err}
		}
		q.Task = t.ID
	}
	found, err := st.Find(q)
	if err != nil {
		return nil, err
	}
	for i, r := range plan.Labelled(found) {
		if x.method != "" && r.Method != x.method {
			continue
		}
		if stored {
			r = found[i]
		}
		rs = append(rs, r)
	}
	if len(rs) == 0 {
		return nil, fmt.Errorf("no complete run of that task and method at budget %s in %s: "+
			"go run ./reproduce status lists the runs", x.budget, st.Dir())
	}
	return rs, nil
}

// csv writes a line for every episode of every evaluation. Separately trained groups of agents add a column each for
// their returns.
func (x *runExport) csv(_ *results.Store, rs []*results.Record) (int, error) {
	var groups []string
	for _, r := range rs {
		for _, e := range r.Evals {
			groups = slices.AppendSeq(groups, maps.Keys(e.Groups))
		}
	}
	slices.Sort(groups)
	groups = slices.Compact(groups)
	header := []string{"run", "task", "method", "budget", "seed", "frames", "episode", "score", "early", "success"}
	for _, name := range groups {
		header = append(header, name+"_return")
	}
	number := func(of []float64, i int) string { // empty if the task has no such number
		if i >= len(of) {
			return ""
		}
		return strconv.FormatFloat(of[i], 'g', -1, 64)
	}
	lines := [][]string{header}
	for _, r := range rs {
		for _, e := range r.Evals {
			for i := range e.Scores {
				line := []string{r.ID, r.Task, r.Method, r.Budget, strconv.FormatUint(r.Seed, 10), strconv.Itoa(e.Frames),
					strconv.Itoa(i), number(e.Scores, i), number(e.Early, i), number(e.Success, i)}
				for _, name := range groups {
					line = append(line, number(e.Groups[name], i))
				}
				lines = append(lines, line)
			}
		}
	}
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(lines); err != nil {
		return 0, err
	}
	return len(rs), results.WriteFile(x.to, b.Bytes())
}

// records writes compact records, one file per run, in the form of reproduce/records. It also writes the descriptions
// of the pre-trained weights that they name.
func (x *runExport) records(st *results.Store, rs []*results.Record) (_ int, err error) {
	if len(x.weights) > 0 {
		if rs, err = packWeights(st, rs, x.weights, x.to); err != nil {
			return 0, err
		}
	}
	if err := refuseUnbuildable(rs); err != nil {
		return 0, err
	}
	for i, r := range plan.Labelled(rs) {
		if committed(r.ID) {
			r = rs[i] // its file stays the same
		}
		if _, err := results.WritePack(x.to, r); err != nil {
			return 0, err
		}
	}
	return len(rs), experiment.ExportPretrained(st, rs, x.to)
}

func committed(id string) bool {
	_, err := fs.Stat(records.FS, id+".json.gz")
	return err == nil
}

// refuseUnbuildable refuses new runs whose sources are in no commit.
func refuseUnbuildable(rs []*results.Record) error {
	for _, r := range rs {
		if !committed(r.ID) && !records.Rebuildable(r.Host) {
			return fmt.Errorf("run %s names no commit that has the sources it was trained from: "+
				"commit them, delete the run's folder, build the program anew and train it again", r.ID)
		}
	}
	return nil
}

// packWeights writes the weights of the named runs into the folder of records and returns these runs with their hashes.
func packWeights(st *results.Store, rs []*results.Record, ids []string, to string) (out []*results.Record, err error) {
	for _, id := range ids {
		i := slices.IndexFunc(rs, func(r *results.Record) bool { return r.ID == id })
		if i < 0 {
			return nil, usagef("-weights %s: no complete run of that ID among those to export", id)
		}
		c, err := st.Weights(id)
		if err != nil {
			return nil, fmt.Errorf("run %s has no weights here: go run ./reproduce train -again %s trains it again", id, id)
		}
		r, err := results.PackWeights(to, rs[i], c)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

func (x *runExport) tensorBoard(_ *results.Store, rs []*results.Record) (int, error) {
	for _, r := range rs {
		live := export.NewLive(x.to)
		live.Watch(results.Event{Record: r})
		if err := live.Close(); err != nil {
			return 0, err
		}
	}
	return len(rs), nil
}

// safetensors writes the trained variables of every run as <run>.safetensors, without the state of optimisers and
// environments. A variable's name is its scope, "actor/layer_0/weights"; README.md explains the axes of its shape.
func (x *runExport) safetensors(st *results.Store, rs []*results.Record) (runs int, err error) {
	for _, r := range rs {
		c, err := st.Weights(r.ID)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var data []byte
		if err == nil {
			data, err = results.EncodeWeights(r, c)
		}
		if err == nil {
			err = results.WriteFile(filepath.Join(x.to, r.ID+".safetensors"), data)
		}
		if err != nil {
			return runs, err
		}
		runs++
	}
	if runs < len(rs) {
		fmt.Fprintf(x.out, "left out: %s trained elsewhere, whose records hold scores only\n", viz.Count(len(rs)-runs, "run"))
	}
	if runs == 0 {
		return 0, errors.New("none of these runs has weights here: train one with go run ./reproduce train")
	}
	return runs, nil
}
