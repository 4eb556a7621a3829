// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package rl

// machineMemory is the number of bytes available to this process, 0 since it is unknown here.
var machineMemory = func() int64 { return 0 }
