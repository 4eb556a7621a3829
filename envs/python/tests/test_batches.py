# SPDX-License-Identifier: Apache-2.0
"""cermic_envs.make: values, memory, and mistakes."""

from __future__ import annotations

import copy
import json
import pickle
import threading
import unittest
from pathlib import Path

import numpy as np
from common import TASKS, Sentences, recipe

import cermic_envs


class Values(unittest.TestCase):
    def test_every_task_shows_what_it_shows_in_go(self) -> None:
        known = json.loads(Path(__file__).with_name("known.json").read_text())
        self.assertEqual(sorted(known), TASKS)
        for name in TASKS:
            with self.subTest(name), cermic_envs.make(name, 3, pixels=name.startswith("meltingpot/")) as env:
                sums = dict.fromkeys(known[name], 0.0)
                step = env.reset(seed=7)
                for t in range(11):
                    for key in sums:
                        array = getattr(step, key)
                        sums[key] += 0.0 if array is None else float(array.sum(dtype=np.float64))
                    env.reset(step.terminated | step.truncated)
                    env.step(recipe(env.spec, t, step.mask))
                for key, want in known[name].items():
                    self.assertAlmostEqual(sums[key], want, delta=1e-3 + 1e-5 * abs(want), msg=f"{name} {key}")

    def test_neither_workers_nor_seeding_again_change_a_bit(self) -> None:
        for name in ("vmas/navigation", "meltingpot/clean_up", "smac/zerg_5_vs_5", "explore/rooms"):
            one, two = cermic_envs.make(name, 20, seed=3, workers=1), cermic_envs.make(name, 20, seed=9, workers=4)
            a, b = one.reset(), two.reset()
            b = two.reset(seed=3)
            for t in range(4):
                np.testing.assert_array_equal(a.obs, b.obs)
                np.testing.assert_array_equal(a.rel_pos, b.rel_pos)
                actions = recipe(one.spec, t, a.mask)
                a, b = one.step(actions), two.step(actions)

    def test_settings_reach_the_task(self) -> None:
        env = cermic_envs.make("vmas/balance", num_envs=5, reward="dense", n_agents=np.int64(2), noise={"width": 1, "height": 1})
        self.assertEqual((env.spec.num_envs, env.spec.num_agents, env.spec.sparse), (5, 2, False))
        step = env.reset()
        self.assertIs(step.reward, step.dense)
        self.assertEqual(cermic_envs.make("vmas/balance", discrete="product9").spec.choices, 9)
        self.assertIn("n_agents", [s.key for s in cermic_envs.settings("vmas/balance")])

    def test_script_solves_what_it_is_written_for(self) -> None:
        with cermic_envs.make("explore/lock", 4) as env:
            step, paid = env.reset(), np.zeros(4)
            while not (step.terminated | step.truncated).all():
                step = env.step(env.script())
                paid += step.sparse.mean(1)
            self.assertTrue((paid >= env.spec.solved).all() and (paid > 0).all(), paid)

    def test_groups_split_the_agents(self) -> None:
        spec = cermic_envs.make("vmas/simple_adversary").spec
        self.assertEqual([g.name for g in spec.groups], ["adversary", "agent"])
        self.assertEqual(sorted(i for g in spec.groups for i in g.agents), list(range(spec.num_agents)))
        self.assertEqual(spec.agents, ("adversary_0", "agent_0", "agent_1"))

    def test_reset_of_some_leaves_the_others(self) -> None:
        env = cermic_envs.make("vmas/wheel", 4)
        env.reset()
        step = env.step(np.ones(env.spec.action_shape, np.float32))
        before = step.copy()
        env.reset(np.array([True, False, False, True]))
        np.testing.assert_array_equal(step.obs[1:3], before.obs[1:3])
        self.assertFalse(np.array_equal(step.obs[0], before.obs[0]))

    def test_steps_are_written_in_place_or_where_the_caller_says(self) -> None:
        env = cermic_envs.make("meltingpot/clean_up", 2, pixels=True)
        first = env.reset()
        address = first.pixels.__array_interface__["data"]
        self.assertIs(env.step(recipe(env.spec, 0, None)), first)
        self.assertEqual(address, first.pixels.__array_interface__["data"])
        kept, other = first.copy(), env.new_step()
        env.step(recipe(env.spec, 1, None), out=other)
        np.testing.assert_array_equal(kept.pixels, first.pixels)
        self.assertFalse(np.array_equal(other.cells, first.cells))


