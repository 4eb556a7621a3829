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
)

// otherRecordings names the variable that replaces the packages' own recordings by others of the same layout.
const otherRecordings = "CERMIC_GOLDEN_DIR"

// OwnRecordings reports whether tests read the package's own copy of the recordings, whose content they may count on.
func OwnRecordings() bool { return os.Getenv(otherRecordings) == "" }

// Recordings lists the files that match a pattern among the recordings of the original of a family ("vmas"), in alphabetical order.
// They are the package's own copy in testdata/golden or, if CERMIC_GOLDEN_DIR is set, those of the family's folder in there, seen from
// the module's root. Having none is a failure.
func Recordings(t testing.TB, family, pattern string) []string {
	t.Helper()
	files := list(t, family, pattern)
	if len(files) == 0 {
		t.Fatalf("no %s in %s, the recordings of %s", pattern, folder(family), family)
	}
	return files
}

// Statistics is Recordings for what need not be recorded twice: the package's own copy stands in where the other folder has none.
func Statistics(t testing.TB, family, pattern string) []string {
	t.Helper()
	if files := list(t, family, pattern); len(files) > 0 {
		return files
	}
	files, err := filepath.Glob(filepath.Join("testdata", "golden", pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no %s among the recordings of %s (%v)", pattern, family, err)
	}
	return files
}

// folder holds the recordings of a family.
func folder(family string) string {
	if OwnRecordings() {
		return filepath.Join("testdata", "golden")
	}
	return filepath.Join(FromRoot(os.Getenv(otherRecordings)), family)
}

// FromRoot takes a path that is not absolute as seen from the module's root: tests of a package run in its folder, which is not
// where somebody stands who starts them all.
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

func list(t testing.TB, family, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder(family), pattern))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// ReadRecording decodes a file that holds one JSON value, compressed if it is called so.
func ReadRecording(t testing.TB, file string, into any) {
	t.Helper()
	read(t, file, func(in io.Reader) error { return json.NewDecoder(in).Decode(into) })
}

// EachLine hands the lines of a file to visit, one after the other, until it returns false.
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
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := io.Reader(f)
	if strings.HasSuffix(file, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	if err := with(in); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
