// SPDX-License-Identifier: Apache-2.0

package results

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"cermic/envs/envtest/must"
)

func TestHostNamesProgramAndMachine(t *testing.T) {
	h := CollectHost("go")
	if h.Backend != "go" || h.Go != runtime.Version() || h.Cores != runtime.NumCPU() || h.CPU == "" || h.Seconds != 0 {
		t.Errorf("host is %+v", h)
	}
	head, err := exec.Command("git", "rev-parse", "HEAD").Output()
	if err != nil {
		t.Skip("not in a git working copy")
	}
	if h.Commit != strings.TrimSpace(string(head)) {
		t.Errorf("commit is %q, want %s", h.Commit, head)
	}
}

func TestHostNamesTheGPUThatTrains(t *testing.T) {
	bin := t.TempDir()
	script := []byte("#!/bin/sh\nprintf 'NVIDIA X1\\nNVIDIA X2\\n'\n")
	must.Do(t, os.WriteFile(filepath.Join(bin, "nvidia-smi"), script, 0o755))
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	for backend, want := range map[string]string{
		"xla:cuda": "NVIDIA X1", "xla:cuda,tf32": "NVIDIA X1", "xla:cpu": "", "go": "",
	} {
		if got := CollectHost(backend).GPU; got != want {
			t.Errorf("with %s the GPU is %q, want %q", backend, got, want)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if got := CollectHost("xla:cuda").GPU; got != "" {
		t.Errorf("without the driver's tool the GPU is %q", got)
	}
}

func TestInstructionSetIsCappedByTheFlagOfXLA(t *testing.T) {
	t.Setenv("XLA_FLAGS", "")
	widest := instructionSet()
	if widest == "" {
		t.Skip("a processor whose instruction sets are not told apart")
	}
	for flags, want := range map[string]string{
		"--xla_cpu_max_isa=" + widest:            widest,
		"--other=1 --xla_cpu_max_isa=SSE4_2":     narrowest(widest),
		"--xla_cpu_max_isa=SSE4_2 --other=2":     narrowest(widest),
		"--xla_cpu_enable_fast_math=false":       widest,
		"--xla_cpu_max_isa_of_another_name=AVX2": widest,
	} {
		t.Setenv("XLA_FLAGS", flags)
		if got := instructionSet(); got != want {
			t.Errorf("XLA_FLAGS=%q: %q, want %q", flags, got, want)
		}
	}
}

// narrowest is the instruction set under a cap at SSE4_2, for a processor with this widest one.
func narrowest(widest string) string {
	if strings.HasPrefix(widest, "AVX") || widest == "SSE4_2" {
		return "SSE4_2"
	}
	return ""
}
