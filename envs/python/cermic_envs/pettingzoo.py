# SPDX-License-Identifier: Apache-2.0
"""One environment as a PettingZoo ParallelEnv.

env = cermic_envs.parallel_env("smac/protoss_5_vs_5"); PettingZoo's conversions and wrappers apply, parallel_to_aec(env) among them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv  # type: ignore[import-untyped]

from . import _spaces
from ._env import Env, Step


class CermicParallelEnv(ParallelEnv):  # type: ignore[misc]  # PettingZoo is not marked as typed
    """All agents act at once and an episode ends for all of them at once.

    An observation is a Box [O]; of views, a Dict of "rgb" [8H,8W,3] (with pixels=False of "cells" [H,W]) and "vector" [X]. Where actions can be
    unavailable it is a Dict of "observation" and "action_mask" [K]. infos hold "alive" and "score", this step's share of the benchmark's metric.
    illegal="replace" puts the first allowed action in the place of a forbidden one; "raise" refuses it with ValueError.
    """

    metadata: dict[str, Any] = {"render_modes": [], "name": "cermic", "is_parallelizable": True}
    render_mode = None

    def __init__(self, task: str, *, seed: int = 0, pixels: bool = True, illegal: str = "raise", **settings: Any) -> None:
        self._illegal = _spaces.known_illegal(illegal)
        self._env = Env(task, 1, seed, 1, False, settings)
        if pixels and self._env.spec.view is not None:
            self._env.close()
            self._env = Env(task, 1, seed, 1, True, settings)
        spec = self._env.spec
        self.metadata = {**self.metadata, "name": spec.task}
        self.possible_agents = list(spec.agents)
        self.agents: list[str] = []
        self._length = {self.possible_agents[i]: group.obs for group in spec.groups for i in group.agents}
        self.observation_spaces = {name: _spaces.observation(spec, self._env.pixels, length) for name, length in self._length.items()}
        self.action_spaces = {name: _spaces.action(spec) for name in self.possible_agents}
        self.state_space = spaces.Box(-np.inf, np.inf, (spec.state,), np.float32)
        self._step: Step | None = None

    def observation_space(self, agent: str) -> Any:
        """The space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """The space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Starts an episode; without a seed, the next one of the same stream. Ignores options."""
        step = self._step = self._env.reset(seed=seed)
        self.agents = list(self.possible_agents)
        return self._observe(step), self._infos(step)

    def step(self, actions: dict[str, Any]) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]:
        """Advances the episode by one action of every agent."""
        if self._step is None or not self.agents:
            if self._env.closed:
                self._env.reset()  # says so
            raise RuntimeError("the episode has ended or not begun; call reset before step")
        if set(actions) != set(self.agents):
            raise ValueError(f"actions are of {sorted(actions)}, want one of each of {sorted(self.agents)}")
        spec = self._env.spec
        taken = np.zeros(spec.action_shape, spec.action_dtype)
        for i, name in enumerate(self.possible_agents):
            taken[0, i] = self._action(name, actions[name])
        if self._illegal == "replace":
            _spaces.replace_illegal(taken, self._step.mask)
        step = self._step = self._env.step(taken)
        ended, late = bool(step.terminated[0]), bool(step.truncated[0])
        out = (
            self._observe(step),
            {name: float(step.reward[0, i]) for i, name in enumerate(self.possible_agents)},
            dict.fromkeys(self.agents, ended),
            dict.fromkeys(self.agents, late),
            self._infos(step),
        )
        if ended or late:
            self.agents = []
        return out

    def state(self) -> np.ndarray:
        """The central state, [S]."""
        if self._step is None:
            raise RuntimeError("there is no state before the first reset")
        state: np.ndarray = self._step.state[0].copy()
        return state

    def render(self) -> None:
        """Nothing: there are no render modes."""

    def close(self) -> None:
        """Releases the environment's resources."""
        self._env.close()

    def _action(self, name: str, action: Any) -> np.ndarray:
        space, array = self.action_spaces[name], np.asarray(action)
        kinds = "iu" if self._env.spec.choices else "fiu"
        if array.dtype.kind not in kinds:
            raise TypeError(f"the action of {name} is {action!r}, want one of {space}")
        if array.shape != space.shape:
            raise ValueError(f"the action of {name} has shape {list(array.shape)}, want {list(space.shape or ())}")
        if self._env.spec.choices and not 0 <= int(array) < self._env.spec.choices:
            raise ValueError(f"the action of {name} is {int(array)}, want 0 to {self._env.spec.choices - 1}")
        return array

    def _observe(self, step: Step) -> dict[str, Any]:
        return {name: _spaces.copied(_spaces.observed(step, (0, i), self._length[name])) for i, name in enumerate(self.agents)}

    def _infos(self, step: Step) -> dict[str, Any]:
        score = float(step.score[0])
        return {name: {"alive": bool(step.alive[0, i]), "score": score} for i, name in enumerate(self.agents)}
