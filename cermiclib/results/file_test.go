// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

func TestAFileIsReplacedAndALinkStaysOne(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.Symlink("file", link); err != nil {
		t.Skip(err)
	}
	for _, text := range []string{"a longer text", "short"} {
		if err := errors.Join(WriteFile(file, []byte("old")), WriteFile(link, []byte(text))); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); string(got) != text || err != nil {
			t.Errorf("the file holds %q, %v", got, err)
		}
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 2 {
		t.Errorf("left behind: %v", left)
	}
}

// Only old temporary files of the same name are of a dead process: others may still be written.
func TestAWriteRemovesOldLeftovers(t *testing.T) {
	dir := t.TempDir()
	then := time.Now().Add(-2 * time.Hour)
	for name, age := range map[string]time.Time{
		"file.0a.tmp": then, "file.0b.tmp": time.Now(), "other.0a.tmp": then, "file.0a": then,
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, nil, 0o666), os.Chtimes(path, age, age)); err != nil {
			t.Fatal(err)
		}
	}
	if err := WriteFile(filepath.Join(dir, "file"), nil); err != nil {
		t.Fatal(err)
	}
	var left []string
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{"file", "file.0a", "file.0b.tmp", "other.0a.tmp"}; !slices.Equal(left, want) {
		t.Errorf("left are %v, want %v", left, want)
	}
}

// A file that several write at once is always one of theirs, whole, and none of them fails.
func TestSeveralMayWriteOneFileAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	whole := func(b byte) []byte { return bytes.Repeat([]byte{b}, 1<<16) }
	var writers sync.WaitGroup
	for k := range byte(8) {
		writers.Go(func() {
			for range 20 {
				if err := WriteFile(path, whole(k)); err != nil {
					t.Error(err)
				}
				got, err := os.ReadFile(path)
				if err != nil || !bytes.Equal(got, whole(got[0])) {
					t.Errorf("%d bytes that nobody wrote, %v", len(got), err)
				}
			}
		})
	}
	writers.Wait()
	if left, _ := filepath.Glob(path + ".*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
