// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// More kills than a CI can wait for: go test ./reproduce -run TestKills -kills 1000 -timeout 0.
var (
	killCount = flag.Int("kills", 14, "processes that TestKills kills")
	killSeed  = flag.Uint64("killseed", 1, "of their moments")
)

// errand is a command that writes into a store, with what it starts from and what it leaves when nobody disturbs it.
type errand struct {
	name  string
	from  string   // store to copy, "" for an empty one
	args  []string // without -store
	stop  bool     // ask it to stop first: the kill then meets the checkpoint that it writes
	lasts time.Duration
	want  map[string]string
}

// lasting are the files of a store that do not depend on when and how often its writers were stopped.
func lasting(t *testing.T, store string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(store, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(store, path)
		if err != nil {
			return err
		}
		switch {
		case strings.Contains(d.Name(), ".damaged-"):
			t.Errorf("a kill left %s", name)
		case d.Name() == "record.json" || strings.HasPrefix(name, "pretrained") && !strings.Contains(d.Name(), ".tmp"):
			out[name] = result(t, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// with is the errand's command line on a store: flags come before arguments.
func (e *errand) with(store string) []string {
	return slices.Insert(slices.Clone(e.args), 1, "-store", store)
}

// errands are all kinds of work that a kill can meet.
func errands(t *testing.T) []*errand {
	trained := t.TempDir()
	finish(t, tinyTraining("mappo", trained)...)
	found, err := filepath.Glob(filepath.Join(trained, "*", "record.json"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	id := filepath.Base(filepath.Dir(found[0]))
	without := func(args []string) []string { // -store and its value
		at := slices.Index(args, "-store")
		return slices.Delete(slices.Clone(args), at, at+2)
	}
	all := []*errand{
		{name: "training", args: without(tinyTraining("mappo", ""))},
		{name: "training with CERMIC", args: without(tinyTraining("mappo-cermic", ""))},
		{name: "checkpointing", stop: true, args: without(tinyTraining("mappo", "", "policy.hidden=128"))},
		{name: "pre-training", args: strings.Fields("pretrain -task navigation -memory mlp -frames 1300 -epochs 1")},
		{name: "evaluation", from: trained, args: strings.Fields("evaluate -set budget.sampled=true " + id)},
		{name: "fork", from: trained, args: strings.Fields("train -fork " + id + "@100 -set learner.lr=0.001")},
		{name: "campaign of four workers", args: append([]string{"campaign", "-seeds", "4", "-workers", "4"}, without(tinyTraining("mappo", ""))[1:]...)},
	}
	return all
}

// undisturbed does the errand once, to know how long it lasts and what it leaves.
func (e *errand) undisturbed(t *testing.T) {
	t.Helper()
	store := e.store(t)
	defer os.RemoveAll(store)
	began := time.Now()
	finish(t, e.with(store)...)
	e.lasts, e.want = time.Since(began), lasting(t, store)
	if len(e.want) == 0 {
		t.Fatalf("%s leaves nothing", e.name)
	}
}

// store is a new one for the errand.
func (e *errand) store(t *testing.T) string {
	t.Helper()
	store, err := os.MkdirTemp(t.TempDir(), "store")
	if err != nil {
		t.Fatal(err)
	}
	if e.from != "" {
		if err := os.CopyFS(store, os.DirFS(e.from)); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

// disturbed does the errand in a new store while its processes are killed, until one ends by itself, and compares what it leaves. It returns
// the number of kills.
func (e *errand) disturbed(t *testing.T, r *rand.Rand, most int) (kills int) {
	t.Helper()
	store := e.store(t)
	defer os.RemoveAll(store)
	for kills < most {
		p := start(t, e.with(store)...)
		pause := time.Duration(r.Int64N(int64(100 * time.Millisecond)))
		moment := time.AfterFunc(time.Duration(r.Int64N(int64(e.lasts))), func() {
			if e.stop {
				_ = p.Process.Signal(syscall.SIGTERM)
				time.Sleep(pause)
			}
			_ = p.Process.Kill()
		})
		code := p.end()
		moment.Stop()
		if code == 0 {
			break
		}
		if e.stop && code == 130 { // it was quicker than the kill
			continue
		}
		if code != -1 {
			t.Fatalf("%s: a process that found what %d kills left ends with exit code %d:\n%s", e.name, kills, code, p.output())
		}
		kills++
	}
	finish(t, e.with(store)...)
	got := lasting(t, store)
	sameResult(t, e.want, got)
	for name := range got {
		if _, ok := e.want[name]; !ok {
			t.Errorf("%s: after %d kills there is %s, which an undisturbed one does not leave", e.name, kills, name)
		}
	}
	return kills
}

// Processes are killed at any moment of whatever they do. What is left in the end are the very bytes of undisturbed ones.
func TestKills(t *testing.T) {
	needSignals(t)
	n := *killCount
	if testing.Short() {
		n = min(n, 7)
	}
	all := errands(t)
	for i, e := range all {
		share := (n + i) / len(all) // of the kills: all shares together are n
		if testing.Short() && (e.name == "pre-training" || e.name == "campaign of four workers") {
			continue // seconds of processes each
		}
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			e.undisturbed(t)
			r := rand.New(rand.NewPCG(*killSeed, uint64(i)))
			total, ends := 0, 0
			for ; total < share && !t.Failed(); ends++ {
				total += e.disturbed(t, r, min(4, share-total))
				if ends > 20*share+20 {
					t.Fatalf("only %d of %d processes could be killed before their end", total, share)
				}
			}
			t.Logf("%v undisturbed; %d kills; %d stores compared by bytes", e.lasts.Round(time.Millisecond), total, ends)
		})
	}
}
