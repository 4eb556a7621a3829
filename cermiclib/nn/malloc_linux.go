// SPDX-License-Identifier: Apache-2.0

//go:build cgo && !noxla

package nn

/*
#include <malloc.h>

// XLA's CPU plugin takes its intermediate results from malloc in one block for each execution, of hundreds of
// megabytes for CERMIC's larger graphs. By default, glibc maps such a block afresh and unmaps it at the end, and the
// kernel clears every page of it anew: a fifth of the CPU time of a gradient step with the graph memory. So large
// blocks come from the heap, and the heap keeps what it has. Other C libraries keep their own ways.
//
// A constructor runs while the process has a single thread. Go's init functions run later, beside threads of the
// runtime, and one that has asked for memory by then keeps an arena of its own, in which large blocks are mapped
// afresh whatever is set: by chance, a process would be slow for as long as it lives.
#ifdef __GLIBC__
__attribute__((constructor)) static void keep_freed_memory(void) {
	mallopt(M_ARENA_MAX, 1); // other arenas cannot hold more than 64 MB at a time
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, -1);

}
#endif
*/
import "C"
