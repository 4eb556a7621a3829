// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"cermic/cermiclib/results"
)

var (
	_, thisFile, _, _ = runtime.Caller(0)                              // as compiled, also for a notebook's cell
	root              = filepath.Join(filepath.Dir(thisFile), "../..") // folder of the module
	sourcePath        = regexp.MustCompile(`^(go\.sum|(cermiclib|envs)/.*\.(go|c|h)|envs/meltingpot/sprites\.json\.gz)$`)
	testPath          = regexp.MustCompile(`_test\.go$`)
	started           = time.Now()
	// sourcesHash is the hash of the sources that this program was built from, empty if they have changed since or
	// are not found.
	sourcesHash = sync.OnceValue(func() string { return hashTree(root, built()) })
)

// built is when the compiler last compared this program with its sources, zero if unknown: a copy's modification time.
func built() time.Time {
	program, _ := os.Executable()
	// `go run` keeps programs in folders with such names, and has compared them with their sources.
	if folder := filepath.Base(filepath.Dir(program)); len(folder) == len("-d")+2*sha256.Size {
		return started
	}
	if info, err := os.Stat(program); err == nil {
		return info.ModTime()
	}
	return time.Time{}
}

// CopyProgram writes a copy of this program, since `go run` deletes its own. It replaces the file, as another process
// may run the old one. The copy knows as well as this program whether the sources have changed. Its permissions follow
// the umask.
func CopyProgram(to string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	data, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	next := to + ".new"
	if err := results.WriteFile(next, data); err != nil {
		return err
	}
	info, err := os.Stat(next)
	if err == nil {
		err = os.Chmod(next, info.Mode()|info.Mode()>>2&0o111) // all that may read it may run it
	}
	if err == nil {
		err = os.Chtimes(next, time.Time{}, built())
	}
	if err != nil {
		return err
	}
	return os.Rename(next, to)
}

func hashTree(root string, built time.Time) string {
	var lines []string
	for _, top := range []string{"go.sum", "cermiclib", "envs"} {
		if fs.WalkDir(os.DirFS(root), top, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !sourcePath.MatchString(path) || testPath.MatchString(path) {
				return err
			}
			data, unread := os.ReadFile(filepath.Join(root, path))
			// The time is read after the content, so that no change falls between.
			if info, err := d.Info(); unread != nil || err != nil || info.ModTime().After(built) {
				return fs.ErrInvalid
			}
			lines = append(lines, fmt.Sprintf("%x %s\n", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(data), data)), path))
			return nil
		}) != nil {
			return ""
		}
	}
	return hashLines(lines)
}

// SourcesOf returns the hash of a commit's sources: the SHA-256 of the sorted lines "blob path", where blob is git's
// name of the content.
func SourcesOf(commit string) (string, error) {
	out, err := exec.Command("git", "-C", root, "ls-tree", "-r", "--full-tree", commit).Output()
	if err != nil {
		return "", fmt.Errorf("git does not list commit %q: %w", commit, err)
	}
	var lines []string
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line) // mode, type, blob and path
		if sourcePath.MatchString(f[3]) && !testPath.MatchString(f[3]) {
			lines = append(lines, f[2]+" "+f[3]+"\n")
		}
	}
	return hashLines(lines), nil
}

func hashLines(lines []string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(slices.Sorted(slices.Values(lines)), ""))))
}
