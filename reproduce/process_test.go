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
)

// asCommand makes a process of this test be the command itself.
const asCommand = "CERMIC_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
		os.Exit(0)
	}
	if os.Getenv("GOMLX_BACKEND") == "" {
		os.Setenv("GOMLX_BACKEND", nn.Sequential) // every machine has it, and it compiles such small networks in no time
	}
	// Runs write durably; on a busy disk these tests would do little but wait for it.
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() && os.Getenv("TMPDIR") == "" {
		if dir, err := os.MkdirTemp("/dev/shm", "reproduce"); err == nil {
			defer os.RemoveAll(dir)
			os.Setenv("TMPDIR", dir)
		}
	}
	m.Run()
}

// process is the command running as a process of its own, on the backend that every machine has.
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
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewScanner(out)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
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

// end waits for the process, which has to say nothing but whole sentences, and returns its exit code, -1 for a killed one.
func (p *process) end() int {
	p.t.Helper()
	for p.until("\n") {
	}
	err := p.Wait()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		p.t.Fatal(err)
	}
	for _, noise := range []string{"goroutine ", "panic", "Traceback", "gomlx", "GoMLX", ".go:", "parallelism"} {
		if text := p.output(); strings.Contains(text, noise) {
			p.t.Errorf("%v says %q:\n%s", p.Args[1:], noise, text)
		}
	}
	return p.ProcessState.ExitCode()
}

// output is all that the process has written.
func (p *process) output() string { return strings.Join(p.said, "\n") + "\n" + p.stderr.String() }

// finish runs the command to its end, which must be a good one, and returns what it printed.
func finish(t *testing.T, args ...string) string {
	t.Helper()
	p := start(t, args...)
	if code := p.end(); code != 0 || p.stderr.Len() > 0 {
		t.Fatalf("%v ends with exit code %d:\n%s", args, code, p.output())
	}
	return p.output()
}

// tinyTraining is a training of 6 iterations on small networks, of 3 with CERMIC, which takes longer. Each is evaluated and
// thus prints a line.
func tinyTraining(method, store string, more ...string) []string {
	args := []string{"train", "-task", "vmas/balance", "-method", method, "-budget", "smoke", "-store", store}
	settings := []string{"policy.hidden=8", "learner.critic_hidden=8", "learner.frames_per_batch=50", "learner.minibatch_size=35",
		"task.copies=5", "task.max_steps=35", "budget.frames=300", "budget.eval_every=50", "budget.eval_episodes=3"}
	if method == "mappo-cermic" {
		settings = append(settings, "explore.d_s=8", "explore.d_x=8", "explore.phi_hidden=8", "explore.c_bar=8", "explore.n_neg=2", "explore.cermic_epochs=0", "explore.cermic_steps=1",
			"explore.cermic_minibatch=40", "explore.memory=mlp", "explore.memory.hidden=8", "explore.memory.d_f=8", "explore.memory.d_obs_enc=8",
			"budget.frames=150")
	}
	for _, s := range append(settings, more...) {
		args = append(args, "-set", s)
	}
	return args
}

// used is a store of one trained run, its ID, and a manifest of other runs.
func used(t *testing.T) (store, id, manifest string) {
	t.Helper()
	store, manifest = t.TempDir(), filepath.Join(t.TempDir(), "m.jsonl")
	finish(t, tinyTraining("mappo", store)...)
	found := globbed(t, filepath.Join(store, "*", "record.json"))
	finish(t, append([]string{"campaign", "-manifest", manifest}, tinyTraining("mappo", store, "learner.lr=0.003")[1:]...)...)
	return store, filepath.Base(filepath.Dir(found[0])), manifest
}

// host is what a record says of where and for how long it was trained, and its checksum.
var host = regexp.MustCompile(`^\{"crc":"\w*"|"host":\{[^}]*\}`)

// result reads a record but for its host: the same whenever and how often its writers were stopped.
func result(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return host.ReplaceAllString(string(data), "")
}

// resultIn is the result of the only run in a store.
func resultIn(t *testing.T, store string) map[string]string {
	t.Helper()
	found := globbed(t, filepath.Join(store, "*", "record.json"))
	if len(found) != 1 {
		t.Fatalf("the records are %v", found)
	}
	return map[string]string{"record.json": result(t, found[0])}
}

func sameResult(t *testing.T, want, got map[string]string) {
	t.Helper()
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s differs:\n%s\nwant\n%s", name, got[name], want[name])
		}
	}
}
