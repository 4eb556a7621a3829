// SPDX-License-Identifier: Apache-2.0

//go:build !cgo || noxla

package nn

// plugins is empty in a build without cgo: XLA's plugins are shared C libraries.
func plugins() []string { return nil }

// installed is empty for the same reason.
func installed(kind, options string) []string { return nil }
