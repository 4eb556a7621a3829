// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// CollectHost says where the calling program runs: the commit it was built from, or else that of the working directory,
// the versions of Go and GoMLX, and the processor. backend is the name of the one that trains. What cannot be found out
// stays empty; Seconds is for the caller to fill.
func CollectHost(backend string) Host {
	h := Host{Go: runtime.Version(), Backend: backend, CPU: processorEntry("model name", runtime.GOARCH), Model: processorModel(), ISA: instructionSet(), Cores: runtime.NumCPU()}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "github.com/gomlx/gomlx" {
				h.GoMLX = module.Version
			}
		}
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				h.Commit = s.Value
			case "vcs.modified":
				h.Dirty = s.Value == "true"
			}
		}
	}
	if h.Commit == "" {
		h.Commit, h.Dirty = workingCommit()
	}
	return h
}

// workingCommit asks git about the working directory: programs that `go run` or a notebook builds carry no commit.
func workingCommit() (commit string, dirty bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	head, err := exec.CommandContext(ctx, "git", "rev-parse", "HEAD").Output()
	if err != nil {
		return "", false
	}
	status, err := exec.CommandContext(ctx, "git", "status", "--porcelain", "--untracked-files=no").Output()
	return strings.TrimSpace(string(head)), err != nil || len(bytes.TrimSpace(status)) > 0
}

// processorModel names family and model of the processor, empty where Linux does not tell: makers sell several under one name, and the
// bits of a result may differ between them.
func processorModel() string {
	family, model := processorEntry("cpu family", ""), processorEntry("model", "")
	if family == "" || model == "" {
		return ""
	}
	return "family " + family + ", model " + model
}

// processorEntry is what Linux says of the first processor under a key, or else otherwise.
func processorEntry(key, otherwise string) string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return otherwise
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		if k, value, ok := strings.Cut(in.Text(), ":"); ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(value)
		}
	}
	return otherwise
}
