// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stops is how many signals each verb gets at random times.
var stops = flag.Int("stops", 1, "signals that each verb gets at random times in TestEveryVerbStopsAtOnceAndSaysWhatIsKept")

func TestEveryVerbSaysWhatAStopLeaves(t *testing.T) {
	for _, v := range verbs() {
		if text := kept[v.name]; !strings.HasPrefix(text, "Stopped: ") || !strings.HasSuffix(text, ".") {
			t.Errorf("%s says %q of a stop", v.name, text)
		}
	}
	if len(kept) != len(verbs()) {
		t.Errorf("%d verbs, %d sentences", len(verbs()), len(kept))
	}
}

// A verb that looks at no context is left where it is.
func TestAVerbThatDoesNotListenIsLeftBehind(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var out bytes.Buffer
	began := time.Now()
	err := ended(ctx, &console{out: &out}, "status", make(chan error))
	if took := time.Since(began); !errors.Is(err, errStopped) || out.String() != kept["status"]+"\n" || took > stopTime {
		t.Errorf("got %v and %q after %v", err, out.String(), took)
	}
	failed := errors.New("run 1 was stopped, but its state could not be saved")
	for want, err := range map[error]error{errStopped: context.Canceled, failed: failed, nil: nil} {
		done := make(chan error, 1)
		done <- err
		if got := ended(ctx, &console{out: &out}, "train", done); got != want {
			t.Errorf("a stop after which the verb ends with %v gives %v, want %v", err, got, want)
		}
	}
}

// A verb that is left in the middle of a line does not share it with the last word, and says nothing after it.
func TestTheLastWordHasALineOfItsOwn(t *testing.T) {
	for said, want := range map[string]string{"": "Stopped.\n", "a row\n": "a row\nStopped.\n", "half a r": "half a r\nStopped.\n"} {
		var out bytes.Buffer
		c := &console{out: &out}
		for _, text := range []string{said, ""} {
			fmt.Fprint(c, text)
		}
		c.last("Stopped.")
		if n, err := fmt.Fprint(c, "ow\n"); n != 3 || err != nil || out.String() != want {
			t.Errorf("after %q it says %q (%d, %v), want %q", said, out.String(), n, err, want)
		}
	}
}

// long are command lines of all verbs that take longer than an instant, most of them longer than anybody waits. id is a trained run of store,
// manifest has runs that take long. What works through other programs, such as JupyterLab, is left out of a test that nobody asked for.
func long(store, id, manifest string) []string {
	big := " -set policy.hidden=64 -set budget.frames=1000000 -set budget.eval_every=50 -set budget.eval_episodes=100"
	to := func(name string) string { return " -store " + store + " -o " + filepath.Join(store, name) }
	all := []string{
		"train -task balance -method mappo -budget short -store " + store + big,
		"train -task balance -method mappo-cermic -budget short -seeds 3 -workers 2 -store " + store,
		"train -store " + store + " -fork " + id + "@100 -set budget.frames=100000000 -set learner.lr=0.001",
		"campaign -table sota -budget smoke -store " + store,
		"campaign -plan -store " + store,
		"work -store " + store + " " + manifest,
		"pretrain -task navigation -store " + store,
		"evaluate -store " + store + " -set budget.eval_episodes=100000 " + id,
		"watch" + to("film.gif") + " " + id,
		"tasks -episodes 2000",
		"bench -only env",
		"check -n 3",
		"table sota -store " + store,
		"results -store " + store,
		"claims -store " + store,
		"curves -task balance -budget short" + to("curves.png"),
		"export csv -budget short" + to("csv"),
		"export tensorboard -budget short" + to("events"),
		"export weights -budget custom" + to("weights"),
		"status -committed -store " + store,
		"list -method mappo-cermic",
	}
	if *stops > 1 {
		all = append(all, "python", "setup", "notebooks -only 00_start -budget smoke", "bench -only update")
	}
	return all
}

// Every verb ends within two seconds of the first signal, with one sentence on what is kept, whatever it was doing.
func TestEveryVerbStopsAtOnceAndSaysWhatIsKept(t *testing.T) {
	needSignals(t)
	if testing.Short() {
		t.Skip("needs seconds for each verb")
	}
	r := rand.New(rand.NewPCG(uint64(*stops), 7))
	store, id, _ := used(t)
	manifest := filepath.Join(t.TempDir(), "m.jsonl")
	finish(t, strings.Fields("campaign -task navigation -method mappo -budget paper -seeds 2 -set learner.lr=0.001 -store "+store+" -manifest "+manifest)...)
	short := strings.NewReplacer(" -store "+store, "", store, "STORE", id, "RUN", manifest, "MANIFEST", " ", "_", "/", "_")
	for _, line := range long(store, id, manifest) {
		t.Run(short.Replace(line), func(t *testing.T) { stopAtOnce(t, r, line) })
	}
}

