// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cermic/envs"
	"cermic/reproduce/plan"
)

// command runs the program's dispatch and returns what it printed.
func command(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := dispatch(context.Background(), &out, args)
	return out.String(), err
}

func TestMistakesInTheCommandLineAreOneSentenceWithNearNames(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"lisst"}, `unknown verb "lisst"; did you mean list?`},
		{[]string{"list", "-jsn"}, "list has no flag -jsn"},
		{[]string{"list", "extra"}, `list takes no argument "extra"`},
		{[]string{"train", "-metod", "mappo"}, "train has no flag -metod; did you mean method?"},
		{[]string{"train", "-method", "mapo"}, `unknown method "mapo"; did you mean mappo`},
		{[]string{"train", "-task", "balence", "-method", "mappo"}, `unknown task "balence"; did you mean balance?`},
		{[]string{"train", "-budget", "shrot", "-method", "mappo"}, `unknown budget "shrot"; did you mean short`},
		{[]string{"train", "-method", "mappo", "-set", "learner.gae_lamda=1"}, `unknown key "learner.gae_lamda"; did you mean learner.gae_lambda?`},
		{[]string{"train", "-method", "mappo", "-set", "learner.gae_lambda=2"}, "learner.gae_lambda is 2"},
		{[]string{"train", "-seeds", "0"}, "-seeds is 0"},
		{[]string{"train", "-seeds", "three"}, "train: invalid value"},
		{[]string{"train", "-seeds", "3-2"}, "-seeds is 3-2, want"},
		{[]string{"evaluate", "0161", "budget.frames=3"}, "-set budget.frames"},
		{[]string{"bench", "-only", "updat"}, `unknown group "updat"; did you mean update`},
		{[]string{"evaluate"}, "evaluate: want the ID of a run"},
		{[]string{"evaluate", "nosuchrun"}, `no run "nosuchrun" in ../runs: go run ./reproduce status`},
		{[]string{"table", "sotta"}, `unknown table "sotta"; did you mean sota`},
		{[]string{"table", "sota", "-format", "latx"}, `unknown format "latx"; did you mean latex`},
		{[]string{"table", "-budget", "papr"}, `unknown budget "papr"; did you mean paper`},
		{[]string{"train", "-table", "sotta"}, `unknown table "sotta"; did you mean sota`},
	} {
		_, err := command(t, c.args...)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: got %v, want one sentence starting %q", c.args, err, c.want)
		}
		if !errors.As(err, new(usageError)) {
			t.Errorf("%v: %v would not end with exit code 2", c.args, err)
		}
	}
}

func TestHelpNamesEveryVerb(t *testing.T) {
	for _, args := range [][]string{nil, {"help"}, {"--help"}} {
		out, err := command(t, args...)
		for _, v := range verbs() {
			if err != nil || !strings.Contains(out, "  "+v.name+" ") || !strings.Contains(out, v.about) {
				t.Errorf("%v: verb %s is missing from the help (%v)", args, v.name, err)
			}
		}
	}
}

// flagsOf are the flags that a verb's help lists.
func flagsOf(t *testing.T, verb string) (names []string) {
	t.Helper()
	out, err := command(t, verb, "-h")
	if !errors.Is(err, flag.ErrHelp) {
		t.Fatalf("%s -h: %v", verb, err)
	}
	for _, found := range regexp.MustCompile(`(?m)^  -(\S+)`).FindAllStringSubmatch(out, -1) {
		names = append(names, found[1])
	}
	return names
}

func TestEveryVerbsHelpIsASentenceTwoExamplesAndItsArguments(t *testing.T) {
	for _, v := range verbs() {
		out, err := command(t, v.name, "-h")
		m := manuals[v.name]
		sentence, rest, _ := strings.Cut(out, "\n")
		if !errors.Is(err, flag.ErrHelp) || !strings.EqualFold(sentence, v.about+".") || !strings.Contains(rest, "go run ./reproduce "+v.name) {
			t.Errorf("%s -h: %q, %v", v.name, out, err)
		}
		if len(m.examples) != 2 || (m.args == "") != (m.says == "") || !strings.Contains(rest, m.args) {
			t.Errorf("%s has %d examples, want 2, and arguments %q: %q", v.name, len(m.examples), m.args, m.says)
		}
		known := flagsOf(t, v.name)
		for _, line := range m.examples {
			words := strings.Fields(line)
			if words[0] != v.name || !strings.Contains(out, line) {
				t.Errorf("%s has the example %q", v.name, line)
			}
			for _, word := range words[1:] {
				if word == "--" {
					break
				}
				if name := strings.TrimPrefix(word, "-"); name != word && !slices.Contains(known, name) {
					t.Errorf("%s: %q has no flag of %v", v.name, line, known)
				}
			}
		}
	}
	if len(manuals) != len(verbs()) {
		t.Errorf("%d verbs have %d manuals", len(verbs()), len(manuals))
	}
}

