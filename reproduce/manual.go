// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cermic/envs/conf"
)

// manual is what a verb's help says beside its flags, and the only place that says which flags its ways of use read.
type manual struct {
	args     string   // as it stands in a command line: "ID", "[TABLE]"; empty: the verb takes none
	says     string   // what they are
	examples []string // command lines, from the verb on
	ways     []way    // the first that fits counts; none: every flag is read
	reads    bool     // it reads a store and makes none, so that one which is named has to be there
}

// way is one way to use a verb. Names of flags are separated by blanks; "ARGUMENT" stands for an argument.
type way struct {
	with, without string // it fits where all of the first are given, and none of the others
	reads         string // beside with
	why           string // why the others are not read
}

// argument is what the flags of a way call an argument.
const argument = "ARGUMENT"

// manuals are those of all verbs, by name.
var manuals = map[string]manual{
	"list": {
		examples: []string{"list -method mappo-cermic -task navigation -set explore.alpha=0.5", "list -task lock"},
		ways:     []way{{with: "method", reads: "task budget set"}, {with: "task", reads: "budget set"}, {}},
	},
	"tasks": {
		args: "[TASK]", says: "a task, as list names it; without one all tasks are run",
		examples: []string{"tasks balance", "tasks -episodes 200 -seed 7"},
	},
	"train": {
		args: "[KEY=VALUE...] [ID...]",
		says: "a setting as for -set, or a flag as for Hydra: task=balance method=mappo learner.lr=1e-3; with -again: IDs of runs, which status prints",
		examples: []string{
			"train -task balance -method mappo-cermic -budget short -seeds 3 -set explore.alpha=0.5",
			"train task=balance method=mappo -multirun learner.lr=1e-3,3e-4",
		},
		ways: []way{
			{with: "fork", reads: "set store force backend portable", why: "the run that it goes on from says it, and -set changes settings"},
			{with: "again " + argument, reads: "store workers force backend portable", why: "the run says it"},
			{with: "table", reads: "budget seeds store workers force again backend portable", why: "the table says what is compared"},
			{reads: "task method budget seeds set multirun store workers force again backend portable"},
		},
	},
	"campaign": {
		args: "[KEY=VALUE...]", says: "a setting as for -set, or a flag: table=sota budget=short",
		examples: []string{"campaign -table sota -budget short -plan", "campaign -table all -budget short -workers 2"},
		ways: []way{
			{with: "plan", without: "table task method", reads: "seeds nodes store backend", why: "it is about every table at every budget"},
			{with: "plan", reads: "table task method budget seeds set store backend", why: "a plan trains nothing"},
			{with: "manifest", reads: "table task method budget seeds set store", why: "a manifest trains nothing"},
			{with: "on", reads: "table task method budget seeds set store workers force backend portable account partition gpus time bundle dry-run"},
			{reads: "table task method budget seeds set store workers force backend portable"},
		},
	},
	"work": {
		args: "MANIFEST", says: "a file that campaign -manifest has written",
		examples: []string{"work -index 3 sota.jsonl", "work -index 0 -bundle 4 -store /shared/runs /shared/sota.jsonl"},
	},
	"pretrain": {examples: []string{"pretrain -task navigation", "pretrain -task all -memory gru -frames 20000"}},
	"evaluate": {
		reads: true,
		args:  "ID [KEY=VALUE...]", says: "the run, by its ID or the beginning of it, which status prints, and settings as for -set",
		examples: []string{"evaluate 0123abcd", "evaluate 0123abcd -set budget.sampled=true -set budget.eval_episodes=200"},
	},
	"watch": {
		reads: true,
		args:  "ID", says: "the run, by its ID or the beginning of it, which status prints",
		examples: []string{"watch 0123abcd", "watch 0123abcd -o balance.gif -speed 30"},
	},
	"delete": {
		reads: true,
		args:  "ID...", says: "runs, by their IDs or the beginnings of these, which status prints",
		examples: []string{"delete 0123abcd", "delete -yes 0123abcd 4567cdef"},
	},
	"table": {
		reads: true,
		args:  "[TABLE]", says: "sota, agents, ablation or density; without one sota",
		examples: []string{"table sota -budget short", "table ablation -budget short -format latex"},
	},
	"results": {reads: true, examples: []string{"results", "results -write"}, ways: []way{{with: "write", why: "it is of the committed records alone"}, {reads: "store"}}},
	"claims": {
		reads: true,
		args:  "[CLAIM]", says: "a claim as claims lists it, to see why; without one all claims are listed",
		examples: []string{"claims", "claims lifts-mappo"},
		ways:     []way{{with: "write", why: "it is of the committed records alone"}, {reads: "store"}},
	},
	"curves": {reads: true, examples: []string{"curves -task balance -reward dense -budget short", "curves -task navigation -method mappo,qmix -budget short -o navigation.svg"}},
	"export": {
		reads: true,
		args:  "FORM", says: strings.Join(exportNames, ", "),
		examples: []string{"export csv -budget short", "export weights -task balance -method mappo -o weights"},
	},
	"status": {reads: true, examples: []string{"status", "status -committed"}},
	"check": {
		args: "[ID...]", says: "committed records, by their IDs or the beginnings of these, which status -committed prints; without one a sample is drawn",
		examples: []string{"check", "check -task balance -method mappo -n 1"},
		ways:     []way{{with: argument, reads: "portable", why: "the record says it"}, {reads: "task method budget n seed portable"}},
	},
	"bench": {
		examples: []string{"bench", "bench -only update"},
		ways:     []way{{with: "peers", reads: "only rounds backend"}, {reads: "only backend"}},
	},
	"lab": {
		args: "[-- FLAG...]", says: "behind -- flags of JupyterLab itself",
		examples: []string{"lab", "lab -no-browser -port 8890 -- --ip=0.0.0.0"},
	},
	"setup": {examples: []string{"setup", "setup -gpu"}},
	"python": {
		examples: []string{"python -install", "python -check -torch"},
		ways:     []way{{with: "check", reads: "install torch"}, {reads: "install"}},
	},
	"notebooks": {
		examples: []string{"notebooks -budget smoke", "notebooks -only 00_start -write"},
		ways:     []way{{with: "thumbnails", reads: "only", why: "it executes nothing"}, {reads: "budget only write cell"}},
	},
}

