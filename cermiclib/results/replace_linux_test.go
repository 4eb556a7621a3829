// SPDX-License-Identifier: Apache-2.0

package results_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"cermic/cermiclib/results"
)

func TestWhatIsNoPlainFileIsWrittenAsItIs(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(pipe, os.O_RDWR, 0) // a writer would wait for a reader
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := results.WriteFile(pipe, []byte("text")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Fatalf("the pipe is %v now, %v", info, err)
	}
	got := make([]byte, 4)
	if _, err := reader.Read(got); err != nil || string(got) != "text" {
		t.Errorf("the pipe holds %q, %v", got, err)
	}
}
