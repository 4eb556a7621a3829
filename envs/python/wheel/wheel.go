// SPDX-License-Identifier: Apache-2.0

// Package wheel packs the environments' Python package and its shared library into a wheel for pip.
package wheel

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// versionLine is the package's line with its version.
var versionLine = regexp.MustCompile(`(?m)^__version__ = "([0-9.]+)"$`)

// Library returns the name under which cermic_envs looks for the shared library of an operating system, and the
// platform tag of its wheel.
func Library(system, arch string) (file, platform string, err error) {
	known, ok := map[string][2]string{
		"linux/amd64":   {"libcermic_envs.so", "linux_x86_64"},
		"linux/arm64":   {"libcermic_envs.so", "linux_aarch64"},
		"darwin/amd64":  {"libcermic_envs.dylib", "macosx_12_0_x86_64"},
		"darwin/arm64":  {"libcermic_envs.dylib", "macosx_12_0_arm64"},
		"windows/amd64": {"cermic_envs.dll", "win_amd64"},
	}[system+"/"+arch]
	if !ok {
		return "", "", fmt.Errorf("there is no shared library for %s/%s; build on Linux, macOS or Windows", system, arch)
	}
	return known[0], known[1], nil
}

// Pack returns a wheel, in PyPA's binary distribution format, of the Python files in folder, the shared library and
// the licence, with its file name. Equal files make equal wheels.
func Pack(folder, library, licence, platform string) (name string, packed []byte, err error) {
	sources, err := fs.Glob(os.DirFS(folder), "*.py")
	if err != nil || len(sources) == 0 {
		return "", nil, fmt.Errorf("there is no Python package in %s", folder)
	}
	for i := range sources {
		sources[i] = filepath.Join(folder, sources[i])
	}
	init, err := os.ReadFile(filepath.Join(folder, "__init__.py"))
	if err != nil {
		return "", nil, err
	}
	found := versionLine.FindSubmatch(init)
	if found == nil {
		return "", nil, fmt.Errorf("%s has no __version__", filepath.Join(folder, "__init__.py"))
	}
	version := string(found[1])
	info := "cermic_envs-" + version + ".dist-info/"
	var file bytes.Buffer
	w := wheel{zip: zip.NewWriter(&file)}
	w.zip.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(out, flate.BestSpeed)
	})
	for _, source := range append(sources, filepath.Join(folder, "py.typed"), library) {
		w.file("cermic_envs/"+filepath.Base(source), source)
	}
	w.file(info+"licenses/LICENSE", licence)
	w.text(info+"METADATA", "Metadata-Version: 2.4\nName: cermic-envs\nVersion: "+version+
		"\nSummary: Batched multi-agent environments written in Go\nLicense-Expression: Apache-2.0\nLicense-File: LICENSE\n"+
		"Requires-Python: >=3.11\nRequires-Dist: numpy>=1.26\n")
	w.text(info+"WHEEL", "Wheel-Version: 1.0\nGenerator: cermic\nRoot-Is-Purelib: false\nTag: py3-none-"+platform+"\n")
	w.text(info+"RECORD", w.record.String()+info+"RECORD,,\n")
	if w.err == nil {
		w.err = w.zip.Close()
	}
	if w.err != nil {
		return "", nil, w.err
	}
	return "cermic_envs-" + version + "-py3-none-" + platform + ".whl", file.Bytes(), nil
}

// wheel collects files and their checksums; it stops at the first error.
type wheel struct {
	zip    *zip.Writer
	record strings.Builder
	err    error
}

// file adds a copy of a file.
func (w *wheel) file(name, path string) {
	text, err := os.ReadFile(path)
	if w.err == nil && err != nil {
		w.err = err
	}
	w.text(name, string(text))
}

// text adds a file with the given content.
func (w *wheel) text(name, text string) {
	if w.err != nil {
		return
	}
	header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
	header.SetMode(0o644)
	var file io.Writer
	if file, w.err = w.zip.CreateHeader(header); w.err != nil {
		return
	}
	if _, w.err = io.WriteString(file, text); w.err != nil {
		return
	}
	sum := sha256.Sum256([]byte(text))
	fmt.Fprintf(&w.record, "%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(text))
}
