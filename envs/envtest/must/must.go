// SPDX-License-Identifier: Apache-2.0

// Package must checks the errors of calls in tests.
package must

import (
	"log/slog"
	"os"
	"strings"
	"testing"
)

// Get returns the value of a call that must succeed: must.Get(os.ReadFile(name))(t).
func Get[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		Do(t, err)
		return v
	}
}

// Value returns the value of a call that must succeed where no test is at hand: it panics.
func Value[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Do ends the test if err is an error.
func Do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Refuse fails the test unless err is one line that contains want.
func Refuse(t testing.TB, err error, want string) {
	t.Helper()
	RefuseAs(t, err, "", want)
}

// RefuseAs fails the test unless err is one line that begins with prefix and contains want.
func RefuseAs(t testing.TB, err error, prefix, want string) {
	t.Helper()
	if err == nil || !strings.HasPrefix(err.Error(), prefix) || !strings.Contains(err.Error(), want) ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("got error %v, want one line that begins with %q and contains %q", err, prefix, want)
	}
}

// Log collects what is logged until the test ends.
func Log(t testing.TB) *strings.Builder {
	log, before := new(strings.Builder), slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(log, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	return log
}

// InMemory keeps temporary folders in memory on systems that can, as durable writes would wait for a busy disk.
func InMemory() (remove func()) {
	dir, err := os.MkdirTemp("/dev/shm", "test")
	if err == nil && os.Getenv("TMPDIR") == "" {
		os.Setenv("TMPDIR", dir)
	}
	return func() { os.RemoveAll(dir) }
}
