// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// layers is the import order of the module: a package may import only packages of earlier layers. A folder stands for
// every package below it that has no entry of its own; packages of one folder may import each other.
var layers = [][]string{
	{"envs/conf", "envs/rng", "envs/internal", "cermiclib"},
	{"envs"},
	{"envs/vmas", "envs/meltingpot", "envs/smac", "envs/explore", "envs/envtest"},
	{"envs/python", "envs/scripted"},
	{"cermiclib/rl", "cermiclib/stats", "cermiclib/theory"},
	{"cermiclib/nn", "cermiclib/results"},
	{"cermiclib/policy", "cermiclib/memory", "cermiclib/results/export"},
	{"cermiclib/learn", "cermiclib/explore"},
	{"cermiclib/cermic"},
	{"cermiclib/experiment"},
	{"cermiclib/libtest"},
	{"viz"},
	{"reproduce/paper", "reproduce/records"},
	{"reproduce/plan"},
	{"reproduce/figures", "reproduce/bench", "reproduce/campaign"},
	{"reproduce", "notebooks"},
}

// light are the folders that must stay free of GoMLX, so that looking at results compiles in a moment and works anywhere.
var light = []string{"envs", "cermiclib/results", "cermiclib/stats", "viz", "reproduce/paper", "reproduce/records"}

// pkg is what `go list -json` tells of one package.
type pkg struct {
	ImportPath string
	Imports    []string // direct, tests left out
	Deps       []string // all
}

func listPackages(t *testing.T) []pkg {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", "cermic/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
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

// place returns the layer of an import path of this module and the folder that put it there, the longest that fits.
func place(path string) (layer int, folder string) {
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

// within reports whether an import path of this module is folder or lies below it.
func within(path, folder string) bool {
	return path == "cermic/"+folder || strings.HasPrefix(path, "cermic/"+folder+"/")
}

func TestImportsPointDownOnly(t *testing.T) {
	for _, p := range listPackages(t) {
		layer, folder := place(p.ImportPath)
		if layer < 0 {
			t.Errorf("%s has no layer: add its folder to the table above", p.ImportPath)
		}
		for _, imported := range p.Imports {
			if !strings.HasPrefix(imported, "cermic/") {
				continue
			}
			if below, from := place(imported); below >= layer && from != folder {
				t.Errorf("%s imports %s, which is not below it", p.ImportPath, imported)
			}
		}
	}
}

func TestLookingAtResultsNeedsNoGoMLX(t *testing.T) {
	checked := 0
	for _, p := range listPackages(t) {
		if !slices.ContainsFunc(light, func(folder string) bool { return within(p.ImportPath, folder) }) {
			continue
		}
		checked++
		for _, dep := range p.Deps {
			if strings.HasPrefix(dep, "github.com/gomlx/") {
				t.Errorf("%s depends on %s", p.ImportPath, dep)
				break
			}
		}
	}
	if checked < len(light) {
		t.Errorf("only %d packages were looked at", checked)
	}
}
