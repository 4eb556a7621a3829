// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package nb

import (
	"errors"
	"os"
	"os/exec"
)

// detach is refused: kernels run on Unix alone.
func detach(*exec.Cmd, *os.File) error { return errors.ErrUnsupported }

func locked(string) bool { return false }
