# SPDX-License-Identifier: Apache-2.0
"""E environments as one TorchRL environment of batch size [E], whose agents are grouped as BenchMARL groups them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from tensordict import TensorDict, TensorDictBase  # type: ignore[import-untyped]
from torchrl.data import Binary, Bounded, Categorical, Composite, Unbounded  # type: ignore[import-untyped]
from torchrl.envs import EnvBase  # type: ignore[import-untyped]

from ._env import Env, Group, Spec, Step


class CermicEnv(EnvBase):  # type: ignore[misc]  # TorchRL is not marked as typed
    """Tensors share the library's memory without copies: every step has its own arrays.

    Under each group's name ("agents" where there is one) are

        observation  float32 [E,n,O]; of views, "rgb" uint8 [E,n,8H,8W,3] (with pixels=False "cells" int16 [E,n,H,W]) and "vector" [E,n,X]
        action       int64 [E,n], or float32 [E,n,D]; what lies beyond the bounds is clipped
        action_mask  bool [E,n,K], where actions can be unavailable
        reward       float32 [E,n,1]
        info         "alive" bool [E,n,1] and "score" float32 [E,n,1], this step's share of the benchmark's metric

    and at the root "done", "terminated", "truncated" [E,1] and, with state=True, "state" float32 [E,S]. The environment is on the CPU.
    """

    batch_locked = True

    def __init__(
        self, task: str, num_envs: int = 1, *, seed: int | None = 0, device: Any = "cpu", workers: int = 0, pixels: bool = True,
        state: bool = False, **settings: Any,
    ) -> None:  # fmt: skip
        device = torch.device("cpu" if device is None else device)
        if device.type != "cpu":
            raise ValueError(f"device is {device}, but these environments are on the CPU; let the collector or a DeviceCastTransform move tensors")
        seed = 0 if seed is None else seed
        env = Env(task, num_envs, seed, workers, False, settings)
        if pixels and env.spec.view is not None:
            env.close()
            env = Env(task, num_envs, seed, workers, True, settings)
        super().__init__(device=device, batch_size=torch.Size([num_envs]))
        self.env, self.cermic_spec, self._with_state = env, env.spec, state
        self._next_seed: int | None = None
        self._last: Step | None = None
        self.group_map = {g.name: [env.spec.agents[i] for i in g.agents] for g in env.spec.groups}
        self._describe(env.spec)

    def _describe(self, spec: Spec) -> None:
        e = spec.num_envs
        observation, action, reward = Composite(shape=(e,)), Composite(shape=(e,)), Composite(shape=(e,))
        for group in spec.groups:
            n = len(group.agents)
            shape = (e, n)
            entries: dict[str, Any] = {"observation": self._observation(group, shape)}
            if spec.masked:
                entries["action_mask"] = Binary(spec.choices, (*shape, spec.choices), dtype=torch.bool)
            entries["info"] = Composite(
                {"alive": Binary(1, (*shape, 1), dtype=torch.bool), "score": Unbounded((*shape, 1), dtype=torch.float32)}, shape=shape
            )
            observation[group.name] = Composite(entries, shape=shape)
            action[group.name] = Composite({"action": self._action(shape)}, shape=shape)
            reward[group.name] = Composite({"reward": Unbounded((*shape, 1), dtype=torch.float32)}, shape=shape)
        if self._with_state:
            observation["state"] = Unbounded((e, spec.state), dtype=torch.float32)
        self.observation_spec, self.action_spec, self.reward_spec = observation, action, reward
        flags = {name: Binary(1, (e, 1), dtype=torch.bool) for name in ("done", "terminated", "truncated")}
        self.done_spec = Composite(flags, shape=(e,))

    def _observation(self, group: Group, shape: tuple[int, ...]) -> Any:
        spec = self.cermic_spec
        vector = Unbounded((*shape, group.obs), dtype=torch.float32)
        if spec.view is None:
            return vector
        h, w = spec.view
        if self.env.pixels:
            return Composite({"rgb": Bounded(0, 255, (*shape, 8 * h, 8 * w, 3), dtype=torch.uint8), "vector": vector}, shape=shape)
        return Composite({"cells": Bounded(0, spec.cell_values - 1, (*shape, h, w), dtype=torch.int16), "vector": vector}, shape=shape)

    def _action(self, shape: tuple[int, ...]) -> Any:
        spec = self.cermic_spec
        if spec.choices:
            return Categorical(spec.choices, shape, dtype=torch.int64)
        low, high = (torch.tensor(x, dtype=torch.float32).expand(*shape, len(x)) for x in (spec.low, spec.high))
        return Bounded(low, high, (*shape, len(spec.low)), dtype=torch.float32)

    def _reset(self, tensordict: TensorDictBase | None = None, **kwargs: Any) -> TensorDictBase:
        mask = None if tensordict is None else tensordict.get("_reset", None)
        if mask is None or self._last is None or bool(mask.all()):
            seed, self._next_seed = self._next_seed, None
            self._last = self.env.reset(seed=seed, out=self.env.new_step())
        else:
            step = self._last.copy()  # keeps rows of unfinished environments, without overwriting earlier output
            chosen = np.ascontiguousarray(mask.reshape(self.cermic_spec.num_envs).numpy())
            self._last = self.env.reset(chosen, out=step)
        return self._shown(self._last)

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        step = self._last = self.env.step(self._actions(tensordict), out=self.env.new_step())
        return self._shown(step, reward=True)

    def _set_seed(self, seed: int | None) -> None:
        self._next_seed = seed

    def close(self, *, raise_if_closed: bool = True) -> None:
        """Releases the environments' resources."""
        self.env.close()
        super().close(raise_if_closed=raise_if_closed)

    def _actions(self, tensordict: TensorDictBase) -> np.ndarray:
        spec = self.cermic_spec
        whole = np.zeros(spec.action_shape, spec.action_dtype)
        for group in spec.groups:
            action = tensordict.get((group.name, "action"))
            want = (spec.num_envs, len(group.agents), *spec.action_shape[2:])
            if action.device.type != "cpu":
                raise ValueError(f"the actions of {group.name} are on {action.device}, want them on the CPU")
            if tuple(action.shape) != want:
                raise ValueError(f"the actions of {group.name} have shape {list(action.shape)}, want {list(want)}")
            if action.is_floating_point() == bool(spec.choices) or action.dtype in (torch.bool, torch.complex64, torch.complex128):
                raise TypeError(f"the actions of {group.name} have dtype {action.dtype}, want {'torch.int64' if spec.choices else 'torch.float32'}")
            if spec.choices and action.numel() and not (int(action.min()) >= 0 and int(action.max()) < spec.choices):
                raise ValueError(f"the actions of {group.name} are {int(action.min())} to {int(action.max())}, want 0 to {spec.choices - 1}")
            array = np.ascontiguousarray(action.detach().numpy(), spec.action_dtype)
            if len(spec.groups) == 1:
                return array
            whole[:, group.columns()] = array
        return whole

    def _shown(self, step: Step, reward: bool = False) -> TensorDictBase:
        spec, size = self.cermic_spec, self.batch_size
        out = TensorDict({}, batch_size=size, device=self.device)
        score = torch.from_numpy(step.score).reshape(-1, 1, 1)
        for group in spec.groups:
            at, n = (slice(None), group.columns()), len(group.agents)
            shape = torch.Size([spec.num_envs, n])
            observation: Any = torch.from_numpy(step.obs[at][..., : group.obs])
            if step.pixels is not None:
                observation = TensorDict({"rgb": torch.from_numpy(step.pixels[at]), "vector": observation}, batch_size=shape)
            elif step.cells is not None:
                observation = TensorDict({"cells": torch.from_numpy(step.cells[at].view(np.int16)), "vector": observation}, batch_size=shape)
            info = {"alive": torch.from_numpy(step.alive[at]).unsqueeze(-1), "score": score.expand(-1, n, 1)}
            entries = {"observation": observation, "info": TensorDict(info, batch_size=shape)}
            if step.mask is not None:
                mask = torch.from_numpy(step.mask[at])
                entries["action_mask"] = mask
                self.full_action_spec[group.name, "action"].update_mask(mask)
            if reward:
                entries["reward"] = torch.from_numpy(step.reward[at]).unsqueeze(-1)
            out.set(group.name, TensorDict(entries, batch_size=shape))
        if self._with_state:
            out.set("state", torch.from_numpy(step.state))
        terminated, truncated = torch.from_numpy(step.terminated).unsqueeze(-1), torch.from_numpy(step.truncated).unsqueeze(-1)
        out.update({"done": terminated | truncated, "terminated": terminated, "truncated": truncated})
        return out
