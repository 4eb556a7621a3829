// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib"
	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
)

// rootFile is the text of a file, named from the repository's root.
func rootFile(t *testing.T, name string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(filepath.Join("..", name)))(t))
}

// layers is the import order of the module: a package may import only packages of earlier layers. A folder stands for
// every package below it that has no entry of its own; packages of one folder may import each other.
var layers = [][]string{
	{"internal/must", "envs/conf", "envs/rng", "envs/internal"},
	{"envs"},
	{"envs/vmas", "envs/meltingpot", "envs/smac", "envs/explore", "envs/envtest"},
	{"envs/python", "envs/scripted"},
	{"cermiclib/rl", "cermiclib/stats", "cermiclib/theory"},
	{"cermiclib/nn", "cermiclib/results"},
	{"cermiclib/policy", "cermiclib/memory", "cermiclib/results/export"},
	{"cermiclib/learn", "cermiclib/explore"},
	{"cermiclib/cermic"},
	{"cermiclib/experiment"},
	{"cermiclib"},
	{"cermiclib/libtest"},
	{"viz"},
	{"reproduce/paper", "reproduce/records"},
	{"reproduce/plan"},
	{"reproduce/figures", "reproduce/bench", "reproduce/campaign", "reproduce/web"},
	{"reproduce", "notebooks"},
}

// light are the folders without GoMLX: programs that only read results compile quickly and run anywhere.
var light = []string{"envs", "cermiclib/results", "cermiclib/stats", "viz", "reproduce/paper", "reproduce/records"}

// pkg is what `go list -json` prints of a package.
type pkg struct {
	ImportPath string
	Imports    []string // direct, without tests
	Deps       []string // all
}

func listPackages(t *testing.T) (all []pkg) {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", "cermic/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for in := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := in.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// within reports whether an import path of this module is folder or lies below it.
func within(path, folder string) bool {
	return path == "cermic/"+folder || strings.HasPrefix(path, "cermic/"+folder+"/")
}

// layerOf returns the layer of an import path and the longest matching folder.
func layerOf(path string) (layer int, folder string) {
	layer = -1
	for i, folders := range layers {
		for _, f := range folders {
			if within(path, f) && len(f) > len(folder) {
				layer, folder = i, f
			}
		}
	}
	return layer, folder
}

func TestImportsPointDownOnly(t *testing.T) {
	for _, p := range listPackages(t) {
		layer, folder := layerOf(p.ImportPath)
		if layer < 0 {
			t.Errorf("%s has no layer: add its folder to the table above", p.ImportPath)
		}
		for _, imported := range p.Imports {
			if below, from := layerOf(imported); below >= layer && from != folder {
				t.Errorf("%s imports %s, which is not below it", p.ImportPath, imported)
			}
		}
		for _, dep := range p.Deps {
			if strings.HasPrefix(dep, "github.com/gomlx/") && slices.ContainsFunc(light,
				func(f string) bool { return within(p.ImportPath, f) }) {
				t.Errorf("%s depends on %s", p.ImportPath, dep)
				break
			}
		}
	}
}

// pages are the documents of the repository.
var pages = []string{
	"README.md", "reproduce/README.md", "reproduce/RESULTS.md", "reproduce/CLAIMS.md", "reproduce/PERFORMANCE.md",
	"notebooks/README.md",
	"envs/vmas/README.md", "envs/meltingpot/README.md", "envs/smac/README.md", "envs/explore/README.md",
	"envs/python/README.md", "reproduce/docs/FAQ.md", "reproduce/docs/README.md", "reproduce/docs/cermic-ucb.md",
}

func TestPagesNameCommandsFlagsAndFilesThatExist(t *testing.T) {
	command, link := regexp.MustCompile("go run \\./reproduce ([a-z]+)([^`\n#]*)"),
		regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	for _, name := range pages {
		text := rootFile(t, name)
		for _, m := range command.FindAllStringSubmatch(text, -1) {
			cmd, _, err := newRoot().Find([]string{m[1]})
			if err != nil || cmd.Name() != m[1] {
				t.Errorf("%s: go run ./reproduce %s: no such command", name, m[1])
				continue
			}
			for _, flag := range regexp.MustCompile(` -([a-z-]+)`).FindAllStringSubmatch(m[2], -1) {
				if cmd.Flags().Lookup(flag[1]) == nil && (len(flag[1]) > 1 || cmd.Flags().ShorthandLookup(flag[1]) == nil) {
					t.Errorf("%s: %s: no flag -%s", name, m[0], flag[1])
				}
			}
		}
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join("..", path.Dir(name), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", name, m[1], err)
			}
		}
	}
}

