// SPDX-License-Identifier: Apache-2.0

//go:build cgo && !noxla

package nn

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"cermic/envs/envtest/must"
)

// place makes an empty file, executable, and returns its path.
func place(t *testing.T, elements ...string) string {
	t.Helper()
	path := filepath.Join(elements...)
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Do(t, os.WriteFile(path, []byte("#!/bin/sh\nexit 9\n"), 0o755))
	return path
}

// machine is a working directory with both plugins in .venv, as their wheels place them. The machine may have a GPU.
func machine(t *testing.T, gpu bool) (onCUDA, onCPU string) {
	t.Helper()
	dir := must.Value(filepath.EvalSymlinks(t.TempDir()))
	site := filepath.Join(dir, ".venv/lib/python3.12/site-packages")
	onCUDA = place(t, site, "jax_plugins/xla_cuda13/xla_cuda_plugin.so")
	onCPU = place(t, site, "lammps_jax/pjrt_c_api_cpu_plugin.so")
	place(t, site, "nvidia/cu13/bin/ptxas")
	t.Setenv("PJRT_PLUGIN_LIBRARY_PATH", "")
	t.Setenv("VIRTUAL_ENV", "")
	t.Setenv("CONDA_PREFIX", "")
	was := gpuPresent
	gpuPresent = func() bool { return gpu }
	t.Cleanup(func() { gpuPresent = was })
	must.Do(t, os.MkdirAll(filepath.Join(dir, "notebooks"), 0o755))
	t.Chdir(filepath.Join(dir, "notebooks")) // .venv lies above
	return onCUDA, onCPU
}

func TestTheGPUComesBeforeTheCPUWhereThereIsOne(t *testing.T) {
	onCUDA, onCPU := machine(t, true)
	want := []string{"xla:" + onCUDA + ",tf32=false", "xla:" + onCPU}
	if got := plugins(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	gpuPresent = func() bool { return false }
	if got := plugins(); !slices.Equal(got, want[1:]) {
		t.Errorf("without a GPU got %q, want %q", got, want[1:])
	}
}

func TestAnInstalledPluginIsFoundUnderEitherName(t *testing.T) {
	machine(t, true)
	for _, name := range []string{"xla_cuda_plugin.so", "pjrt_c_api_cuda_plugin.so"} {
		dir := t.TempDir()
		path := place(t, dir, name)
		t.Chdir(t.TempDir())
		t.Setenv("PJRT_PLUGIN_LIBRARY_PATH", t.TempDir()+string(filepath.ListSeparator)+dir)
		if got := installed(cuda, ""); !slices.Equal(got, []string{"xla:" + path + ",tf32=false"}) {
			t.Errorf("%s: got %q", name, got)
		}
	}
	t.Setenv("PJRT_PLUGIN_LIBRARY_PATH", "")
	active := t.TempDir()
	path := place(t, active, "lib/python3.13/site-packages/jax_plugins/xla_cuda13/xla_cuda_plugin.so")
	t.Setenv("VIRTUAL_ENV", active)
	if got := installed(cuda, ""); !slices.Equal(got, []string{"xla:" + path + ",tf32=false"}) {
		t.Errorf("in an active environment: got %q", got)
	}
}

// A comma splits a configuration, and brackets are a pattern. A plugin is found below a folder with both, also by
// PJRT_PLUGIN_LIBRARY_PATH.
func TestPluginsAreFoundBelowFoldersOfAnyName(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("an open folder has a name on Linux alone")
	}
	machine(t, false)
	root := filepath.Join(t.TempDir(), `a, b [c]* 'd' "é%20#日$x&`)
	plugin := place(t, root, ".venv/lib/python3.12/site-packages/lammps_jax/pjrt_c_api_cpu_plugin.so")
	t.Chdir(root)
	for _, named := range []string{"", filepath.Dir(plugin)} {
		t.Setenv(PluginVariable, named)
		found := installed(cpu, ",x=1")
		if len(found) != 1 {
			t.Fatalf("with %q: found %q", named, found)
		}
		path, options, _ := strings.Cut(strings.TrimPrefix(found[0], "xla:"), ",")
		if actual, err := filepath.EvalSymlinks(path); actual != plugin || options != "x=1" {
			t.Errorf("with %q: %q is %q (%v), want %q", named, found[0], actual, err, plugin)
		}
	}
}

// A plugin from PJRT_PLUGIN_LIBRARY_PATH comes before the one that set-up installs; a missing one changes nothing.
func TestANamedPluginComesFirst(t *testing.T) {
	_, onCPU := machine(t, false)
	dir := t.TempDir()
	t.Setenv(PluginVariable, dir)
	if got := plugins(); !slices.Equal(got, []string{"xla:" + onCPU}) {
		t.Errorf("with an empty folder got %q", got)
	}
	own := place(t, dir, "pjrt_c_api_cpu_plugin.so")
	if got := plugins(); !slices.Equal(got, []string{"xla:" + own, "xla:" + onCPU}) {
		t.Errorf("got %q, want %s first", got, own)
	}
}

