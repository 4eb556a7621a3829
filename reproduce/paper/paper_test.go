// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"cermic/envs/envtest/must"
)

func TestUnknownNamesAreAnsweredWithNearOnes(t *testing.T) {
	_, task := FindTask("vmas/balence", Tasks)
	_, method := FindMethod("mapo")
	_, table := FindBenchmark("sotta")
	for _, c := range []struct {
		err  error
		want string
	}{
		{task, `unknown task "vmas/balence"; did you mean vmas/balance`},
		{method, `unknown method "mapo"; did you mean mappo`},
		{table, `unknown table "sotta"; did you mean sota`},
	} {
		if c.err == nil || !strings.HasPrefix(c.err.Error(), c.want) {
			t.Errorf("got %v, want %s", c.err, c.want)
		}
	}
}

func TestEverySpellingOfThePaperFindsItsTaskAndMethod(t *testing.T) {
	for spelling, id := range map[string]string{
		"Give Way": "vmas/give_way", "GiveWa*": "vmas/give_way", "give_way": "vmas/give_way", "vmas/give_way": "vmas/give_way",
		"pro5v5*": "smac/protoss_5_vs_5", "Disperse": "vmas/dispersion", "cleanup": "meltingpot/clean_up",
	} {
		if task, err := FindTask(spelling, Tasks); err != nil || task.ID != id {
			t.Errorf("%q is %q (%v), want %q", spelling, task.ID, err, id)
		}
	}
	for spelling, id := range map[string]string{"MAPPO-CERMIC": "mappo-cermic", "MAPPO-ε-greedy": "mappo-eps", "qplex-ices": "qplex-ices"} {
		if method, err := FindMethod(spelling); err != nil || method.ID != id {
			t.Errorf("%q is %q (%v), want %q", spelling, method.ID, err, id)
		}
	}
}

func TestConceptsAndTagsInTheCodeAreTheSame(t *testing.T) {
	const root = "../.."
	listed, tagged := map[string]bool{}, map[string]bool{}
	page := must.Get(os.ReadFile("README.md"))(t)
	for _, row := range regexp.MustCompile(`(?m)^\| (\S+) \| \[(.+?)\]`).FindAllStringSubmatch(string(page), -1) {
		listed[row[1]+" in "+row[2]] = true
	}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != root && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		short, err := filepath.Rel(root, file)
		for _, label := range tags(string(raw)) {
			tagged[label+" in "+filepath.ToSlash(short)] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for place := range listed {
		if !tagged[place] {
			t.Errorf("the code has no tag paper:%s", place)
		}
	}
	for place := range tagged {
		if !listed[place] {
			t.Errorf("the tag paper:%s is missing from README.md", place)
		}
	}
}

// tags returns the labels of the comment lines of src that start with paper:<label>.
func tags(src string) []string {
	var out []string
	for line := range strings.Lines(src) {
		_, comment, _ := strings.Cut(line, "//")
		fields := strings.Fields(comment)
		if len(fields) == 0 {
			continue
		}
		if label, ok := strings.CutPrefix(fields[0], "paper:"); ok {
			out = append(out, strings.TrimRight(label, ".,;:"))
		}
	}
	return out
}
