// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"strings"
	"testing"

	"cermic/cermiclib/learn"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/results"
	"cermic/cermiclib/rl"
	"cermic/envs/vmas"
)

// sized is an experiment of Balance whose bytes can be counted by hand: 60 environments of 4 agents.
func sized() Config {
	l := learn.DefaultMAPPO()
	l.Frames, l.Minibatch, l.CriticHidden = 600, 600, nil
	e := tiny(1)
	e.Task, e.Learner, e.Policy = vmas.DefaultBalance(), l, policy.MLP{}
	return e
}

func TestBytesAreThoseOfRolloutsAndReplays(t *testing.T) {
	value := sized()
	value.Task, value.Learner = vmas.DefaultBalance().WithDiscrete(vmas.Product9), learn.DefaultQ()
	for name, e := range map[string]Config{"mappo": sized(), "q": value} {
		spec, err := e.spec()
		if err != nil {
			t.Fatal(err)
		}
		want := rl.RolloutBytes(spec, e.Learner.CollectFrames())
		if q, ok := e.Learner.(learn.Q); ok {
			want += rl.ReplayBytes(spec, q.Replay)
		}
		if got, err := e.Bytes(); err != nil || got != want || got < 1e5 {
			t.Errorf("%s takes %g bytes, %v, want %g", name, got, err, want)
		}
	}
}

func TestWhatDoesNotFitIsRefusedBeforeItIsCompiled(t *testing.T) {
	if rl.Memory() == 0 {
		t.Skip("the memory of this machine cannot be told")
	}
	e := sized()
	l := e.Learner.(learn.MAPPO)
	l.Frames = 99_999_960
	e.Learner = l
	if err := e.Validate(); err != nil {
		t.Fatal(err) // every number is within its bounds
	}
	if size, err := e.Bytes(); err != nil || size < float64(rl.Memory()) {
		t.Skipf("%g bytes fit into this machine (%v)", size, err)
	}
	st := open(t)
	_, err := Run(context.Background(), e, st)
	if err == nil || !strings.Contains(err.Error(), "GB of memory, more than the") || !strings.Contains(err.Error(), "-force") {
		t.Errorf("got %v", err)
	}
	if rs, _ := st.Find(results.Query{}); len(rs) > 0 {
		t.Error("it left a run in the store")
	}
	if err := Fits(Force(context.Background()), []Config{e}, 1); err != nil {
		t.Errorf("with -force: %v", err)
	}

	small := sized()
	l = small.Learner.(learn.MAPPO)
	l.Frames = 600_000 // so that a few hundred of them fill the memory
	small.Learner = l
	size, err := small.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	many := make([]Config, int(float64(rl.Memory())/size)+1)
	for i := range many {
		many[i] = small
	}
	if err := Fits(context.Background(), many[:2], 1<<62); err != nil {
		t.Errorf("two small ones with any number of workers: %v", err)
	}
	if len(many) > 100_000 {
		t.Skipf("%d of them fit", len(many))
	}
	if err := Fits(context.Background(), many, 1); err != nil {
		t.Errorf("one by one: %v", err)
	}
	if err := Fits(context.Background(), many, len(many)); err == nil || !strings.Contains(err.Error(), "at a time needs at least") {
		t.Errorf("all at once: %v", err)
	}
}
