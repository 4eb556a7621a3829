// SPDX-License-Identifier: Apache-2.0

//go:build unix

package results

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

)

// packedOf is a packed record of a task and a method, whatever their names.
func packedOf(t *testing.T, task, method string) []byte {
	t.Helper()
	data, err := Pack(&Record{ID: "0a", Task: task, Method: method, Budget: "short", Complete: true, Experiment: []byte("{}")})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestNamesThatWouldLeadOutOfAFolderAreRefused(t *testing.T) {
	for _, bad := range [][2]string{
		{"../../x", "mappo"}, {"/etc/x", "mappo"}, {"vmas//x", "mappo"}, {"vmas/./x", "mappo"}, {`vmas\x`, "mappo"}, {"", "mappo"},
		{"vmas/x\n", "mappo"}, {"vmas/x", ""}, {"vmas/x", "a\x1b[2J"}, {"vmas/x", strings.Repeat("a", maxName+1)},
	} {
		if _, err := Unpack(packedOf(t, bad[0], bad[1])); err == nil {
			t.Errorf("task %.40q, method %.40q: a record with these names is read", bad[0], bad[1])
		}
	}
	if _, err := Unpack(packedOf(t, "vmas/balance", "mappo (learner.lr=1e-3, α=.5)")); err != nil {
		t.Error(err)
	}
}

func TestFilesThatUnpackToGigabytesAreRefused(t *testing.T) {
	bomb := zipped(strings.Repeat("0", maxPack+1))
	if _, err := Unpack(bomb); err == nil || !strings.Contains(err.Error(), "unpacks to more than") {
		t.Errorf("a packed record of %d bytes: %v", len(bomb), err)
	}
}

func TestAPipeIsRefusedWithoutWaiting(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "0a", recordFile)
	if err := os.Mkdir(filepath.Dir(pipe), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	st, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	locked := filepath.Join(dir, "0b")
	if err := errors.Join(os.Mkdir(locked, 0o700), syscall.Mkfifo(filepath.Join(locked, lockFile), 0o600)); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 4)
	go func() {
		_, err := st.Find(Query{})
		done <- err
		st.Owner("0b")
		done <- nil
		_, err = st.Claim(t.Context(), "0b", []byte(testExperiment), testHeader(), false, nil)
		done <- err
		_, err = ReadFile(pipe, maxFile)
		done <- err
	}()
	for range 4 {
		select {
		case err = <-done:
		case <-time.After(10 * time.Second):
			t.Fatal("reading waits for somebody who writes into the pipe")
		}
	}
	if err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("reading a pipe: %v", err)
	}
}
