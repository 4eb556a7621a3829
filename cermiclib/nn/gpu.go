// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// signs are the files by which an NVIDIA GPU shows: its devices, its driver's list, and the device of Windows'
// subsystem for Linux.
var signs = []string{"/dev/nvidia[0-9]*", "/proc/driver/nvidia/gpus/*", "/dev/dxg"}

// HasGPU says whether this machine has an NVIDIA GPU, by its files or else by the word of its driver's tool.
func HasGPU() bool { return gpuUnder("/") }

// gpuUnder is HasGPU for another root of the file system.
func gpuUnder(root string) bool {
	for _, sign := range signs {
		if found, _ := filepath.Glob(filepath.Join(root, sign)); len(found) > 0 {
			return true
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second) // a driver in trouble may not answer
	defer cancel()
	out, err := exec.CommandContext(ctx, "nvidia-smi", "--list-gpus").Output()
	return err == nil && strings.HasPrefix(string(out), "GPU ")
}

// helpCUDA sets what the plug-in for CUDA at path reads before it is loaded. Graphs are to compute the same bits
// every time, so that records can be trained again; without a search for the fastest product, which chooses by the
// clock, they also compile in a sixth of the time. The programs that XLA compiles with it finds where Python's
// packages put them beside the plug-in; go-xla looks for them elsewhere and would warn of installations that work.
func helpCUDA(path string) {
	if os.Getenv("GOPJRT_CUDA_CHECKS") == "" {
		os.Setenv("GOPJRT_CUDA_CHECKS", "0")
	}
	flags := os.Getenv("XLA_FLAGS")
	add := func(flag, value string) {
		if !strings.Contains(flags, flag) {
			flags = strings.TrimSpace(flags + " " + flag + "=" + value)
		}
	}
	add("--xla_gpu_deterministic_ops", "true")
	beside := filepath.Join(filepath.Dir(path), "../../nvidia") // as the plug-in's own search path has it
	if found, _ := fs.Glob(os.DirFS(beside), "cu*/bin/ptxas"); len(found) > 0 {
		add("--xla_gpu_cuda_data_dir", filepath.Join(beside, filepath.Dir(filepath.Dir(found[len(found)-1]))))
	}
	os.Setenv("XLA_FLAGS", flags)
}
