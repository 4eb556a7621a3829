# SPDX-License-Identifier: Apache-2.0
"""What could hurt the interpreter: forks, leaks and arbitrary input."""

from __future__ import annotations

import gc
import os
import random
import subprocess
import sys
import unittest

import numpy as np
from common import TASKS

import cermic_envs
from cermic_envs._library import library

FORK = """
import os, sys, numpy as np, cermic_envs
env = cermic_envs.make("vmas/balance", 2)
env.reset()
child = os.fork()
if child == 0:
    try:
        env.step(np.zeros((2, 4, 2), np.float32))
    except RuntimeError as err:
        print(err, flush=True)
    try:
        cermic_envs.make("vmas/balance")
    except RuntimeError as err:
        print(err, flush=True)
    env.close()
    sys.exit(0)
_, status = os.waitpid(child, 0)
env.step(np.zeros((2, 4, 2), np.float32))
print("status", os.waitstatus_to_exitcode(status))
"""


def resident() -> int:
    """Bytes of memory that this process holds."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Process(unittest.TestCase):
    @unittest.skipUnless(hasattr(os, "fork"), "there is no fork")
    def test_forked_process_is_told_so_and_ends(self) -> None:
        done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, timeout=60, check=True)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 3, done)
        self.assertTrue(all("'spawn'" in line for line in lines[:2]), lines)
        self.assertEqual(lines[2], "status 0")

    def test_interpreter_ends_cleanly_with_open_environments(self) -> None:
        text = "import cermic_envs\nenvs = [cermic_envs.make('vmas/balance', 8) for _ in range(3)]\nenvs[0].reset()"
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60, check=True)
        self.assertEqual(done.stderr, "")

    @unittest.skipUnless(os.path.exists("/proc/self/statm"), "memory is read from /proc")
    def test_a_thousand_environments_leave_nothing_behind(self) -> None:
        def round_trip(i: int) -> None:
            env = cermic_envs.make(TASKS[i % len(TASKS)], 16)
            step = env.reset()
            env.step(env.sample(np.random.default_rng(i)), out=step)
            if i % 2:
                env.close()  # the others are left to the garbage collector

        for i in range(200):
            round_trip(i)
        gc.collect()
        before, opened = resident(), library().cermic_open()
        for i in range(1000):
            round_trip(i)
        gc.collect()
        self.assertEqual(library().cermic_open(), opened)
        # If their arrays or Go's state stayed, they would hold about 100 MiB; allocators keep a few.
        self.assertLess(resident() - before, 24 << 20)


class Fuzz(unittest.TestCase):
    """Whatever is passed, the answer is a result, or one of three exceptions."""

    VALUES = (None, True, -1, 0, 1, 3, 2**31, 2**70, 0.5, -1e300, "", "dense", "x", "\0", [], [1, "a"], {}, {"width": -1}, b"x", np.float32(2))

    def test_settings(self) -> None:
        rng = random.Random(1)
        made = refused = 0
        for _ in range(600):
            task = rng.choice(TASKS)
            keys = [s.key for s in cermic_envs.settings(task) if s.key not in ("engine", "n_envs")]
            chosen = {rng.choice([*keys, "nothing", "task", "kind"]): rng.choice(self.VALUES) for _ in range(rng.randint(1, 2))}
            chosen.pop("task", None)
            try:
                with cermic_envs.make(task, rng.choice((1, 2)), seed=rng.choice((0, 1, 2**64 - 1)), **chosen) as env:
                    step = env.reset()
                    if step.mask is None:
                        env.step(np.zeros(env.spec.action_shape, env.spec.action_dtype))
                made += 1
            except (TypeError, ValueError) as err:
                refused += 1
                self.assertNotIn("\n", str(err))
        self.assertGreater(made, 20)
        self.assertGreater(refused, 100)

    def test_actions(self) -> None:
        rng = np.random.default_rng(1)
        dtypes = (np.int32, np.float32, np.int64, np.float64, np.uint8, np.bool_, np.complex64, object)
        for task in ("vmas/balance", "smac/zerg_5_vs_5", "meltingpot/clean_up", "explore/rooms"):
            env = cermic_envs.make(task, 2)
            step, taken = env.reset(), 0
            for _ in range(300):
                shape = list(env.spec.action_shape)
                if rng.random() < 0.2:
                    shape[rng.integers(len(shape))] = int(rng.integers(4))
                dtype = env.spec.action_dtype if rng.random() < 0.7 else np.dtype(dtypes[rng.integers(len(dtypes))])
                raw = rng.integers(-2, env.spec.choices + 2, shape) if rng.random() < 0.8 else np.zeros(shape)
                actions = raw.astype(dtype)
                if dtype.kind == "f" and rng.random() < 0.3 and actions.size:
                    actions.flat[0] = rng.choice([np.nan, np.inf, 1e38])
                try:
                    step = env.step(actions if rng.random() < 0.9 else actions.T)
                    taken += 1
                except (TypeError, ValueError) as err:
                    self.assertNotIn("\n", str(err))
                if (step.terminated | step.truncated).any():
                    env.reset(step.terminated | step.truncated)
            self.assertTrue(np.isfinite(step.obs).all())
            if task.startswith("vmas/"):
                self.assertGreater(taken, 10)


if __name__ == "__main__":
    unittest.main()
