// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"strings"
	"testing"

	"cermic/cermiclib/cermic"
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

func TestBytesAreThoseOfWeightsAndRows(t *testing.T) {
	bytes := func(e Config) float64 {
		t.Helper()
		b, err := e.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	small, wide := sized(), sized()
	wide.Policy = policy.MLP{Hidden: []int{1000, 1000}}
	spec, err := small.spec()
	if err != nil {
		t.Fatal(err)
	}
	// Two layers of 1000 for 600 rows, and the weights between them with gradient and two moments.
	if got, want := bytes(wide)-bytes(small), 4.0*(600*2000+4*1000*1000); got != want {
		t.Errorf("two layers of 1000 count %g bytes, want %g", got, want)
	}
	if got, want := bytes(small), rl.RolloutBytes(spec, 600); got != want {
		t.Errorf("without hidden layers it counts %g bytes, want the %g of the rollout batch", got, want)
	}
	value := sized()
	q := learn.DefaultQ()
	value.Task, value.Learner = vmas.DefaultBalance().WithDiscrete(vmas.Product9), q
	discrete, err := value.spec()
	if err != nil {
		t.Fatal(err)
	}
	if got, least := bytes(value), rl.ReplayBytes(discrete, q.Replay); got < least || least < 1e8 {
		t.Errorf("a value learner counts %g bytes, less than the %g of its replay", got, least)
	}
	curious := sized()
	c := cermic.Default()
	c.Minibatch = 1_000_000
	curious.Explore = c
	if got := bytes(curious); got < 1e9 {
		t.Errorf("a minibatch of a million agent steps counts %g bytes", got)
	}
}

func TestWhatDoesNotFitIsRefusedBeforeItIsCompiled(t *testing.T) {
	if rl.Memory() == 0 {
		t.Skip("the memory of this machine cannot be told")
	}
	e := sized()
	l := e.Learner.(learn.MAPPO)
	l.Frames, l.Minibatch = 60_000_000, 60_000_000
	e.Learner, e.Policy = l, policy.MLP{Hidden: []int{8192, 8192}}
	if err := e.Validate(); err != nil {
		t.Fatal(err) // every number is within its bounds
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
