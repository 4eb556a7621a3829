// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"strings"
	"testing"
)

func TestTorchIsCheckedOnRequestAlone(t *testing.T) {
	if err := runPython(t.Context(), io.Discard, []string{"-torch"}); err == nil || !strings.Contains(err.Error(), "-check") {
		t.Errorf("got %v, want that -torch goes with -check", err)
	}
}
