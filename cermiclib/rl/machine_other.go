// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package rl

// machineMemory is the number of bytes of memory that this machine has, 0 if it is not known.
var machineMemory = func() int64 { return 0 }
