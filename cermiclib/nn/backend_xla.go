// SPDX-License-Identifier: Apache-2.0

//go:build cgo && !noxla

package nn

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gomlx/go-xla/compute/xla" // XLA through PJRT plugins
)

// A plugin is installed by `reproduce setup` or by hand, never behind the user's back. The environment variable for
// that is read before this program could set it.
func init() { xla.EnableAutoInstall(false) }

// pluginGlobs are where a plugin of each kind lies below one of the folders of sites.
var pluginGlobs = map[string][]string{
	cuda: {"jax_plugins/xla_cuda*/xla_cuda_plugin.so", "*/pjrt_c_api_cuda_plugin.so"},
	cpu:  {"*/" + CPUPlugin, "*/*/" + CPUPlugin},
}

// gpuPresent is HasGPU, asked once; tests say something else.
var gpuPresent = sync.OnceValue(HasGPU)

// plugins lists backend configurations for the XLA plugins that can be used here, GPU before CPU.
func plugins() []string {
	var found []string
	if gpuPresent() {
		found = installed(cuda, "")
	}
	return append(found, installed(cpu, "")...)
}

// installed lists backend configurations, with options, for the XLA plugins of a kind. Plugins in the folders of
// PJRT_PLUGIN_LIBRARY_PATH come first. Then come plugins in .venv of the working directory or of a folder above it, and
// in an active virtual environment. A plugin is named by its absolute path, which keeps go-xla from searching and
// downloading; by its name, go-xla would not find the CUDA plugin.
func installed(kind, options string) []string {
	var found []string
	search := func(root, glob string) {
		files, _ := fs.Glob(os.DirFS(root), glob) // whose folder may have brackets in its name
		for _, f := range files {
			if c := config(withoutComma(filepath.Join(root, f)), options); !slices.Contains(found, c) {
				found = append(found, c)
			}
		}
	}
	for _, named := range filepath.SplitList(os.Getenv(PluginVariable)) {
		dir, err := filepath.Abs(named)
		if err != nil {
			continue
		}
		for _, glob := range pluginGlobs[kind] {
			search(dir, filepath.Base(glob))
		}
	}
	roots := sites()
	for _, glob := range pluginGlobs[kind] {
		for _, root := range roots {
			search(root, glob)
		}
	}
	return found
}

// openFolders are the folders of plugins that withoutComma keeps open, by path.
var openFolders sync.Map

// withoutComma names the file at path without the commas of its folder, at which GoMLX would split a configuration. On
// Linux, an open folder has such a name.
func withoutComma(path string) string {
	dir, name := filepath.Split(path)
	if !strings.Contains(dir, ",") {
		return path
	}
	f, err := os.Open(dir)
	if err != nil {
		return path
	}
	if kept, known := openFolders.LoadOrStore(dir, f); known {
		f.Close()
		f = kept.(*os.File)
	}
	return fmt.Sprintf("%s%d/%s", openPrefix, f.Fd(), name)
}

// sites are the folders that may hold a plugin. Of each virtual environment, these are its Python packages, which come
// first, and lib, where setup puts go-xla's build.
func sites() (roots []string) {
	environment := func(dir string) {
		found, _ := fs.Glob(os.DirFS(dir), "lib/python3*/site-packages")
		for _, site := range append(found, "lib") {
			roots = append(roots, filepath.Join(dir, site))
		}
	}
	if dir, err := os.Getwd(); err == nil {
		for ; ; dir = filepath.Dir(dir) {
			environment(filepath.Join(dir, ".venv"))
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	if exe, err := os.Executable(); err == nil {
		environment(filepath.Join(filepath.Dir(exe), "../.venv"))
	}
	for _, variable := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if dir := os.Getenv(variable); dir != "" {
			environment(dir)
		}
	}
	return roots
}

// config names a plugin by path. TF32, which shortens the factors of matrix products to ten bits, is off unless options
// select it: results on a GPU are then comparable with a CPU's.
func config(path, options string) string {
	c := "xla:" + path + options
	if strings.Contains(filepath.Base(path), cuda) && !strings.Contains(options, "tf32") {
		c += ",tf32=false"
	}
	return c
}
