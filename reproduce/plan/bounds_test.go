// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"cermic/cermiclib/experiment"
	"cermic/envs/conf"
	"cermic/envs/envtest/must"
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
			must.Do(t, conf.Set(&other, k.Key, kind))
			eachSetting(t, other, seen, look)
		}
	}
}

// outside returns numbers just outside bounds, in the form that Set reads.
func outside(b *conf.Bounds) []string {
	var out []string
	for _, x := range []float64{b.Min - 1, b.Max + 1} {
		if !math.IsInf(x, 0) {
			out = append(out, strconv.FormatFloat(x, 'f', -1, 64))
		}
	}
	if b.MinOpen {
		out = append(out, strconv.FormatFloat(b.Min, 'f', -1, 64))
	}
	if b.MaxOpen && !math.IsInf(b.Max, 0) {
		out = append(out, strconv.FormatFloat(b.Max, 'f', -1, 64))
	}
	return out
}

// Every whole number has bounds. Numbers with bounds are within them by default, and refused outside. Tasks refuse them
// as well, since environments are made without experiments too.
func TestNumbersKeepToTheirBounds(t *testing.T) {
	e := must.Get(New(Request{Task: "balance", Method: "mappo", Budget: "smoke", Seed: 1}))(t)
	met := map[string]bool{}
	eachSetting(t, e, map[string]bool{}, func(e experiment.Config, k conf.KeyDoc) {
		id := e.Task.Kind() + " " + k.Key
		if k.Bounds == nil {
			// A seed can be any number, and a revision has an error of its own.
			if free := k.Key == "seed" || strings.HasSuffix(k.Key, ".combination") || strings.HasSuffix(k.Key, ".revision"); !free &&
				strings.Contains(k.Type, "whole number") {
				t.Errorf("%s has no bounds", id)
			}
			return
		}
		met[id] = true
		if err := conf.Check(e); err != nil {
			t.Errorf("%s by default: %v", id, err)
		}
		values := outside(k.Bounds)
		if strings.Contains(k.Type, "whole number") {
			values = append(values, fmt.Sprint(math.MaxInt64))
		}
		for _, x := range values {
			other := e
			if err := conf.Set(&other, k.Key, x); err != nil {
				t.Errorf("%s = %s: %v", id, x, err)
			}
			err := other.Validate()
			if err == nil || !strings.HasPrefix(err.Error(), k.Key) || !strings.Contains(err.Error(), ", want "+k.Bounds.String()) {
				t.Errorf("%s = %s: got %v, want %v", id, x, err, k.Bounds)
			}
			if strings.HasPrefix(k.Key, "task.") {
				if _, err := other.Task.Build(1, 1); err == nil {
					t.Errorf("%s with %s=%s is built", e.Task.Kind(), k.Key, x)
				}
			}
		}
	})
	if len(met) < 200 {
		t.Errorf("%d settings were looked at: where are the others?", len(met))
	}
}

// No setting takes any text: each has names, or a form, of its own.
func TestEveryTextHasAForm(t *testing.T) {
	met := map[string]bool{}
	for _, task := range []string{"balance", "protoss_5_vs_5", "zerg_5_vs_5"} {
		e := must.Get(New(Request{Task: task, Method: "mappo-cermic", Budget: "smoke", Seed: 1}))(t)
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
	if len(met) < 3 {
		t.Errorf("the settings that are text: %v", met)
	}
}
