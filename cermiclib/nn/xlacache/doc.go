// SPDX-License-Identifier: Apache-2.0

// Package xlacache keeps compiled XLA graphs on disk. The next process that builds the same graph loads it in
// milliseconds. This helps notebooks, where each cell is a process of its own.
//
// go-xla has no call for that, but PJRT's C interface has: an executable can be serialised, and loaded again. Before
// go-xla opens the plug-in, Install replaces the plug-in's PJRT_Client_Compile by a function of this package. The
// function loads an entry from disk if it can; else it compiles as before and keeps a copy. The machine code is the
// same, and so is every bit of a result.
package xlacache
