// SPDX-License-Identifier: Apache-2.0

// Package must ends a test at an unexpected error.
package must

import "testing"

// Get returns the value of a call that must not fail: must.Get(os.ReadFile(name))(t).
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