// stopAtOnce gives a command line as many signals as are asked for, each in a process of its own.
func stopAtOnce(t *testing.T, r *rand.Rand, line string) {
	cut, latest := 0, time.Second
	if *stops > 1 {
		latest *= 3
	}
	for range *stops {
		sig := []os.Signal{os.Interrupt, syscall.SIGTERM}[r.IntN(2)]
		moment := 100*time.Millisecond + time.Duration(r.Int64N(int64(latest)))
		p := start(t, strings.Fields(line)...)
		time.Sleep(moment)
		sent := time.Now()
		_ = p.Process.Signal(sig)
		code := p.end()
		took := time.Since(sent)
		switch {
		case code == 0: // it was done
		case code == -1 && p.output() == "\n": // it had not begun
		case code != 130 || p.stderr.Len() > 0 || len(p.said) == 0 || !strings.HasPrefix(p.said[len(p.said)-1], "Stopped"):
			t.Errorf("%s: after %v at %v it ends with exit code %d:\n%s", line, sig, moment, code, p.output())
		default:
			if cut++; took > stopTime+slack() {
				t.Errorf("%s: it took %v to end after %v at %v", line, took, sig, moment)
			}
		}
	}
	t.Logf("%d of %d stopped", cut, *stops)
}

// slack is what a machine that does other things takes to wake a process.
func slack() time.Duration {
	began := time.Now()
	for range 20 {
		time.Sleep(time.Millisecond)
	}
	return 20 * (time.Since(began) - 20*time.Millisecond)
}

// JupyterLab, for which a shell script stands, is told of the first signal and waited for; a second one ends it at once.
func TestLabPassesTheFirstSignalOnAndWaits(t *testing.T) {
	needSignals(t)
	for _, c := range []struct {
		trap  string // what it does on SIGTERM
		twice bool
		want  string // of what it leaves
	}{
		{"sleep 0.3; echo saved > left; exit 0", false, "saved\n"},
		{"echo deaf > left", true, "deaf\n"},
	} {
		dir := t.TempDir()
		script := fmt.Sprintf("trap '%s' TERM\necho ready > ready\nwhile :; do sleep 0.05; done\n", c.trap)
		lab := exec.Command("sh", "-c", script)
		lab.Dir = dir
		signals, done := make(chan os.Signal, 2), make(chan error, 1)
		go func() { done <- attend(lab, signals) }()
		appears(t, filepath.Join(dir, "ready"))
		signals <- os.Interrupt
		appears(t, filepath.Join(dir, "left"))
		if c.twice {
			signals <- syscall.SIGTERM
		}
		select {
		case err := <-done:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: got %v, want a stop", c.trap, err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: it still waits", c.trap)
		}
		if text, err := os.ReadFile(filepath.Join(dir, "left")); string(text) != c.want {
			t.Errorf("%s: it left %q, %v", c.trap, text, err)
		}
		if lab.ProcessState == nil {
			t.Errorf("%s: it was not waited for", c.trap)
		}
	}
	lab := exec.Command("sh", "-c", "exit 3")
	if err := attend(lab, nil); err == nil || !strings.Contains(err.Error(), "JupyterLab ended") {
		t.Errorf("an end of its own gives %v", err)
	}
}

// appears waits for a file with something in it: a shell makes it before it writes to it.
func appears(t *testing.T, path string) {
	t.Helper()
	for range 2000 {
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s does not appear", path)
}

// A stop that meets the question whether there is a C compiler is no answer to it.
func TestAStopIsNotTakenForAMissingCompiler(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var out bytes.Buffer
	s := setup{ctx: ctx, out: &out, root: t.TempDir()}
	if _, err := s.wheel(); !errors.Is(err, context.Canceled) {
		t.Errorf("python: got %v, want a stop", err)
	}
	if s.plugins(); strings.Contains(out.String(), "compiler") {
		t.Errorf("setup says %q", out.String())
	}
}
