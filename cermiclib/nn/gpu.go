// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// signs are the files by which an NVIDIA GPU shows: its devices, its driver's list, and the device of Windows' subsystem for Linux.
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

// helpCUDA tells the plug-in at path, before it is loaded, where the programs lie that XLA compiles with, if they were installed beside it as
// Python packages; its libraries it finds by itself. go-xla looks for them in another place and would warn.
func helpCUDA(path string) {
	beside := filepath.Join(filepath.Dir(path), "../../nvidia") // as the plug-in's own search path has it
	found, _ := filepath.Glob(filepath.Join(beside, "cu*", "bin", "ptxas"))
	if len(found) == 0 {
		return
	}
	if os.Getenv("GOPJRT_CUDA_CHECKS") == "" {
		os.Setenv("GOPJRT_CUDA_CHECKS", "0")
	}
	const flag = "--xla_gpu_cuda_data_dir="
	if flags := os.Getenv("XLA_FLAGS"); !strings.Contains(flags, flag) {
		os.Setenv("XLA_FLAGS", strings.TrimSpace(flags+" "+flag+filepath.Dir(filepath.Dir(found[len(found)-1]))))
	}
}