class Mistakes(Sentences):
    def test_of_making(self) -> None:
        make = cermic_envs.make
        for kind, part, call in (
            (ValueError, "did you mean vmas/balance?", lambda: make("vmas/balnce")),
            (ValueError, "did you mean n_agents?", lambda: make("vmas/balance", n_agnts=4)),
            (ValueError, "whole number", lambda: make("vmas/balance", n_agents=2.5)),
            (ValueError, "want 2 to", lambda: make("vmas/balance", n_agents=-1)),
            (ValueError, "dense", lambda: make("vmas/balance", reward="rich")),
            (ValueError, "JSON", lambda: make("vmas/balance", success_reward=float("nan"))),
            (TypeError, "object", lambda: make("vmas/balance", n_agents=object())),
            (ValueError, "num_envs", lambda: make("vmas/balance", 0)),
            (ValueError, "num_envs", lambda: make("vmas/balance", 10**30)),
            (TypeError, "num_envs", lambda: make("vmas/balance", True)),
            (TypeError, "num_envs", lambda: make("vmas/balance", 2.0)),
            (ValueError, "seed", lambda: make("vmas/balance", seed=-1)),
            (TypeError, "seed", lambda: make("vmas/balance", seed="now")),
            (ValueError, "workers", lambda: make("vmas/balance", workers=-1)),
            (TypeError, "pixels", lambda: make("vmas/balance", pixels=1)),
            (ValueError, "pixels", lambda: make("vmas/balance", pixels=True)),
            (TypeError, "name of a task", lambda: make(None)),
            (ValueError, "zero characters", lambda: make("vmas\0balance")),
            (ValueError, "no text", lambda: make("\ud800")),
            (ValueError, "GiB", lambda: make("vmas/navigation", 1 << 16, n_agents=100, world_spawning_x=50, world_spawning_y=50)),
            (ValueError, "unknown task", lambda: cermic_envs.settings("vmas/balnce")),
        ):
            with self.subTest(part):
                self.refused(kind, part, call)

    def test_of_arrays(self) -> None:
        for name, good in (("vmas/balance", np.zeros((3, 4, 2), np.float32)), ("explore/rooms", np.zeros((3, 2), np.int32))):
            env = cermic_envs.make(name, 3)
            self.refused(ValueError, "reset before", lambda: env.step(good))
            self.refused(ValueError, "first reset", lambda: env.reset(np.ones(3, bool)))
            env.reset()
            wrong = np.zeros((*good.shape[:-1], 2 * good.shape[-1]), good.dtype)[..., ::2]
            shifted = np.frombuffer(b"\0" * (good.nbytes + 1), np.uint8)[1:].view(good.dtype).reshape(good.shape)
            for kind, part, actions in (
                (TypeError, "dtype", good.astype(np.float64)),
                (TypeError, "dtype", good.astype(good.dtype.newbyteorder())),
                (ValueError, "shape", good[:2]),
                (ValueError, "shape", good[None]),
                (ValueError, "contiguous", wrong),
                (ValueError, "contiguous", np.asfortranarray(good)),
                (ValueError, "contiguous", shifted),
                (TypeError, "list", good.tolist()),
                (TypeError, "NoneType", None),
            ):
                with self.subTest(f"{name} {part}"):
                    self.refused(kind, part, lambda a=actions: env.step(a))
            for kind, part, mask in ((TypeError, "dtype", np.ones(3)), (ValueError, "shape", np.ones(4, bool)), (TypeError, "list", [True] * 3)):
                self.refused(kind, part, lambda m=mask: env.reset(m))
            self.refused(ValueError, "leave mask out", lambda: env.reset(np.ones(3, bool), seed=1))
            self.refused(ValueError, "another environment", lambda: env.step(good, out=cermic_envs.make(name, 3).new_step()))
            self.refused(TypeError, "new_step", lambda: env.step(good, out={}))
            env.step(good)

    def test_of_actions(self) -> None:
        env = cermic_envs.make("vmas/balance", 2)
        env.reset()
        for bad in (np.nan, np.inf, -np.inf):
            actions = np.zeros((2, 4, 2), np.float32)
            actions[1, 3, 0] = bad
            self.refused(ValueError, "agent 3 in environment 1", lambda a=actions: env.step(a))
        env = cermic_envs.make("smac/protoss_5_vs_5")
        step = env.reset()
        for bad in (-1, 11, 1 << 30):
            self.refused(ValueError, "want 0 to 10", lambda b=bad: env.step(np.full((1, 5), b, np.int32)))
        forbidden = np.argmin(step.mask, -1).astype(np.int32)
        self.refused(ValueError, "mask forbids", lambda: env.step(forbidden))
        env.step(recipe(env.spec, 0, step.mask))

    def test_of_steps_and_closed_environments(self) -> None:
        env = cermic_envs.make("explore/climbing", 2)
        step = env.reset()
        self.refused(AttributeError, "replaced", lambda: setattr(step, "obs", None))
        self.refused(AttributeError, "deleted", lambda: delattr(step, "obs"))
        self.refused(TypeError, "pickled", lambda: pickle.dumps(step))
        self.refused(TypeError, "pickled", lambda: copy.deepcopy(env))
        with self.assertRaises(ValueError):
            step.obs.resize(10**6, refcheck=False)  # would free what the library writes to
        actions = np.zeros((2, 2), np.int32)
        env.step(actions)
        self.refused(ValueError, "has ended", lambda: env.step(actions))
        env.close()
        env.close()
        self.refused(RuntimeError, "closed", lambda: env.step(actions))
        self.refused(RuntimeError, "closed", env.reset)
        self.refused(RuntimeError, "closed", env.script)


class Threads(unittest.TestCase):
    def test_environments_run_in_parallel_and_one_may_be_shared(self) -> None:
        alone = cermic_envs.make("vmas/sampling", 6, seed=5)
        want = alone.reset()
        for t in range(20):
            want = alone.step(recipe(alone.spec, t, None))
        shared, wrong = cermic_envs.make("vmas/balance", 6), []

        def play() -> None:
            try:
                env = cermic_envs.make("vmas/sampling", 6, seed=5)
                step = env.reset()
                for t in range(20):
                    step = env.step(recipe(env.spec, t, None))
                    shared.reset()
                    shared.step(recipe(shared.spec, t, None))
                np.testing.assert_array_equal(step.obs, want.obs)
            except BaseException as err:  # noqa: BLE001
                wrong.append(err)

        threads = [threading.Thread(target=play) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
