# SPDX-License-Identifier: Apache-2.0
"""cermic_envs.parallel_env, by PettingZoo's own tests."""

from __future__ import annotations

import contextlib
import io
import unittest
import warnings

import numpy as np
from common import SHORT, TASKS, Sentences, needs

import cermic_envs


@needs("pettingzoo")
class PettingZoo(Sentences):
    def test_api_of_every_task(self) -> None:
        from pettingzoo.test import parallel_api_test

        for name in TASKS:
            for options in ({}, {"pixels": False}) if name.startswith("meltingpot/") else ({},):
                with self.subTest(name), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
                    warnings.simplefilter("error")
                    parallel_api_test(cermic_envs.parallel_env(name, **SHORT.get(name, {}), **options), 40)

    def test_seeds_of_every_task(self) -> None:
        from pettingzoo.test import parallel_seed_test

        for name in TASKS:
            with self.subTest(name):
                # The test samples without a mask.
                parallel_seed_test(lambda n=name: cermic_envs.parallel_env(n, illegal="replace", **SHORT.get(n, {})), 40)

    def test_observations_are_in_their_spaces_and_stay(self) -> None:
        for name in TASKS:
            with self.subTest(name):
                env = cermic_envs.parallel_env(name, illegal="replace")
                first, _ = env.reset(seed=1)
                again, _ = env.reset(seed=1)
                for agent in env.agents:
                    space = env.observation_space(agent)
                    self.assertTrue(space.contains(first[agent]), f"{name} {agent}")
                    env.action_space(agent).seed(0)
                env.step({agent: env.action_space(agent).sample() for agent in env.agents})
                np.testing.assert_equal(first, again)
                self.assertTrue(env.state_space.contains(env.state()))

    def test_turn_based_form(self) -> None:
        from pettingzoo.utils import parallel_to_aec

        env = parallel_to_aec(cermic_envs.parallel_env("vmas/simple_adversary", max_steps=3))
        env.reset(seed=0)
        turns = 0
        for agent in env.agent_iter():
            _, _, ended, late, _ = env.last()
            env.step(None if ended or late else env.action_space(agent).sample())
            turns += 1
        self.assertEqual(turns, 3 * 3 + 3)

    def test_mistakes(self) -> None:
        env = cermic_envs.parallel_env("vmas/balance")
        self.refused(RuntimeError, "call reset", lambda: env.step({}))
        self.refused(RuntimeError, "first reset", env.state)
        env.reset()
        good = {agent: np.zeros(2, np.float32) for agent in env.agents}
        for kind, part, action in (
            (TypeError, "agent_2", "left"),
            (ValueError, "shape", np.zeros(3, np.float32)),
            (ValueError, "finite", np.full(2, np.nan, np.float32)),
        ):
            self.refused(kind, part, lambda a=action: env.step(good | {"agent_2": a}))
        self.refused(ValueError, "one of each", lambda: env.step({"agent_0": good["agent_0"]}))
        env.step(good)
        env.close()
        self.refused(RuntimeError, "closed", lambda: env.step(good))
        self.refused(ValueError, "'replace'", lambda: cermic_envs.parallel_env("vmas/balance", illegal="allow"))
        env = cermic_envs.parallel_env("smac/zerg_5_vs_5")
        env.reset()
        self.refused(ValueError, "want 0 to", lambda: env.step(dict.fromkeys(env.agents, 99)))
        self.refused(ValueError, "mask forbids", lambda: env.step(dict.fromkeys(env.agents, 0)))


if __name__ == "__main__":
    unittest.main()
