# SPDX-License-Identifier: Apache-2.0
"""The shared library: loading, and converting its errors to exceptions."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from pathlib import Path

_NAMES = {"win32": "cermic_envs.dll", "darwin": "libcermic_envs.dylib"}
_library: ctypes.CDLL | None = None
_loading = threading.Lock()
_forked = False


def path() -> Path:
    """Path of the shared library: beside this file, or CERMIC_ENVS_LIBRARY."""
    return Path(os.environ.get("CERMIC_ENVS_LIBRARY") or Path(__file__).with_name(_NAMES.get(sys.platform, "libcermic_envs.so")))


def library() -> ctypes.CDLL:
    """The library, loaded at the first use. Raises RuntimeError in a process forked after that."""
    global _library
    if _forked:
        raise RuntimeError(
            "this process was forked from one that already used cermic_envs, whose threads a fork does not copy: "
            "start processes with multiprocessing's 'spawn' method instead"
        )
    if _library is not None:
        return _library
    with _loading:
        if _library is None:
            _library = _load(path())
            if hasattr(os, "register_at_fork"):
                os.register_at_fork(after_in_child=_note_fork)
    return _library


def _note_fork() -> None:
    global _forked
    _forked = True


def forked() -> bool:
    """Whether this process may not call the library, because it was forked after the library was loaded."""
    return _forked


def _load(file: Path) -> ctypes.CDLL:
    try:
        lib = ctypes.CDLL(str(file))
    except OSError as err:
        raise ImportError(f"the library {file} cannot be loaded ({err}); build the package with: go run ./reproduce python") from err
    text, i64, pointer = ctypes.c_char_p, ctypes.c_int64, ctypes.c_void_p
    out = ctypes.POINTER(pointer)
    for name, arguments in {
        "cermic_tasks": [out],
        "cermic_make": [text, text, i64, ctypes.c_uint64, i64, ctypes.POINTER(i64), out],
        "cermic_reset": [i64, pointer, pointer, pointer],
        "cermic_step": [i64, pointer, pointer],
        "cermic_script": [i64, pointer, pointer],
        "cermic_close": [i64],
    }.items():
        function = getattr(lib, name)
        function.argtypes, function.restype = arguments, pointer
    lib.cermic_open.argtypes, lib.cermic_open.restype = [], i64
    lib.cermic_free.argtypes, lib.cermic_free.restype = [pointer], None
    return lib


def take(lib: ctypes.CDLL, at: int | None) -> str:
    """The text at an address that the library returned; frees it."""
    if at is None:
        raise RuntimeError("the shared library returned no text: it is not the one that this package was built with")
    text = ctypes.string_at(at).decode()
    lib.cermic_free(at)
    return text


def check(lib: ctypes.CDLL, answer: int | None) -> None:
    """Raises a library function's error: ValueError for a mistake, RuntimeError for a failure."""
    if answer:
        text = take(lib, answer)
        raise (ValueError if text[0] == "m" else RuntimeError)(text[1:])
