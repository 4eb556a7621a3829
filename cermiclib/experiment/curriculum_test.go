// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/learn"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/results/safetensors"
	"cermic/envs"
	"cermic/envs/vmas"
)

// tinyCurriculum is tinyRecurrentQ on three agents that begin as two, for two of four iterations.
func tinyCurriculum(seed uint64) Config {
	e := tinyRecurrentQ(seed)
	task := vmas.DefaultNavigation()
	task.Agents = 3
	e.Task = task.WithDiscrete(vmas.Product9).WithShared(envs.Common{NumEnvs: 5, Reward: envs.Dense})
	l := e.Learner.(learn.Q)
	l.Mixer = learn.SPECTra{Embed: 4, Heads: 2, Revision: 2}
	e.Learner, e.Curriculum = l, Curriculum{Share: 0.4, Set: []string{"n_agents=2"}} // 320 of 800 frames, collected by 200
	return e
}

// TestACurriculumKeepsAllNetworksAndNothingElse: after the switch the weights, those of targets and optimisers among them, are those of
// the easier variant, bit for bit; experience and episodes are new. Evaluations are on the task itself from the first on.
func TestACurriculumKeepsAllNetworksAndNothingElse(t *testing.T) {
	tr := trainerOf(t, tinyCurriculum(2))
	easy := tr.first
	for k := range 2 {
		if tr.first == nil || tr.first.spec.Agents != 2 || tr.spec.Agents != 3 {
			t.Fatalf("iteration %d is not one on the easier variant", k)
		}
		if _, err := tr.iterate(t.Context()); err != nil {
			t.Fatal(err)
		}
		if tr.frames != 200*(k+1) || tr.iteration != k+1 {
			t.Fatalf("%d frames and %d iterations after %d", tr.frames, tr.iteration, k+1)
		}
		if k == 0 {
			a, errA := tr.variables()
			b, errB := easy.variables()
			if errA != nil || errB != nil || !slices.EqualFunc(a, b, func(x, y safetensors.Tensor) bool { return x.Name == y.Name && slices.Equal(x.Data, y.Data) }) {
				t.Errorf("the networks are not those of the easier variant (%v, %v)", errA, errB)
			}
		}
		eval, err := tr.evaluate(t.Context(), func(_ int, env envs.Env, _ *envs.Step) {
			if env.Spec().Agents != 3 {
				t.Fatalf("evaluated with %d agents", env.Spec().Agents)
			}
		})
		if err != nil || len(eval.Scores) != 7 {
			t.Fatalf("%v, %v", eval, err)
		}
	}
	if tr.first != nil {
		t.Fatal("the easier variant is not over after 400 of 800 frames")
	}
	if old := tr.groups[0].learner.(learn.OffPolicy).Experience().Len(); old != 0 || len(tr.groups[0].actionLog) != 0 || slices.Contains(tr.isFirst, 0) {
		t.Errorf("%d frames of old experience, %d actions, episodes %v", old, len(tr.groups[0].actionLog), tr.isFirst)
	}
	if _, err := tr.iterate(t.Context()); err != nil || tr.frames != 600 {
		t.Errorf("%d frames, %v", tr.frames, err)
	}
}

// TestALessonIsTrainingOnItsTask: until the switch, the run reports what one on the easier variant alone does.
func TestALessonIsTrainingOnItsTask(t *testing.T) {
	e := tinyCurriculum(3)
	alone, err := e.lesson()
	if err != nil {
		t.Fatal(err)
	}
	a, b := trainerOf(t, e), trainerOf(t, alone)
	for range 2 {
		want, errB := b.iterate(t.Context())
		got, errA := a.iterate(t.Context())
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		for name, v := range want {
			if got[name] != v {
				t.Errorf("%s is %g, want %g", name, got[name], v)
			}
		}
	}
}

func TestImpossibleCurriculaAreRefusedInASentence(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"curriculum.share": func(e *Config) { e.Curriculum.Share = 1 },
		"at least one":     func(e *Config) { e.Curriculum.Set = nil },
		"key=value":        func(e *Config) { e.Curriculum.Set = []string{"n_agents"} },
		"n_agent":          func(e *Config) { e.Curriculum.Set = []string{"n_agent=2"} },
		"1 to 100":         func(e *Config) { e.Curriculum.Set = []string{"n_agents=200"} },
		"branch off":       func(e *Config) { e.Forks = []Fork{{}} },
		"policy=spectra": func(e *Config) {
			l := e.Learner.(learn.Q)
			l.Mixer = learn.QMIX{Embed: 4, Layers: 1, Hidden: 4}
			e.Learner, e.Policy = l, policy.MLP{Hidden: []int{4}}
		},
	} {
		e := tinyCurriculum(1)
		change(&e)
		if _, err := Run(t.Context(), e, open(t)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want a sentence with %s", err, want)
		}
	}
}

// TestFewUnitsTeachMany: three against three units see less of each other than five against five, which the mixer must not read then.
func TestFewUnitsTeachMany(t *testing.T) {
	e := battle(tinyRecurrentQ(1))
	e.Curriculum = Curriculum{Share: 0.5, Set: []string{"n_agents=3", "n_enemies=3"}}
	l := e.Learner.(learn.Q)
	backend, err := nn.OpenPure()
	if err != nil {
		t.Fatal(err)
	}
	for rows, want := range map[string]string{"": "mixing_rows=own", learn.OwnRows: ""} {
		l.Mixer = learn.SPECTra{Embed: 4, Heads: 2, Rows: rows, Revision: 2}
		e.Learner = l
		tr, err := newTrainer(e, backend, "")
		switch {
		case want != "":
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("rows %q: got %v, want a sentence with %s", rows, err, want)
			}
			continue
		case err != nil:
			t.Fatal(err)
		}
		if few, many := tr.first.spec, tr.spec; few.ObsLen() >= many.ObsLen() || few.Act.Choices >= many.Act.Choices {
			t.Errorf("three see %d numbers, five %d", few.ObsLen(), many.ObsLen())
		}
		tr.close()
	}
}
