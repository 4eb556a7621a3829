# SPDX-License-Identifier: Apache-2.0
"""Batched environments on NumPy arrays.

Shape letters, used everywhere in this package: E parallel environments, N agents, O observation, S state, K discrete actions,
D components of a continuous action, H and W height and width of an agent's view in cells, X numbers beside it.
"""

from __future__ import annotations

import ctypes
import json
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _library


@dataclass(frozen=True)
class Group:
    """Agents of one kind, which BenchMARL and TorchRL train separately."""

    name: str
    agents: tuple[int, ...]  # their indices among the N agents
    obs: int  # O of its agents; the rest of their rows of Step.obs is zero

    def columns(self) -> slice | list[int]:
        """The index of the group's agents along an axis of N: a slice (which needs no copy) if they are consecutive."""
        first, last = self.agents[0], self.agents[-1]
        return slice(first, last + 1) if last - first + 1 == len(self.agents) else list(self.agents)


@dataclass(frozen=True)
class Spec:
    """Shapes and constants of an environment."""

    task: str
    num_envs: int  # E
    num_agents: int  # N
    groups: tuple[Group, ...]  # one, called "agents", in tasks without opponents
    obs: tuple[int, ...]  # (O,) of vector observations, or (H, W) of views made of cells
    scalars: int  # X: length of the vector beside the view; 0 for vector observations
    cell_values: int  # number of different cells in a view; 0 for vector observations
    state: int  # S: length of the central state for critics and mixers
    choices: int  # K; 0: actions are continuous
    low: tuple[float, ...]  # [D] bounds of continuous actions, which are clipped to them
    high: tuple[float, ...]  # [D]
    masked: bool  # actions can be unavailable: Step.mask has the allowed ones
    horizon: int  # steps until an episode is truncated
    eval_horizon: int  # steps over which Step.score is counted
    metric: str  # name of the sum of Step.score over an episode
    sparse: bool  # Step.reward is Step.sparse, else Step.dense
    solved: float | None  # sparse return of a successful episode; 0: any; None: success is undefined
    optimum: float  # largest expected sum of Step.score; 0: unknown
    deterministic: bool  # seeds change nothing
    buffers: tuple[tuple[str, np.dtype, tuple[int, ...]], ...]  # name, dtype and shape of the arrays of a Step

    @property
    def agents(self) -> tuple[str, ...]:
        """Names of the N agents: "agent_0", or "adversary_0" after their group."""
        names = [""] * self.num_agents
        for group in self.groups:
            for k, agent in enumerate(group.agents):
                names[agent] = f"{'agent' if group.name == 'agents' else group.name}_{k}"
        return tuple(names)

    @property
    def view(self) -> tuple[int, int] | None:
        """(H, W) of an agent's view in cells, or None for vector observations."""
        return (self.obs[0], self.obs[1]) if len(self.obs) == 2 else None

    @property
    def action_shape(self) -> tuple[int, ...]:
        """(E, N) of int32 for discrete actions, (E, N, D) of float32 for continuous ones."""
        rows = (self.num_envs, self.num_agents)
        return rows if self.choices else (*rows, len(self.low))

    @property
    def action_dtype(self) -> np.dtype:
        """int32 for discrete actions, float32 for continuous ones."""
        return np.dtype(np.int32 if self.choices else np.float32)


def _spec(text: str) -> Spec:
    fields: dict[str, Any] = json.loads(text)
    fields["groups"] = tuple(Group(g["name"], tuple(g["agents"]), g["obs"]) for g in fields["groups"])
    fields["buffers"] = tuple((b["name"], np.dtype(b["dtype"]), tuple(b["shape"])) for b in fields["buffers"])
    for key in ("obs", "low", "high"):
        fields[key] = tuple(fields[key] or ())
    return Spec(**fields)