func TestTF32IsOffUnlessItIsAskedForAndRecordsSayWhichItWas(t *testing.T) {
	onCUDA, onCPU := machine(t, false) // who names a plugin gets it
	for name, want := range map[string][2]string{
		"xla:cuda":                        {"xla:" + onCUDA + ",tf32=false", "xla:cuda"},
		"xla:cuda,tf32":                   {"xla:" + onCUDA + ",tf32", "xla:cuda,tf32"},
		"xla:cuda,notf32":                 {"xla:" + onCUDA + ",notf32", "xla:cuda"},
		"xla:cuda,preallocate=true":       {"xla:" + onCUDA + ",preallocate=true,tf32=false", "xla:cuda"},
		"xla:cuda,visible_devices=1,tf32": {"xla:" + onCUDA + ",visible_devices=1,tf32", "xla:cuda,tf32"},
		"xla:cpu":                         {"xla:" + onCPU, "xla:cpu"},
		"xla:cudaish":                     {"xla:cudaish", "xla:cuda,tf32"}, // go-xla's own search and defaults
		"go":                              {goConfig, "go"},
	} {
		if got := resolve(name); got != want[0] || label(got) != want[1] {
			t.Errorf("%s is %q, shown as %s, want %q, shown as %s", name, got, label(got), want[0], want[1])
		}
	}
}

func TestAGPUIsSeenByItsFilesOrItsDriver(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if gpuUnder(t.TempDir()) {
		t.Error("there is one on an empty machine")
	}
	for _, file := range []string{"dev/nvidia0", "dev/nvidia11", "proc/driver/nvidia/gpus/0000:01:00.0/information", "dev/dxg"} {
		root := t.TempDir()
		place(t, root, file)
		if !gpuUnder(root) {
			t.Errorf("%s is no sign", file)
		}
	}
	root := t.TempDir()
	place(t, root, "dev/nvidiactl") // the driver without a device
	if gpuUnder(root) {
		t.Error("a driver without a device is a sign")
	}
	for says, want := range map[string]bool{"echo 'GPU 0: NVIDIA H100 (UUID: GPU-1)'": true, "echo 'No devices were found'; exit 6": false, "echo No devices found.": false} {
		bin := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(bin, "nvidia-smi"), []byte("#!/bin/sh\n"+says+"\n"), 0o755))
		t.Setenv("PATH", bin+":/bin:/usr/bin")
		if got := gpuUnder(t.TempDir()); got != want {
			t.Errorf("nvidia-smi that does %q: got %v", says, got)
		}
	}
}

func TestXLAIsToldToRepeatItselfAndWhereCUDAsProgramsLie(t *testing.T) {
	onCUDA, _ := machine(t, true)
	programs := filepath.Join(filepath.Dir(onCUDA), "../../nvidia/cu13")
	for flags, want := range map[string]string{
		"":                                  "--xla_gpu_deterministic_ops=true --xla_gpu_cuda_data_dir=" + programs,
		"--xla_gpu_autotune_level=0":        "--xla_gpu_autotune_level=0 --xla_gpu_deterministic_ops=true --xla_gpu_cuda_data_dir=" + programs,
		"--xla_gpu_cuda_data_dir=/opt/c":    "--xla_gpu_cuda_data_dir=/opt/c --xla_gpu_deterministic_ops=true",
		"--xla_gpu_deterministic_ops=false": "--xla_gpu_deterministic_ops=false --xla_gpu_cuda_data_dir=" + programs,
	} {
		t.Setenv("XLA_FLAGS", flags)
		t.Setenv("GOPJRT_CUDA_CHECKS", "")
		helpCUDA(onCUDA)
		if got := os.Getenv("XLA_FLAGS"); got != want || os.Getenv("GOPJRT_CUDA_CHECKS") != "0" {
			t.Errorf("%q became %q, want %q", flags, got, want)
		}
	}
	t.Setenv("XLA_FLAGS", "")
	helpCUDA(place(t, t.TempDir(), "a/b/xla_cuda_plugin.so"))
	if got := os.Getenv("XLA_FLAGS"); got != "--xla_gpu_deterministic_ops=true" {
		t.Errorf("without these packages XLA_FLAGS is %q", got)
	}
}

func TestAPluginThatCannotBeLoadedIsNamedInOneSentence(t *testing.T) {
	onCUDA, _ := machine(t, true)
	t.Setenv("XLA_FLAGS", "")
	_, err := OpenConfig("xla:" + onCUDA + ",tf32=false")
	must.Refuse(t, err, onCUDA)
}

func TestTheWheelComesBeforeGoXLAsBuild(t *testing.T) {
	_, onCPU := machine(t, false)
	venv, _, _ := strings.Cut(onCPU, "/lib/python")
	other := place(t, venv, "lib", "go-xla", CPUPlugin)
	want := []string{"xla:" + onCPU, "xla:" + other}
	if got := plugins(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	must.Do(t, os.Remove(onCPU))
	if got := plugins(); !slices.Equal(got, want[1:]) {
		t.Errorf("without the wheel got %q, want %q", got, want[1:])
	}
}
