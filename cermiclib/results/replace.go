// SPDX-License-Identifier: Apache-2.0

package results

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
)

// CreateFile is WriteFile for a path whose folder need not be there yet: it is made.
func CreateFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return WriteFile(path, data)
}

// WriteFile makes the file path hold data, at once and durably: when it fails, and for whoever reads meanwhile, the file is what
// it was before. A link stays one and its target is replaced; what is no plain file, such as a pipe, is written as it is.
func WriteFile(path string, data []byte) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(path, data, 0o666)
	}
	own := fmt.Sprintf("%s.%016x%s", path, rand.Uint64(), tempSuffix) // several processes may write the file at once
	err := replaceBy(own, path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("the disk is full at %s; nothing there has changed, free some space and write it again: %w", path, syscall.ENOSPC)
	}
	return err
}
