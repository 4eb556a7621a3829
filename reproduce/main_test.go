// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"cermic/cermiclib/nn"
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
	{"list methods", `list takes no argument "methods": list alone shows tasks, methods`},
	{"train -metod mappo", "train has no flag -metod; did you mean method?"},
	{"train -frames 60000", "settings follow -set"},
	{"train mappo", "a task stands behind -task"},
	{"train -again", "train -again needs IDs"},
	{"train -task vmas/balanse", "did you mean vmas/balance?"},
	{"train -task=", "-task is empty"},
	{"train -method mapo", "did you mean mappo?"},
	{"train -method ippo", "; known: qmix, mappo, "},
	{"train -method cermic", "mappo-cermic-literal or qmix-cermic-ucb or mappo-cermic-ucb?"},
	{"train -set explore.alfa=1", "did you mean explore.alpha?"},
	{"train -budget shrot", "did you mean short"},
	{"train -seeds 0", "want a number from 1 to 1000"},
	{"train -seeds 3-2", "or a range, as 2-3"},
	{"train -workers 0", "-workers is 0"},
	{"train -backend nonsense", "unknown backend"},
	{"train -set learner.lrr=1", "did you mean learner.lr"},
	{"train -set learner.lr", "want key=value"},
	{"train -set learner.lr=1e-3 learner.lrr=1", "did you mean learner.lr"},
	{"train -set learner.lr=-1", "learner.lr is -1, want above 0 (Adam's step size"},
	{"train -set seed=-1", "seeds are counted by -seeds"},
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
	{"table sota -cell MAPPO,Balance", "did you mean Balance*"},
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
	manual := rootFile(t, "reproduce/README.md")
	for _, cmd := range newRoot().Commands() {
		if !strings.Contains(manual, "`"+cmd.Name()+"`") {
			t.Errorf("the manual does not name %s", cmd.Name())
		}
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
		"  budget.frames=3000000 ", "one of optimal, learned\n")
	contains(t, succeed(t, "list", "-method", "mappo"), "discount factor γ; the paper: 0.99; 0 to 1\n")
	contains(t, succeed(t, "list", "-method", "mappo-cermic", "-set", "explore.alpha=0.5"),
		"* explore.alpha=0.5 ", "(default: 0.2)\n")
	lock := succeed(t, "list", "-task", "lock")
	contains(t, lock, "  task.levers=3 ", "number of levers per agent; 2 to ")
	lacks(t, lock, "learner.", "* ")
}

// asCommand makes a process of this test run main.
const asCommand = "CERMIC_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
		os.Exit(0)
	}
	if os.Getenv("GOMLX_BACKEND") == "" {
		os.Setenv("GOMLX_BACKEND", nn.Sequential) // every machine has it, and it compiles small networks at once
	}
	defer must.InMemory()()
	m.Run()
}

// process is the program in a process of its own, on the pure Go backend.
type process struct {
	*exec.Cmd
	t      *testing.T
	out    *bufio.Scanner
	said   []string // lines of standard output so far
	stderr bytes.Buffer
}

func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(os.Args[0], args...), t: t}
	p.Env = append(os.Environ(), asCommand+"=1", "GOMLX_BACKEND="+nn.Sequential)
	p.Stderr = &p.stderr
	out := must.Get(p.StdoutPipe())(t)
	p.out = bufio.NewScanner(out)
	must.Do(t, p.Start())
	t.Cleanup(func() { _ = p.Process.Kill() })
	return p
}

// until reads lines up to one that has text, and reports whether there is one.
func (p *process) until(text string) bool {
	for p.out.Scan() {
		p.said = append(p.said, p.out.Text())
		if strings.Contains(p.out.Text(), text) {
			return true
		}
	}
	return false
}

