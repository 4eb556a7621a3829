// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
)

// Sizes beyond which no file is what it should be. The largest genuine ones are checkpoints of replays, and a benchmark's results of
// a whole paper.
const (
	maxFile = 16 << 30 // of any file that is read whole
	maxPack = 64 << 20 // of a packed record, unpacked
)

// ReadFile reads a regular file of at most limit bytes. Anything else, a pipe for example, is refused before it is opened.
func ReadFile(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a folder, want a file", path)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file (%s)", path, info.Mode().Type())
	case info.Size() > limit:
		return nil, fmt.Errorf("%s has %d bytes, more than the %d that such a file may have", path, info.Size(), limit)
	}
	return os.ReadFile(path)
}

// Inflate unpacks one gzip stream of at most limit bytes and returns how many bytes of in follow it.
func Inflate(data []byte, limit int64) (text []byte, rest int, err error) {
	in := bytes.NewReader(data)
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, 0, fmt.Errorf("the gzip file is damaged: %w", err)
	}
	z.Multistream(false)
	text, err = io.ReadAll(io.LimitReader(z, limit+1)) // reads on to gzip's own checksum
	if err != nil {
		return nil, 0, fmt.Errorf("the gzip file is damaged: %w", err)
	}
	if int64(len(text)) > limit {
		return nil, 0, fmt.Errorf("the gzip file unpacks to more than the %d bytes that such a file may have", limit)
	}
	return text, in.Len(), nil
}

// maxName is the longest name of a task or method in bytes.
const maxName = 1000

// CheckNames refuses a record whose names nothing should be called by, wherever it comes from.
func (r *Record) CheckNames() error {
	if err := checkTask(r.Task); err != nil {
		return err
	}
	return Printable("method", r.Method)
}

// checkTask keeps a task's name, which export makes a path of, from leading out of a folder.
func checkTask(name string) error {
	if err := Printable("task", name); err != nil {
		return err
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." || strings.ContainsRune(part, '\\') {
			return fmt.Errorf("the task's name %.80q is a path, want parts joined by single slashes, as in vmas/balance", name)
		}
	}
	return nil
}

// Printable refuses a name that is empty, endless, or has characters that move a terminal's cursor.
func Printable(what, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("it names no %s", what)
	case len(name) > maxName:
		return fmt.Errorf("the name of its %s has %d bytes, want at most %d", what, len(name), maxName)
	case strings.ContainsFunc(name, unicode.IsControl):
		return errors.New("the name of its " + what + " has control characters")
	}
	return nil
}