func TestTheReadmeIsShortAndShowsTheExampleAndEveryMethod(t *testing.T) {
	text := rootFile(t, "README.md")
	if n := strings.Count(text, "\n"); n > 120 {
		t.Errorf("README.md has %d lines, want at most 120", n)
	}
	_, body, found := strings.Cut(rootFile(t, "cermiclib/example_test.go"), "func Example() {\n")
	docs := rootFile(t, "reproduce/docs/README.md")
	if _, shown, _ := strings.Cut(docs, "func main() {\n"); !found || !strings.HasPrefix(shown, body) {
		t.Errorf("reproduce/docs/README.md does not show the program of cermiclib/example_test.go, which compiles")
	}
	for _, m := range paper.Methods {
		if !strings.Contains(text, "`"+m.ID+"`") {
			t.Errorf("README.md does not name %s", m.ID)
		}
	}
}

func TestFamilyPagesNameTheirTasksAndSections(t *testing.T) {
	for _, id := range envs.Names() {
		file := "envs/" + path.Dir(id) + "/README.md"
		if text := rootFile(t, file); !strings.Contains(text, "`"+path.Base(id)+"`") && !strings.Contains(text, "`"+id+"`") {
			t.Errorf("%s does not name %s", file, id)
		}
	}
	for _, family := range []string{"vmas", "meltingpot", "smac", "explore", "python"} {
		text := strings.ToLower(rootFile(t, "envs/"+family+"/README.md"))
		for _, word := range []string{"tasks", "observations", "actions", "rewards", "differences from the original",
			"## speed"} {
			if !strings.Contains(text, word) {
				t.Errorf("envs/%s/README.md says nothing of %s", family, word)
			}
		}
	}
}

// The image is built on a base that cannot change unnoticed, and its port is published on the reader's machine alone.
func TestTheImageHasAFixedBaseAndALocalPort(t *testing.T) {
	pinned := regexp.MustCompile(`(?m)^ARG BASE=golang:([0-9.]+)-bookworm@sha256:[0-9a-f]{64}$`)
	base := pinned.FindStringSubmatch(rootFile(t, "Dockerfile"))
	if base == nil {
		t.Fatal("Dockerfile names no base by digest")
	}
	if install := rootFile(t, ".ci/install"); !strings.Contains(install, "GO_VERSION:-"+base[1]+"}") {
		t.Errorf("the base has Go %s, .ci/install another", base[1])
	}
	for _, name := range []string{"Dockerfile", "README.md"} {
		found := regexp.MustCompile(`docker run[^\n]* -p ([0-9.:]+)`).FindAllStringSubmatch(rootFile(t, name), -1)
		if len(found) == 0 {
			t.Errorf("%s publishes no port", name)
		}
		for _, m := range found {
			if !strings.HasPrefix(m[1], "127.0.0.1:") {
				t.Errorf("%s publishes %s", name, m[1])
			}
		}
	}
}

// No way to start JupyterLab weakens its token.
func TestJupyterLabKeepsItsToken(t *testing.T) {
	started := map[string]string{
		"lab":        strings.Join(labFlags(true, 8888, true, true), " "),
		"Dockerfile": rootFile(t, "Dockerfile"), "config": rootFile(t, "reproduce/jupyter/config/jupyter_server_config.py"),
	}
	for name, text := range started {
		text = regexp.MustCompile(`(?m)^#.*$`).ReplaceAllString(text, "")
		for _, open := range []string{"token", "password", "disable_check_xsrf", "allow_origin"} {
			if strings.Contains(text, open) {
				t.Errorf("%s sets %s of JupyterLab:\n%s", name, open, text)
			}
		}
	}
}