// end waits for the process and returns its exit code, -1 if it was killed. It must print no internals.
func (p *process) end() int {
	p.t.Helper()
	for p.until("\n") {
	}
	if err := p.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		p.t.Fatal(err)
	}
	for _, noise := range []string{"goroutine ", "panic", "gomlx", "GoMLX", ".go:", "Usage:"} {
		if text := p.output(); strings.Contains(text, noise) {
			p.t.Errorf("%v says %q:\n%s", p.Args[1:], noise, text)
		}
	}
	return p.ProcessState.ExitCode()
}

// output is all that the process has written.
func (p *process) output() string { return strings.Join(p.said, "\n") + "\n" + p.stderr.String() }

// finish runs the program, which must succeed, and returns its output.
func finish(t *testing.T, args ...string) string {
	t.Helper()
	p := start(t, args...)
	if code := p.end(); code != 0 || p.stderr.Len() > 0 {
		t.Fatalf("%v ends with exit code %d:\n%s", args, code, p.output())
	}
	return p.output()
}

// fails runs the program, which must end with exit code 1 and one sentence on the standard error, and returns that.
func fails(t *testing.T, args ...string) string {
	t.Helper()
	p := start(t, args...)
	code, text := p.end(), p.stderr.String()
	if code != 1 || !strings.HasPrefix(text, "reproduce: ") || strings.Count(text, "\n") != 1 {
		t.Fatalf("%v ends with exit code %d:\n%s", args, code, p.output())
	}
	return text
}

// tinyTraining trains small networks for 6 iterations, with CERMIC for 3. Each is evaluated and thus prints a line.
func tinyTraining(method, store string, more ...string) []string {
	args := []string{"train", "-task", "vmas/balance", "-method", method, "-budget", "smoke", "-store", store, "-set",
		"policy.hidden=8", "learner.critic_hidden=8", "learner.frames_per_batch=50", "learner.minibatch_size=35",
		"task.copies=5", "task.max_steps=35", "budget.frames=300", "budget.eval_every=50", "budget.eval_episodes=3"}
	if method == "mappo-cermic" {
		args = append(args, "explore.d_s=8", "explore.d_x=8", "explore.phi_hidden=8", "explore.c_bar=8", "explore.n_neg=2",
			"explore.cermic_steps=1", "explore.cermic_minibatch=40", "explore.memory=mlp",
			"explore.memory.hidden=8", "explore.memory.d_f=8", "explore.memory.d_obs_enc=8", "budget.frames=150")
	}
	return append(args, more...)
}

// tinyCampaign is the same as a campaign of several seeds.
func tinyCampaign(store string, more ...string) []string {
	return append([]string{"campaign"}, tinyTraining("mappo", store, more...)[1:]...)
}

// trainedRun trains the only run of a new store.
func trainedRun(t *testing.T) (store, id string) {
	t.Helper()
	store = t.TempDir()
	must.Get(command(t, tinyTraining("mappo", store)...))(t)
	return store, onlyRun(t, store)
}

func onlyRun(t *testing.T, store string) (id string) {
	t.Helper()
	found := globbed(t, filepath.Join(store, "*", "record.json"))
	if len(found) != 1 {
		t.Fatalf("the records are %v", found)
	}
	return filepath.Base(filepath.Dir(found[0]))
}

func globbed(t *testing.T, pattern string) []string {
	t.Helper()
	return must.Get(filepath.Glob(pattern))(t)
}

// host matches the time and the machine of a record, and its checksum.
var host = regexp.MustCompile(`^\{"crc":"\w*"|"host":\{[^}]*\}`)

// result reads the only record of a store without its host: the bytes that interruptions must not change.
func result(t *testing.T, store string) string {
	t.Helper()
	data := must.Get(os.ReadFile(filepath.Join(store, onlyRun(t, store), "record.json")))(t)
	return host.ReplaceAllString(string(data), "")
}

func sameResult(t *testing.T, want, got string) {
	t.Helper()
	if a, b := result(t, want), result(t, got); a != b {
		t.Errorf("the record differs:\n%s\nwant\n%s", b, a)
	}
}
