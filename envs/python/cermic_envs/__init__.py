# SPDX-License-Identifier: Apache-2.0
"""Batched multi-agent environments written in Go: VMAS's tasks, Melting Pot's substrates, SMACv2's battles and small exploration tasks.

    import cermic_envs
    env = cermic_envs.make("vmas/balance", num_envs=60, reward="sparse", n_agents=4)
    step = env.reset()
    step = env.step(actions)      # float32 [E,N,D]; step.obs, step.reward, ... are NumPy arrays that the library writes in place

make          environments on NumPy arrays
tasks         names of all tasks
settings      what a task can be told, with defaults
parallel_env  a PettingZoo ParallelEnv
vector_env    a Gymnasium VectorEnv, one policy for all agents
cermic_envs.torchrl.CermicEnv      a TorchRL environment, agents grouped
cermic_envs.benchmarl.CermicTask   BenchMARL tasks

Each of the last four needs its library; the rest needs NumPy alone.
"""

from __future__ import annotations

import ctypes
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _library
from ._env import Env, Group, Spec, Step

if TYPE_CHECKING:
    from .gymnasium import CermicVectorEnv
    from .pettingzoo import CermicParallelEnv

__all__ = ["Env", "Group", "Setting", "Spec", "Step", "make", "parallel_env", "settings", "tasks", "vector_env"]
__version__ = "0.1.0"


@dataclass(frozen=True)
class Setting:
    """A setting of a task: a keyword argument of make, with its type in words and its default as text."""

    key: str
    type: str
    default: str


def make(task: str, num_envs: int = 1, *, seed: int = 0, workers: int = 0, pixels: bool = False, **settings: Any) -> Env:
    """Makes num_envs parallel environments of a task.

    seed names all random streams; workers is the number of threads to spread environments over (0: one for each core), which changes no
    result; pixels=True paints views made of cells as images, too. settings are the task's own, see `settings`; one inside another is written
    as a dict, noise={"width": 1, "height": 1}. Unknown tasks, settings and impossible values raise ValueError with one sentence.
    """
    return Env(task, num_envs, seed, workers, pixels, settings)


def tasks() -> list[str]:
    """Names of all tasks, in alphabetical order."""
    return list(_tasks())


def settings(task: str) -> list[Setting]:
    """Settings of a task, in the order of its Go config."""
    known = _tasks()
    if task not in known:
        raise ValueError(f"unknown task {task!r}; cermic_envs.tasks() lists the known ones")
    return known[task]


def _tasks() -> dict[str, list[Setting]]:
    lib, text = _library.library(), ctypes.c_void_p()
    _library.check(lib, lib.cermic_tasks(ctypes.byref(text)))
    return {task["name"]: [Setting(**s) for s in task["settings"]] for task in json.loads(_library.take(lib, text.value))}


def parallel_env(task: str, *, seed: int = 0, pixels: bool = True, **settings: Any) -> CermicParallelEnv:
    """One environment as a PettingZoo ParallelEnv; see cermic_envs.pettingzoo."""
    from .pettingzoo import CermicParallelEnv

    return CermicParallelEnv(task, seed=seed, pixels=pixels, **settings)


def vector_env(task: str, num_envs: int = 1, *, seed: int = 0, workers: int = 0, pixels: bool = True, **settings: Any) -> CermicVectorEnv:
    """num_envs environments as a Gymnasium VectorEnv with a row per agent; see cermic_envs.gymnasium."""
    from .gymnasium import CermicVectorEnv

    return CermicVectorEnv(task, num_envs, seed=seed, workers=workers, pixels=pixels, **settings)
