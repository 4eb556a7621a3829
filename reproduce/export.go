// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/cermiclib/results/export"
	"cermic/envs/conf"
	"cermic/reproduce/plan"
	"cermic/reproduce/records"
	"cermic/viz"
)

// exports are the forms in which runs leave the store, by name; each writes to a file or a folder called to.
var exports = map[string]func(st *results.Store, rs []*results.Record, to string) error{
	"marl-eval":   exportMarlEval,
	"csv":         exportCSV,
	"tensorboard": exportTensorBoard,
	"weights":     exportWeights,
	"records":     exportRecords,
}

// exportNames in the order of the help text.
var exportNames = []string{"csv", "marl-eval", "tensorboard", "weights", "records"}

// runExport writes runs in forms that other programs read.
func runExport(_ context.Context, out io.Writer, args []string) error {
	var task, method, budget, store, to string
	var bring repeated
	names, err := parse("export", out, args, 1, func(f *flag.FlagSet) {
		f.StringVar(&task, "task", "", "only runs of this `task`")
		f.StringVar(&method, "method", "", "only runs of this `method`, with its changed settings as status shows them")
		f.StringVar(&budget, "budget", plan.DefaultBudget, "of the runs: "+budgetNames()+" or "+plan.CustomBudget)
		f.StringVar(&store, "store", defaultStore, "`folder` of the runs")
		f.Var(&bring, "weights", "records: only the run with this `ID`, and its weights beside its record; may be given more than once")
		f.StringVar(&to, "o", "", "`file` (csv, marl-eval) or folder (tensorboard, weights, records) to write; by default called after the form")
	})
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return usagef("export to what? One of %s", strings.Join(exportNames, ", "))
	}
	write, ok := exports[names[0]]
	if !ok {
		return usagef("unknown form %q%s", names[0], conf.Near(names[0], exportNames))
	}
	if len(bring) > 0 && names[0] != "records" {
		return usagef("export %s does not read -weights: that is for records", names[0])
	}
	if err := storedBudget(budget); err != nil {
		return err
	}
	q := results.Query{Budget: budget, Complete: true}
	if task != "" {
		t, err := plan.FindTask(task)
		if err != nil {
			return usageError{err}
		}
		q.Task = t.ID
	}
	st, err := openStore(store)
	if err != nil {
		return err
	}
	found, err := st.Find(q)
	if err != nil {
		return err
	}
	var records []*results.Record
	for i, r := range plan.Labelled(found) {
		if method != "" && r.Method != method {
			continue
		}
		if names[0] == "records" { // as they are
			r = found[i]
		}
		records = append(records, r)
	}
	if len(bring) > 0 {
		if records, err = bringing(st, records, bring, cmp.Or(to, names[0])); err != nil {
			return err
		}
	}
	if names[0] == "records" {
		if err := refuseUnbuildable(records); err != nil {
			return err
		}
	}
	if len(records) == 0 {
		return fmt.Errorf("no complete run of that kind at budget %s in %s: go run ./reproduce status lists what there is", budget, store)
	}
	if names[0] == "weights" {
		if records, err = withWeights(out, st, records); err != nil {
			return err
		}
	}
	if to == "" {
		to = map[string]string{"csv": "runs.csv", "marl-eval": "marl-eval.json"}[names[0]]
		if to == "" {
			to = names[0]
		}
	}
	if err := write(st, records, to); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %s\n", to, viz.Count(len(records), "run"))
	return nil
}

func exportMarlEval(_ *results.Store, rs []*results.Record, to string) error {
	data, err := export.MarlEval(rs)
	if err != nil {
		return err
	}
	return results.WriteFile(to, data)
}

