// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cermic/cermiclib"
	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
	"cermic/reproduce/records"
)

// Defaults of several commands; cermiclib.DefaultBudget is the budget.
const (
	defaultTask   = "balance"
	defaultMethod = "mappo-cermic"
	defaultStore  = "runs"
)

const maxRuns = 1000

func budgetNames() string {
	var names []string
	for _, b := range cermiclib.Presets {
		names = append(names, b.Budget.Name)
	}
	return strings.Join(names, ", ")
}

func storeFlag(f *pflag.FlagSet) { f.String("store", storeHere(), "`folder` of the runs") }

// onStore makes a command of one that works on the store of its flag -store, which open opens.
func onStore(
	open func(dir string) (*results.Store, error), run func(*cobra.Command, *results.Store, []string) error,
) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		st, err := open(cmd.Flag("store").Value.String())
		if err != nil {
			return err
		}
		return run(cmd, st, args)
	}
}

// storeHere is the default store, in the root of the repository, seen from the current folder.
func storeHere() string {
	root, err := repository()
	here, failed := os.Getwd()
	path, apart := filepath.Rel(here, filepath.Join(root, defaultStore))
	if errors.Join(err, failed, apart) != nil {
		return defaultStore
	}
	return path
}

func setFlag(f *pflag.FlagSet, set *[]string) {
	f.StringArrayVar(set, "set", nil, "change settings: `key=value`, for example explore.alpha=0.5; may list several")
}

// storedBudgetFlag chooses runs in a store, whose budget may be a custom one.
func storedBudgetFlag(f *pflag.FlagSet, budget *string) {
	f.StringVar(budget, "budget", cermiclib.DefaultBudget,
		"`budget` of the runs: "+budgetNames()+" or "+cermiclib.CustomBudget)
}

func storedBudget(name string) error {
	if _, err := cermiclib.FindPreset(name); err != nil && name != cermiclib.CustomBudget {
		return usageError{err}
	}
	return nil
}

// The flags about the machine, which applyMachine reads.
const (
	backendName  = "backend"
	portableName = "portable"
)

func backendFlag(f *pflag.FlagSet) {
	f.String(backendName, "", "`name` of the graphs' backend: go, xla, xla:cpu or xla:cuda; "+
		"xla:cuda,tf32 is faster and less exact (default: a GPU, else XLA, else go)")
}

// portableISA is the instruction set that -portable limits XLA to; x86-64 processors have it since 2013.
const portableISA = "AVX2"

func portableFlag(f *pflag.FlagSet) {
	f.Bool(portableName, false, "train with "+portableISA+" instructions only, as on processors without AVX-512; "+
		"records state the instruction set")
}

func trainingFlags(f *pflag.FlagSet) {
	backendFlag(f)
	portableFlag(f)
}

// applyMachine sets environment variables, because XLA's plug-in and child processes read them.
func applyMachine(cmd *cobra.Command) error {
	f := cmd.Flags()
	if name, err := f.GetString(backendName); err == nil && name != "" {
		kind, _, _ := strings.Cut(name, ":")
		kind, _, _ = strings.Cut(kind, ",")
		if kind != "go" && kind != "xla" || strings.ContainsFunc(name, unicode.IsControl) {
			return usagef("unknown backend %q%s", name, conf.Near(name, []string{"go", "xla", "xla:cpu", "xla:cuda"}))
		}
		os.Setenv("GOMLX_BACKEND", name)
	}
	if on, _ := f.GetBool(portableName); on {
		os.Setenv("XLA_FLAGS", strings.TrimSpace(os.Getenv("XLA_FLAGS")+" "+results.ISAFlag+portableISA))
	}
	return nil
}

// seedRange is the value of -seeds: n for seeds 1 to n, m-n for seeds m to n. Machines can thus share the seeds of a
// method.
type seedRange struct{ first, last int }

func (r *seedRange) String() string {
	if r.first > 1 {
		return fmt.Sprintf("%d-%d", r.first, r.last)
	}
	return strconv.Itoa(r.last)
}

func (r *seedRange) Set(text string) error {
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		from, to = "1", text
	}
	first, err := strconv.Atoi(from)
	last, err2 := strconv.Atoi(to)
	if errors.Join(err, err2) != nil || first < 1 || last < first || last > maxRuns {
		return fmt.Errorf("want a number from 1 to %d or a range, as 2-3", maxRuns)
	}
	*r = seedRange{first, last}
	return nil
}

func (r *seedRange) Type() string { return "n" }

func (r seedRange) of(es []experiment.Config) []experiment.Config {
	return slices.DeleteFunc(es, func(e experiment.Config) bool { return e.Seed < uint64(r.first) })
}

// openStore opens the folder of the runs over the committed records.
func openStore(dir string) (*results.Store, error) {
	st, err := results.Open(dir)
	if err != nil {
		return nil, err
	}
	st.Base(records.Layer())
	return st, nil
}

// readStore is openStore for a command that trains nothing, which refuses a folder that is not there.
func readStore(dir string) (*results.Store, error) {
	if _, err := os.Stat(dir); dir != storeHere() && os.IsNotExist(err) {
		return nil, usagef("there is no folder %s: name an existing one by -store", dir)
	}
	return openStore(dir)
}
