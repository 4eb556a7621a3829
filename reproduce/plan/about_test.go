// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cermic/cermiclib/cermic"
	"cermic/cermiclib/experiment"
	"cermic/cermiclib/explore"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/memory"
	"cermic/cermiclib/policy"
	"cermic/envs"
	"cermic/envs/conf"
	"cermic/envs/envtest/must"
)

// every calls f with each registered default, behind a pointer so that Set can change it, and what says whether it is
// possible.
func every(t *testing.T, f func(kind string, fresh func() (cfg any, valid func() error))) {
	t.Helper()
	of(t, func(c envs.Config) error { _, err := c.Build(1, 1); return err }, f)
	of(t, valid[explore.Config], f)
	of(t, valid[learn.Config], f)
	of(t, valid[learn.MixerConfig], f)
	of(t, valid[policy.Config], f)
	of(t, valid[memory.Config], f)
	of(t, valid[cermic.Form], f)
}

func valid[G any](c G) error { return conf.Validate(c) }

func of[G conf.Kinder](t *testing.T, validate func(G) error, f func(string, func() (any, func() error))) {
	t.Helper()
	for _, kind := range conf.Kinds[G]() {
		f(kind, func() (any, func() error) {
			cfg := must.Get(conf.New[G](kind))(t)
			return &cfg, func() error { return validate(cfg) }
		})
	}
}

func TestEverySettingIsExplainedInOneSentence(t *testing.T) {
	n := 0
	check := func(kind string, cfg any) {
		for _, k := range conf.Keys(cfg) {
			n++
			if len(strings.Fields(k.About)) < 2 {
				t.Errorf("%s: the field of %s has no comment behind or above it that says what it is", kind, k.Key)
			}
			if strings.Contains(k.About, ". ") || strings.HasSuffix(k.About, ".") || len([]rune(k.About)) > 150 {
				t.Errorf("%s: what %s is takes more than a short sentence: %s", kind, k.Key, k.About)
			}
		}
	}
	every(t, func(kind string, fresh func() (any, func() error)) {
		cfg, _ := fresh()
		check(kind, cfg)
	})
	check("experiment", experiment.Config{})
	if n < 300 {
		t.Errorf("only %d settings were looked at", n)
	}
}

// free are texts that are no choice among a few: names, versions and what the simulator lists itself.
var free = []string{"pretrained", "sc2_version", "otherwise"}

// nonsense is no choice of any setting.
const nonsense = "no-such-choice"

func TestTheListedChoicesAreThoseThatAreAccepted(t *testing.T) {
	texts := 0
	every(t, func(kind string, fresh func() (any, func() error)) {
		cfg, _ := fresh()
		for _, k := range conf.Keys(cfg) {
			list, some := strings.CutPrefix(k.Type, "one of ")
			if !some && k.Type != "text" || slices.Contains(free, k.Key[strings.LastIndexByte(k.Key, '.')+1:]) {
				continue
			}
			texts++
			if !some {
				t.Errorf("%s: %s is a text without listed choices: give the field a tag oneof", kind, k.Key)
				continue
			}
			refusal := func(value string) error {
				cfg, valid := fresh()
				must.Do(t, conf.Set(cfg, k.Key, value))
				return valid()
			}
			wrong := refusal(nonsense)
			if wrong == nil {
				t.Errorf("%s: %s takes what its choices do not list", kind, k.Key)
				continue
			}
			before, after, _ := strings.Cut(wrong.Error(), nonsense)
			for _, choice := range strings.Split(strings.ReplaceAll(list, `"" (empty)`, ""), ", ") {
				if err := refusal(choice); err != nil && strings.HasPrefix(err.Error(), before+choice+after[:min(6, len(after))]) {
					t.Errorf("%s: %s=%s is listed and refused: %v", kind, k.Key, choice, err)
				}
			}
		}
	})
	if texts < 30 {
		t.Errorf("only %d texts were looked at", texts)
	}
}

func TestSettingsPutsChangedOnesFirst(t *testing.T) {
	table := must.Get(Settings("mappo-cermic", "explore.alpha=0.5"))(t)
	if got := table.Rows[0]; got[0] != "explore.alpha" || got[1] != "0.5" || got[2] != "0.2" || !strings.Contains(got[3], "weight of L_explore") {
		t.Errorf("the first line is %q", got)
	}
	if len(table.Marked) != 1 || table.Marked[0] != 0 || !table.Search {
		t.Errorf("marked are %v; search: %v", table.Marked, table.Search)
	}
	if _, err := Settings("mappo-cermic", "explore.alpah=0.5"); err == nil {
		t.Error("an unknown setting is accepted")
	}
}

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
			// A seed can be any number.
			if free := k.Key == "seed" || strings.HasSuffix(k.Key, ".combination"); !free &&
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

// No setting takes free text: each has names, or a form, of its own.
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
