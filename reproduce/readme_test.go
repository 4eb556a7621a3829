// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cermic/envs"
	"cermic/reproduce/paper"
)

// pages are the texts that a reader of the repository meets, seen from its root.
var pages = []string{
	"README.md", "reproduce/README.md", "reproduce/RESULTS.md", "reproduce/CLAIMS.md", "reproduce/PERFORMANCE.md", "notebooks/README.md",
	"envs/vmas/README.md", "envs/meltingpot/README.md", "envs/smac/README.md", "envs/explore/README.md", "envs/python/README.md",
	"cermiclib/cermic/DECISIONS.md", ".github/CONTRIBUTING.md", "reproduce/CHANGELOG.md",
}

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestPagesNameCommandsFlagsAndFilesThatExist(t *testing.T) {
	docs, err := filepath.Glob("docs/*.md")
	if err != nil || len(docs) == 0 {
		t.Fatalf("no pages in docs: %v", err)
	}
	command, link := regexp.MustCompile("go run \\./reproduce ([a-z]+)([^`\n#]*)"), regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	for _, name := range append(pages, docs...) {
		if strings.HasPrefix(name, "docs") {
			name = "reproduce/" + filepath.ToSlash(name)
		}
		text := page(t, name)
		for _, m := range command.FindAllStringSubmatch(text, -1) {
			i := slices.IndexFunc(verbs(), func(v verb) bool { return v.name == m[1] })
			if i < 0 {
				t.Errorf("%s: go run ./reproduce %s: no such verb", name, m[1])
				continue
			}
			var help strings.Builder
			_ = verbs()[i].run(t.Context(), &help, []string{"-h"})
			for _, flag := range regexp.MustCompile(` -([a-z]+)`).FindAllStringSubmatch(m[2], -1) {
				if !strings.Contains(help.String(), "  -"+flag[1]) {
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
	text := page(t, "README.md")
	if n := strings.Count(text, "\n"); n > 150 {
		t.Errorf("README.md has %d lines, want at most 150", n)
	}
	_, body, found := strings.Cut(page(t, "reproduce/plan/example_test.go"), "func Example() {\n")
	if _, shown, _ := strings.Cut(text, "func main() {\n"); !found || !strings.HasPrefix(shown, body) {
		t.Errorf("README.md does not show the program of reproduce/plan/example_test.go, which compiles")
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
		if text := page(t, file); !strings.Contains(text, "`"+path.Base(id)+"`") && !strings.Contains(text, "`"+id+"`") {
			t.Errorf("%s does not name %s", file, id)
		}
	}
	for _, family := range []string{"vmas", "meltingpot", "smac", "explore", "python"} {
		text := strings.ToLower(page(t, "envs/"+family+"/README.md"))
		for _, word := range []string{"tasks", "observations", "actions", "rewards", "differences from the original", "## speed"} {
			if !strings.Contains(text, word) {
				t.Errorf("envs/%s/README.md says nothing of %s", family, word)
			}
		}
	}
}