class Step:
    """The output of E environments after a reset or step. The library writes into these arrays in place.

    Arrays that the task lacks are None: cells and pixels for vector observations, mask if all actions are always allowed.

    obs         [E,N,O] float32: after the transition and before any reset; [E,N,X] beside a view
    cells       [E,N,H,W] uint16: numbers of the cells of a view
    pixels      [E,N,8H,8W,3] uint8: the same as an image, if the environment was made with pixels=True
    state       [E,S] float32
    mask        [E,N,K] bool: which actions are allowed
    alive       [E,N] bool
    dense       [E,N] float32: the benchmark's own reward
    sparse      [E,N] float32: the reward of success alone
    score       [E] float32: the step's contribution to the benchmark's metric
    terminated  [E] bool: the episode has ended
    truncated   [E] bool: the episode has reached its horizon; never both
    seen        [E,N,P] bool: whether an agent perceives a peer (labels; P is N, except with opponents as peers)
    rel_pos     [E,N,P,2] float32: position of a peer relative to the agent, in half sizes of the world (labels)
    """

    __slots__ = ("spec", "_table", "_memory", "obs", "cells", "state", "mask", "alive", "dense", "sparse", "score",
                 "terminated", "truncated", "seen", "rel_pos", "pixels")  # fmt: skip

    spec: Spec
    _table: Any  # of addresses, for the library
    _memory: list[np.ndarray | None]
    obs: np.ndarray
    cells: np.ndarray | None
    state: np.ndarray
    mask: np.ndarray | None
    alive: np.ndarray
    dense: np.ndarray
    sparse: np.ndarray
    score: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    seen: np.ndarray
    rel_pos: np.ndarray
    pixels: np.ndarray | None

    def __init__(self, spec: Spec, pixels: bool) -> None:
        put = object.__setattr__
        memory: list[np.ndarray | None] = []
        for name, dtype, shape in spec.buffers:
            absent = shape == (0,) or (name == "pixels" and not pixels)
            array = None if absent else np.zeros(shape, dtype)
            memory.append(array)
            # A view, because an array that owns its memory could be resized while the library holds its old address.
            put(self, name, None if array is None else array[...])
        put(self, "spec", spec)
        put(self, "_memory", memory)
        put(self, "_table", (ctypes.c_void_p * len(memory))(*(None if a is None else a.ctypes.data for a in memory)))

    @property
    def reward(self) -> np.ndarray:
        """[E,N] float32: sparse or dense, as selected by the setting reward."""
        return self.sparse if self.spec.sparse else self.dense

    def copy(self) -> Step:
        """A copy with its own arrays."""
        twin = Step(self.spec, self.pixels is not None)
        for to, of in zip(twin._memory, self._memory):
            if to is not None and of is not None:
                to[...] = of
        return twin

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"the arrays of a Step cannot be replaced, because the library writes into them; write {name}[...] = to change one")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"the arrays of a Step cannot be deleted, because the library writes into them; keep {name}")

    def __reduce__(self) -> Any:
        raise TypeError("a Step cannot be pickled, because its memory is the library's target; pickle copies of its arrays")

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}{list(shape)}" for name, _, shape in self.spec.buffers if getattr(self, name) is not None)
        return f"Step of {self.spec.task}: {shown}"


