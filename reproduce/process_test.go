// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"cermic/cermiclib/nn"
	"cermic/envs/envtest/must"
)

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
			"explore.cermic_epochs=0", "explore.cermic_steps=1", "explore.cermic_minibatch=40", "explore.memory=mlp",
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
