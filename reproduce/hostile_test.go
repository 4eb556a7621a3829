// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// readsOnly are the packages that read what somebody else may have put into a store, and where they open a file otherwise than by
// results.ReadFile, which refuses what is no regular file and what is too large.
var readsOnly = map[string][]string{
	"cermiclib/results": {
		"read_file.go",            // is that function
		"file.go",                 // opens folders
		"replace.go",              // its own file
		"processor.go", "host.go", // files of the system
	},
	"cermiclib/results/lease": {
		"lock.go",          // looks first
		"process_linux.go", // files of the system
	},
	"cermiclib/results/export": nil, "cermiclib/memory": nil, "cermiclib/experiment": nil, "reproduce/plan": nil, "reproduce/figures": nil,
	"reproduce/campaign": {"slurm.go"}, // its own program
}

// A file of a store is opened in one way only.
func TestFilesOfAStoreAreReadAsRegularOnes(t *testing.T) {
	looked := 0
	for folder, others := range readsOnly {
		for _, path := range globbed(t, filepath.Join("..", folder, "*.go")) {
			if strings.HasSuffix(path, "_test.go") || strings.Contains(strings.Join(others, " "), filepath.Base(path)) {
				continue
			}
			looked++
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if call, ok := n.(*ast.SelectorExpr); ok && (call.Sel.Name == "ReadFile" || call.Sel.Name == "Open") {
					if from, ok := call.X.(*ast.Ident); ok && from.Name == "os" {
						t.Errorf("%v reads by os.%s: want results.ReadFile", files.Position(call.Pos()), call.Sel.Name)
					}
				}
				return true
			})
		}
	}
	if looked < 50 {
		t.Errorf("%d files were looked at", looked)
	}
}

// A store in which everything that is read is a pipe holds up no verb: nobody will ever write into it.
func TestNoVerbWaitsForAPipe(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every verb as a process of its own")
	}
	needSignals(t)
	store, id, manifest := used(t)
	pipe := func(path string) {
		t.Helper()
		os.Remove(path)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := exec.Command("mkfifo", path).Run(); err != nil {
			t.Skipf("no pipe can be made here: %v", err)
		}
	}
	for _, name := range []string{"streams.json", "index", "pretrained/0123456789abcdef.safetensors", "pretrained/0123456789abcdef.json"} {
		pipe(filepath.Join(store, name))
	}
	for _, name := range []string{"checkpoint.safetensors", "lock.7"} {
		pipe(filepath.Join(store, id, name))
	}
	pipe(manifest)
	lines := []string{
		"status", "table sota", "results", "claims", "curves -task balance -budget custom -o OUT/c.png", "export csv -budget custom -o OUT/c.csv", "export weights -budget custom -o OUT/w",
		"export records -budget custom -o OUT/r", "evaluate " + id, "watch -o OUT/f.gif " + id, "delete -yes " + id, "campaign -plan -table sota -budget smoke", "work " + manifest,
		"train -fork " + id + "@100 -set learner.lr=0.001", "curves -task balance -with " + manifest + " -o OUT/c.png",
		"train -task navigation -method mappo-cermic -budget smoke -set explore.memory=mlp -set explore.memory.pretrained=0123456789abcdef -set explore.memory.pretrain=full",
	}
	endsOnPipes(t, store, lines)
	pipe(filepath.Join(store, id, "record.json"))
	endsOnPipes(t, store, lines)
}

// endsOnPipes runs lines on a store of pipes. Each ends well or with one sentence.
func endsOnPipes(t *testing.T, store string, lines []string) {
	t.Helper()
	out := t.TempDir()
	for _, line := range lines {
		args := strings.Fields(strings.ReplaceAll(line, "OUT", out))
		p := start(t, append([]string{args[0], "-store", store}, args[1:]...)...)
		late := time.AfterFunc(2*time.Minute, func() { _ = p.Process.Kill() })
		code := p.end()
		late.Stop()
		if code < 0 || code > 2 || code > 0 && strings.Count(p.stderr.String(), "\n") != 1 {
			t.Errorf("%s ends with exit code %d:\n%s", line, code, p.output())
		}
	}
}
