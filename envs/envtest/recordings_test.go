// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRelativeFoldersOfRecordingsAreSeenFromTheRoot(t *testing.T) {
	if _, err := os.Stat(FromRoot(filepath.Join("envs", "envtest", "recordings_test.go"))); err != nil {
		t.Error(err)
	}
	if abs := filepath.Join(t.TempDir(), "golden"); FromRoot(abs) != abs {
		t.Errorf("%s becomes %s", abs, FromRoot(abs))
	}
	t.Setenv(otherRecordings, "elsewhere")
	if got, want := folder("smac"), filepath.Join("..", "..", "elsewhere", "smac"); got != want {
		t.Errorf("the folder of recordings is %s, want %s", got, want)
	}
}
