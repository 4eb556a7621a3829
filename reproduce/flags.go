// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
	"cermic/reproduce/plan"
)

// parse reads the flags that declare adds and returns the arguments between and after them; want is how many there may
// be. An argument KEY=VALUE is the flag KEY, or a setting as for -set, where the verb has such. A flag that counts for nothing in the way in
// which the verb is used is refused (see manuals), and so is one that is given twice. Help is printed to out and reported as flag.ErrHelp.
func parse(name string, out io.Writer, args []string, want int, declare func(*flag.FlagSet)) ([]string, error) {
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	set.SetOutput(io.Discard) // the sentence below says it better
	declare(set)
	set.VisitAll(func(f *flag.Flag) {
		if _, often := f.Value.(*repeated); !often {
			f.Value = &single{Value: f.Value}
		}
		if kind, _ := flag.UnquoteUsage(f); kind == "file" || kind == "folder" {
			f.Value = &pathFlag{Value: f.Value, kind: kind}
		}
	})
	var plain []string
	for len(args) > 0 {
		if args[0] == "-m" && set.Lookup("multirun") != nil { // Hydra's short form
			args = append([]string{"-multirun"}, args[1:]...)
		}
		if err := set.Parse(args); errors.Is(err, flag.ErrHelp) {
			help := flag.NewFlagSet(name, flag.ContinueOnError) // with the defaults as declared
			declare(help)
			manuals[name].print(out, name, help)
			return nil, flag.ErrHelp
		} else if err != nil {
			return nil, flagError(name, set, err)
		}
		if args = set.Args(); len(args) > 0 { // flags may follow an argument: table sota -format latex
			others, err := assign(name, set, args[:1]) // at its place, so that what comes later counts
			if err != nil {
				return nil, err
			}
			plain, args = append(plain, others...), args[1:]
		}
	}
	if slices.Contains(plain, "") {
		return nil, usagef("%s: an argument is empty, as an unset shell variable is: want one with a name, or none", name)
	}
	if len(plain) > want {
		return nil, usagef("%s takes no argument %q%s", name, plain[want], meant(set, plain[want]))
	}
	given := []string{}
	set.Visit(func(f *flag.Flag) { given = append(given, f.Name) })
	if len(plain) > 0 {
		given = append(given, argument)
	}
	if err := manuals[name].check(name, given); err != nil {
		return nil, err
	}
	return plain, manuals[name].findStore(name, set)
}

// pathFlag is the value of a flag that names a file or a folder.
type pathFlag struct {
	flag.Value
	kind string
}

// Set takes a name that somebody can have meant: what is made under another is found by nobody, or in no shell.
func (p *pathFlag) Set(text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return fmt.Errorf("want the name of a %s", p.kind)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }):
		return fmt.Errorf("the name of a %s has no control characters", p.kind)
	case text == "~" || strings.HasPrefix(text, "~"+string(os.PathSeparator)):
		return errors.New("a shell writes ~ out only at the beginning of a word: put a blank before it, or write $HOME")
	}
	return p.Value.Set(text)
}

// single is the value of a flag that may be given once: of two the first would count for nothing.
type single struct {
	flag.Value
	set  bool
	text string // what was given
}

// Set takes the first value.
func (o *single) Set(text string) error {
	if o.set {
		return errors.New("the flag is given twice")
	}
	if strings.TrimSpace(text) == "" && o.Value.String() == "" { // it would pass for the default
		return errors.New("the value is empty, as an unset shell variable is: give one, or leave out the flag for its default")
	}
	o.set, o.text = true, text
	return o.Value.Set(text)
}

// handedOn are the flags among names that were given, written for the command line of another process.
func handedOn(given *flag.FlagSet, names ...string) (args []string) {
	given.Visit(func(f *flag.Flag) {
		value := f.Value
		if p, ok := value.(*pathFlag); ok {
			value = p.Value
		}
		if v, ok := value.(*single); ok && slices.Contains(names, f.Name) {
			args = append(args, "-"+f.Name+"="+v.text)
		}
	})
	return args
}