// print writes the verb's help: a sentence, its form, two examples, its arguments and its flags.
func (m manual) print(out io.Writer, name string, flags *flag.FlagSet) {
	about := ""
	for _, v := range verbs() {
		if v.name == name {
			about = strings.ToUpper(v.about[:1]) + v.about[1:] + "."
		}
	}
	form := "go run ./reproduce " + name
	has := false
	flags.VisitAll(func(*flag.Flag) { has = true })
	if has {
		form += " [flags]"
	}
	if m.args != "" {
		form += " " + m.args
	}
	fmt.Fprintf(out, "%s\n\n  %s\n", about, form)
	if len(m.examples) > 0 {
		fmt.Fprintln(out, "\nExamples")
	}
	for _, line := range m.examples {
		fmt.Fprintf(out, "  go run ./reproduce %s\n", line)
	}
	if m.args != "" {
		fmt.Fprintf(out, "\nArguments\n  %s\n    \t%s\n", m.args, m.says)
	}
	if has {
		fmt.Fprintln(out, "\nFlags")
		flags.SetOutput(out)
		flags.PrintDefaults()
	}
}

// check refuses flags that the way of use that fits does not read. given are the flags, and the argument if there is one.
func (m manual) check(verb string, given []string) error {
	has := func(name string) bool { return slices.Contains(given, name) }
	for _, w := range m.ways {
		with, without := strings.Fields(w.with), strings.Fields(w.without)
		if slices.ContainsFunc(with, func(f string) bool { return !has(f) }) || slices.ContainsFunc(without, has) {
			continue
		}
		reads := slices.Concat(with, strings.Fields(w.reads))
		for _, name := range given {
			if name != argument && !slices.Contains(reads, name) {
				return m.refuse(verb, w, name)
			}
		}
		return nil
	}
	return nil
}

// findStore puts the default store into the repository's root, from whichever of its folders the verb is called, and
// refuses a store that was named to a verb which reads one, and is not there: it would count for an empty one.
func (m manual) findStore(verb string, given *flag.FlagSet) error {
	f, named := given.Lookup("store"), false
	given.Visit(func(g *flag.Flag) { named = named || g == f })
	if f == nil {
		return nil
	}
	if !named && f.DefValue == defaultStore {
		here, err := os.Getwd()
		root, err2 := repository()
		if errors.Join(err, err2) != nil || here == root {
			return nil
		}
		store, err := filepath.Rel(here, filepath.Join(root, defaultStore))
		return errors.Join(err, f.Value.Set(store))
	}
	if _, err := os.Stat(f.Value.String()); m.reads && f.Value.String() != f.DefValue && errors.Is(err, fs.ErrNotExist) {
		return usagef("%s: there is no folder %s, which -store names", verb, f.Value)
	}
	return nil
}

// refuse says that a way of use does not read a flag: where it would count, or what is near.
func (m manual) refuse(verb string, w way, name string) error {
	if w.with == "" { // some other way reads it
		for _, other := range m.ways {
			flags := strings.Fields(other.with)
			if len(flags) > 0 && slices.Contains(strings.Fields(other.reads), name) {
				return usagef("%s reads -%s only with %s: add that, or leave out -%s", verb, name, shown(flags), name)
			}
		}
	}
	said := fmt.Sprintf("%s %s does not read -%s", verb, shown(strings.Fields(w.with)), name)
	if w.without != "" {
		said = fmt.Sprintf("%s %s without %s does not read -%s", verb, shown(strings.Fields(w.with)), shown(strings.Fields(w.without)), name)
	}
	if w.why != "" {
		said += ", since " + w.why
	}
	reads := strings.Fields(w.reads)
	near := conf.Near(name, reads)
	if strings.HasPrefix(near, "; known") {
		near = "; it reads -" + strings.Join(reads, ", -")
	}
	return usagef("%s: leave out -%s%s", said, name, near)
}

// shown writes flags as they are typed.
func shown(flags []string) string {
	var out []string
	for _, f := range flags {
		if f == argument {
			f = "ID"
		} else {
			f = "-" + f
		}
		out = append(out, f)
	}
	return strings.Join(out, " ")
}