func TestEveryPythonPackageIsPinnedByVersionAndHash(t *testing.T) {
	files := append(globbed(t, filepath.Join("jupyter", "requirements*.txt")), globbed(t, filepath.Join("..", "envs",
		"python", "requirements*.txt"))...)
	pinned := regexp.MustCompile(`(?m)^[a-z0-9_-]+==[^ ]+ .*\\\n +--hash=sha256:[0-9a-f]{64}`)
	named := regexp.MustCompile(`(?m)^[a-z]`)
	for _, file := range files {
		text := must.Get(os.ReadFile(file))(t)
		if p, n := len(pinned.FindAll(text, -1)), len(named.FindAll(text, -1)); p != n || n == 0 {
			t.Errorf("%s names %d packages and pins %d", file, n, p)
		}
	}
	if len(files) < 5 {
		t.Errorf("the requirements are %v", files)
	}
}

// NOTICE names every module that a program of this repository contains.
func TestNoticeNamesEveryModule(t *testing.T) {
	out := must.Get(exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "cermic/...").Output())(t)
	modules := strings.Fields(string(out))
	slices.Sort(modules)
	notice := rootFile(t, "NOTICE")
	for _, m := range slices.Compact(modules) {
		name := strings.TrimSuffix(strings.TrimPrefix(m, "github.com/"), "/v2")
		if m != "cermic" && !strings.Contains(notice, name) {
			t.Errorf("NOTICE does not name %s", m)
		}
	}
}

// Names, dates and code are no measurements.
var noMeasurements = regexp.MustCompile("(?sm)```.*?```|`[^`]*`|(\\[\\d\\d_\\w+)?\\]\\([^)]*\\)|<[^>]*>|" +
	`^\d\. |(Table|Figure|Theorem) \d+|\d+ min\b|\d+\s+October 2025|November 2026|2026\.|NeurIPS 2025`)

