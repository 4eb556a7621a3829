// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"cermic/cermiclib/results"
	"cermic/envs/conf"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// formats are the renderings of a table, by name.
var formats = map[string]func(viz.ScoreTable) string{
	"text":     func(g viz.ScoreTable) string { return g.Text(width()) },
	"markdown": viz.ScoreTable.Markdown,
	"csv":      viz.ScoreTable.CSV,
	"latex":    viz.ScoreTable.LaTeX,
	"html":     viz.ScoreTable.HTML,
}

// formatNames in the order of the help text.
var formatNames = []string{"text", "markdown", "csv", "latex", "html"}

// runTable prints a table of the paper with the published numbers beside ours.
func runTable(ctx context.Context, out io.Writer, args []string) error {
	var budget, format, store string
	var reproduce reproduction
	names, err := parse("table", out, args, 1, func(f *flag.FlagSet) {
		f.StringVar(&budget, "budget", plan.DefaultBudget, "of the runs: "+budgetNames())
		f.StringVar(&format, "format", "text", strings.Join(formatNames, ", "))
		f.StringVar(&store, "store", defaultStore, "`folder` of the runs")
		reproduce.declare(f)
	})
	if err != nil {
		return err
	}
	if len(names) == 0 {
		names = []string{paper.Sota.Name}
	}
	table, err := paper.FindBenchmark(names[0])
	if err != nil {
		return usageError{err}
	}
	if _, err := plan.FindPreset(budget); err != nil {
		return usageError{err}
	}
	render, ok := formats[format]
	if !ok {
		return usagef("unknown format %q%s", format, conf.Near(format, formatNames))
	}
	st, err := openStore(store)
	if err != nil {
		return err
	}
	if done, err := reproduce.run(ctx, out, table, budget, st); done || err != nil {
		return err
	}
	grid, err := table.Results(plan.At(st, budget))
	if err != nil {
		return err
	}
	fmt.Fprintln(out, strings.TrimRight(render(grid), "\n"))
	if format == "text" && !measured(grid) {
		return hint(out, st, budget)
	}
	return nil
}

// measured reports whether any cell has a number of ours.
func measured(g viz.ScoreTable) bool {
	for _, row := range g.Rows {
		if slices.ContainsFunc(row.Cells, func(c viz.Cell) bool { return c.Seeds > 0 }) {
			return true
		}
	}
	return false
}

// hint says at which budgets there are runs, when a table of another one is empty.
func hint(out io.Writer, st *results.Store, budget string) error {
	records, err := st.Heads(results.Query{Complete: true})
	if err != nil {
		return err
	}
	count := map[string]int{}
	for _, r := range records {
		count[r.Budget]++
	}
	fmt.Fprintf(out, "\nNo run of this table at budget %s in %s.", budget, st.Dir())
	for _, name := range slices.Sorted(maps.Keys(count)) {
		fmt.Fprintf(out, " %s at budget %s.", viz.Count(count[name], "run"), name)
	}
	if count[plan.TableBudget] > 0 && budget != plan.TableBudget {
		fmt.Fprintf(out, " Add -budget %s.", plan.TableBudget)
	}
	fmt.Fprintln(out)
	return nil
}

// width is how many characters a line of the terminal takes: $COLUMNS where the shell exports it, else 100.
func width() int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	return 100
}
