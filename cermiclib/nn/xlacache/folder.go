// SPDX-License-Identifier: Apache-2.0

package xlacache

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// limit is the size beyond which the least recently used entries are removed.
const limit = 1 << 30

const suffix = ".xla"

// folder holds compiled graphs, a file each, named by the hash of everything that the machine code depends on. A file
// is the SHA-256 of the code and then the code. A file cut short by a crash or a full disk is compiled again.
type folder struct {
	dir  string
	salt []byte // of the plug-in, the processor and XLA's flags
}

// open makes the folder at dir for the plug-in at path.
func open(dir, path string) (*folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("compiled graphs cannot be kept: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("compiled graphs cannot be kept: %w", err)
	}
	h := sha256.New()
	add(h, []byte("1"), []byte(path), fmt.Append(nil, info.Size(), info.ModTime().UnixNano()),
		[]byte(os.Getenv("XLA_FLAGS")), processor())
	f := &folder{dir: dir, salt: h.Sum(nil)}
	f.prune()
	return f, nil
}

// processor is Linux's description of the first processor, without values that change while it runs.
func processor() []byte {
	text, _ := os.ReadFile("/proc/cpuinfo")
	first, _, _ := strings.Cut(string(text), "\n\n")
	clock := func(line string) bool { return strings.HasPrefix(line, "cpu MHz") }
	lines := slices.DeleteFunc(strings.Split(first, "\n"), clock)
	return []byte(strings.Join(lines, "\n"))
}

// add hashes parts, each with its length.
func add(h hash.Hash, parts ...[]byte) {
	for _, p := range parts {
		fmt.Fprintf(h, "%d:", len(p))
		h.Write(p)
	}
}

// key names the entry of a program compiled with options.
func (f *folder) key(program, options []byte) string {
	h := sha256.New()
	add(h, f.salt, program, options)
	return hex.EncodeToString(h.Sum(nil))
}

func (f *folder) file(key string) string { return filepath.Join(f.dir, key+suffix) }

// read returns the code of an entry, or nil without a complete one.
func (f *folder) read(key string) []byte {
	data, err := os.ReadFile(f.file(key))
	if err != nil || len(data) < sha256.Size {
		return nil
	}
	code := data[sha256.Size:]
	if sum := sha256.Sum256(code); string(sum[:]) != string(data[:sha256.Size]) {
		os.Remove(f.file(key))
		return nil
	}
	now := time.Now()
	os.Chtimes(f.file(key), now, now) // used: prune keeps it longer
	return code
}

// write keeps an entry. A failure is no error, since the graph is then compiled again.
func (f *folder) write(key string, code []byte) {
	t, err := os.CreateTemp(f.dir, "*.part")
	if err != nil {
		return
	}
	sum := sha256.Sum256(code)
	_, err = t.Write(append(sum[:], code...))
	if cmp.Or(err, t.Close()) != nil || os.Rename(t.Name(), f.file(key)) != nil {
		os.Remove(t.Name())
	}
}

// prune removes the oldest entries beyond the limit, and the remains of interrupted writes.
func (f *folder) prune() {
	entries, _ := os.ReadDir(f.dir)
	var kept []fs.FileInfo
	var size int64
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue
		}
		if strings.HasSuffix(e.Name(), ".part") && time.Since(info.ModTime()) > time.Hour {
			os.Remove(filepath.Join(f.dir, e.Name()))
		}
		if strings.HasSuffix(e.Name(), suffix) {
			kept, size = append(kept, info), size+info.Size()
		}
	}
	slices.SortFunc(kept, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, info := range kept {
		if size <= limit {
			return
		}
		if os.Remove(filepath.Join(f.dir, info.Name())) == nil {
			size -= info.Size()
		}
	}
}
