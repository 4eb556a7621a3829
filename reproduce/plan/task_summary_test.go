// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"reflect"
	"strings"
	"testing"

	"cermic/envs"
)

func TestEveryTaskHasACard(t *testing.T) {
	for _, task := range Tasks() {
		card, err := Card(task)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range card.Rows {
			if len(row) != len(card.Header) || row[1] == "" {
				t.Errorf("%s: %q is empty", task.ID, row)
			}
		}
	}
}

func TestACardHasTheSettingsAndTheMeasuredAgreement(t *testing.T) {
	for name, says := range map[string][]string{
		"balance":        {"package_mass=5", "1360 steps of vmas 1.5.2", "300 when trained, 100 when scored"},
		"clean_up":       {"11 × 11 cells", "and 3 numbers", "scored by mean return", "of Melting Pot 2.4.1"},
		"protoss_5_vs_5": {"92 numbers", "of SMACv2's interface", "obs_wipe=true"},
	} {
		task, err := FindTask(name)
		if err != nil {
			t.Fatal(err)
		}
		card, err := Card(task)
		if err != nil {
			t.Fatal(err)
		}
		text := card.Text()
		for _, want := range says {
			if !strings.Contains(text, want) {
				t.Errorf("the card does not say %q:\n%s", want, text)
			}
		}
	}
}

func TestAFilmShowsEveryStepOfTheEpisodeThatIsPlayed(t *testing.T) {
	cfg, err := envs.Default("vmas/navigation")
	if err != nil {
		t.Fatal(err)
	}
	film, scenes, err := Film(cfg, Scripted, 3)
	if err != nil {
		t.Fatal(err)
	}
	played, err := Play(cfg, Scripted, 1, 3)
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

func TestPlayersAreThoseWhoCanPlay(t *testing.T) {
	for _, task := range Tasks() {
		cfg, err := envs.Default(task.ID)
		if err != nil {
			t.Fatal(err)
		}
		players, err := Players(cfg)
		if err != nil || players[0] != Random {
			t.Fatalf("%s: %v, %v", task.ID, players, err)
		}
		p, err := Play(cfg, Scripted, 1, 1)
		if err != nil || (p != nil) != (len(players) == 2) {
			t.Errorf("%s is played by %v, but playing its script gives %v, %v", task.ID, players, p, err)
		}
	}
}

func TestABoxOfNoSideIsNoNoise(t *testing.T) {
	for side, on := range map[float64]bool{0: false, 0.5: true} {
		cfg, err := WithNoise("vmas/flocking", side)
		if err != nil {
			t.Fatal(err)
		}
		noise := cfg.Shared().Noise
		if noise.On() != on {
			t.Errorf("side %g: noise is %v", side, noise.On())
		}
	}
	if _, err := WithNoise("vmas/floking", 1); err == nil {
		t.Error("an unknown task has noise")
	}
}
