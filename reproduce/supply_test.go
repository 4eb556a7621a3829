// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// rootFile is the text of a file of the repository's root.
func rootFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The image is built on a base that cannot change unseen, with the Go that is installed elsewhere, too.
func TestTheImageStandsOnABaseByDigest(t *testing.T) {
	base := regexp.MustCompile(`(?m)^ARG BASE=golang:([0-9.]+)-bookworm@sha256:[0-9a-f]{64}$`).FindStringSubmatch(rootFile(t, "Dockerfile"))
	if base == nil {
		t.Fatal("Dockerfile names no base by digest")
	}
	if install := rootFile(t, ".ci/install"); !strings.Contains(install, "GO_VERSION:-"+base[1]+"}") {
		t.Errorf("the base has Go %s, .ci/install another", base[1])
	}
}

// Wherever a reader is told to publish a port, only his own machine reaches it.
func TestPortsArePublishedOnThisMachineAlone(t *testing.T) {
	published := regexp.MustCompile(`docker run[^\n]* -p ([0-9.:]+)`)
	for _, name := range []string{"Dockerfile", "README.md"} {
		found := published.FindAllStringSubmatch(rootFile(t, name), -1)
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

// JupyterLab asks for its token, which it makes anew at each start, wherever it is started.
func TestJupyterLabKeepsItsToken(t *testing.T) {
	started := map[string]string{"lab": strings.Join(labFlags(true, 8888, true, true), " ")}
	for _, name := range []string{"Dockerfile", "reproduce/jupyter/config/jupyter_server_config.py"} {
		for line := range strings.Lines(rootFile(t, name)) {
			if !strings.HasPrefix(line, "#") {
				started[name] += line
			}
		}
	}
	for name, text := range started {
		for _, open := range []string{"token", "password", "disable_check_xsrf", "allow_origin"} {
			if strings.Contains(text, open) {
				t.Errorf("%s sets %s of JupyterLab:\n%s", name, open, text)
			}
		}
	}
	if !strings.Contains(started["Dockerfile"], `"lab"`) || !strings.Contains(started["reproduce/jupyter/config/jupyter_server_config.py"], "c.ServerApp") {
		t.Errorf("this is not where JupyterLab is started: %q", started)
	}
}

// NOTICE names every module that a program of this repository contains.
func TestNoticeNamesEveryModule(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "cermic/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := strings.Fields(string(out))
	slices.Sort(modules)
	modules = slices.Compact(modules)
	if len(modules) < 10 {
		t.Fatalf("the modules are %v", modules)
	}
	notice := rootFile(t, "NOTICE")
	for _, m := range modules {
		name := strings.TrimSuffix(strings.TrimPrefix(m, "github.com/"), "/v2")
		if m != "cermic" && !strings.Contains(notice, name) {
			t.Errorf("NOTICE does not name %s", m)
		}
	}
}
