// SPDX-License-Identifier: Apache-2.0

// Package xlacache keeps what XLA has compiled on disk, so that the next process that builds the same graph loads it
// in milliseconds: a cell of a notebook is a process of its own.
//
// go-xla has no call for that, but PJRT's C interface has: an executable can be serialised, and loaded again. Install
// puts a function of this package in the place of the plug-in's PJRT_Client_Compile before go-xla opens the plug-in.
// It answers from disk what it can; else it compiles as before and keeps a copy. The machine code is the same, and so
// is every bit of a result.
package xlacache