class Env:
    """E environments of one task, N agents each, stepped together. Made by `make`.

    The protocol is reset(), step(actions), then reset(mask) of the environments that have terminated or truncated, and so on: step never
    resets, so that the true last observation of an episode is not lost. Calls release the interpreter lock, so threads with separate environments
    run in parallel. Calls to one environment wait for each other.
    """

    spec: Spec
    pixels: bool

    def __init__(self, task: str, num_envs: int, seed: int, workers: int, pixels: bool, settings: dict[str, Any]) -> None:
        if not isinstance(task, str):
            raise TypeError(f"task is {type(task).__name__}, want the name of a task, like 'vmas/balance'")
        num_envs, workers = _whole("num_envs", num_envs), _whole("workers", workers)
        if not 1 <= num_envs <= 1 << 16:
            raise ValueError(f"{task}: num_envs is {num_envs}, want 1 to 65536")
        if not 0 <= workers <= 4096:
            raise ValueError(f"{task}: workers is {workers}, want 0 (one for each core) to 4096")
        if not isinstance(pixels, bool):
            raise TypeError(f"pixels is {pixels!r}, want True or False")
        try:
            encoded = json.dumps(settings, allow_nan=False, default=_plain)
        except (TypeError, ValueError) as err:
            raise type(err)(f"{task}: a setting has a value that it cannot have: {err}") from None
        lib = _library.library()
        handle, text = ctypes.c_int64(), ctypes.c_void_p()
        name, options = _text("task", task), encoded.encode()
        _library.check(lib, lib.cermic_make(name, options, num_envs, _seed(seed), workers, ctypes.byref(handle), ctypes.byref(text)))
        self._lib, self._handle = lib, handle.value
        self._close = weakref.finalize(self, _close, lib, handle.value)
        self.spec = _spec(_library.take(lib, text.value))
        if pixels and self.spec.view is None:
            self.close()
            raise ValueError(f"{task}: pixels=True, but this task has vector observations; leave pixels out")
        self.pixels = pixels
        self._step = self.new_step()

    def new_step(self) -> Step:
        """Arrays for reset and step to write, for callers that keep earlier steps."""
        return Step(self.spec, self.pixels)

    def reset(self, mask: np.ndarray | None = None, *, seed: int | None = None, out: Step | None = None) -> Step:
        """Starts new episodes in all environments or in those of mask, [E] bool, and writes only their rows.

        A seed restarts all random streams, as in an environment made with it. Returns out or, by default, the environment's own Step, which
        the next call overwrites.
        """
        out = self._target(out)
        lib = self._ready()
        where = ctypes.c_void_p()
        if mask is not None:
            mask = _array("mask", mask, np.dtype(np.bool_), (self.spec.num_envs,))
            where = ctypes.c_void_p(mask.ctypes.data)
        start = None if seed is None else ctypes.c_uint64(_seed(seed))
        _library.check(lib, lib.cermic_reset(self._handle, out._table, where, None if start is None else ctypes.addressof(start)))
        return out

    def step(self, actions: np.ndarray, *, out: Step | None = None) -> Step:
        """Advances all environments: actions [E,N] int32, or [E,N,D] float32 if continuous. Returns as reset does."""
        out = self._target(out)
        lib = self._ready()
        actions = _array("actions", actions, self.spec.action_dtype, self.spec.action_shape)
        _library.check(lib, lib.cermic_step(self._handle, out._table, actions.ctypes.data))
        return out

    def script(self) -> np.ndarray | None:
        """Actions of the task's scripted policy for step; None if the task has no script."""
        lib, ok = self._ready(), ctypes.c_uint8()
        actions = np.zeros(self.spec.action_shape, self.spec.action_dtype)
        _library.check(lib, lib.cermic_script(self._handle, actions.ctypes.data, ctypes.addressof(ok)))
        return actions if ok.value else None

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        """Uniformly random actions, allowed by the mask (if any) of the environment's own Step."""
        if not self.spec.choices:
            forces: np.ndarray = rng.uniform(self.spec.low, self.spec.high, self.spec.action_shape).astype(np.float32)
            return forces
        scores = rng.random((*self.spec.action_shape, self.spec.choices))
        if self._step.mask is not None:
            scores[~self._step.mask] = -1
        choices: np.ndarray = scores.argmax(-1).astype(np.int32)
        return choices

    def close(self) -> None:
        """Releases the environment's resources. Closing twice does nothing."""
        self._close()

    @property
    def closed(self) -> bool:
        """Whether close was called."""
        return not self._close.alive

    def _ready(self) -> ctypes.CDLL:
        if self.closed:
            raise RuntimeError(f"this environment of {self.spec.task} is closed; make a new one")
        return _library.library()

    def _target(self, out: Step | None) -> Step:
        if out is None:
            return self._step
        if not isinstance(out, Step):
            raise TypeError(f"out is {type(out).__name__}, want a Step from new_step()")
        if out.spec is not self.spec:
            raise ValueError("out is a Step of another environment; make it with new_step() of this one")
        return out

    def __enter__(self) -> Env:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError("an environment cannot be pickled; make one in each process")

    def __repr__(self) -> str:
        return f"{'closed ' if self.closed else ''}{self.spec.task}: {self.spec.num_envs} environments of {self.spec.num_agents} agents"


def _close(lib: ctypes.CDLL, handle: int) -> None:
    if not _library.forked():  # a forked process has no environments of its own
        _library.check(lib, lib.cermic_close(handle))


def _array(name: str, array: object, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{name} is {_kind(array)}, want a NumPy array of {dtype} {list(shape)}")
    if array.dtype != dtype:
        raise TypeError(f"{name} has dtype {array.dtype}, want {dtype}")
    if array.shape != shape:
        raise ValueError(f"{name} has shape {list(array.shape)}, want {list(shape)}")
    if not (array.flags.c_contiguous and array.flags.aligned):
        raise ValueError(f"{name} is not contiguous in memory; pass numpy.ascontiguousarray({name})")
    return array


def _kind(value: object) -> str:
    device = getattr(value, "device", None)
    return f"a {type(value).__name__}" + (f" on {device}" if device is not None else "")


def _whole(name: str, value: object) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} is {value!r}, want a whole number")
    return int(value)


def _seed(value: object) -> int:
    seed = _whole("seed", value)
    if not 0 <= seed < 1 << 64:
        raise ValueError(f"seed is {seed}, want 0 to 2^64-1")
    return seed


def _text(name: str, value: str) -> bytes:
    try:
        encoded = value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} is {value!r}, which is no text") from None
    if b"\0" in encoded:
        raise ValueError(f"{name} is {value!r}, want text without zero characters")
    return encoded


def _plain(value: object) -> object:
    """NumPy's numbers and arrays as JSON's."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is no number, text, truth value, list or object")
