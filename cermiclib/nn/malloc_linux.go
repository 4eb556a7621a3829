// SPDX-License-Identifier: Apache-2.0

//go:build cgo && !noxla

package nn

/*
#include <malloc.h>

// XLA's CPU plugin allocates its intermediate results with malloc, in one block for each execution. For CERMIC's larger
// graphs a block has hundreds of megabytes. By default, glibc maps such a block afresh and unmaps it at the end, and
// the kernel clears every page of it anew. This takes a fifth of the CPU time of a gradient step with the graph memory.
// So large blocks come from the heap, and the heap keeps freed memory. Other C libraries are unchanged.
//
// A constructor runs while the process has a single thread. Go's init functions run later, beside threads of the
// runtime. A thread that has allocated memory by then keeps an arena of its own. Large blocks in such an arena are
// mapped afresh in spite of these settings. By chance, a process would then be slow for its whole life.
#ifdef __GLIBC__
__attribute__((constructor)) static void keep_freed_memory(void) {
	mallopt(M_ARENA_MAX, 1); // other arenas cannot hold more than 64 MB at a time
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, -1);

}
#endif
*/
import "C"
