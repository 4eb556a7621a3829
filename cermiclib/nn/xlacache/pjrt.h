// SPDX-License-Identifier: Apache-2.0

// What this package calls of PJRT's C interface, version 0: argument structs begin with their size and a list of extensions, and the
// table of functions only ever grows at its end, so that places in it are fixed. Source of the layout: openxla/xla,
// xla/pjrt/c/pjrt_c_api.h.

#ifndef CERMIC_XLACACHE_PJRT_H
#define CERMIC_XLACACHE_PJRT_H

#include <stdbool.h>
#include <stddef.h>

// A program in one of XLA's languages.
typedef struct {
	size_t size;
	void *extensions;
	const char *code;
	size_t code_size;
	const char *format;
	size_t format_size;
} pjrt_program;

// Arguments of PJRT_Client_Compile.
typedef struct {
	size_t size;
	void *extensions;
	void *client;
	const pjrt_program *program;
	const char *options;
	size_t options_size;
	void *executable; // out
} compile_args;

// Bytes that somebody else owns.
typedef struct {
	const char *data;
	size_t size;
} bytes;

// xlacache_install opens the plug-in and puts xlacacheCompile in the place of its PJRT_Client_Compile. NULL, or why it cannot.
const char *xlacache_install(const char *plugin);

// xlacache_compile is the plug-in's own PJRT_Client_Compile: NULL or a PJRT_Error.
void *xlacache_compile(compile_args *args);

// xlacache_load sets args->executable to the one that code holds; false if the plug-in refuses it.
bool xlacache_load(compile_args *args, const char *code, size_t size);

// xlacache_serialize gives the bytes of args->executable, which live until xlacache_release(owner); false if it has none.
bool xlacache_serialize(compile_args *args, bytes *code, void **owner);
void xlacache_release(void *owner);

#endif
