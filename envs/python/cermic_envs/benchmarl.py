# SPDX-License-Identifier: Apache-2.0
"""The tasks as BenchMARL's: CermicTask.BALANCE.get_task(config={"reward": "dense", "n_agents": 4}) replaces VmasTask's.

A config holds the task's settings (see cermic_envs.settings) and pixels; without one, the defaults apply.
"""

from __future__ import annotations

import copy
from typing import Any, Callable

from benchmarl.environments.common import Task, TaskClass  # type: ignore[import-untyped]
from torchrl.data import Composite  # type: ignore[import-untyped]
from torchrl.envs import EnvBase  # type: ignore[import-untyped]

from . import settings, tasks
from .torchrl import CermicEnv


def task_name(member: str) -> str:
    """The task of a member of CermicTask: "vmas/balance" for "BALANCE"."""
    for name in tasks():
        if name.rpartition("/")[2].upper() == member.upper():
            return name
    raise ValueError(f"no task is called {member}; want one of {', '.join(CermicTask.__members__)}")


class CermicClass(TaskClass):  # type: ignore[misc]  # BenchMARL is not marked as typed
    """The TaskClass of all tasks."""

    def get_env_fun(self, num_envs: int, continuous_actions: bool, seed: int | None, device: Any) -> Callable[[], EnvBase]:
        """A function that makes the environments. Tasks with both kinds of actions use VMAS's 9 discrete ones if the learner needs discrete actions."""
        config = copy.deepcopy(self.config)
        name = task_name(self.name)
        if self.supports_continuous_actions() and not continuous_actions and config.get("discrete", "none") == "none":
            config["discrete"] = "product9"
        config.setdefault("state", name.startswith("smac/"))
        return lambda: CermicEnv(name, num_envs, seed=seed, device=device, **config)

    def supports_continuous_actions(self) -> bool:
        """Whether actions can be continuous: in VMAS tasks without a configured discrete set."""
        return self._both() and self.config.get("discrete", "none") == "none"

    def supports_discrete_actions(self) -> bool:
        """Whether actions can be discrete: in all tasks."""
        return True

    def _both(self) -> bool:
        return any(s.key == "discrete" for s in settings(task_name(self.name)))

    def max_steps(self, env: EnvBase) -> int:
        """Length of an evaluation episode, over which the metric counts."""
        return int(env.cermic_spec.eval_horizon)

    def has_render(self, env: EnvBase) -> bool:
        """No."""
        return False

    def group_map(self, env: EnvBase) -> dict[str, list[str]]:
        """Agents' names by group."""
        groups: dict[str, list[str]] = env.group_map
        return groups

    def observation_spec(self, env: EnvBase) -> Composite:
        """Observations by group."""
        return self._keep(env, "observation")

    def info_spec(self, env: EnvBase) -> Composite | None:
        """Alive agents and the score."""
        return self._keep(env, "info")

    def state_spec(self, env: EnvBase) -> Composite | None:
        """The central state (SMACv2 only)."""
        spec = env.full_observation_spec_unbatched
        return Composite({"state": spec["state"].clone()}) if "state" in spec.keys() else None

    def action_spec(self, env: EnvBase) -> Composite:
        """Actions by group."""
        return env.full_action_spec_unbatched

    def action_mask_spec(self, env: EnvBase) -> Composite | None:
        """Masks by group, if the task has masks."""
        return self._keep(env, "action_mask") if env.cermic_spec.masked else None

    @staticmethod
    def env_name() -> str:
        """The folder of configs; there is none."""
        return "cermic"

    def _keep(self, env: EnvBase, kept: str) -> Composite:
        spec = env.full_observation_spec_unbatched.clone()
        for group in self.group_map(env):
            for key in list(spec[group].keys()):
                if key != kept:
                    del spec[group, key]
        if "state" in spec.keys():
            del spec["state"]
        return spec


class CermicTask(Task):  # type: ignore[misc]
    """All tasks."""

    # VMAS
    BALANCE = None
    BALL_TRAJECTORY = None
    DISPERSION = None
    FLOCKING = None
    GIVE_WAY = None
    NAVIGATION = None
    PASSAGE = None
    SAMPLING = None
    SIMPLE_ADVERSARY = None
    TRANSPORT = None
    WHEEL = None
    # Melting Pot
    CHICKEN_IN_THE_MATRIX__REPEATED = None
    CLEAN_UP = None
    PRISONERS_DILEMMA_IN_THE_MATRIX__REPEATED = None
    STAG_HUNT_IN_THE_MATRIX__REPEATED = None
    # SMACv2
    PROTOSS_5_VS_5 = None
    ZERG_5_VS_5 = None
    # exploration tasks
    CLIMBING = None
    LOCK = None
    NONMONOTONIC = None
    PASS = None
    PENALTY = None
    ROOMS = None
    SECRET = None
    TWO_STEP = None

    @staticmethod
    def associated_class() -> type[TaskClass]:
        """The class of the members."""
        return CermicClass

    def get_from_yaml(self, path: str | None = None) -> TaskClass:
        """The task with the settings of a file, or with its defaults."""
        return self.get_task(config={}) if path is None else super().get_from_yaml(path)