func TestEveryFlagIsReadInSomeWayAndEveryWayReadsFlags(t *testing.T) {
	for _, v := range verbs() {
		known, read := flagsOf(t, v.name), map[string]bool{}
		ways := manuals[v.name].ways
		for _, w := range ways {
			for _, name := range strings.Fields(w.with + " " + w.without + " " + w.reads) {
				if read[name] = true; name != argument && !slices.Contains(known, name) {
					t.Errorf("%s: a way of use names -%s, which is no flag", v.name, name)
				}
			}
		}
		for _, name := range known {
			if len(ways) > 0 && !read[name] {
				t.Errorf("%s declares -%s, and no way of use reads it: add it in manual.go", v.name, name)
			}
		}
	}
}

func TestQuotedNamesAreShortAndShowControlCharacters(t *testing.T) {
	long := strings.Repeat("a", 300)
	for _, c := range []struct{ said, arg, want string }{
		{"unknown task \"" + long + "\"", "task=" + long, "unknown task \"" + long[:59] + "…" + long[:20] + "\""},
		{"no run a\x1b[2Jb here", "a\x1b[2Jb", `no run a\x1b[2Jb here`},
		{"-set a\nb: want key=value", "a\nb", `-set a\nb: want key=value`},
		{"one\ntwo", "three", "one\ntwo"},
		{"open " + os.TempDir() + "/" + long, os.TempDir() + "/" + long, "open " + os.TempDir() + "/" + long},
	} {
		if got := quoted(c.said, []string{c.arg}); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestListNamesWhatIsRegisteredAndItsSettings(t *testing.T) {
	all, err := command(t, "list")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(envs.Names(), "mappo-cermic", "smoke", "demo", "short", "paper", "explore") {
		if !strings.Contains(all, "  "+name+" ") {
			t.Errorf("list does not name %s:\n%s", name, all)
		}
	}
	settings, err := command(t, "list", "-method", "mappo-cermic", "-budget", "paper")
	if err != nil {
		t.Fatal(err)
	}
	for _, setting := range []string{"explore.alpha=0.2", "explore=cermic", "learner.minibatch_size=2400", "task.reward=sparse", "budget.frames=3000000"} {
		if !strings.Contains(settings, "  "+setting+" ") {
			t.Errorf("list -method does not show %s:\n%s", setting, settings)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"list", "-method", "mappo"}, "discount factor γ, 0 to 1; the paper: 0.99\n"},
		{[]string{"list", "-method", "mappo-cermic", "-set", "explore.alpha=0.5"}, "* explore.alpha=0.5 "},
		{[]string{"list", "-method", "mappo-cermic", "-set", "explore.alpha=0.5"}, "(default: 0.2)\n"},
		{[]string{"list", "-method", "mappo-cermic"}, "one of optimal, learned, unit\n"},
		{[]string{"list", "-task", "lock"}, "  task.levers=3 "},
		{[]string{"list", "-task", "lock"}, "number of levers of an agent; 2 to "},
		{[]string{"list", "-method", "mappo"}, "widths of the hidden layers; BenchMARL: 256, 256; each 1 to 8192\n"},
	} {
		if got, err := command(t, c.args...); err != nil || !strings.Contains(got, c.want) {
			t.Errorf("%v does not say %q (%v):\n%s", c.args, c.want, err, got)
		}
	}
	all, err = command(t, "list", "-task", "lock", "-method", "mappo-cermic")
	if err != nil {
		t.Fatal(err)
	}
	about, err := plan.SettingsOf(plan.Request{Task: "lock", Method: "mappo-cermic", Budget: plan.DefaultBudget})
	if err != nil {
		t.Fatal(err)
	}
	bounded := 0
	for _, s := range about {
		if s.Bounds == nil {
			continue
		}
		bounded++
		if !regexp.MustCompile(`(?m)^  ` + regexp.QuoteMeta(s.Key) + `=.*; (each )?` + s.Bounds.String() + `$`).MatchString(all) {
			t.Errorf("list shows %s without its bounds, %v", s.Key, s.Bounds)
		}
	}
	if bounded < 20 {
		t.Errorf("%d of %d settings are bounded", bounded, len(about))
	}
	if got, _ := command(t, "list", "-task", "lock"); strings.Contains(got, "learner.") || strings.Contains(got, "* ") {
		t.Errorf("list -task lists more than the task's settings, or marks one that was not changed:\n%s", got)
	}
}
