// SPDX-License-Identifier: Apache-2.0

// Package nn runs graphs: it has the choice of backend, weights made on the host, the layers we own, and compiled
// graphs with persistent inputs. Graph code panics on misuse, as GoMLX does. Building and running a graph turn such a
// panic into an error.
package nn

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/gobackend" // the backend that always works

	"cermic/cermiclib/nn/xlacache"
)

// goConfig keeps independent matrix products from deadlocking the worker pool of the Go backend, and is its fastest
// mode.
const goConfig = gobackend.BackendName + ":parallelism=-1"

// Sequential configures the Go backend to run the operations of a graph one after another. The values are the same. In
// graphs as small as in tests, starting operations side by side takes longer than running them; at the default sizes it
// does not.
const Sequential = goConfig + ",ops_sequential"

// opened is the backend of this process: plugins can be loaded once only.
var opened = sync.OnceValues(func() (Backend, error) {
	if config := os.Getenv("GOMLX_BACKEND"); config != "" {
		b, err := open(resolve(config))
		if err != nil {
			return Backend{}, fmt.Errorf("GOMLX_BACKEND=%s cannot be used (%w); unset it to let the program choose", config, err)
		}
		return b, nil
	}
	var refused []string
	for _, config := range plugins() {
		b, err := open(config)
		if err == nil {
			return b, nil
		}
		refused = append(refused, fmt.Sprintf("%s: %v", config, err))
	}
	b, err := open(goConfig)
	b.Note = "pure Go backend: " + Slower + "; `go run ./reproduce setup` installs the XLA plugin"
	if len(refused) > 0 {
		b.Note += " (found but refused: " + strings.Join(refused, "; ") + ")"
	}
	return b, err
})

// Slower is the cost of training without XLA, measured with MAPPO on Balance (dense reward, budget smoke) on two cores.
// The medians of three trainings each are 6,670 and 1,140 frames a second.
const Slower = "5.8 times slower than XLA for MAPPO on Balance"

// PluginVariable names folders with PJRT plugins that are taken before any other.
const PluginVariable = "PJRT_PLUGIN_LIBRARY_PATH"

// CPUPlugin is the file name of XLA's CPU plugin on this system; on a Mac it ends in .so, too.
var CPUPlugin = "pjrt_c_api_cpu_plugin" + map[bool]string{false: ".so", true: ".dll"}[runtime.GOOS == "windows"]

// Kinds of XLA plugins.
const (
	cuda = "cuda"
	cpu  = "cpu"
)

// resolve turns the short names into configurations. go is goConfig, and xla is the choice of Open. xla:cuda and
// xla:cpu are the installed plugins of that kind, also with options, as in xla:cuda,tf32.
func resolve(config string) string {
	if config == gobackend.BackendName {
		return goConfig
	}
	if config == "xla" {
		if found := plugins(); len(found) > 0 {
			return found[0]
		}
	}
	for _, kind := range []string{cuda, cpu} {
		options, named := strings.CutPrefix(config, "xla:"+kind)
		if found := installed(kind, options); named && (options == "" || options[0] == ',') && len(found) > 0 {
			return found[0]
		}
	}
	return config
}

// Backend compiles and runs graphs.
type Backend struct {
	compute.Backend
	Label   string // "xla:cpu", "xla:cuda", "xla:cuda,tf32" or "go"
	Note    string // one line for the user when a faster choice exists; else empty
	Updates int    // gradient steps in one launch of a Loop; below 2: one
}

// Open returns the backend of this process. It is GOMLX_BACKEND if that is set, else an installed XLA plugin (GPU
// before CPU), else the pure Go backend with a Note. The first call decides. While it opens one, output of other
// goroutines to os.Stdout is lost.
func Open() (Backend, error) { return opened() }

// OpenPure opens GoMLX's backend in pure Go, even if others are installed. It compiles in no time, for graphs that need
// not run.
func OpenPure() (Backend, error) { return open(goConfig) }

// OpenConfig opens a further backend by its short name or GoMLX's configuration string, for tests that compare two.
func OpenConfig(config string) (Backend, error) { return open(resolve(config)) }

// openPrefix precedes the number of an open folder in a name of it, on Linux.
const openPrefix = "/proc/self/fd/"

func open(config string) (Backend, error) {
	path, _, _ := strings.Cut(strings.TrimPrefix(config, "xla:"), ",")
	if strings.HasPrefix(path, openPrefix) {
		if actual, err := filepath.EvalSymlinks(path); err == nil {
			path = actual
		}
	}
	switch name := label(config); {
	case strings.HasPrefix(name, "xla:"+cuda):
		helpCUDA(path)
	case name == "xla:"+cpu:
		keepCompiled(path)
	}
	b := Backend{Label: label(config)}
	if strings.HasPrefix(b.Label, "xla:"+cuda) {
		b.Updates = gpuUpdates
	}
	err := catch(func() (err error) {
		Quietly(func() { b.Backend, err = compute.NewWithConfig(config) })
		return err
	})
	if err != nil {
		return Backend{}, err
	}
	return b, nil
}

// KeptGraphs is the environment variable with the folder for compiled graphs, or "off".
const KeptGraphs = "CERMIC_XLA_CACHE"

// keepCompiled lets the plug-in at path load programs that an earlier process compiled. Where that is not possible, it
// compiles.
func keepCompiled(path string) {
	dir := os.Getenv(KeptGraphs)
	if dir == "off" {
		return
	}
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return
		}
		dir = filepath.Join(user, "cermic", "xla")
	}
	_ = xlacache.Install(path, dir) // without it every process compiles anew, which is slower and nothing else
}

// Quietly drops what f prints with package fmt. GoMLX announces options and downloads on the standard output, where
// tables and progress belong.
func Quietly(f func()) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		f() // a line too many is better than no backend
		return
	}
	defer null.Close()
	stdout := os.Stdout
	defer func() { os.Stdout = stdout }()
	os.Stdout = null
	f()
}

// label is the short name that records and plots show.
func label(config string) string {
	name, plugin, _ := strings.Cut(config, ":")
	if name != "xla" {
		return name
	}
	plugin, options, _ := strings.Cut(plugin, ",")
	if !strings.Contains(filepath.Base(plugin), cuda) {
		return "xla:" + cpu
	}
	for option := range strings.SplitSeq(options, ",") {
		if option == "tf32=false" || option == "notf32" {
			return "xla:" + cuda
		}
	}
	return "xla:" + cuda + ",tf32"
}

// firstLine drops the stack trace that GoMLX adds below its message.
func firstLine(err error) error {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return fmt.Errorf("%s", line)
}

// signs are the files that indicate an NVIDIA GPU: its devices, its driver's list, and the device of Windows' subsystem
// for Linux.
var signs = []string{"/dev/nvidia[0-9]*", "/proc/driver/nvidia/gpus/*", "/dev/dxg"}

// HasGPU reports whether this machine has an NVIDIA GPU, by its files or else by its driver's tool.
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

// helpCUDA sets the variables that the plug-in for CUDA at path reads when it is loaded. Graphs then compute the same
// bits every time. XLA also finds the programs that it compiles with, which Python's packages put beside the plug-in.
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
