// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"cermic/envs/envtest/must"
)

func TestAFileIsReplacedAndALinkStaysOne(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.Symlink("file", link); err != nil {
		t.Skip(err)
	}
	for _, text := range []string{"a longer text", "short"} {
		must.Do(t, errors.Join(WriteFile(file, []byte("old")), WriteFile(link, []byte(text))))
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

// When several processes write a file at once, it is always a whole version of one of them, and no write fails.
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
