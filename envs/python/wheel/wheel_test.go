// SPDX-License-Identifier: Apache-2.0

package wheel

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cermic/envs/envtest/must"
)

// pack packs the package of this repository with a stand-in for the library.
func pack(t *testing.T) (name string, packed []byte) {
	t.Helper()
	lib := filepath.Join(t.TempDir(), "libcermic_envs.so")
	must.Do(t, os.WriteFile(lib, []byte("a library"), 0o777))
	name, packed, err := Pack(filepath.Join("..", "cermic_envs"), lib, filepath.Join("..", "..", "..", "LICENSE"),
		"linux_x86_64")
	must.Do(t, err)
	return name, packed
}

// In PyPA's format, RECORD lists every file except itself, with checksum and length.
func TestWheelRecordsAllItHolds(t *testing.T) {
	name, packed := pack(t)
	if want := "cermic_envs-0.1.0-py3-none-linux_x86_64.whl"; name != want {
		t.Errorf("the wheel is called %s, want %s", name, want)
	}
	z := must.Value(zip.NewReader(bytes.NewReader(packed), int64(len(packed))))
	texts, record := map[string]string{}, ""
	for _, f := range z.File {
		in := must.Value(f.Open())
		text := must.Value(io.ReadAll(in))
		if strings.HasSuffix(f.Name, "/RECORD") {
			record = string(text)
			continue
		}
		texts[f.Name] = string(text)
	}
	for name, text := range texts {
		sum := sha256.Sum256([]byte(text))
		line := fmt.Sprintf("%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(text))
		if !strings.Contains(record, line) {
			t.Errorf("RECORD lacks %s", line)
		}
	}
	if lines := strings.Count(record, "\n"); lines != len(texts)+1 {
		t.Errorf("RECORD has %d lines, want %d", lines, len(texts)+1)
	}
	for _, name := range []string{
		"cermic_envs/__init__.py", "cermic_envs/benchmarl.py", "cermic_envs/py.typed", "cermic_envs/libcermic_envs.so",
		"cermic_envs-0.1.0.dist-info/METADATA", "cermic_envs-0.1.0.dist-info/WHEEL",
		"cermic_envs-0.1.0.dist-info/licenses/LICENSE",
	} {
		if _, there := texts[name]; !there {
			t.Errorf("the wheel lacks %s", name)
		}
	}
}

func TestEqualFilesMakeEqualWheels(t *testing.T) {
	_, one := pack(t)
	_, two := pack(t)
	if !bytes.Equal(one, two) {
		t.Error("the second wheel differs")
	}
}

// The package looks for the library under the name with which it is built.
func TestLibraryHasTheNameThatPythonLooksFor(t *testing.T) {
	text := must.Value(os.ReadFile(filepath.Join("..", "cermic_envs", "_library.py")))
	for _, system := range []string{"linux", "darwin", "windows"} {
		name, _, err := Library(system, "amd64")
		if err != nil || !strings.Contains(string(text), `"`+name+`"`) {
			t.Errorf("%s: %q is not in _library.py (%v)", system, name, err)
		}
	}
	if _, _, err := Library("plan9", "386"); err == nil {
		t.Error("plan9 has a library")
	}
}
