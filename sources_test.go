// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"maps"
	"os"
	"os/exec"
	"testing"
)

// A package at a depth that no pattern has would be compiled and not hashed.
func TestEverySourceIsEmbedded(t *testing.T) {
	embedded, err := blobsOf(files)
	if err != nil {
		t.Fatal(err)
	}
	onDisk, err := blobsOf(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	if len(onDisk) < 300 {
		t.Errorf("only %d sources are found", len(onDisk))
	}
	for name, blob := range onDisk {
		if embedded[name] != blob {
			t.Errorf("%s is not embedded as it is: add its folder to the patterns in sources.go", name)
		}
	}
	if !maps.Equal(embedded, onDisk) {
		t.Errorf("%d files are embedded, %d are sources", len(embedded), len(onDisk))
	}
}

func TestACommitHasTheHashOfTheProgramBuiltFromIt(t *testing.T) {
	status, err := exec.Command("git", "status", "--porcelain", "--", "go.sum", "cermiclib", "envs").Output()
	if err != nil {
		t.Skip("not in a git working copy")
	}
	got, err := SourcesOf("HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if clean := len(status) == 0; clean && got != Sources() {
		t.Errorf("the commit's sources are %s, the program's %s", got, Sources())
	}
	if _, err := SourcesOf("no such commit"); err == nil {
		t.Error("a commit that does not exist has sources")
	}
}
