// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/reproduce/campaign"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/reproduce/records"
)

// What verbs take where nothing is named; plan.DefaultBudget is the budget.
const (
	defaultTask    = "balance"
	defaultMethod  = "mappo-cermic"
	demoMethods    = "mappo,mappo-cermic" // of train without a task, a method or a setting
	demoSetting    = "task.reward=dense"  // of train without a task: chance does not find the sparse reward of Balance
	demoDirections = `
What next
  go run ./reproduce curves -reward dense       draws these runs beside BenchMARL's: curves.png
  go run ./reproduce table sota -budget short   the paper's first table beside the committed runs
  go run ./reproduce lab                        the notebooks: 00_start begins with these runs
`
)

// budgetNames are the named budgets, as help texts list them.
func budgetNames() string {
	var names []string
	for _, b := range plan.Presets {
		names = append(names, b.Budget.Name)
	}
	return strings.Join(names, ", ")
}

// allTables is the value of -table that chooses all of them.
const allTables = "all"

// choice is what the flags of train and campaign choose.
type choice struct {
	task, method, table, budget string
	seeds                       seedRange
	set                         repeated
	multirun                    bool // a run with each of the values that a setting lists
}

// runTrain trains what the flags name, or goes on with it, and sums up.
func runTrain(ctx context.Context, out io.Writer, args []string) error {
	c := choice{seeds: seedRange{1, 1}}
	var fork, store string
	var workers int
	var again bool
	ids, err := parse("train", out, args, maxRuns, func(f *flag.FlagSet) {
		f.StringVar(&c.task, "task", "", "`tasks` to train on, separated by commas; without one "+defaultTask+" on its dense reward")
		f.StringVar(&c.method, "method", "", "`methods` to train, separated by commas; without one "+defaultMethod+", and with neither task nor setting mappo beside it")
		f.StringVar(&c.table, "table", "", "train what this `table` of the paper needs, or all tables, instead of -task and -method")
		f.StringVar(&fork, "fork", "", "go on from run ID at so many frames, `ID@FRAMES`, with what -set changes, as a run of its own")
		f.StringVar(&c.budget, "budget", plan.DefaultBudget, budgetNames())
		f.Var(&c.seeds, "seeds", "runs of each, with seeds 1 to `n`, or with those of a range, as 2-3")
		f.Var(&c.set, "set", "change a setting, for example explore.alpha=0.5; may be given more than once")
		f.BoolVar(&c.multirun, "multirun", false, "train with each value that a setting lists: learner.lr=1e-3,3e-4; also -m")
		f.BoolVar(&again, "again", false, "train here what is complete without its weights, as committed records are: runs named by ID, or what other flags choose")
		f.StringVar(&store, "store", defaultStore, "`folder` of the runs")
		f.IntVar(&workers, "workers", 1, "runs trained at the same time")
		forceFlag(f, &ctx)
		backendFlag(f)
		portableFlag(f)
	})
	if err != nil {
		return err
	}
	if err := c.seeds.check(); err != nil {
		return usageError{err}
	}
	if workers < 1 {
		return usagef("-workers is %d, want at least 1", workers)
	}
	if len(ids) > 0 && !again {
		return usagef("train takes no argument %q: it names a run only with -again", ids[0])
	}
	st, err := openStore(store)
	if err != nil {
		return err
	}
	var es []experiment.Config
	demo := false
	switch {
	case fork != "":
		var e experiment.Config
		e, err = plan.Branch(st, fork, c.set)
		es = []experiment.Config{e}
	case len(ids) > 0:
		es, err = storedRuns(st, ids)
	default:
		demo = c.complete()
		es, err = c.experiments(out)
	}
	if err != nil {
		return usageError{located(err)}
	}
	if err := backendHere(); err != nil {
		return err
	}
	if again {
		if st, err = anew(store, es); err != nil {
			return err
		}
	}
	p := campaign.NewProgress(out, len(es))
	err = experiment.RunAll(ctx, es, st, workers, p.Watch)
	p.Done()
	if errors.Is(err, context.Canceled) { // and nothing else went wrong
		fmt.Fprintln(out, "Stopped and saved: the same command goes on from here.")
		return errStopped
	}
	if err != nil {
		return err
	}
	if err := summarise(out, es, st); err != nil || !demo {
		return err
	}
	_, err = io.WriteString(out, demoDirections)
	return err
}

// complete fills in what is not named, and reports whether nothing was: then it is a demonstration.
func (c *choice) complete() (demo bool) {
	demo = c.task == "" && c.method == "" && c.table == "" && len(c.set) == 0
	rewarded := slices.ContainsFunc(c.set, func(s string) bool { return strings.HasPrefix(s, "task.reward=") })
	if c.method == "" {
		c.method = defaultMethod
		if demo {
			c.method = demoMethods
		}
	}
	if c.task == "" {
		c.task = defaultTask
		if c.table == "" && !rewarded {
			c.set = append(c.set, demoSetting)
		}
	}
	return demo
}

