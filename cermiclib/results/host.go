// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bufio"
	"cmp"
	"context"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// CollectHost says where the calling program runs: the commit it was built from, or else that of the working directory,
// the versions of Go and GoMLX, the processor, and the GPU if backend is one. backend is the name of the one that trains. What cannot be found out
// stays empty; Seconds and Sources are for the caller to fill.
func CollectHost(backend string) Host {
	h := Host{Go: runtime.Version(), Backend: backend, ISA: instructionSet(), Cores: runtime.NumCPU()}
	h.CPU, h.Model = processor()
	if strings.HasPrefix(backend, "xla:cuda") {
		h.GPU = gpu()
	}
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
		h.Commit = workingCommit()
	}
	return h
}

// gpu is the name of the first NVIDIA GPU, which XLA uses, by the word of its driver's tool; empty where that does not answer.
func gpu() string {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "nvidia-smi", "--query-gpu=name", "--format=csv,noheader").Output()
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(first)
}

// workingCommit asks git about the working directory: programs that `go run` or a notebook builds carry no commit.
func workingCommit() string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	head, err := exec.CommandContext(ctx, "git", "rev-parse", "HEAD").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(head))
}

// processor returns the name of the first processor where Linux tells it, else the architecture, and its family and model, empty where Linux does
// not tell: makers sell several under one name, and the bits of a result may differ between them.
func processor() (name, model string) {
	entries := map[string]string{}
	if f, err := os.Open("/proc/cpuinfo"); err == nil {
		defer f.Close()
		for in := bufio.NewScanner(f); in.Scan() && in.Text() != ""; { // an empty line ends the first one
			key, value, _ := strings.Cut(in.Text(), ":")
			entries[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	if family, number := entries["cpu family"], entries["model"]; family != "" && number != "" {
		model = "family " + family + ", model " + number
	}
	return cmp.Or(entries["model name"], runtime.GOARCH), model
}
