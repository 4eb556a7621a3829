// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cermic/envs/envtest/must"
)

// otherRecordings is the environment variable of a folder that replaces the packages' own recordings.
const otherRecordings = "CERMIC_GOLDEN_DIR"

// OwnRecordings reports whether tests use the package's own recordings, whose content they may rely on.
func OwnRecordings() bool { return os.Getenv(otherRecordings) == "" }

// Recordings lists the recordings of a family ("vmas") that match a pattern, in alphabetical order. They are in
// testdata/golden or, if CERMIC_GOLDEN_DIR is set, in the family's folder there, relative to the module's root. The
// test fails if there are none.
func Recordings(t testing.TB, family, pattern string) []string {
	t.Helper()
	return list(t, folder(family), pattern)
}

// Statistics is Recordings for files that need not be recorded twice: it falls back to the package's own recordings.
func Statistics(t testing.TB, family, pattern string) []string {
	t.Helper()
	if files, err := filepath.Glob(filepath.Join(folder(family), pattern)); err == nil && len(files) > 0 {
		return files
	}
	return list(t, own, pattern)
}

// own is the folder with a package's recordings.
var own = filepath.Join("testdata", "golden")

// folder is the folder with the recordings of a family.
func folder(family string) string {
	if OwnRecordings() {
		return own
	}
	return filepath.Join(FromRoot(os.Getenv(otherRecordings)), family)
}

// FromRoot resolves a relative path from the module's root, because tests of a package run in its folder.
func FromRoot(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	for up := "."; len(up) < 100; up = filepath.Join("..", up) {
		if _, err := os.Stat(filepath.Join(up, "go.mod")); err == nil {
			return filepath.Join(up, path)
		}
	}
	return path
}

func list(t testing.TB, folder, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings %s in %s (%v)", pattern, folder, err)
	}
	return files
}

// ReadRecording decodes a JSON file, compressed if its name ends in .gz.
func ReadRecording(t testing.TB, file string, into any) {
	t.Helper()
	read(t, file, func(in io.Reader) error { return json.NewDecoder(in).Decode(into) })
}

// EachLine calls visit for each line of a file until it returns false.
func EachLine(t testing.TB, file string, visit func(line []byte) bool) {
	t.Helper()
	read(t, file, func(in io.Reader) error {
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, 1<<24)
		for lines.Scan() && visit(lines.Bytes()) {
		}
		return lines.Err()
	})
}

func read(t testing.TB, file string, with func(io.Reader) error) {
	t.Helper()
	f := must.Get(os.Open(file))(t)
	defer f.Close()
	in := io.Reader(f)
	if strings.HasSuffix(file, ".gz") {
		in = must.Get(gzip.NewReader(f))(t)
	}
	if err := with(in); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