// maxRuns is how many runs a command line names at most.
const maxRuns = 1000

// anew is the store without the committed records, which have no weights, so that what only these have is trained.
func anew(store string, es []experiment.Config) (*results.Store, error) {
	st, err := results.Open(store)
	if err != nil {
		return nil, err
	}
	for _, e := range es {
		id, err := e.ID()
		if err != nil {
			return nil, err
		}
		r, err := st.Head(id)
		if err != nil || !r.Complete {
			continue
		}
		if _, err := st.Checkpoint(id); err != nil {
			return nil, fmt.Errorf("run %s is complete in %s, but its weights are gone (%w): go run ./reproduce delete %s, then train it again", id, store, err, id)
		}
	}
	return st, nil
}

// storedRuns are the experiments of runs in st, which must be of this program: trained again they have the same IDs.
func storedRuns(st *results.Store, ids []string) (es []experiment.Config, err error) {
	for _, id := range ids {
		e, err := plan.Stored(st, id)
		if err != nil {
			return nil, err
		}
		now, err := e.ID()
		if err != nil {
			return nil, err
		}
		if !strings.HasPrefix(now, id) {
			return nil, fmt.Errorf("run %s is of another version of this program, where its settings have the identity %s: train that with -task, -method and -set", id, now)
		}
		es = append(es, e)
	}
	return es, nil
}

// experiments are those that the flags of train and campaign choose.
func (c choice) experiments(out io.Writer) ([]experiment.Config, error) {
	if c.table == "" {
		es, err := c.grid()
		return c.seeds.of(es), err
	}
	if len(c.set) > 0 {
		return nil, errors.New("-set changes what the table compares: use it with -task and -method")
	}
	tables := paper.Benchmarks
	if c.table != allTables {
		t, err := paper.FindBenchmark(c.table)
		if err != nil {
			return nil, err
		}
		tables = []*paper.Benchmark{t}
	}
	if _, err := plan.FindPreset(c.budget); err != nil {
		return nil, err
	}
	es, missing := plan.Benchmarks(tables, c.budget, c.seeds.last)
	if len(es) == 0 {
		return nil, errors.Join(missing...)
	}
	for _, err := range missing {
		fmt.Fprintln(out, "left out:", err)
	}
	return c.seeds.of(es), nil
}

// grid is every task with every method and, with -multirun, every combination of the values that settings list.
func (c choice) grid() ([]experiment.Config, error) {
	sets := [][]string{c.set}
	if c.multirun {
		sets = combinations(c.set)
	}
	var es []experiment.Config
	known := map[string]bool{} // 1e-3 and 0.001 are one value
	for _, set := range sets {
		some, err := plan.Grid(strings.Split(c.task, ","), strings.Split(c.method, ","), c.budget, c.seeds.last, set...)
		if err != nil && !c.multirun && len(combinations(c.set)) > 1 {
			err = fmt.Errorf("%w; to train with each of the values add -multirun", err)
		}
		if err != nil {
			return nil, err
		}
		for _, e := range some {
			id, err := e.ID()
			if err != nil {
				return nil, err
			}
			if !known[id] {
				known[id], es = true, append(es, e)
			}
		}
		if c.multirun && len(es) > maxRuns {
			return nil, fmt.Errorf("-multirun makes more than %d runs: list fewer values", maxRuns)
		}
	}
	return es, nil
}

// combinations are all choices of one value for each setting, where "key=a,b" lists two. Commas within brackets belong to a value.
func combinations(set []string) [][]string {
	out := [][]string{nil}
	for _, assignment := range set {
		key, values, ok := strings.Cut(assignment, "=")
		each := []string{assignment} // which is refused by name
		if ok {
			each = listed(values)
			for i := range each {
				each[i] = key + "=" + each[i]
			}
		}
		var next [][]string
		for _, before := range out {
			for _, one := range each {
				next = append(next, append(slices.Clone(before), one))
			}
			if len(next) > maxRuns {
				break
			}
		}
		out = next
	}
	return out
}

// listed splits a list at its commas outside of brackets and quotes.
func listed(values string) (out []string) {
	from, depth, text := 0, 0, false
	for i, r := range values {
		switch {
		case r == '"':
			text = !text
		case text:
		case r == '[' || r == '{':
			depth++
		case r == ']' || r == '}':
			depth--
		case r == ',' && depth == 0:
			out, from = append(out, values[from:i]), i+1
		}
	}
	return append(out, values[from:])
}

// defaultStore is where runs are kept, seen from the repository's root.
const defaultStore = "runs"

// openStore opens the folder of the runs, with the committed records below it.
func openStore(dir string) (*results.Store, error) {
	st, err := results.Open(dir)
	if err != nil {
		return nil, err
	}
	return st, st.Base(records.FS)
}
