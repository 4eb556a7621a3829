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

	"golang.org/x/sys/cpu"
)

// CollectHost describes the calling program and its machine; backend is the name of the one that trains. Unknown fields
// stay empty; Seconds and Sources are left to the caller.
func CollectHost(backend string) Host {
	h := Host{Go: runtime.Version(), Backend: backend, ISA: instructionSet(), Cores: runtime.NumCPU()}
	h.CPU, h.Model = processor()
	if strings.HasPrefix(backend, "xla:cuda") { // XLA uses the first GPU
		h.GPU = firstLine("nvidia-smi", "--query-gpu=name", "--format=csv,noheader")
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
	if h.Commit == "" { // `go run` and notebooks build programs without a commit
		h.Commit = firstLine("git", "rev-parse", "HEAD")
	}
	return h
}

// firstLine is the first line that a command prints, empty if it fails.
func firstLine(command string, args ...string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, command, args...).Output()
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(first)
}

// processor returns the name, and the family and model, of the first processor as Linux lists it, elsewhere the
// architecture. One name may cover several models, whose results may differ in their bits.
func processor() (name, model string) {
	entries := map[string]string{}
	if f, err := os.Open("/proc/cpuinfo"); err == nil {
		defer f.Close()
		for in := bufio.NewScanner(f); in.Scan() && in.Text() != ""; { // an empty line ends the first processor
			key, value, _ := strings.Cut(in.Text(), ":")
			entries[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	if family, number := entries["cpu family"], entries["model"]; family != "" && number != "" {
		model = "family " + family + ", model " + number
	}
	return cmp.Or(entries["model name"], runtime.GOARCH), model
}

// ISAFlag is a flag in the environment variable XLA_FLAGS. It caps the instruction set of XLA's CPU compiler.
const ISAFlag = "--xla_cpu_max_isa="

// instructionSet is the widest vector instruction set that affects the bits of a result: this processor's, or a
// narrower one if XLA_FLAGS caps it. It is "AVX512" or "AVX2" for example, and empty on processors of another kind.
func instructionSet() string {
	limit := ""
	for _, flag := range strings.Fields(os.Getenv("XLA_FLAGS")) {
		if isa, ok := strings.CutPrefix(flag, ISAFlag); ok {
			limit = isa
		}
	}
	for _, set := range []struct { // the widest first, by the names of XLA's flag
		name      string
		available bool
	}{
		{"AVX512", cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW},
		{"AVX2", cpu.X86.HasAVX2 && cpu.X86.HasFMA},
		{"AVX", cpu.X86.HasAVX},
		{"SSE4_2", cpu.X86.HasSSE42},
		{"NEON", cpu.ARM64.HasASIMD},
	} {
		if limit == set.name {
			limit = ""
		}
		if set.available && limit == "" {
			return set.name
		}
	}
	return ""
}
