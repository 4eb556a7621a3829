// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"cermic/envs"
	"cermic/reproduce/paper"
)

// pages are the texts that a reader of the repository meets, seen from its root.
var pages = []string{
	"README.md", "reproduce/README.md", "reproduce/RESULTS.md", "reproduce/CLAIMS.md", "reproduce/PERFORMANCE.md", "notebooks/README.md",
	"envs/vmas/README.md", "envs/meltingpot/README.md", "envs/smac/README.md", "envs/explore/README.md", "envs/python/README.md",
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
	command, link := regexp.MustCompile("go run \\./reproduce ([a-z]+)([^`\n#]*)"), regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	for _, name := range pages {
		text := page(t, name)
		for _, m := range command.FindAllStringSubmatch(text, -1) {
			cmd, _, err := newRoot().Find([]string{m[1]})
			if err != nil || cmd.Name() != m[1] {
				t.Errorf("%s: go run ./reproduce %s: no such command", name, m[1])
				continue
			}
			for _, flag := range regexp.MustCompile(` -([a-z-]+)`).FindAllStringSubmatch(m[2], -1) {
				if cmd.Flags().Lookup(flag[1]) == nil && cmd.Flags().ShorthandLookup(flag[1][:1]) == nil {
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
