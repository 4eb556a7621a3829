// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"cermic/cermiclib/results"
)

// versionLine is where the package says its version.
var versionLine = regexp.MustCompile(`(?m)^__version__ = "([0-9.]+)"$`)

// packWheel writes a wheel, in the format of PyPA's binary distributions, of the Python files in folder, the shared library and the licence,
// and returns its path. Equal files make equal wheels.
func packWheel(to, folder, library, licence, platform string) (string, error) {
	sources, err := filepath.Glob(filepath.Join(folder, "*.py"))
	if err != nil || len(sources) == 0 {
		return "", fmt.Errorf("there is no Python package in %s", folder)
	}
	init, err := os.ReadFile(filepath.Join(folder, "__init__.py"))
	if err != nil {
		return "", err
	}
	found := versionLine.FindSubmatch(init)
	if found == nil {
		return "", fmt.Errorf("%s has no __version__", filepath.Join(folder, "__init__.py"))
	}
	version := string(found[1])
	info := "cermic_envs-" + version + ".dist-info/"
	var packed bytes.Buffer
	w := wheel{zip: zip.NewWriter(&packed)}
	w.zip.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.BestSpeed) })
	for _, file := range append(sources, filepath.Join(folder, "py.typed"), library) {
		w.file("cermic_envs/"+filepath.Base(file), file)
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
		return "", w.err
	}
	path := filepath.Join(to, "cermic_envs-"+version+"-py3-none-"+platform+".whl")
	return path, results.WriteFile(path, packed.Bytes())
}

// wheel collects files and their checksums; the first error ends it.
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

// text adds a file.
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
