// SPDX-License-Identifier: Apache-2.0

//go:build cgo

// Command lib is the shared library of the Python package cermic_envs: package bridge as C functions.
//
//	go build -buildmode=c-shared -o libcermic_envs.so ./envs/python/lib
//
// Every function except cermic_open and cermic_free returns NULL or an error message that the caller frees with
// cermic_free. Its first letter is the kind of error: 'm' for a mistake of the caller, 'f' for a failure of the
// environment. Arrays belong to the caller: the library writes them during a call and keeps no pointer to them. All
// functions may be called from any thread.
package main

/*
#include <stdint.h>
#include <stdlib.h>
*/
import "C"

import (
	"encoding/json"
	"errors"
	"sync"
	"unsafe"

	"cermic/envs"
	"cermic/envs/python/bridge"
)

func main() {} // never runs in a shared library

// open holds the environments by handle, so that the handle of a closed one is an error instead of a stray pointer.
var open = struct {
	sync.RWMutex
	envs map[int64]*handle
	next int64
}{envs: map[int64]*handle{}}

// handle is an environment with the lengths of its arrays.
type handle struct {
	env  *bridge.Env
	spec *envs.Spec
	len  [bridge.BufferCount]int
}

// use calls a function with an open environment.
func use(id C.int64_t, call func(h *handle) error) *C.char {
	open.RLock()
	h := open.envs[int64(id)]
	open.RUnlock()
	if h == nil {
		return answer(errors.New("the environment is closed"))
	}
	return answer(call(h))
}

// answer converts an error to a function's return value.
func answer(err error) *C.char {
	if err == nil {
		return nil
	}
	kind := "f"
	if errors.As(err, new(bridge.Misuse)) {
		kind = "m"
	}
	return C.CString(kind + err.Error())
}

// give stores v as JSON in *out.
func give(out **C.char, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	*out = C.CString(string(text))
	return nil
}

//export cermic_free
func cermic_free(text *C.char) { C.free(unsafe.Pointer(text)) }

// cermic_tasks stores a JSON list of all tasks and their settings in *out.
//
//export cermic_tasks
func cermic_tasks(out **C.char) *C.char {
	tasks, err := bridge.Tasks()
	if err != nil {
		return answer(err)
	}
	return answer(give(out, tasks))
}

// cermic_make makes an environment and stores its handle in *id and its spec, as JSON, in *out.
//
//export cermic_make
func cermic_make(task, settings *C.char, numEnvs C.int64_t, seed C.uint64_t, workers C.int64_t, id *C.int64_t,
	out **C.char) *C.char {
	env, err := bridge.Make(C.GoString(task), []byte(C.GoString(settings)), int(numEnvs), uint64(seed), int(workers))
	if err != nil {
		return answer(err)
	}
	if err := give(out, bridge.Describe(env.Spec)); err != nil {
		return answer(err)
	}
	h := &handle{env: env, spec: env.Spec}
	for k, b := range bridge.Buffers(env.Spec) {
		h.len[k] = b.Len()
	}
	open.Lock()
	defer open.Unlock()
	open.next++
	open.envs[open.next] = h
	*id = C.int64_t(open.next)
	return nil
}

// cermic_reset resets the environments of mask (NULL: all). table holds the addresses of the buffers, NULL for arrays
// that the task lacks and for unwanted pixels.
//
//export cermic_reset
func cermic_reset(id C.int64_t, table *unsafe.Pointer, mask *C.uint8_t, seed *C.uint64_t) *C.char {
	return use(id, func(h *handle) error {
		var chosen []uint8
		if mask != nil {
			chosen = unsafe.Slice((*uint8)(mask), h.spec.NumEnvs)
		}
		out, pixels := h.step(table)
		return h.env.Reset(&out, pixels, chosen, (*uint64)(seed))
	})
}

// cermic_step advances all environments; actions is [E,N] of int32 or [E,N,D] of float32.
//
//export cermic_step
func cermic_step(id C.int64_t, table *unsafe.Pointer, actions unsafe.Pointer) *C.char {
	return use(id, func(h *handle) error {
		out, pixels := h.step(table)
		choices, forces := h.actions(actions)
		return h.env.Step(&out, pixels, choices, forces)
	})
}

// cermic_script writes the actions of the task's script; *ok is 0 if there is none.
//
//export cermic_script
func cermic_script(id C.int64_t, actions unsafe.Pointer, ok *C.uint8_t) *C.char {
	return use(id, func(h *handle) error {
		scripted, err := h.env.Script(h.actions(actions))
		*ok = 0
		if scripted {
			*ok = 1
		}
		return err
	})
}

// cermic_open returns the number of open environments.
//
//export cermic_open
func cermic_open() C.int64_t {
	open.RLock()
	defer open.RUnlock()
	return C.int64_t(len(open.envs))
}

// cermic_close closes an environment. Closing a closed one does nothing.
//
//export cermic_close
func cermic_close(id C.int64_t) *C.char {
	open.Lock()
	h := open.envs[int64(id)]
	delete(open.envs, int64(id))
	open.Unlock()
	if h == nil {
		return nil
	}
	return answer(h.env.Close())
}

// actions is the caller's memory as discrete or continuous actions, whichever the task requires.
func (h *handle) actions(at unsafe.Pointer) ([]int32, []float32) {
	rows := h.spec.NumEnvs * h.spec.Agents
	if h.spec.Act.Choices > 0 {
		return unsafe.Slice((*int32)(at), rows), nil
	}
	return nil, unsafe.Slice((*float32)(at), rows*h.spec.Act.Dim)
}

// step is the caller's memory as a Step and pixels.
func (h *handle) step(table *unsafe.Pointer) (envs.Step, []uint8) {
	at := unsafe.Slice(table, bridge.BufferCount)
	bytes := func(k int) []uint8 { return array[uint8](h, at, k) }
	floats := func(k int) []float32 { return array[float32](h, at, k) }
	return envs.Step{
		Obs: floats(bridge.Obs), Cells: array[uint16](h, at, bridge.Cells), State: floats(bridge.State),
		Mask: bytes(bridge.Mask), Alive: bytes(bridge.Alive), Dense: floats(bridge.Dense), Sparse: floats(bridge.Sparse),
		Score: floats(bridge.Score), Terminated: bytes(bridge.Terminated), Truncated: bytes(bridge.Truncated),
		Visible: bytes(bridge.Seen), RelPos: floats(bridge.RelPos),
	}, bytes(bridge.Pixels)
}

// array is buffer k, or nil if the caller has none.
func array[T any](h *handle, at []unsafe.Pointer, k int) []T {
	if at[k] == nil {
		return nil
	}
	return unsafe.Slice((*T)(at[k]), h.len[k])
}
