// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
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
var free = []string{"pretrained", "sc2_version", "exception_unit_types", "otherwise"}

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
