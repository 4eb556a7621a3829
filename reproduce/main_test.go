// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"cermic/cermiclib/results"
	"cermic/envs"
	"cermic/envs/envtest/must"
)

// command runs the program in this process and returns what it prints.
func command(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	root := newRoot()
	root.SetOut(&out)
	root.SetArgs(normalize(args))
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

// succeed runs the program in this process, which must succeed, and returns what it prints.
func succeed(t *testing.T, args ...string) string {
	t.Helper()
	out, err := command(t, args...)
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return out
}

// refuse runs the program in this process, which must fail with one sentence that has want, and returns what it prints.
func refuse(t *testing.T, want string, args ...string) string {
	t.Helper()
	out, err := command(t, args...)
	must.Refuse(t, err, want)
	return out
}

// contains fails for every want that text does not have.
func contains(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// lacks fails for every word that text has.
func lacks(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		if strings.Contains(text, word) {
			t.Errorf("%q stands in\n%s", word, text)
		}
	}
}

// mistakes are command lines that must be refused before anything is trained or written, with a part of the sentence.
var mistakes = []struct{ args, want string }{
	{"trian", `unknown command "trian"; did you mean train?`},
	{"nothing-like-it", "; known: list, train, "},
	{"list extra", `list takes no argument "extra"`},
	{"train -metod mappo", "train has no flag -metod; did you mean method?"},
	{"train -frames 60000", "settings follow -set"},
	{"train -seeds", "flag needs an argument"},
	{"train mappo", "train -again needs IDs"},
	{"train -again", "train -again needs IDs"},
	{"train -task vmas/balanse", "did you mean vmas/balance?"},
	{"train -task balance,,", `unknown task ""`},
	{"train -task=", "-task is empty"},
	{"table ''", "an argument is empty"},
	{"train -method mapo", "did you mean mappo"},
	{"train -budget shrot", "did you mean short"},
	{"train -seeds 0", "want a number from 1 to 1000"},
	{"train -seeds three", "want a number from 1 to 1000"},
	{"train -seeds 3-2", "or a range, as 2-3"},
	{"train -workers 0", "-workers is 0"},
	{"train -backend nonsense", "unknown backend"},
	{"train -set learner.lrr=1", "did you mean learner.lr"},
	{"train -set learner.lr", "want key=value"},
	{"train -set learner.lr=1e-3 learner.lrr=1", "did you mean learner.lr"},
	{"train -set learner.lr=NaN", "learner.lr"},
	{"train -set learner.lr=-1", "learner.lr is -1, want above 0 (Adam's step size"},
	{"train -set task.reward=sparce", "one of dense, sparse (reward stream"},
	{"train -set explore.memory=mpl", "mlp?"},
	{"train -set explore.c_bar=0.1", "no code can satisfy both exploitation losses"},
	{"train -set task.copies=7", "want a multiple of the 7 parallel environments"},
	{"train -set seed=-1", "seeds are counted by -seeds"},
	{"train -method qmix -set explore.alpha=1", `explore is "none", which has no settings`},
	{"train -fork 0123abcd", "want ID@FRAMES"},
	{"train -fork 0123abcd@3000", `no run "0123abcd"`},
	{"train -fork 0123abcd@3000 -method mappo", "train -fork does not read -method: leave it out"},
	{"train -again 0123abcd", `no run "0123abcd"`},
	{"train -again 0123abcd -seeds 2", "train -again does not read -seeds"},
	{"campaign", "needs -table"},
	{"campaign -table soto", "did you mean sota"},
	{"campaign -table sota -task balance", "leave out -task"},
	{"campaign -table sota -on slrum", "want here or slurm"},
	{"campaign -table sota -dry-run", "need -on slurm"},
	{"campaign -table sota -on slurm -workers 2", "-workers counts runs on this machine"},
	{"campaign -table sota -on slurm -bundle 1001", "-bundle is 1001"},
	{"campaign -table sota -manifest x -on slurm", "does not read -on"},
	{"campaign -table sota -measure", "no flag -measure"},
	{"campaign -plan -budget short", "does not read -budget"},
	{"work -index -1 m", "-index is -1"},
	{"work", "work needs a manifest"},
	{"pretrain -task navigatoin", "did you mean"},
	{"pretrain -memory grpah", "did you mean graph"},
	{"pretrain -epochs 0", "pre-training"},
	{"evaluate", "evaluate needs the ID of a run"},
	{"evaluate 0123abcd", `no run "0123abcd"`},
	{"list -set learner.lr=1", "does not read -set"},
	{"table sotta", "did you mean sota"},
	{"table sota -train", "does not read -train"},
	{"table sota -cell MAPPO", "want ROW,COLUMN"},
	{"table sota -cell MAPPO,Balance", "did you mean Balanc*"},
	{"table sota -store nothing/here", "there is no folder nothing/here"},
	{"claims lifts-mapo", "did you mean lifts-mappo"},
	{"claims lifts-mappo -write", "leave out"},
	{"curves -method mapo", "did you mean mappo"},
	{"curves -reward sparce", "want dense or sparse"},
	{"export", "export needs a form"},
	{"export tensorbord", "did you mean tensorboard"},
	{"export csv -budget shrt", "did you mean short"},
	{"export csv -weights 0123abcd", "does not read -weights"},
	{"check", "check needs IDs"},
	{"bench -only updat", "did you mean update"},
	{"bench -rounds 3", "bench has no flag -rounds"},
	{"lab -port 99999", "invalid argument"},
	{"lab extra", `lab takes no argument "extra"`},
	{"python -torch", "python -torch needs -check"},
	{"notebooks -budget no", `unknown budget "no"`},
	{"notebooks -only 00_stat", "did you mean 00_start?"},
}

func TestMistakesGetOneSentenceAndExitCode2(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // so that a command that is not refused trains nothing
	for _, m := range mistakes {
		args := strings.Split(m.args, " ")
		for i := range args {
			args[i] = strings.Trim(args[i], "'")
		}
		var out bytes.Buffer
		root := newRoot()
		root.SetOut(&out)
		root.SetArgs(normalize(args))
		err := root.ExecuteContext(ctx)
		if err == nil || out.Len() > 0 || !strings.Contains(err.Error(), m.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v and output %q, want one sentence with %q", m.args, err, out.String(), m.want)
		}
		if !errors.As(err, new(usageError)) {
			t.Errorf("%s: %v would not end with exit code 2", m.args, err)
		}
	}
}

func TestFlagsHaveOneDashOrTwoAndSetTakesAList(t *testing.T) {
	for line, want := range map[string]string{
		"train -task=balance --method mappo -seeds -3": "train --task=balance --method mappo --seeds -3",
		"train -set a=1 b=-2 -workers 2":               "train --set=a=1 --set=b=-2 --workers 2",
		"evaluate 0123 -set=a=1 b=2 x c=3":             "evaluate 0123 --set=a=1 --set=b=2 x c=3",
		"curves -o x=y.png -dry-run":                   "curves -o x=y.png --dry-run",
		"lab -port 1 -- -x --y":                        "lab --port 1 -- -x --y",
		"train -set":                                   "train --set",
	} {
		if got := strings.Join(normalize(strings.Fields(line)), " "); got != want {
			t.Errorf("%s becomes\n%s, want\n%s", line, got, want)
		}
	}
}

// FuzzCommandLine parses arbitrary arguments: a mistake is a usage error, and normalizing twice changes nothing.
func FuzzCommandLine(f *testing.F) {
	for _, m := range mistakes {
		f.Add(m.args)
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := normalize(strings.Split(line, " "))
		if again := normalize(args); !slices.Equal(args, again) {
			t.Errorf("%q, parsed again %q", args, again)
		}
		cmd, rest, err := newRoot().Find(args)
		if err != nil {
			t.Skip()
		}
		if err := cmd.ParseFlags(rest); err != nil && !errors.Is(err, pflag.ErrHelp) &&
			!errors.As(flagError(cmd, err), new(usageError)) {
			t.Errorf("%q: %v", args, err)
		}
	})
}

