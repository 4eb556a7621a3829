// SPDX-License-Identifier: Apache-2.0

// Command reproduce trains, inspects and tabulates the experiments of the CERMIC paper.
//
// Each verb is a few lines of printing over the packages paper, plan and results; anything that it does can be done from
// a notebook or another program as well. A mistake in the command line is answered with one sentence and exit code 2, a
// run that fails with one sentence and exit code 1. An interrupt, or a scheduler's request to end, saves what is being trained
// and ends with exit code 130 within two seconds.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"cermic/envs/conf"
)

// verb is one thing that the command can do.
type verb struct {
	name, about string
	run         func(ctx context.Context, out io.Writer, args []string) error
}

// verbs in the order in which a newcomer needs them.
func verbs() []verb {
	return []verb{
		{"list", "name every task and method, with one line on each, or the settings of one", runList},
		{"tasks", "play every task at random and by script, for each density of the sparse reward", runTasks},
		{"train", "train a method on a task, or go on with it", runTrain},
		{"campaign", "train what a table of the paper lacks, and say before what it costs", runCampaign},
		{"work", "train a part of a campaign's manifest: what a job array does", runWork},
		{"pretrain", "pre-train a memory on random play of tasks", runPretrain},
		{"evaluate", "evaluate a trained run again: with sampled actions, more episodes, another score", runEvaluate},
		{"watch", "film an episode of a trained run as a GIF", runWatch},
		{"table", "print a table of the paper with ours beside it: sota, agents, ablation, density", runTable},
		{"results", "print every run, task by task, beside random play, BenchMARL and the paper", runResults},
		{"claims", "say of each claim of the paper whether the records support or contradict it", runClaims},
		{"curves", "draw the learning curves of a task as a PNG, BenchMARL's beside ours", runCurves},
		{"export", "write runs for other programs: csv, marl-eval, tensorboard, weights", runExport},
		{"status", "show what has been trained and what is training", runStatus},
		{"delete", "delete runs with their weights, after asking", runDelete},
		{"check", "train a sample of the committed records again and compare", runCheck},
		{"bench", "measure this machine, beside the recorded figures of VMAS, torch and BenchMARL", runBench},
		{"lab", "open the notebooks in JupyterLab; does setup first", runLab},
		{"setup", "put JupyterLab, XLA's plug-in and the Go kernel into .venv and .bin", runSetup},
		{"python", "build the environments as a package for Python, and install or check it", runPython},
		{"notebooks", "execute the notebooks without a browser", runNotebooks},
	}
}

// usageError is a mistake in the command line, answered with exit code 2.
type usageError struct{ error }

// usagef makes a usageError.
func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func main() {
	// The first interrupt, or a scheduler's request to end, stops the verb, which saves what it trains; a second one ends the program at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	done, out := make(chan error, 1), &console{out: os.Stdout}
	go func() { done <- dispatch(ctx, out, os.Args[1:]) }()
	err := ended(ctx, out, strings.Join(os.Args[1:min(2, len(os.Args))], ""), done)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return
	}
	if errors.Is(err, errStopped) {
		os.Exit(130) // as shells report an interrupt
	}
	fmt.Fprintln(os.Stderr, "reproduce:", quoted(err.Error(), os.Args[1:]))
	if errors.As(err, new(usageError)) {
		os.Exit(2)
	}
	os.Exit(1)
}

// dispatch runs the verb that args start with.
func dispatch(ctx context.Context, out io.Writer, args []string) error {
	if len(args) == 0 || isHelp(args[0]) {
		usage(out)
		return nil
	}
	var known []string
	for _, v := range verbs() {
		if v.name == args[0] {
			return v.run(ctx, out, args[1:])
		}
		known = append(known, v.name)
	}
	return usagef("unknown verb %q%s", args[0], conf.Near(args[0], known))
}

func usage(out io.Writer) {
	fmt.Fprint(out, "Reproduces the CERMIC paper.\n\n\tgo run ./reproduce VERB [flags]\n\n")
	for _, v := range verbs() {
		fmt.Fprintf(out, "  %-10s %s\n", v.name, v.about)
	}
	fmt.Fprint(out, "\nEvery verb answers -h with examples and its flags.\n")
}

func isHelp(arg string) bool {
	return arg == "help" || arg == "-h" || arg == "-help" || arg == "--help"
}
