// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"cermic/envs/envtest/must"
)

func TestEveryDecisionIsListedAndStandsWhereTheListSays(t *testing.T) {
	list := must.Value(os.ReadFile("README.md"))
	listed := map[string]string{} // file by number
	for _, row := range regexp.MustCompile(`(?m)^\| (\d+) \|.*\| (\w+\.go) \|$`).FindAllStringSubmatch(string(list), -1) {
		listed[row[1]] = row[2]
	}
	for _, a := range alternatives {
		if row := regexp.MustCompile("(?m)^\\| " + a.Decision + " \\|.*`" + a.Name + "`"); a.Decision != "data" &&
			a.Name != "instant" && !row.Match(list) {
			t.Errorf("the list does not name %s as the alternative to decision %s", a.Name, a.Decision)
		}
	}
	files := must.Value(filepath.Glob("*.go"))
	found := map[string]string{} // files by number
	for _, file := range files {
		source := must.Value(os.ReadFile(file))
		for _, tag := range regexp.MustCompile(`// DECISION (\d+):`).FindAllStringSubmatch(string(source), -1) {
			found[tag[1]] += file + " "
		}
	}
	if len(listed) < 24 {
		t.Errorf("the list has %d decisions, want at least 24", len(listed))
	}
	for n, file := range listed {
		if !strings.Contains(found[n], file) {
			t.Errorf("decision %s is not in %s but in %q", n, file, found[n])
		}
	}
	for n := range found {
		if listed[n] == "" {
			t.Errorf("decision %s of %s is not listed", n, found[n])
		}
	}
}
