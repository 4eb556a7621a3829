# SPDX-License-Identifier: Apache-2.0
"""cermic_envs.vector_env against what Gymnasium asks of a VectorEnv, for which it has no check of its own."""

from __future__ import annotations

import unittest
import warnings

import numpy as np
from common import SHORT, TASKS, Sentences, needs

import cermic_envs


@needs("gymnasium")
class Gymnasium(Sentences):
    def test_spaces_seeds_and_ends_of_every_task(self) -> None:
        from gymnasium.vector.utils import batch_space

        for name in TASKS:
            with self.subTest(name), warnings.catch_warnings():
                warnings.simplefilter("error")
                one, two = (cermic_envs.vector_env(name, 3, illegal="replace", **SHORT.get(name, {})) for _ in range(2))
                one.action_space.seed(1)
                self.assertEqual(one.observation_space, batch_space(one.single_observation_space, one.num_envs))
                shown, infos = one.reset(seed=5)
                again, _ = two.reset(seed=5)
                np.testing.assert_equal(shown, again)
                self.assertTrue(one.observation_space.contains(shown))
                ended = 0
                for _ in range(14):
                    actions = one.action_space.sample()
                    kept = {k: v.copy() for k, v in shown.items()} if name.startswith("smac") is False and isinstance(shown, dict) else None
                    before = shown
                    shown, reward, terminated, truncated, infos = one.step(actions)
                    if kept is not None:
                        np.testing.assert_equal(before, kept)  # what was returned belongs to the caller
                    again = two.step(actions)[0]
                    np.testing.assert_equal(shown, again)
                    self.assertTrue(one.observation_space.contains(shown))
                    self.assertEqual((reward.shape, reward.dtype), ((one.num_envs,), np.dtype(np.float64)))
                    self.assertEqual((terminated.dtype, truncated.dtype), (np.dtype(np.bool_),) * 2)
                    over = terminated | truncated
                    ended += int(over.sum())
                    self.assertEqual("final_obs" in infos, bool(over.any()))
                    if over.any():
                        np.testing.assert_array_equal(infos["_final_obs"], over)
                        self.assertTrue(one.observation_space.contains(infos["final_obs"]))
                if name in SHORT and not name.startswith("vmas/") or name == "explore/climbing":
                    self.assertGreater(ended, 0)
                one.close()
                one.close()

    def test_same_step_reset_keeps_the_last_observation(self) -> None:
        auto = cermic_envs.vector_env("vmas/wheel", 2, reward="dense", max_steps=5)
        hand = cermic_envs.vector_env("vmas/wheel", 2, reward="dense", max_steps=5, autoreset="disabled")
        auto.reset(seed=3), hand.reset(seed=3)
        auto.action_space.seed(0)
        for _ in range(12):
            actions = auto.action_space.sample()
            shown, _, _, late, infos = auto.step(actions)
            last = hand.step(actions)[0]
            if late.any():
                np.testing.assert_array_equal(infos["final_obs"], last)
                last, _ = hand.reset(options={"reset_mask": late})
            np.testing.assert_array_equal(shown, last)

    def test_wrappers_of_gymnasium_apply(self) -> None:
        from gymnasium.wrappers.vector import RecordEpisodeStatistics

        env = RecordEpisodeStatistics(cermic_envs.vector_env("explore/climbing", 2))
        env.reset(seed=0)
        infos = env.step(np.zeros(4, np.int64))[-1]
        np.testing.assert_array_equal(infos["episode"]["r"], np.full(4, 11.0))  # the best joint action of the game
        np.testing.assert_array_equal(infos["episode"]["l"], np.ones(4))

    def test_mistakes(self) -> None:
        env = cermic_envs.vector_env("explore/rooms", 2, autoreset="disabled")
        self.refused(ValueError, "reset before", lambda: env.step(np.zeros(4, np.int64)))
        env.reset()
        self.refused(TypeError, "dtype", lambda: env.step(np.zeros(4)))
        self.refused(ValueError, "shape", lambda: env.step(np.zeros(3, np.int64)))
        self.refused(ValueError, "want 0 to", lambda: env.step(np.full(4, 1 << 40)))
        self.refused(ValueError, "reset_mask", lambda: env.reset(options={"reset_mask": [True]}))
        self.refused(ValueError, "one environment", lambda: env.reset(options={"reset_mask": np.array([True, False, False, False])}))
        self.refused(TypeError, "seed", lambda: env.reset(seed=[1, 2]))
        self.refused(ValueError, "autoreset", lambda: cermic_envs.vector_env("explore/rooms", autoreset="next_step"))
        env.close()
        self.refused(RuntimeError, "closed", lambda: env.step(np.zeros(4, np.int64)))


if __name__ == "__main__":
    unittest.main()
