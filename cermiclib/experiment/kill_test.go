// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"cermic/cermiclib/cermic"
	"cermic/cermiclib/explore"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/envs/envtest/must"
)

// childStore and childMethod make a process of this test train small(method) in a store, saving at every iteration.
const (
	childStore  = "CERMIC_TEST_STORE"
	childMethod = "CERMIC_TEST_METHOD"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childStore); dir != "" {
		if err := child(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if os.Getenv("GOMLX_BACKEND") == "" {
		os.Setenv("GOMLX_BACKEND", nn.Sequential) // every machine has it
	}
	defer must.InMemory()()
	m.Run()
}

// small is tiny with a method: mappo, mappo-db, mappo-cermic, a fork of the latter, qmix-cermic, told, or another of
// kinds.
func small(method string) Config {
	longer := func(e Config) Config {
		e.Budget.Frames, e.Budget.EvalEvery = 1600, 400 // 8 iterations, every other one evaluated
		return e
	}
	if kind, ok := kinds[method]; ok && method != "mappo" {
		return longer(kind(11))
	}
	switch method {
	case "mappo-db":
		return longer(smallDB(11))
	case "qmix-cermic":
		e := tinyQ(11)
		e.Explore = small("mappo-cermic").Explore
		return longer(e)
	case "fork":
		e, err := small("mappo-cermic").Branch(100, "explore.alpha=0.9", "budget.frames=350")
		if err != nil {
			panic(err) // a mistake in this test
		}
		return e
	}
	e := tiny(11)
	l := e.Learner.(learn.MAPPO)
	l.Frames = 50
	e.Learner = l
	e.Budget.Frames, e.Budget.EvalEvery = 500, 100 // 10 iterations, every other one evaluated
	if method == "mappo" {
		return e
	}
	e.Budget.Frames = 250
	c := cermic.Default()
	c.Embed, c.Latent, c.Hidden, c.Negatives, c.Steps, c.Minibatch = 8, 8, 8, 2, 2, 40
	c.Upper, c.IntNorm = 8, explore.NormReturnStd // codes of 8 numbers vary more; the norm that keeps the most state
	c.Memory = memory.MLP{Embed: 8, Hidden: 8, Width: 8}
	e.Explore = c
	return e
}

// child is the main function of the other process.
func child(dir string) error {
	saveEvery = 0
	st, err := results.Open(dir)
	if err != nil {
		return err
	}
	_, err = Run(context.Background(), small(os.Getenv(childMethod)), st, func(e results.Event) {
		if e.Note != "" {
			fmt.Println("note", e.Note)
		} else if e.State == "" { // something was trained
			fmt.Println("event")
		}
	})
	return err
}

// killedChild trains in another process and kills it a moment after its n-th event. It returns the notes of the run,
// and whether the process was done before.
func killedChild(t *testing.T, dir, method string, n int, moment time.Duration) (notes []string, done bool) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childStore+"="+dir, childMethod+"="+method)
	c.Stderr = os.Stderr
	out := must.Get(c.StdoutPipe())(t)
	must.Do(t, c.Start())
	for in := bufio.NewScanner(out); in.Scan(); {
		if note, ok := strings.CutPrefix(in.Text(), "note "); ok {
			notes = append(notes, note)
		} else if n--; n == 0 {
			time.AfterFunc(moment, func() { _ = c.Process.Kill() })
		}
	}
	return notes, c.Wait() == nil
}

func TestARunKilledAtAnyMomentEndsAsAnUninterruptedOne(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		method string
		kills  int
		spread time.Duration // about as long as an iteration takes: a kill meets any stage of it
	}{
		{"mappo", 6, 20 * time.Millisecond}, {"mappo-cermic", 3, 100 * time.Millisecond}, {"fork", 3, 100 * time.Millisecond},
		{"qmix spectra", 3, 30 * time.Millisecond}, {"qplex ices", 3, 30 * time.Millisecond},
		{"cpm gru mace", 3, 30 * time.Millisecond}, {"mappo-db", 2, 30 * time.Millisecond}, {"qmix-cermic", 2, 100 * time.Millisecond},
	} {
		if testing.Short() {
			if !slices.Contains([]string{"mappo", "mappo-cermic", "fork"}, c.method) {
				continue // which other tests stop and restore within one process
			}
			c.kills = 2
		}
		whole, parts := open(t), (*results.Store)(nil)
		want := must.Get(Run(t.Context(), small(c.method), whole))(t)
		killed, resumed := 0, 0
		for range 8 { // on a fast machine a run may be done before it is killed: then sooner, in another store
			parts, killed, resumed = open(t), 0, 0
			for range c.kills {
				notes, done := killedChild(t, parts.Dir(), c.method, 1+r.IntN(2), time.Duration(r.Int64N(int64(c.spread))))
				for _, note := range notes {
					if strings.HasPrefix(note, "going on at") {
						resumed++
					} else if strings.Contains(note, "set aside") {
						t.Errorf("%s: a kill left damage: %s", c.method, note)
					}
				}
				if done {
					break // nothing is left to be killed
				}
				killed++
			}
			if killed > 0 && resumed > 0 {
				break
			}
			c.spread /= 2
		}
		must.Get(Run(t.Context(), small(c.method), parts))(t)
		sameRecord(t, record(t, whole, want.ID), record(t, parts, want.ID))
		t.Logf("%s: %d processes were killed, %d went on from a checkpoint", c.method, killed, resumed)
		if killed == 0 || resumed == 0 {
			t.Errorf("%s: %d killed, %d resumed: nothing was tested", c.method, killed, resumed)
		}
	}
}