// IsBoolFlag reports whether the flag needs no value.
func (o *single) IsBoolFlag() bool {
	b, ok := o.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// hydraFlags are flags that Hydra's users know by another name, as in BenchMARL.
var hydraFlags = map[string]string{"algorithm": "method"}

// assign takes arguments KEY=VALUE, as Hydra has them, for flags and settings, and returns the others.
func assign(verb string, set *flag.FlagSet, args []string) (others []string, err error) {
	for _, arg := range args {
		key, value, ok := strings.Cut(strings.TrimLeft(arg, "+"), "=")
		if known := hydraFlags[key]; known != "" && set.Lookup(known) != nil {
			key = known
		}
		switch {
		case ok && key != "set" && set.Lookup(key) != nil:
			err = set.Set(key, value)
		case ok && set.Lookup("set") != nil:
			err = set.Set("set", key+"="+value)
		default:
			others = append(others, arg)
		}
		if err != nil {
			return nil, usagef("%s: %s: %w", verb, arg, err)
		}
	}
	return others, nil
}

// meant says which flag an argument that a verb does not take could belong to.
func meant(set *flag.FlagSet, arg string) string {
	if _, err := plan.FindMethod(arg); err == nil && set.Lookup("method") != nil {
		return "; did you mean -method " + arg + "?"
	}
	if _, err := plan.FindTask(arg); err == nil && set.Lookup("task") != nil {
		return "; did you mean -task " + arg + "?"
	}
	return ""
}

// backendFlag declares the choice of what graphs run on, which programs that this one starts inherit.
func backendFlag(f *flag.FlagSet) {
	f.Func("backend", "what graphs run on: `name` is go, xla, xla:cpu, xla:cuda, or xla:cuda,tf32 for faster and less exact matrix products (default: a GPU, else XLA, else go)",
		func(name string) error {
			kind, _, _ := strings.Cut(name, ":")
			if kind, _, _ = strings.Cut(kind, ","); kind != "go" && kind != "xla" || strings.ContainsFunc(name, unicode.IsControl) {
				return fmt.Errorf("unknown backend%s", conf.Near(name, []string{"go", "xla", "xla:cpu", "xla:cuda"}))
			}
			return os.Setenv("GOMLX_BACKEND", name)
		})
}

// portableISA is what -portable caps XLA's code at: x86-64 processors have it since 2013.
const portableISA = "AVX2"

// portableFlag declares -portable, which must be known before XLA's plug-in is loaded, as programs that this one starts must.
func portableFlag(f *flag.FlagSet) {
	f.BoolFunc("portable", "train with the instructions of "+portableISA+" alone, slower where there is AVX-512, for runs that are to be compared with those of processors without it; the record says which it was",
		func(value string) error {
			on, err := strconv.ParseBool(value)
			if on {
				err = os.Setenv("XLA_FLAGS", strings.TrimSpace(os.Getenv("XLA_FLAGS")+" "+results.ISAFlag+portableISA))
			}
			return err
		})
}

// backendHere is an error if the backend that was asked for cannot be used here, also where every result is stored and nothing runs on it.
func backendHere() error {
	if os.Getenv("GOMLX_BACKEND") == "" {
		return nil
	}
	_, err := nn.Open()
	return err
}

// forceFlag declares -force, which lets training begin that seems to need more memory than there is.
func forceFlag(f *flag.FlagSet, ctx *context.Context) {
	f.BoolFunc("force", "train even what seems to need more memory than there is", func(value string) error {
		force, err := strconv.ParseBool(value)
		if force {
			*ctx = experiment.Force(*ctx)
		}
		return err
	})
}

// flagError turns what package flag reports into one sentence with near names.
func flagError(name string, set *flag.FlagSet, err error) error {
	if given, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); unknown {
		var known []string
		set.VisitAll(func(f *flag.Flag) { known = append(known, f.Name) })
		if keys := settingsCalled(given); len(keys) > 0 && slices.Contains(known, "set") {
			return usagef("%s has no flag -%s; did you mean -set %s=…?", name, given, strings.Join(keys, "=… or -set "))
		}
		return usagef("%s has no flag -%s%s", name, given, conf.Near(given, known))
	}
	said, _ := strings.CutSuffix(err.Error(), ": parse error")
	if _, after, ok := strings.Cut(said, " for flag -"); ok && set.Lookup(after) != nil {
		said += ", want something like " + set.Lookup(after).DefValue
	}
	return usagef("%s: %s", name, said)
}

// settingsCalled are the keys of settings whose last part is a name, as a user types it who takes it for a flag: of "frames" it is
// budget.frames, of "lr" learner.lr and others.
func settingsCalled(name string) (keys []string) {
	e, err := plan.New(plan.Request{Task: defaultTask, Method: defaultMethod, Budget: plan.DefaultBudget})
	if err != nil {
		return nil
	}
	name = strings.ReplaceAll(strings.ToLower(name), "-", "_")
	for _, k := range conf.Keys(e) {
		if k.Key == name || strings.HasSuffix(k.Key, "."+name) {
			keys = append(keys, k.Key)
		}
	}
	return keys[:min(3, len(keys))]
}

// repeated collects the values of a flag that may be given more than once.
type repeated []string

func (r *repeated) String() string { return strings.Join(*r, " ") }

// Set appends one value.
func (r *repeated) Set(text string) error {
	*r = append(*r, text)
	return nil
}

// seedRange is the flag -seeds: n for the seeds 1 to n, m-n for those of them from m on, so that several machines can share the seeds of a run.
type seedRange struct{ first, last int }

func (r *seedRange) String() string {
	if r.first > 1 {
		return fmt.Sprintf("%d-%d", r.first, r.last)
	}
	return strconv.Itoa(r.last)
}

// Set reads n or m-n.
func (r *seedRange) Set(text string) error {
	if n, err := strconv.Atoi(text); err == nil {
		*r = seedRange{1, n}
		return nil
	}
	from, to, _ := strings.Cut(text, "-")
	first, err := strconv.Atoi(from)
	last, err2 := strconv.Atoi(to)
	if err != nil || err2 != nil {
		return errors.New("want how many seeds, as 3, or which, as 2-3")
	}
	*r = seedRange{first, last}
	return nil
}

// check says what is wrong with the range.
func (r seedRange) check() error {
	if r.first < 1 || r.last < r.first || r.last > maxRuns {
		return fmt.Errorf("-seeds is %s, want a number from 1 to %d or a range within, as 2-3", &r, maxRuns)
	}
	return nil
}

// of keeps those of es whose seeds are within r.
func (r seedRange) of(es []experiment.Config) []experiment.Config {
	return slices.DeleteFunc(es, func(e experiment.Config) bool { return e.Seed < uint64(r.first) })
}
