// SPDX-License-Identifier: Apache-2.0

// Package docs_test keeps the pages of this folder and of the environments in step with the code and the committed
// records. A page holds generated blocks. A block ends at the next "end" comment and begins with one of these
// comments.
//
//	<!-- settings mappo learner policy -->  settings of a method, by the beginnings of their keys.
//	<!-- changes mappo-eps mappo -->         settings of the first method that differ from the second's.
//	<!-- tasks vmas -->                     settings of all tasks of a family.
//	<!-- results mappo mappo-eps -->        rows of RESULTS.md, without runs whose settings were changed.
//
// go test ./reproduce/docs -regen rewrites the blocks.
package docs_test

import (
	"flag"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib"
	"cermic/cermiclib/results"
	"cermic/reproduce/plan"
	"cermic/reproduce/records"
	"cermic/viz"
)

var regen = flag.Bool("regen", false, "rewrite the generated blocks of the pages")

// block matches one generated block: its kind and its arguments.
var block = regexp.MustCompile(`(?s)<!-- (settings|changes|tasks|results) ([^>]*) -->\n.*?<!-- end -->`)

// pages returns the texts of all pages, by their paths.
func pages(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range []string{"*.md", "../../envs/*/README.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no pages match %s: %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			texts[file] = string(text)
		}
	}
	return texts
}

func TestGeneratedBlocksAreCurrent(t *testing.T) {
	for file, text := range pages(t) {
		current := block.ReplaceAllStringFunc(text, func(old string) string {
			head, _, _ := strings.Cut(old, "\n")
			m := block.FindStringSubmatch(old)
			args := strings.Fields(m[2])
			var table viz.Table
			switch m[1] {
			case "settings":
				table = settings(t, args[0], args[1:])
			case "changes":
				table = changes(t, args[0], args[1])
			case "tasks":
				table = tasks(t, args[0])
			case "results":
				table = rows(t, args)
			}
			return head + "\n" + table.Markdown() + "<!-- end -->"
		})
		if current == text {
			continue
		}
		if !*regen {
			t.Errorf("%s is out of date: go test ./reproduce/docs -regen", file)
		} else if err := os.WriteFile(file, []byte(current), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// settingsAt returns the settings of a method on a task at a budget.
func settingsAt(t *testing.T, task, method, budget string) []plan.Setting {
	t.Helper()
	all, err := plan.SettingsOf(plan.Request{Task: task, Method: method, Budget: budget})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// code sets a value as code, and an empty one as nothing.
func code(value string) string {
	if value == "" {
		return ""
	}
	return "`" + value + "`"
}

// settings lists the settings of a method whose keys begin with one of the given parts, at two budgets.
func settings(t *testing.T, method string, parts []string) viz.Table {
	out := viz.Table{Header: []string{"setting", "at `short`", "at `paper`", "what it is"}}
	short := map[string]string{}
	for _, s := range settingsAt(t, "balance", method, "short") {
		short[s.Key] = s.Value
	}
	for _, s := range settingsAt(t, "balance", method, "paper") {
		part, _, _ := strings.Cut(s.Key, ".")
		if slices.Contains(parts, part) {
			out.Rows = append(out.Rows, []string{code(s.Key), code(short[s.Key]), code(s.Value), s.Sentence()})
		}
	}
	return out
}

// changes lists the settings of a variant at the paper's budget that differ from its base's, or that the base lacks.
func changes(t *testing.T, variant, base string) viz.Table {
	out := viz.Table{Header: []string{"setting", "`" + variant + "`", "`" + base + "`", "what it is"}}
	of := map[string]string{}
	for _, s := range settingsAt(t, "balance", base, "paper") {
		of[s.Key] = s.Value
	}
	for _, s := range settingsAt(t, "balance", variant, "paper") {
		if was, known := of[s.Key]; !known || was != s.Value {
			out.Rows = append(out.Rows, []string{code(s.Key), code(s.Value), code(was), s.Sentence()})
		}
	}
	return out
}

// tasks lists the settings of all tasks of a family at the paper's budget, common settings first.
func tasks(t *testing.T, family string) viz.Table {
	out := viz.Table{Header: []string{"setting", "tasks", "default", "what it is"}}
	type entry struct {
		plan.Setting
		tasks []string
		same  bool
	}
	var entries []*entry
	count := 0
	for _, task := range plan.Tasks() {
		if path.Dir(task.ID) != family {
			continue
		}
		count++
		for _, s := range settingsAt(t, task.ID, "mappo", "paper") {
			if !strings.HasPrefix(s.Key, "task.") {
				continue
			}
			i := slices.IndexFunc(entries, func(e *entry) bool { return e.Key == s.Key })
			if i < 0 {
				i = len(entries)
				entries = append(entries, &entry{Setting: s, same: true})
			}
			entries[i].tasks = append(entries[i].tasks, path.Base(task.ID))
			entries[i].same = entries[i].same && entries[i].Value == s.Value
		}
	}
	slices.SortStableFunc(entries, func(a, b *entry) int { return len(b.tasks)/count - len(a.tasks)/count })
	for _, e := range entries {
		of, value := strings.Join(e.tasks, ", "), code(e.Value)
		if len(e.tasks) == count {
			of = "all"
		}
		if !e.same {
			value = "differs"
		}
		out.Rows = append(out.Rows, []string{code(e.Key), of, value, e.Sentence()})
	}
	return out
}

// rows are the lines of RESULTS.md that belong to methods with their default settings, each with its task.
func rows(t *testing.T, methods []string) viz.Table {
	text, err := os.ReadFile("../RESULTS.md")
	if err != nil {
		t.Fatal(err)
	}
	out := viz.Table{Header: []string{"task", "method", "reward", "budget", "last score", "seeds × frames", "published"}}
	var task string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if name, found := strings.CutPrefix(line, "### "); found {
			task = name
		}
		cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "| "), " |"), " | ")
		if n := len(cells); n > 5 && slices.Contains(methods, cells[0]) {
			out.Rows = append(out.Rows, []string{task, cells[0], cells[1], cells[2], cells[3], cells[n-2], cells[n-1]})
		}
	}
	if len(out.Rows) == 0 {
		return viz.Table{Header: []string{"no committed runs with the default settings"}}
	}
	return out
}

// group is what the names of scalars begin with where groups of agents are trained apart.
var group = regexp.MustCompile(`^(collection/)?(agent|adversary)/`)

func TestEveryScalarOfTheRecordsIsExplained(t *testing.T) {
	if testing.Short() {
		t.Skip("reads all records")
	}
	var all strings.Builder
	for file, text := range pages(t) {
		if filepath.Dir(file) == "." {
			all.WriteString(text)
		}
	}
	st, err := results.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	st.Base(records.Layer())
	found, err := st.Find(results.Query{Complete: true})
	if err != nil {
		t.Fatal(err)
	}
	missing := map[string]bool{}
	for _, r := range found {
		for name := range r.Scalars {
			name = group.ReplaceAllString(name, "")
			if explorer, _, warns := strings.Cut(name, "/warn_"); warns {
				name = explorer + "/warn_*"
			}
			if !missing[name] && !strings.Contains(all.String(), "| `"+name+"` |") {
				missing[name] = true
				t.Errorf("no page explains %s, of run %s", name, r.ID)
			}
		}
	}
}

func TestEveryMethodHasAPage(t *testing.T) {
	texts := pages(t)
	for _, m := range cermiclib.Methods() {
		if !strings.Contains(texts["README.md"], "`"+m.ID+"`") {
			t.Errorf("README.md does not name %s", m.ID)
		}
	}
}
