// SPDX-License-Identifier: Apache-2.0

package scripted

import (
	"reflect"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/vmas"
)

func TestPlayedEpisodesDependOnSeedAndNumberAlone(t *testing.T) {
	few := must.Value(Rollout(vmas.DefaultNavigation(), Random, 3, 7))
	many, _ := Rollout(vmas.DefaultNavigation(), Random, 20, 7)
	other, _ := Rollout(vmas.DefaultNavigation(), Random, 3, 8)
	for c := range few.Dense {
		if few.Dense[c] != many.Dense[c] {
			t.Errorf("episode %d returns %g among 3 and %g among 20", c, few.Dense[c], many.Dense[c])
		}
		if few.Dense[c] == other.Dense[c] {
			t.Errorf("episode %d returns the same with another seed", c)
		}
	}
}

func TestFilmShowsEveryStepOfItsEpisode(t *testing.T) {
	cfg := must.Value(envs.Default("vmas/navigation"))
	film, scenes, err := Film(cfg, Script, 3)
	must.Do(t, err)
	played, err := Rollout(cfg, Script, 1, 3)
	if err != nil || played.Dense[0] != film.Dense[0] {
		t.Errorf("the film returns %g, the same episode %g (%v)", film.Dense[0], played.Dense[0], err)
	}
	if len(scenes) < 2 || len(scenes) > film.Horizon+1 {
		t.Errorf("%d scenes, want the reset and one a step of at most %d", len(scenes), film.Horizon)
	}
	if first, last := scenes[0].Shapes, scenes[len(scenes)-1].Shapes; reflect.DeepEqual(first, last) {
		t.Error("nothing moved")
	}
}