// Every number of README is one that this test computes, or reads in the page that has its source.
func TestEveryNumberOfTheReadmeHasASource(t *testing.T) {
	text := noMeasurements.ReplaceAllString(rootFile(t, "README.md"), " ")
	var known []string
	add := func(format string, args ...any) { known = append(known, fmt.Sprintf(format, args...)) }

	add("and %d notebooks", len(globbed(t, filepath.Join("..", "notebooks", "*.ipynb"))))
	tasks, methods := len(plan.Tasks()), 0
	add("What do the %d tasks", tasks)
	add("| %d: VMAS", tasks)
	for _, m := range paper.Methods {
		if paper.InTables(m.ID) {
			methods++
		}
	}
	add("| methods | %d,", methods)
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(rootFile(t, "go.mod"))
	add("Go %s,", version[1])
	if !strings.Contains(rootFile(t, "reproduce/setup.go"), "install Python 3.11 or newer") {
		t.Error("set-up asks for another Python")
	}
	add("Python 3.11")
	add("| 9, none with curiosity |") // by its documentation, as the next
	add("over 20 scenarios")
	claims := regexp.MustCompile(`(?m)^\| \[[a-z0-9-]+\]\(#.*`).FindAllString(rootFile(t, "reproduce/CLAIMS.md"), -1)
	untested := slices.DeleteFunc(slices.Clone(claims), func(row string) bool { return !strings.Contains(row, "| not tested") })
	add("the paper's %d [claims", len(claims))
	add("%d are *not tested* yet", len(untested))
	add("Left α = 0: agents watch. Right α = .2: they open")
	add("trains %s frames", thousands(t, "short"))
	add("%s with the settings", thousands(t, "paper"))
	for _, budget := range []string{"short", "paper"} {
		row := "|   |"
		for _, table := range []*paper.Benchmark{paper.Sota, paper.Agents, paper.Ablation, paper.Density} {
			done, all := covered(t, table, budget)
			row += fmt.Sprintf(" %d of %d |", done, all)
		}
		add("%s", row)
	}
	measured := func(page, row, format string) {
		at := regexp.MustCompile(regexp.QuoteMeta(row) + `.*\| ([\d.]+) × \(([\d.]+) to ([\d.]+)\) \|`).FindStringSubmatch(rootFile(t, page))
		if at == nil {
			t.Fatalf("%s has no row %q", page, row)
		}
		add(format, at[1], at[2], at[3])
	}
	measured("reproduce/PERFORMANCE.md", "| Balance from Go, 60 parallel environments |", "%s times as fast as in VMAS (%s to %s)")
	add("60 parallel environments")
	measured("reproduce/PERFORMANCE.md", "| the same, 1,024 | 1,720,000", "1,024 of them it is %s times (%s to %s)")
	measured("reproduce/PERFORMANCE.md", "| MAPPO at the paper's settings, end to end | 2,190", "%s times as fast (%s to %s)")
	for _, said := range []struct{ page, source, shown string }{
		{"reproduce/CLAIMS.md", "α = .2 succeeds in 9 of 10 runs, α = 0 in 0 of 10 (Fisher's exact test, one-sided, Holm: p = 0.00012)", "| lock | 9 | 0 (p = .0001)"},
		{"reproduce/CLAIMS.md", "never trained in 0 of 10 (Fisher's exact test, one-sided, Holm: p = 0.00012)", "| 0 (p = .0001) | 0 |"},
		{"reproduce/FINDINGS.md", "MACE, MAPPO-RFF, MAPPO-DB and MAPPO open it in 0 of 10", "| α = .2 | α = 0 | untrained module | MACE |"},
		{"reproduce/FINDINGS.md", "in 9 of 10 runs, α = 0 in 3 of 10 and an untrained module in 0 of 10. MACE succeeds in 10 of 10", "| rooms | 9 | 3 | 0 | 10 |"},
		{"reproduce/FINDINGS.md", "On pass without a screen the bonus succeeds in 0 of 5 runs, MAPPO-RFF in 5 of 5 and MACE in 4 of 5", "in 0 of 5 runs, MACE in 4, and MAPPO-RFF's count in 5"},
		{"reproduce/CLAIMS.md", "Over 12 of 12 task variants, a run of α = .2 succeeds more often than one of MACE with probability 0.45 [0.41, 0.48]", "of improvement over it: .45, .41 to .48)"},
		{"reproduce/PERFORMANCE.md", "The first `lab` after a clone took 134 s", "| 1.8 GB in 134 s, for CPUs |"},
		{"reproduce/PERFORMANCE.md", "torch and CUDA takes 5.6 GB, JaxMARL with jax for CPUs 1 GB", "5.6 GB, with CUDA | 1 GB, for CPUs"},
		{"reproduce/FINDINGS.md", "√KL is 6.87 per step with a standard deviation of .12", "6.87 ± .12 per step"},
		{"reproduce/FINDINGS.md", "with weight 1, it holds MAPPO", "Unnormalised, it keeps MAPPO from learning"},
		{"reproduce/FINDINGS.md", "improves MAPPO on no VMAS task that can be tested.** It has three seeds on all nine", "better than MAPPO on none of the five VMAS tasks"},
	} {
		if !strings.Contains(strings.Join(strings.Fields(rootFile(t, said.page)), " "), said.source) { // lines may wrap
			t.Errorf("%s does not say %q", said.page, said.source)
		}
		add("%s", said.shown)
	}

	for _, k := range known {
		if !strings.Contains(text, k) {
			t.Errorf("README.md does not say %q", k)
		}
		text = strings.Replace(text, k, " ", 1)
	}
	for _, m := range regexp.MustCompile(`(?m)^.*?(?:^|[^\w/.-])(\.?\d[\d.,]*).*$`).FindAllStringSubmatch(text, -1) {
		t.Errorf("README.md has the number %s, whose source no rule knows, in %q", m[1], m[0])
	}
}

// thousands is the number of frames of a budget, as README writes it.
func thousands(t *testing.T, budget string) string {
	p := must.Get(cermiclib.FindPreset(budget))(t)
	text := fmt.Sprint(p.Budget.Frames)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// covered counts the experiments of a table with three seeds, and those with a committed record.
func covered(t *testing.T, table *paper.Benchmark, budget string) (done, all int) {
	st := committedStore(t)
	es, _ := plan.Benchmark(table, budget, 3)
	for _, e := range es {
		id := must.Get(e.ID())(t)
		if r, err := st.Head(id); err == nil && r.Complete {
			done++
		}
	}
	return done, len(es)
}
