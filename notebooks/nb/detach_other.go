// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package nb

import "os/exec"

// detach does nothing: kernels run on Unix alone.
func detach(*exec.Cmd) {}