// groupsOf are the names of groups that are trained apart, of all runs, in alphabetical order.
func groupsOf(rs []*results.Record) (names []string) {
	for _, r := range rs {
		for _, e := range r.Evals {
			names = slices.AppendSeq(names, maps.Keys(e.Groups))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// exportCSV writes one line for every episode of every evaluation: nothing is averaged. Runs of tasks with several groups add a column
// for the return of each.
func exportCSV(_ *results.Store, rs []*results.Record, to string) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	groups := groupsOf(rs)
	head := []string{"run", "task", "method", "budget", "seed", "frames", "episode", "score", "early", "success"}
	for _, name := range groups {
		head = append(head, name+"_return")
	}
	_ = w.Write(head)
	number := func(of []float64, i int) string { // nothing where a task has no such number
		if i >= len(of) {
			return ""
		}
		return strconv.FormatFloat(of[i], 'g', -1, 64)
	}
	for _, r := range rs {
		for _, e := range r.Evals {
			for i := range e.Scores {
				line := []string{r.ID, r.Task, r.Method, r.Budget, strconv.FormatUint(r.Seed, 10), strconv.Itoa(e.Frames),
					strconv.Itoa(i), number(e.Scores, i), number(e.Early, i), number(e.Success, i)}
				for _, name := range groups {
					line = append(line, number(e.Groups[name], i))
				}
				_ = w.Write(line)
			}
		}
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	return results.WriteFile(to, b.Bytes())
}

// exportRecords writes compact records, one file a run, as they are committed under reproduce/records, and what is known of the
// pre-trained weights that they name.
func exportRecords(st *results.Store, rs []*results.Record, to string) error {
	for i, r := range plan.Labelled(rs) {
		if committed(r.ID) {
			r = rs[i] // its file stays as it is
		}
		if _, err := results.WritePack(to, r); err != nil {
			return err
		}
	}
	return experiment.ExportPretrained(st, rs, to)
}

// committed reports whether a run of that ID is among the committed records.
func committed(id string) bool {
	_, err := fs.Stat(records.FS, id+".json.gz")
	return err == nil
}

// refuseUnbuildable is the error for runs whose sources no commit has, but for those that are committed already.
func refuseUnbuildable(rs []*results.Record) error {
	for _, r := range rs {
		if !committed(r.ID) && !records.Rebuildable(r.Host) {
			return fmt.Errorf("run %s names no commit that has the sources it was trained from: commit them, go run ./reproduce delete %s, build the program anew and train it again", r.ID, r.ID)
		}
	}
	return nil
}

// bringing are those of the runs that IDs name, with the hashes of their weights, which it writes into the folder of records.
func bringing(st *results.Store, rs []*results.Record, ids []string, to string) (out []*results.Record, err error) {
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

// exportTensorBoard writes a folder for every run: <task>/<method>/seed_<n>.
func exportTensorBoard(_ *results.Store, rs []*results.Record, to string) error {
	for _, r := range rs {
		var b bytes.Buffer
		if err := export.WriteTensorBoard(&b, r); err != nil {
			return err
		}
		dir := filepath.Join(to, filepath.FromSlash(r.Task), folderName(r.Method), fmt.Sprintf("seed_%d", r.Seed))
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
		if err := results.WriteFile(filepath.Join(dir, "events.out.tfevents.0."+r.ID), b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// folderName is a method's label as one part of a path.
func folderName(label string) string {
	if label = strings.ReplaceAll(label, "/", "_"); label == "." || label == ".." {
		return strings.ReplaceAll(label, ".", "_")
	}
	return label
}

// withWeights are the runs that were trained in this store and whose weights can be read; it says which of the others are left out.
func withWeights(out io.Writer, st *results.Store, rs []*results.Record) ([]*results.Record, error) {
	var own []*results.Record
	damaged := 0
	for _, r := range rs {
		switch _, err := st.Weights(r.ID); {
		case err == nil:
			own = append(own, r)
		case !errors.Is(err, fs.ErrNotExist):
			fmt.Fprintln(out, "left out:", err)
			damaged++
		}
	}
	if len(own) == 0 && damaged > 0 {
		return nil, errors.New("no weights that can be read; the damage stands above")
	}
	if len(own) == 0 {
		return nil, fmt.Errorf("none of these %s has weights here: they were trained elsewhere, and records hold scores only; train one with go run ./reproduce train",
			viz.Count(len(rs), "run"))
	}
	if left := len(rs) - len(own) - damaged; left > 0 {
		fmt.Fprintf(out, "left out: %s trained elsewhere, of which records hold scores only\n", viz.Count(left, "run"))
	}
	return own, nil
}

// storedBudget refuses names that no stored run's budget has.
func storedBudget(name string) error {
	known := []string{plan.CustomBudget}
	for _, b := range plan.Presets {
		known = append(known, b.Budget.Name)
	}
	if name != "" && !slices.Contains(known, name) {
		return usagef("unknown budget %q%s", name, conf.Near(name, known))
	}
	return nil
}

// exportWeights writes the trained variables of every run as <run>.safetensors. A variable's name is its scope,
// "actor/layer_0/weights"; README.md says which axis of its shape is which. What optimisers and environments remember stays out.
func exportWeights(st *results.Store, rs []*results.Record, to string) error {
	if err := os.MkdirAll(to, 0o777); err != nil {
		return err
	}
	for _, r := range rs {
		c, err := st.Weights(r.ID)
		if err != nil {
			return err
		}
		data, err := results.EncodeWeights(r, c)
		if err != nil {
			return err
		}
		if err := results.WriteFile(filepath.Join(to, r.ID+".safetensors"), data); err != nil {
			return err
		}
	}
	return nil
}
