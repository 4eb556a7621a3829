# SPDX-License-Identifier: Apache-2.0
"""E environments as a Gymnasium VectorEnv of E·N rows, one per agent, for a policy shared by all agents."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from . import _spaces
from ._env import Env, Step, _whole


class CermicVectorEnv(VectorEnv):
    """Row e·N + n is agent n of environment e.

    Episodes end for all agents of an environment at once. With autoreset="same_step" they begin anew within the same step, and infos hold
    "final_obs" with the true last observations, beside "_final_obs", the rows that have one. With autoreset="disabled" the caller resets
    by reset(options={"reset_mask": mask}) with mask [E·N] bool, equal for all agents of an environment. infos always hold "alive" [E·N] and
    "score" [E·N], this step's share of the benchmark's metric. Observations are those of cermic_envs.pettingzoo; with opponents, shorter ones
    end in zeros. What step returns belongs to the caller, who may keep it.
    """

    def __init__(
        self, task: str, num_envs: int = 1, *, seed: int = 0, workers: int = 0, pixels: bool = True, autoreset: str = "same_step",
        illegal: str = "raise", **settings: Any,
    ) -> None:  # fmt: skip
        if autoreset not in ("same_step", "disabled"):
            raise ValueError(f"autoreset is {autoreset!r}, want 'same_step' or 'disabled'")
        self._illegal = _spaces.known_illegal(illegal)
        self._env = Env(task, num_envs, seed, workers, False, settings)
        if pixels and self._env.spec.view is not None:
            self._env.close()
            self._env = Env(task, num_envs, seed, workers, True, settings)
        spec = self._env.spec
        self.num_envs = spec.num_envs * spec.num_agents
        self._length = max(group.obs for group in spec.groups)
        self.single_observation_space = _spaces.observation(spec, self._env.pixels, self._length)
        self.single_action_space = _spaces.action(spec)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._same_step = autoreset == "same_step"
        self.metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP if self._same_step else AutoresetMode.DISABLED}
        self.render_mode = None
        self._last: Step | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Starts new episodes, everywhere or where options["reset_mask"] says. Seeds are one number for all environments."""
        if seed is not None:
            seed = _whole("seed", seed)
        spec = self._env.spec
        mask = (options or {}).get("reset_mask")
        if mask is None:
            self._last = self._env.reset(seed=seed, out=self._env.new_step())
        else:
            if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (self.num_envs,):
                raise ValueError(f"options['reset_mask'] wants a NumPy array of bool [{self.num_envs}]")
            mask = mask.reshape(spec.num_envs, spec.num_agents)
            if (mask != mask[:, :1]).any():
                raise ValueError("options['reset_mask'] differs between agents of one environment, which start episodes together")
            step = self._env.new_step() if self._last is None else self._last.copy()
            self._last = self._env.reset(np.ascontiguousarray(mask[:, 0]), seed=seed, out=step)
        return self._observe(self._last), self._infos(self._last)

    def step(self, actions: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Advances all environments by actions [E·N] or [E·N,D]."""
        step = self._env.step(self._actions(actions), out=self._env.new_step())
        n = self._env.spec.num_agents
        reward = step.reward.reshape(-1).astype(np.float64)
        terminated, truncated = step.terminated.repeat(n), step.truncated.repeat(n)
        infos = self._infos(step)
        ended = step.terminated | step.truncated
        if self._same_step and ended.any():
            last = step.copy()
            infos = {"final_obs": self._observe(last), "_final_obs": ended.repeat(n), "final_info": infos, "_final_info": ended.repeat(n)}
            self._env.reset(ended, out=step)
            infos |= {"alive": step.alive.reshape(-1), "score": last.score.repeat(n)}
        self._last = step
        return self._observe(step), reward, terminated, truncated, infos

    def close_extras(self, **kwargs: Any) -> None:
        """Releases the environments' resources."""
        self._env.close()

    def _actions(self, actions: Any) -> np.ndarray:
        spec, array = self._env.spec, np.asarray(actions)
        if array.dtype.kind not in ("iu" if spec.choices else "f"):
            raise TypeError(f"actions have dtype {array.dtype}, want {'whole numbers' if spec.choices else 'float32'}")
        if array.shape != self.action_space.shape:
            raise ValueError(f"actions have shape {list(array.shape)}, want {list(self.action_space.shape or ())}")
        if spec.choices and array.size and not (array.min() >= 0 and array.max() < spec.choices):
            raise ValueError(f"actions are {array.min()} to {array.max()}, want 0 to {spec.choices - 1}")
        array = np.ascontiguousarray(array.reshape(spec.action_shape), spec.action_dtype)
        if self._illegal == "replace" and self._last is not None and self._last.mask is not None:
            array = array.copy()
            _spaces.replace_illegal(array, self._last.mask)
        return array

    def _observe(self, step: Step) -> Any:
        spec = self._env.spec
        rows = (spec.num_envs * spec.num_agents,)

        def flat(x: Any) -> Any:
            return {key: flat(value) for key, value in x.items()} if isinstance(x, dict) else x.reshape(rows + x.shape[2:])

        return flat(_spaces.observed(step, (slice(None), slice(None)), self._length))

    def _infos(self, step: Step) -> dict[str, Any]:
        return {"alive": step.alive.reshape(-1), "score": step.score.repeat(self._env.spec.num_agents)}
