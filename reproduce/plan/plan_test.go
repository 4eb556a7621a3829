// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib"
	"cermic/cermiclib/experiment"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/memory"
	"cermic/envs"
	"cermic/envs/conf"
	"cermic/envs/envtest/must"
	"cermic/reproduce/paper"
)

// configure is New for requests that must succeed.
func configure(t *testing.T, q Request) experiment.Config {
	t.Helper()
	e, err := New(q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	return e
}

func TestEveryTaskAndMethodMakesAValidExperimentAtEveryBudget(t *testing.T) {
	for _, task := range Tasks() {
		for _, method := range cermiclib.Methods() {
			for _, budget := range cermiclib.Presets {
				e := configure(t, Request{Task: task.ID, Method: method.ID, Budget: budget.Budget.Name, Seed: 1})
				here := must.Get(budget.On(task.ID))(t)
				if e.Method != method.ID || e.Task.Kind() != task.ID || e.Budget != here.Budget {
					t.Errorf("%s on %s at %s is called %q", method.ID, task.ID, budget.Budget.Name, e.Method)
				}
				if frames := e.Learner.CollectFrames(); frames%e.Task.Shared().NumEnvs != 0 || e.Budget.Frames%frames != 0 && budget.Budget.Name != "paper" {
					t.Errorf("%s at %s: %d frames in collections of %d from %d copies", method.ID, budget.Budget.Name,
						e.Budget.Frames, frames, e.Task.Shared().NumEnvs)
				}
			}
		}
	}
}

// TestPicturesAreLearntFromInSmallMinibatches: at short, by as many gradient steps after each rollout batch.
func TestPicturesAreLearntFromInSmallMinibatches(t *testing.T) {
	for _, c := range []struct {
		task, budget string
		frames       int
		epochs       int
		minibatch    int
	}{
		{"balance", "short", 600_000, 10, 1200},
		{"protoss_5_vs_5", "short", 600_000, 10, 1200},
		{"chicken_in_the_matrix__repeated", "short", 600_000, 2, 240},
		{"clean_up", "short", 30_000, 2, 240},
		{"clean_up", "paper", 3_000_000, 30, 2400},
	} {
		e := configure(t, Request{Task: c.task, Method: "mappo", Budget: c.budget})
		l := e.Learner.(learn.MAPPO)
		if e.Budget.Name != c.budget || e.Budget.Frames != c.frames || l.Epochs != c.epochs || l.Minibatch != c.minibatch {
			t.Errorf("%s at %s: %+v, %d epochs of minibatches of %d frames, want %+v", c.task, c.budget, e.Budget, l.Epochs, l.Minibatch, c)
		}
	}
}

func TestPaperBudgetHoldsEveryNumberOfTheHyperParameterTable(t *testing.T) {
	e := configure(t, Request{Task: "balance", Method: "mappo", Budget: "paper"})
	c := e.Learner.(learn.MAPPO)
	if iterations := (e.Budget.Frames + c.Frames - 1) / c.Frames; iterations != 84 {
		t.Errorf("%d iterations, want 84", iterations)
	}
	q := configure(t, Request{Task: "balance", Method: "qmix", Budget: "paper"}).Learner.(learn.Q)
	for key, got := range map[string][]any{
		"on_policy.collected_frames_per_batch": {c.Frames, q.Frames}, "on_policy.minibatch_iterations": {c.Epochs}, "on_policy.minibatch_size": {c.Minibatch},
		"on_policy.envs_per_worker": {e.Task.Shared().NumEnvs}, "duration.max_frames": {e.Budget.Frames}, "general.discount_gamma": {c.Discount, q.Discount},
		"general.learning_rate_adam": {c.LR, q.LR}, "off_policy.optimizer_steps_per_collection": {q.Steps},
		"off_policy.train_batch_size": {q.Batch}, "off_policy.replay_buffer_size": {q.Replay}, "target_updates.polyak_tau": {q.Polyak},
		"exploration.eps_init": {q.EpsInit}, "exploration.eps_end": {q.EpsEnd},
	} {
		for _, v := range got {
			if fmt.Sprint(v) != paper.Hyper(key) {
				t.Errorf("%s is %v, the table has %s", key, v, paper.Hyper(key))
			}
		}
	}
	if c.Eps != 1e-6 || q.Eps != 1e-6 || paper.Hyper("general.adam_eps") != "0.000001" || q.EpsFrames != 1_000_000 {
		t.Errorf("ε of Adam is %g and %g, ε of exploration falls for %d frames", c.Eps, q.Eps, q.EpsFrames)
	}
	if e.Budget.EvalEvery != 108_000 || e.Budget.EvalEvery%c.Frames != 0 {
		t.Errorf("evaluation every %d frames, want 108000, a multiple of a collection", e.Budget.EvalEvery)
	}
}

func TestShortBudgetIsThatOfTheRecordedCurves(t *testing.T) {
	e := configure(t, Request{Task: "balance", Method: "mappo", Budget: "short", Set: []string{"task.reward=dense"}})
	c := e.Learner.(learn.MAPPO)
	if c.Frames != 6000 || c.Epochs != 10 || c.Minibatch != 1200 || c.LR != 3e-4 || c.Discount != 0.99 || c.Clip != 0.2 ||
		c.Lambda != 0.9 || c.EntropyCoef != 0 || e.Task.Shared() != (envs.Common{NumEnvs: 60, Reward: envs.Dense}) {
		t.Errorf("got %+v on %+v", c, e.Task.Shared())
	}
	q := configure(t, Request{Task: "balance", Method: "qmix", Budget: "short", Set: []string{"task.reward=dense"}})
	if c := q.Learner.(learn.Q); c.Frames != 6000 || c.Steps != 100 || c.Batch != 1024 || c.Replay != 600_000 || c.LR != 3e-4 ||
		c.EpsInit != 0.8 || c.EpsEnd != 0.01 || c.EpsFrames != 200_000 || c.Polyak != 0.005 || q.Budget != e.Budget {
		t.Errorf("got %+v", c)
	}
	if e.Budget != (experiment.Budget{Name: "short", Frames: 600_000, EvalEvery: 60_000, EvalEpisodes: 60}) {
		t.Errorf("got %+v", e.Budget)
	}
}

func TestStarredTasksTrainOnTheSparseReward(t *testing.T) {
	for _, task := range Tasks() {
		e := configure(t, Request{Task: task.ID, Method: "mappo", Budget: "smoke"})
		if sparse := e.Task.Shared().Reward == envs.Sparse; sparse != (task.Star || !task.Published()) {
			t.Errorf("%s: star %v, trained on the %s reward", task.ID, task.Star, e.Task.Shared().Reward)
		}
	}
}

func TestLabelsNameWhatDiffersHoweverItWasWritten(t *testing.T) {
	for _, c := range []struct {
		set  []string
		want string
	}{
		{nil, "mappo"},
		{[]string{"learner.clip_epsilon=0.2"}, "mappo"}, // the default
		{[]string{"learner.clip_epsilon=.30"}, "mappo learner.clip_epsilon=0.3"},
		{[]string{"task.reward=dense", "learner.clip_epsilon=3e-1"}, "mappo learner.clip_epsilon=0.3 task.reward=dense"},
		{[]string{"budget.eval_episodes=7"}, "mappo budget.eval_episodes=7 (else short)"},
		{[]string{"budget.frames=36000", "learner.lr=0.001"}, "mappo budget.frames=36000 learner.lr=0.001 (else short)"},
	} {
		e := configure(t, Request{Task: "balance", Method: "mappo", Budget: "short", Set: c.set})
		if e.Method != c.want {
			t.Errorf("%v is called %q, want %q", c.set, e.Method, c.want)
		}
	}
}

func TestValueLearnersGetFinitelyManyActions(t *testing.T) {
	for _, task := range Tasks() {
		e := configure(t, Request{Task: task.ID, Method: "qmix", Budget: "smoke"})
		env := must.Get(e.Task.Build(1, 1))(t)
		if env.Spec().Act.Choices == 0 {
			t.Errorf("%s has continuous actions", task.ID)
		}
	}
}

func TestTrialsOfThePaperAreCalledByTheirSettings(t *testing.T) {
	checked := 0
	for _, table := range paper.Benchmarks {
		for _, row := range table.Rows {
			for _, cell := range row.Cells {
				e, err := New(Request{Task: cell.Trial.Task, Method: cell.Trial.Method, Budget: "paper", Set: cell.Trial.Set})
				if err != nil {
					continue // the other tests say which are registered
				}
				checked++
				if want := paper.Label(cell.Trial.Method, cell.Trial.Set); e.Method != want || e.Task.Kind() != cell.Trial.Task {
					t.Errorf("table %d, %s: called %q, want %q", table.Number, row.Head, e.Method, want)
				}
			}
		}
	}
	if checked == 0 {
		t.Error("no trial of the paper can be run")
	}
}

func TestMistakesAreOneSentenceWithNearNames(t *testing.T) {
	good := Request{Task: "vmas/balance", Method: "mappo", Budget: "smoke"}
	for _, c := range []struct {
		change func(*Request)
		want   string
	}{
		{func(q *Request) { q.Task = "vmas/balence" }, `unknown task "vmas/balence"; did you mean vmas/balance`},
		{func(q *Request) { q.Method = "mapo" }, `unknown method "mapo"; did you mean mappo`},
		{func(q *Request) { q.Budget = "shrot" }, `unknown budget "shrot"; did you mean short`},
		{func(q *Request) { q.Set = []string{"learner.clip_epsilom=1"} }, "learner"},
		{func(q *Request) { q.Set = []string{"learner.clip_epsilon"} }, "-set learner.clip_epsilon: want key=value"},
		{func(q *Request) { q.Set = []string{"learner.lr=1e-3,explore.alpha=1"} }, "settings are separated by spaces"},
		{func(q *Request) { q.Set = []string{"seed=3"} }, "-set seed: seeds are counted by -seeds"},
		{func(q *Request) { q.Set = []string{"task=vmas/balance"} }, "-set task: tasks are chosen by -task"},
		{func(q *Request) { q.Set = []string{"learner.clip_epsilon=2"} }, "learner.clip_epsilon is 2"},
		{func(q *Request) { q.Set = []string{"learner=null"} }, "an experiment needs a task, a learner"},
		{func(q *Request) { q.Method, q.Set = "qmix", []string{"explore=epsilon"} }, "a value learner has an ε of its own: set explore=none"},
		{func(q *Request) { q.Method, q.Set = "mappo-eps", []string{"learner=q", "task.discrete=product9"} }, "learner.eps_init"},
		{func(q *Request) { q.Method, q.Set = "cpm", []string{"policy=gru"} }, "set policy.core=gru or mlp for another network inside that, or ask for mappo"},
		{func(q *Request) { q.Method, q.Set = "qmix-spectra", []string{"policy=mlp"} }, "replaces: ask for qmix"},
	} {
		q := good
		c.change(&q)
		_, err := New(q)
		must.Refuse(t, err, c.want)
	}
}

func TestThePapersLetterIsAboutSettingsThatExist(t *testing.T) {
	e := configure(t, Request{Task: "balance", Method: "mappo-cermic-ucb", Budget: "paper"}) // the printed form is not written out
	text := must.Get(conf.Marshal(e))(t)
	for _, l := range paper.PrintedSettings {
		now, ok := conf.Get(e, l.Key)
		if written := paper.Setting(text, l.Key); !ok && written != "" { // a former setting
			must.Refuse(t, conf.Set(&e, l.Key, l.Values[0]), "want "+written+", the only value that is left")
			continue
		} else if now != written {
			t.Errorf("%s is %q in the settings, %q in their JSON", l.Key, now, written)
		}
		for _, value := range l.Values {
			if l.Key == "explore.memory" && !slices.Contains(conf.Kinds[memory.Config](), value) {
				continue // not in this program yet
			}
			if err := conf.Set(&e, l.Key, value); err != nil {
				t.Errorf("%s cannot be what the paper prints: %v", l.Key, err)
			}
		}
		if err := e.Validate(); err != nil {
			t.Errorf("%s=%s is refused: %v", l.Key, l.Values[len(l.Values)-1], err)
		}
	}
}

// TestFramesCutABudgetShort tests that frames leave everything else, schedules included, unchanged.
func TestFramesCutABudgetShort(t *testing.T) {
	whole := configure(t, Request{Task: "balance", Method: "qmix", Budget: "short"})
	cut := configure(t, Request{Task: "balance", Method: "qmix", Budget: "short", Frames: 60_000})
	if cut.Budget != (experiment.Budget{Name: "custom", Frames: 60_000, EvalEvery: 6000, EvalEpisodes: 60}) || cut.Method != "qmix budget.eval_every=6000 budget.frames=60000 (else short)" {
		t.Errorf("got %+v, called %q", cut.Budget, cut.Method)
	}
	if cut.Budget, cut.Method = whole.Budget, whole.Method; !reflect.DeepEqual(cut, whole) {
		t.Errorf("got %+v, want %+v", cut, whole)
	}
	if e := configure(t, Request{Task: "balance", Method: "qmix", Budget: "smoke", Frames: 60_000}); e.Budget.Name != "smoke" {
		t.Errorf("more frames than the budget has make %+v", e.Budget)
	}
}

// TestACombinationThatIsAMethodIsThatMethodsRun, with its identity and its name.
func TestACombinationThatIsAMethodIsThatMethodsRun(t *testing.T) {
	for _, b := range cermiclib.Presets {
		for _, c := range []struct{ method, set, like string }{
			{"mappo", "explore=epsilon", "mappo-eps"}, {"mappo", "policy=cpm", "cpm"}, {"mappo-cermic", "explore=db", "mappo-db"},
			{"mace", "explore=none learner.critic=", "mappo"}, {"qmix", "explore=cermic", "qmix-cermic"},
			{"mappo", "learner=q task.discrete=product9", "qmix"}, {"qmix", "learner=mappo task.discrete=none", "mappo"},
		} {
			e := configure(t, Request{Task: "balance", Method: c.method, Budget: b.Budget.Name, Set: strings.Fields(c.set), Seed: 3})
			want := configure(t, Request{Task: "balance", Method: c.like, Budget: b.Budget.Name, Seed: 3})
			if e.Method != c.like || !reflect.DeepEqual(e, want) {
				t.Errorf("%s, %s %s is called %q and is %+v, want %+v", b.Budget.Name, c.method, c.set, e.Method, e, want)
			}
		}
	}
}

// TestSettingsStandAboveTheSchedule, wherever they are written.
func TestSettingsStandAboveTheSchedule(t *testing.T) {
	for _, c := range []struct {
		set       []string
		key, want string
	}{
		{[]string{"explore.egreedy_anneal_frames=7", "explore=epsilon"}, "explore.egreedy_anneal_frames", "7"},
		{[]string{"explore.egreedy_anneal_frames=7", "explore.kind=epsilon"}, "explore.egreedy_anneal_frames", "7"},
		{[]string{`explore={"kind":"epsilon","egreedy_anneal_frames":7}`}, "explore.egreedy_anneal_frames", "7"},
		{[]string{"explore.n_neg=4", "explore=cermic"}, "explore.cermic_steps", "25"},
		{[]string{"explore=ices", "explore=cermic"}, "explore.cermic_steps", "25"}, // the last one counts
	} {
		e := configure(t, Request{Task: "balance", Method: "mappo", Budget: "short", Set: c.set})
		if got, ok := conf.Get(e, c.key); !ok || got != c.want {
			t.Errorf("%v: %s is %q, want %s", c.set, c.key, got, c.want)
		}
	}
}

// TestLabelsAreRequests: the label of a run is the requested method with its changes, or the method that its parts
// make up. A request with that label gives the same run.
func TestLabelsAreRequests(t *testing.T) {
	for _, c := range []struct{ method, set, want string }{
		{"mappo", "policy=gru", "mappo policy=gru"},
		{"mace", "explore=none learner.critic= policy=gru", "mace explore=none learner.critic= policy=gru"},
		{"mappo-db", "policy=gru", "mappo-db policy=gru"},
		{"mappo", "explore=ices", "mappo explore=ices"},
		{"qplex-ices", "explore=none", "qplex"},
		{"cpm", "explore=db", "cpm explore=db"},
		{"mappo-db", "policy=cpm", "mappo-db policy=cpm"},
		{"qmix", "explore=ices explore.ices_steps=450", "qmix explore.ices_steps=450 explore=ices"},
		{"qmix", "learner.mixer=qplex", "qplex learner.double_q=false"},
		{"qmix", "learner.mixer=spectra policy=gru", "qmix learner.mixer=spectra policy=gru"},
		{"mappo-cermic-literal", "explore.alpha=1", "mappo-cermic-literal explore.alpha=1"},
	} {
		e := configure(t, Request{Task: "balance", Method: c.method, Budget: "short", Set: strings.Fields(c.set)})
		id := must.Get(e.ID())(t)
		if e.Method != c.want {
			t.Errorf("%s %s is called %q, want %q", c.method, c.set, e.Method, c.want)
		}
		words := strings.Fields(e.Method)
		if again, err := configure(t, Request{Task: "balance", Method: words[0], Budget: "short", Set: words[1:]}).ID(); err != nil || again != id {
			t.Errorf("%q is run %s, but asked for by that label %s (%v)", e.Method, id, again, err)
		}
	}
}

// FuzzSet sets any two things of any method on any task. The result is an error of one sentence, or an experiment
// with these settings that the JSON of its record gives back.
func FuzzSet(f *testing.F) {
	for i, text := range []string{
		"explore.alpha=0.5", "policy.hidden=64,64", "explore=db", "explore.memory=gru", "explore.memory=bonus", "task.noise.width=NaN", "learner.lr=1e999",
		"task.copies=-1", "budget.frames=9223372036854775808", "explore={\"kind\":\"cermic\",\"alpha\":1e-400}", "=", "explore.alpha", "a\nb=\x1b[2J",
		"explore.memory.memory.memory=mlp", "explore=null", "policy=[[[[", "task.reward=sparse", "seed=3", "forks=[1]", "budget.name=x",
	} {
		f.Add(uint8(i), uint8(3*i), text, "learner.lr=0.001")
	}
	f.Fuzz(func(t *testing.T, task, method uint8, one, two string) {
		q := Request{
			Task: Tasks()[int(task)%len(Tasks())].ID, Method: cermiclib.Methods()[int(method)%len(cermiclib.Methods())].ID, Budget: "smoke", Seed: 1, Set: []string{one, two},
		}
		e, err := New(q)
		if err != nil {
			if text := err.Error(); text == "" || strings.Contains(strings.ReplaceAll(text, one, ""), "\n") && !strings.Contains(one+two, "\n") {
				t.Errorf("not one sentence: %q", text)
			}
			return
		}
		text := must.Get(conf.Marshal(e))(t)
		back := e
		if err := conf.Unmarshal(text, &back); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if again, _ := conf.Marshal(back); string(again) != string(text) {
			t.Errorf("wrote %s\nread  %s", text, again)
		}
	})
}