func TestHelpNamesCommandsAndFlags(t *testing.T) {
	all, err := command(t, "help")
	if bare, _ := command(t); err != nil || bare != all {
		t.Errorf("no arguments: %q, %v", bare, err)
	}
	for _, cmd := range newRoot().Commands() {
		if !strings.Contains(all, "  "+cmd.Name()+" ") {
			t.Errorf("help does not name %s", cmd.Name())
		}
		for _, args := range [][]string{{"help", cmd.Name()}, {cmd.Name(), "-h"}, {cmd.Name(), "-help"}} {
			out, err := command(t, args...)
			cmd.Flags().VisitAll(func(f *pflag.Flag) {
				if err != nil || !strings.Contains(out, "--"+f.Name) {
					t.Errorf("%v: no flag %s in %q, %v", args, f.Name, out, err)
				}
			})
		}
		for line := range strings.Lines(cmd.Example) {
			words := normalize(strings.Fields(line))
			if words[0] != cmd.Name() || cmd.ParseFlags(words[1:]) != nil {
				t.Errorf("%s has the example %q", cmd.Name(), line)
			}
		}
	}
}

func TestPortableCapsTheInstructionSetAndIsRecorded(t *testing.T) {
	t.Setenv("XLA_FLAGS", "--xla_of_the_user=1")
	before := results.CollectHost("").ISA
	refuse(t, "nothing-here", "work", "-portable", "nothing-here")
	if got, want := os.Getenv("XLA_FLAGS"), "--xla_of_the_user=1 --xla_cpu_max_isa=AVX2"; got != want {
		t.Errorf("XLA_FLAGS is %q, want %q", got, want)
	}
	if after := results.CollectHost("").ISA; strings.HasPrefix(before, "AVX") && after != "AVX2" && after != "AVX" {
		t.Errorf("a record would say %q, before %q", after, before)
	}
}

func TestListNamesWhatIsRegisteredAndItsSettings(t *testing.T) {
	all := succeed(t, "list")
	for _, name := range append(envs.Names(), "mappo-cermic", "smoke", "demo", "short", "paper", "explore") {
		contains(t, all, "  "+name+" ")
	}
	contains(t, succeed(t, "list", "-method", "mappo-cermic", "-budget", "paper"),
		"  explore.alpha=0.2 ", "  explore=cermic ", "  learner.minibatch_size=2400 ", "  task.reward=sparse ",
		"  budget.frames=3000000 ", "one of optimal, learned, unit\n")
	contains(t, succeed(t, "list", "-method", "mappo"), "discount factor γ; the paper: 0.99; 0 to 1\n")
	contains(t, succeed(t, "list", "-method", "mappo-cermic", "-set", "explore.alpha=0.5"),
		"* explore.alpha=0.5 ", "(default: 0.2)\n")
	lock := succeed(t, "list", "-task", "lock")
	contains(t, lock, "  task.levers=3 ", "number of levers per agent; 2 to ")
	lacks(t, lock, "learner.", "* ")
}

func TestACancelledCommandIsAbandonedAfterTheGrace(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := wait(ctx, make(chan error), false); !errors.Is(err, context.Canceled) {
		t.Errorf("a command that ignores the context gives %v", err)
	}
	done, failed := make(chan error, 1), errors.New("the state could not be saved")
	done <- failed
	if err := wait(ctx, done, true); err != failed {
		t.Errorf("a command that fails while it stops gives %v", err)
	}
}
