// SPDX-License-Identifier: Apache-2.0

package results

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"cermic/envs/envtest/must"
)

// smallDisk mounts a file system of that many bytes, or skips the test.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("a disk that can be filled needs the right to mount one: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill takes all but about free bytes of the disk that dir is on.
func fill(t *testing.T, dir string, free int64) (filler string) {
	t.Helper()
	var disk syscall.Statfs_t
	must.Do(t, syscall.Statfs(dir, &disk))
	filler = filepath.Join(dir, "filler")
	must.Do(t, os.WriteFile(filler, make([]byte, int64(disk.Bavail)*disk.Bsize-free), 0o644))
	return filler
}

func TestAFullDiskCostsNothingThatWasWritten(t *testing.T) {
	want := resultOf(t, complete(t))
	pages := int64(0)
	for ; ; pages++ {
		dir := smallDisk(t, "256k")
		filler := fill(t, dir, pages*4096)
		s := openTest(t, dir)
		r, err := s.Claim(t.Context(), testHeader(), false, nil)
		if err == nil {
			err = errors.Join(train(r, func() {}), r.Close())
		}
		if err == nil {
			break
		}
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%d pages: %v", pages, err)
		}
		if got, err := s.Get(testID); err != nil && !errors.Is(err, os.ErrNotExist) || err == nil && got.Complete {
			t.Errorf("%d pages: what was written reads as %+v, %v", pages, got, err)
		}
		must.Do(t, os.Remove(filler))
		finish(t, dir)
		if got := resultOf(t, dir); got != want {
			t.Errorf("%d pages: got %v\nwant %v", pages, got, want)
		}
	}
	if pages < 4 {
		t.Errorf("the run fits in %d pages: no write ever failed", pages)
	}
}

// The umask alone decides who else may use a store: with 002 its group reads and writes every file and folder.
func TestPermissionsAreThoseOfTheUmask(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o002))
	dir := filepath.Join(t.TempDir(), "runs")
	s := openTest(t, dir)
	r := claimTest(t, s)
	must.Do(t, r.SaveCheckpoint(Checkpoint{}))
	must.Do(t, WriteFile(filepath.Join(dir, PretrainedFolder, "weights"), nil))
	names := map[string]bool{}
	must.Do(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		want := fs.FileMode(0o664)
		if d.IsDir() {
			want = 0o775
		}
		if names[d.Name()] = true; err == nil && info.Mode().Perm() != want {
			t.Errorf("%s has the mode %v, want %v", d.Name(), info.Mode().Perm(), want)
		}
		return err
	}))
	for _, name := range []string{lockFile, recordFile, checkpointFile, PretrainedFolder} {
		if !names[name] {
			t.Errorf("there is no %s", name)
		}
	}
}

// A run that another user trains and keeps private has an owner, and the other runs of the store are found.
func TestAPrivateRunIsHeldAndHidesNoOther(t *testing.T) {
	t.Chdir(t.TempDir()) // whose parents another user may not enter
	const dir = "runs"
	s := openTest(t, dir)
	defer claimTest(t, s).Close()
	other := testHeader()
	other.ID, other.Seed = "other", other.Seed+1
	private := must.Get(s.Claim(t.Context(), other, false, nil))(t)
	defer private.Close()
	folder := filepath.Join(dir, other.ID)
	for _, path := range []string{filepath.Join(folder, lockFile), filepath.Join(folder, recordFile), folder} {
		must.Do(t, os.Chmod(path, 0))
		defer os.Chmod(path, 0o777)
		owner, found, notes := "", []*Record(nil), 0
		s.Note = func(string) { notes++ }
		asAnotherUser(t, func() { owner, found = s.Owner(other.ID), must.Get(s.Find(Query{}))(t) })
		if owner != anotherUser {
			t.Errorf("without the right to read %s the owner is %q", path, owner)
		}
		if readable := path == filepath.Join(folder, lockFile); readable != (len(found) == 2) || readable != (notes == 0) || len(found) < 1 {
			t.Errorf("without the right to read %s, %d runs are found with %d notes", path, len(found), notes)
		}
	}
}

// asAnotherUser calls f with the file permissions of a user who is not root.
func asAnotherUser(t *testing.T, f func()) {
	t.Helper()
	if os.Getuid() == 0 {
		must.Do(t, syscall.Setfsuid(65534))
		defer func() { must.Do(t, syscall.Setfsuid(0)) }()
	}
	f()
}

func TestWhatIsNoPlainFileIsWrittenAsItIs(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	must.Do(t, syscall.Mkfifo(pipe, 0o666))
	reader := must.Get(os.OpenFile(pipe, os.O_RDWR, 0))(t) // a writer would wait for a reader
	defer reader.Close()
	must.Do(t, WriteFile(pipe, []byte("text")))
	if info, err := os.Lstat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Fatalf("the pipe is %v now, %v", info, err)
	}
	got := make([]byte, 4)
	if _, err := reader.Read(got); err != nil || string(got) != "text" {
		t.Errorf("the pipe holds %q, %v", got, err)
	}
}
