// SPDX-License-Identifier: Apache-2.0

//go:build cgo && !noxla && linux

package nn

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A comma cuts a configuration, and brackets are a pattern: a plug-in is found in a folder with either, also by
// PluginVariable.
func TestPluginsAreFoundInFoldersOfAnyName(t *testing.T) {
	root := filepath.Join(t.TempDir(), "a, b [c]*")
	site := filepath.Join(root, ".venv/lib/python3.12/site-packages/plugin")
	if err := os.MkdirAll(site, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(site, "pjrt_c_api_cpu_plugin.so"), []byte("it"), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Setenv("VIRTUAL_ENV", "")
	t.Setenv("CONDA_PREFIX", "")
	t.Chdir(root)
	for _, variable := range []string{"", site} {
		t.Setenv(PluginVariable, variable)
		found := installed(cpu, ",x=1")
		if len(found) == 0 {
			t.Fatalf("with %s=%s nothing is found", PluginVariable, variable)
		}
		path, options, _ := strings.Cut(found[0], ",")
		if text, err := os.ReadFile(strings.TrimPrefix(path, "xla:")); string(text) != "it" || options != "x=1" {
			t.Errorf("with %s=%s: %q, which holds %q (%v)", PluginVariable, variable, found[0], text, err)
		}
	}
}
