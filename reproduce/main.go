// SPDX-License-Identifier: Apache-2.0

// Command reproduce trains, inspects and tabulates the experiments of the CERMIC paper.
//
// Each subcommand only parses flags and prints; packages plan, figures, paper and results do the work, for programs and
// notebooks as well. A mistake in the command line gets one sentence and exit code 2, a failure one sentence and exit
// code 1. SIGINT and SIGTERM save the training and end the program with exit code 130 within two seconds.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cermic/envs/conf"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() {
		stop()                                // a second signal kills the program
		if !slices.Contains(os.Args, "lab") { // which waits for JupyterLab to save its notebooks
			time.Sleep(grace)
			end(ctx, ctx.Err())
		}
	})
	root := newRoot()
	root.SetArgs(normalize(os.Args[1:]))
	end(ctx, root.ExecuteContext(ctx))
}

const stopped = "stopped; saved progress is kept, and the same command continues from there"

// grace is the time that a cancelled command has to save. Compiling a graph or reading many records ignores the
// context; abandoning them is safe, because files are replaced atomically.
const grace = 1700 * time.Millisecond

func end(ctx context.Context, err error) {
	code := 1
	switch {
	case err == nil:
		os.Exit(0)
	case ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.As(err, new(*exec.ExitError))):
		code, err = 130, errors.New(stopped) // the shell's code for SIGINT
	case errors.As(err, new(usageError)):
		code = 2
	}
	fmt.Fprintln(os.Stderr, "reproduce:", err)
	os.Exit(code)
}

// newRoot builds the command with its subcommands, in the order in which a newcomer needs them.
func newRoot() *cobra.Command {
	cobra.EnableCommandSorting = false
	root := &cobra.Command{
		Use:   "reproduce",
		Short: "Reproduce the CERMIC paper",
		Long: "Reproduces the CERMIC paper: go run ./reproduce COMMAND [flags].\n" +
			"Flags may have one dash or two: -task and --task are the same.",
		SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: prepare,
		Args:              cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			_, err := conf.Find("command", args[0], cmd.Commands(), (*cobra.Command).Name)
			return usageError{err}
		},
	}
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(listCommand(), trainCommand(), campaignCommand(), workCommand(), pretrainCommand(),
		evaluateCommand(), tableCommand(), resultsCommand(), claimsCommand(), curvesCommand(), exportCommand(),
		statusCommand(), checkCommand(), benchCommand(), labCommand(), webCommand(), setupCommand(), pythonCommand(),
		notebooksCommand())
	for _, c := range root.Commands() {
		if c.Args == nil {
			c.Args = arguments(0, 0, "")
		}
	}
	return root
}

// normalize gives every flag its second dash, and every assignment of a list "-set a=1 b=2" a flag of its own.
func normalize(args []string) []string {
	out := make([]string, 0, len(args)) // not nil, for which cobra would read os.Args
	list := false                       // the previous argument was an assignment of -set
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" { // the rest belongs to another program
			return append(out, args[i:]...)
		}
		if len(arg) > 2 && arg[0] == '-' && unicode.IsLetter(rune(arg[1])) && arg[2] != '=' {
			arg = "-" + arg
		}
		switch {
		case arg == "--set" && i+1 < len(args):
			i++
			arg, list = "--set="+args[i], true
		case list && strings.Contains(arg, "=") && arg[0] != '-':
			arg = "--set=" + arg
		default:
			list = strings.HasPrefix(arg, "--set=")
		}
		out = append(out, arg)
	}
	return out
}

// prepare refuses empty flags, as an unset shell variable makes them, and applies the flags about the machine.
func prepare(cmd *cobra.Command, _ []string) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && strings.TrimSpace(f.Value.String()) == "" {
			err = usagef("%s: -%s is empty: give a value, or leave the flag out", cmd.Name(), f.Name)
		}
	})
	if err != nil {
		return err
	}
	return applyMachine(cmd)
}

type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// otherWords are flags of other libraries, and ours.
var otherWords = map[string]string{"algorithm": "method", "algo": "method", "env": "task", "scenario": "task"}

func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if wrong := (*pflag.InvalidValueError)(nil); errors.As(err, &wrong) && strings.Contains(err.Error(), "strconv.") {
		return usagef("%s: -%s is %q, want a %s", cmd.Name(), wrong.GetFlag().Name, wrong.GetValue(),
			map[bool]string{true: "number that is not negative", false: "number"}[wrong.GetFlag().Value.Type()[0] == 'u'])
	}
	if !errors.As(err, &unknown) {
		return usagef("%s: %w", cmd.Name(), err)
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	name := unknown.GetSpecifiedName()
	if ours, ok := otherWords[name]; ok && slices.Contains(known, ours) {
		return usagef("%s has no flag -%s; did you mean -%s?", cmd.Name(), name, ours)
	}
	near := conf.Near(name, known)
	if !strings.Contains(near, "did you mean") && cmd.Flags().Lookup("set") != nil {
		near = "; settings follow -set, as in -set learner.lr=1e-3"
	}
	return usagef("%s has no flag -%s%s", cmd.Name(), name, near)
}

// arguments checks the number of positional arguments, which noun describes.
func arguments(least, most int, noun string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usagef("%s needs %s", cmd.Name(), noun)
		case len(args) > most:
			return usagef("%s takes no argument %q", cmd.Name(), args[most])
		}
		return nil
	}
}

// only refuses flags that a mode of a command does not read.
func only(cmd *cobra.Command, mode, reads string) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(strings.Fields(reads), f.Name) {
			err = usagef("%s %s does not read -%s: leave it out", cmd.Name(), mode, f.Name)
		}
	})
	return err
}
