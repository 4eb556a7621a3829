// SPDX-License-Identifier: Apache-2.0

// Package must checks the errors of calls in tests.
package must

import (
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
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got error %v, want one line with %q", err, want)
	}
}
