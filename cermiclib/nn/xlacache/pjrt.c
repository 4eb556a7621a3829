// SPDX-License-Identifier: Apache-2.0

//go:build linux && cgo && !noxla

#include "pjrt.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "_cgo_export.h"

typedef void *(*call)(void *args); // NULL or a PJRT_Error

// Places in the table of functions, counted from its first.
enum {
	ERROR_DESTROY = 0,
	CLIENT_COMPILE = 20,
	EXECUTABLE_DESTROY = 40,
	EXECUTABLE_SERIALIZE = 49,
	LOADED_GET_EXECUTABLE = 51,
	DESERIALIZE_AND_LOAD = 56,
};

typedef struct {
	size_t size;
	void *extensions;
	struct {
		size_t size;
		void *extensions;
		int major, minor;
	} version;
	call functions[];
} table;

static table *api;
static call compile;

typedef struct {
	size_t size;
	void *extensions;
	void *subject;
	void *result;
} one_result;

typedef struct {
	size_t size;
	void *extensions;
	void *executable;
	const char *data;
	size_t data_size;
	void *owner;
	void (*release)(void *owner);
} serialize_args;

typedef struct {
	size_t size;
	void *extensions;
	void *client;
	const char *data;
	size_t data_size;
	void *executable; // out
	const char *options;
	size_t options_size;
} load_args;

// failed reports whether a call failed, and forgets why.
static bool failed(void *error) {
	if (error == NULL) return false;
	one_result e = {.size = offsetof(one_result, result), .subject = error};
	api->functions[ERROR_DESTROY](&e);
	return true;
}

static void *hook(void *args) { return xlacacheCompile(args); }

const char *xlacache_install(const char *plugin) {
	void *library = dlopen(plugin, RTLD_LAZY | RTLD_LOCAL); // stays open: go-xla gets the same one
	if (library == NULL) return "the plug-in cannot be opened";
	table *(*get)(void) = (table * (*)(void)) dlsym(library, "GetPjrtApi");
	if (get == NULL) return "the plug-in has no GetPjrtApi";
	api = get();
	if (api == NULL || api->version.major != 0) return "the plug-in's interface is of another version";
	if (api->size < offsetof(table, functions) + (DESERIALIZE_AND_LOAD + 1) * sizeof(call)) return "the plug-in's interface is too old";
	if (api->functions[EXECUTABLE_SERIALIZE] == NULL || api->functions[DESERIALIZE_AND_LOAD] == NULL) return "the plug-in cannot keep what it compiles";
	call *place = &api->functions[CLIENT_COMPILE];
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)place & ~(page - 1);
	if (mprotect((void *)start, (uintptr_t)(place + 1) - start, PROT_READ | PROT_WRITE) != 0) return "the plug-in's table of functions is read-only";
	compile = *place;
	*place = hook;
	return NULL;
}

void *xlacache_compile(compile_args *args) { return compile(args); }

bool xlacache_load(compile_args *args, const char *code, size_t size) {
	load_args a = {.size = sizeof a, .client = args->client, .data = code, .data_size = size};
	if (failed(api->functions[DESERIALIZE_AND_LOAD](&a))) return false;
	args->executable = a.executable;
	return true;
}

// What backs serialised bytes.
typedef struct {
	void *owner, *executable;
	void (*release)(void *);
} backing;

static void destroy(void *executable) {
	one_result d = {.size = offsetof(one_result, result), .subject = executable};
	failed(api->functions[EXECUTABLE_DESTROY](&d));
}

bool xlacache_serialize(compile_args *args, bytes *code, void **owner) {
	one_result get = {.size = sizeof get, .subject = args->executable};
	if (failed(api->functions[LOADED_GET_EXECUTABLE](&get))) return false;
	serialize_args s = {.size = sizeof s, .executable = get.result};
	if (failed(api->functions[EXECUTABLE_SERIALIZE](&s))) {
		destroy(get.result);
		return false;
	}
	backing *b = malloc(sizeof *b);
	*b = (backing){.owner = s.owner, .executable = get.result, .release = s.release};
	*code = (bytes){.data = s.data, .size = s.data_size};
	*owner = b;
	return true;
}

void xlacache_release(void *owner) {
	backing *b = owner;
	if (b->release != NULL) b->release(b->owner);
	destroy(b->executable);
	free(b);
}
