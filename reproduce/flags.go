// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"cermic/cermiclib/conf"
	"cermic/cermiclib/run"
)

// parse reads the flags that declare adds and returns the arguments between and after them; want is how many there may
// be. Help is printed to out and reported as flag.ErrHelp.
func parse(name string, out io.Writer, args []string, want int, declare func(*flag.FlagSet)) ([]string, error) {
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	set.SetOutput(io.Discard) // the sentence below says it better
	declare(set)
	var plain []string
	for len(args) > 0 {
		if err := set.Parse(args); err != nil {
			return nil, flagError(name, out, set, err)
		}
		if args = set.Args(); len(args) > 0 { // flags may follow an argument: table sota -format csv
			plain, args = append(plain, args[0]), args[1:]
		}
	}
	if len(plain) > want {
		return nil, usagef("%s takes no argument %q", name, plain[want])
	}
	return plain, nil
}

// backendFlag declares the choice of what graphs run on, which programs that this one starts inherit.
func backendFlag(f *flag.FlagSet) {
	f.Func("backend", "what graphs run on: `name` is go, xla, xla:cpu, xla:cuda, or xla:cuda,tf32 for faster and less exact matrix products (default: a GPU, else XLA, else go)",
		func(name string) error { return os.Setenv("GOMLX_BACKEND", name) })
}

// forceFlag declares -force, which lets training begin that seems to need more memory than there is.
func forceFlag(f *flag.FlagSet, ctx *context.Context) {
	f.BoolFunc("force", "train even what seems to need more memory than there is", func(value string) error {
		force, err := strconv.ParseBool(value)
		if force {
			*ctx = run.Force(*ctx)
		}
		return err
	})
}

// flagError turns what package flag reports into one sentence with near names.
func flagError(name string, out io.Writer, set *flag.FlagSet, err error) error {
	if errors.Is(err, flag.ErrHelp) {
		set.SetOutput(out)
		fmt.Fprintf(out, "go run ./reproduce %s\n", name)
		set.PrintDefaults()
		return flag.ErrHelp
	}
	if given, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); unknown {
		var known []string
		set.VisitAll(func(f *flag.Flag) { known = append(known, f.Name) })
		return usagef("%s has no flag -%s%s", name, given, conf.Near(given, known))
	}
	said, _ := strings.CutSuffix(err.Error(), ": parse error")
	if _, after, ok := strings.Cut(said, " for flag -"); ok && set.Lookup(after) != nil {
		said += ", want something like " + set.Lookup(after).DefValue
	}
	return usagef("%s: %s", name, said)
}

// repeated collects the values of a flag that may be given more than once.
type repeated []string

func (r *repeated) String() string { return strings.Join(*r, " ") }

// Set appends one value.
func (r *repeated) Set(text string) error {
	*r = append(*r, text)
	return nil
}
