// SPDX-License-Identifier: Apache-2.0

//go:build linux && cgo && !noxla

package xlacache

/*
#cgo LDFLAGS: -ldl
#include <stdlib.h>
#include "pjrt.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"
)

// installed is the plug-in in use, with the folder that answers its compile calls.
var installed struct {
	sync.Mutex
	path   string
	folder atomic.Pointer[folder]
}

// hits counts the compile calls so far that were answered from disk, misses counts the others.
var hits, misses atomic.Int64

// Counts returns how many graphs this process has loaded from disk, and how many it has compiled, since Install.
func Counts() (loaded, compiled int) { return int(hits.Load()), int(misses.Load()) }

// Install lets the plug-in at path answer from dir what it has compiled before, and keep new compilations there. It
// must be called before the plug-in is used; a second call for the same plug-in changes nothing. After an error,
// nothing is kept, and the plug-in works as without it.
func Install(path, dir string) error {
	installed.Lock()
	defer installed.Unlock()
	if installed.path != "" {
		if installed.path != path {
			return fmt.Errorf("compiled graphs are kept for the plug-in %s already", installed.path)
		}
		return nil
	}
	f, err := open(dir, path)
	if err != nil {
		return err
	}
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	installed.folder.Store(f)
	if why := C.xlacache_install(name); why != nil {
		return errors.New(C.GoString(why))
	}
	installed.path = path
	return nil
}

// xlacacheCompile replaces PJRT_Client_Compile: same argument, same result.
//
//export xlacacheCompile
func xlacacheCompile(p unsafe.Pointer) unsafe.Pointer {
	args, f := (*C.compile_args)(p), installed.folder.Load()
	key := f.key(view(args.program.code, args.program.code_size), view(args.options, args.options_size))
	if code := f.read(key); code != nil &&
		bool(C.xlacache_load(args, (*C.char)(unsafe.Pointer(&code[0])), C.size_t(len(code)))) {
		hits.Add(1)
		return nil
	}
	if failure := C.xlacache_compile(args); failure != nil {
		return failure
	}
	misses.Add(1)
	var code C.bytes
	var owner unsafe.Pointer
	if C.xlacache_serialize(args, &code, &owner) {
		f.write(key, view(code.data, code.size))
		C.xlacache_release(owner)
	}
	return nil
}

// view shows C's bytes without a copy.
func view(data *C.char, size C.size_t) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(data)), int(size))
}
