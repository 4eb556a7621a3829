// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"cermic/cermiclib/results"
	"cermic/envs/envtest/must"
)

func TestACommitHasTheHashOfItsTree(t *testing.T) {
	want, err := SourcesOf("HEAD")
	if err != nil {
		t.Skip(err)
	}
	tree := t.TempDir()
	extract := exec.Command("sh", "-c", `git -C "$0" archive HEAD go.sum cermiclib envs | tar -x -C "$1"`, root, tree)
	if said, err := extract.CombinedOutput(); err != nil {
		t.Skipf("%v: %s", err, said)
	}
	built := time.Now().Add(time.Hour)
	if got := hashTree(tree, built); got != want {
		t.Errorf("the tree has sources %s, its commit %s", got, want)
	}
	if _, err := SourcesOf("no such commit"); err == nil {
		t.Error("a commit that does not exist has sources")
	}
	for _, c := range []struct {
		file    string
		changes bool
	}{
		{"cermiclib/experiment/run_test.go", false}, {"cermiclib/experiment/new_test.go", false}, {"envs/vmas/README.md", false},
		{"cermiclib/experiment/run.go", true}, {"envs/new.go", true}, {"cermiclib/nn/xlacache/pjrt.c", true},
		{"envs/meltingpot/sprites.json.gz", true}, {"go.sum", true},
	} {
		before := hashTree(tree, built)
		must.Do(t, os.WriteFile(filepath.Join(tree, c.file), []byte("// edited\n"), 0o644))
		if after := hashTree(tree, built); (after != before) != c.changes || after == "" {
			t.Errorf("%s: sources %s before, %s after", c.file, before, after)
		}
	}
}

func TestAChangedTreeHasNoHash(t *testing.T) {
	tree, built := t.TempDir(), time.Now().Add(-time.Hour)
	touch := func(name string, at time.Time) {
		t.Helper()
		file := filepath.Join(tree, name)
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.Do(t, os.WriteFile(file, nil, 0o644))
		must.Do(t, os.Chtimes(file, at, at))
	}
	for _, name := range []string{"go.sum", "cermiclib/a.go", "envs/b.c"} {
		if hashTree(tree, built) != "" {
			t.Errorf("a tree without %s has a hash", name)
		}
		touch(name, built)
	}
	touch("envs/b_test.go", built.Add(time.Second))
	if hashTree(tree, built) == "" {
		t.Error("a newer test leaves no hash")
	}
	touch("cermiclib/a.go", built.Add(time.Second))
	if got := hashTree(tree, built); got != "" {
		t.Errorf("a source newer than the program leaves hash %s", got)
	}
}

func TestACopyOfTheProgramIsWritableAsTheUmaskAllows(t *testing.T) {
	to := filepath.Join(t.TempDir(), "program")
	for range 2 { // the second replaces the first
		must.Do(t, CopyProgram(to))
	}
	plain := filepath.Join(t.TempDir(), "plain")
	must.Do(t, results.WriteFile(plain, nil))
	got, want := must.Get(os.Stat(to))(t).Mode(), must.Get(os.Stat(plain))(t).Mode()
	if got&0o222 != want&0o222 || got&0o111 != got>>2&0o111 || got&0o100 == 0 {
		t.Errorf("the copy has mode %v, another file %v", got, want)
	}
	if entries := must.Get(os.ReadDir(filepath.Dir(to)))(t); len(entries) != 1 {
		t.Errorf("beside the copy are %v", entries)
	}
}
