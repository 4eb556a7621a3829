// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"cermic/cermiclib/experiment"
	"cermic/envs/conf"
)

// eachSetting calls look for the settings of every part that an experiment can be made of, each kind once.
func eachSetting(t *testing.T, e experiment.Config, seen map[string]bool, look func(e experiment.Config, k conf.KeyDoc)) {
	for _, k := range conf.Keys(e) {
		if k.Kinds == nil {
			look(e, k)
			continue
		}
		for _, kind := range k.Kinds {
			if seen[k.Key+kind] || strings.Count(k.Key, ".") > 1 { // a part may hold one of its own group
				continue
			}
			seen[k.Key+kind] = true
			other := e
			if err := conf.Set(&other, k.Key, kind); err != nil {
				t.Fatal(err)
			}
			eachSetting(t, other, seen, look)
		}
	}
}

// Every whole number that can be set has bounds, keeps to them as it comes, and is refused outside them in a sentence that names both.
func TestEveryWholeNumberIsBounded(t *testing.T) {
	e, err := New(Request{Task: "balance", Method: "mappo", Budget: "smoke", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	met := map[string]bool{}
	eachSetting(t, e, map[string]bool{}, func(e experiment.Config, k conf.KeyDoc) {
		if !strings.Contains(k.Type, "whole number") || k.Key == "seed" || strings.HasSuffix(k.Key, ".combination") || strings.HasSuffix(k.Key, ".revision") {
			return // seeds have no sense of size, and a revision is told by its own sentence
		}
		id := e.Task.Kind() + " " + k.Key
		if k.Bounds == nil {
			t.Errorf("%s has no bounds", id)
			return
		}
		met[id] = true
		if err := conf.InRange(e); err != nil {
			t.Errorf("%s as it comes: %v", id, err)
		}
		for _, x := range []int64{k.Bounds.Min - 1, k.Bounds.Max + 1, math.MaxInt64} {
			other := e
			if err := conf.Set(&other, k.Key, fmt.Sprint(x)); err != nil {
				continue // its type is narrower
			}
			want := fmt.Sprintf("is %d, want %v", x, k.Bounds)
			if err := other.Validate(); err == nil || !strings.HasPrefix(err.Error(), k.Key) || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%s = %d: got %v, want %s", id, x, err, want)
			}
		}
	})
	if len(met) < 100 {
		t.Errorf("%d settings were looked at: where are the others?", len(met))
	}
	t.Logf("%d whole numbers are bounded", len(met))
}

// A task refuses by itself what lies outside the bounds of its settings: environments are made without experiments, too.
func TestTasksKeepToTheirOwnBounds(t *testing.T) {
	e, err := New(Request{Task: "balance", Method: "mappo", Budget: "smoke", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	eachSetting(t, e, map[string]bool{}, func(e experiment.Config, k conf.KeyDoc) {
		if k.Bounds == nil || !strings.HasPrefix(k.Key, "task.") {
			return
		}
		for _, x := range []int64{k.Bounds.Min - 1, k.Bounds.Max + 1} {
			other := e
			if err := conf.Set(&other, k.Key, fmt.Sprint(x)); err != nil {
				continue
			}
			if _, err := other.Task.Build(1, 1); err == nil {
				t.Errorf("%s with %s=%d is built", e.Task.Kind(), k.Key, x)
			}
		}
	})
}

// No setting takes any text: each has names, or a form, of its own.
func TestEveryTextHasAForm(t *testing.T) {
	met := map[string]bool{}
	for _, task := range []string{"balance", "protoss_5_vs_5", "zerg_5_vs_5"} {
		e, err := New(Request{Task: task, Method: "mappo-cermic", Budget: "smoke", Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range conf.Keys(e) {
			if k.Type != "text" || k.Key == "budget.name" { // which -budget says
				continue
			}
			met[k.Key] = true
			for _, text := range []string{"nothing like it", "-0.5", "../../x", "a\nb", "\x1b[2J"} {
				other := e
				if err := conf.Set(&other, k.Key, text); err == nil && other.Validate() == nil {
					t.Errorf("%s: %s takes %q", task, k.Key, text)
				}
			}
		}
	}
	if len(met) < 4 {
		t.Errorf("the settings that are text: %v", met)
	}
}
