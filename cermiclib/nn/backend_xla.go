// SPDX-License-Identifier: Apache-2.0

//go:build cgo && !noxla

package nn

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/gomlx/go-xla/compute/xla" // XLA through PJRT plugins
)

// A plugin is installed by `reproduce setup` or by hand, never behind the user's back. The environment variable for that is
// read before this program could set it.
func init() { xla.EnableAutoInstall(false) }

// pluginGlobs are where a plugin lies inside a virtual environment's site-packages; GPU before CPU.
var pluginGlobs = []string{
	"jax_plugins/xla_cuda*/xla_cuda_plugin.so",
	"*/pjrt_c_api_cuda_plugin.so",
	"*/pjrt_c_api_cpu_plugin.so",
	"*/*/pjrt_c_api_cpu_plugin.so",
}

// plugins lists backend configurations for the XLA plugins installed in .venv of the working directory or of one above it,
// and in the folders of PJRT_PLUGIN_LIBRARY_PATH. A plugin is named by its absolute path, which also keeps go-xla from
// searching and from downloading.
func plugins() []string {
	var roots []string
	if dir, err := os.Getwd(); err == nil {
		for ; ; dir = filepath.Dir(dir) {
			sites, _ := filepath.Glob(filepath.Join(dir, ".venv/lib/python3*/site-packages"))
			roots = append(roots, sites...)
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	if exe, err := os.Executable(); err == nil {
		sites, _ := filepath.Glob(filepath.Join(filepath.Dir(exe), "../.venv/lib/python3*/site-packages"))
		roots = append(roots, sites...)
	}
	var found []string
	for _, glob := range pluginGlobs {
		if strings.Contains(glob, "cuda") && !gpuPresent() {
			continue
		}
		for _, root := range roots {
			files, _ := filepath.Glob(filepath.Join(root, glob))
			for _, f := range files {
				found = append(found, config(f))
			}
		}
		for _, dir := range filepath.SplitList(os.Getenv("PJRT_PLUGIN_LIBRARY_PATH")) {
			f := filepath.Join(dir, filepath.Base(glob))
			if _, err := os.Stat(f); err == nil {
				found = append(found, config(f))
			}
		}
	}
	return found
}

// config names a plugin by path. TF32 is off: results on a GPU are then comparable with a CPU's.
func config(path string) string {
	c := "xla:" + path
	if strings.Contains(filepath.Base(path), "cuda") {
		c += ",tf32=false"
	}
	return c
}

func gpuPresent() bool {
	_, err := os.Stat("/dev/nvidia0")
	return err == nil
}
