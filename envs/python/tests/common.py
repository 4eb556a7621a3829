# SPDX-License-Identifier: Apache-2.0
"""What several tests need."""

from __future__ import annotations

import importlib.util
import os
import re
import unittest
from typing import Any, Callable

import numpy as np

import cermic_envs

TASKS = cermic_envs.tasks()

# Small enough for checks that play until the end of an episode.
SHORT: dict[str, dict[str, Any]] = {name: {"max_steps": 12} for name in TASKS if not name.startswith("explore/")}


def needs(library: str) -> Callable[[Any], Any]:
    """Skips tests where a library is not installed, but never one that the check was asked to make."""
    asked = os.environ.get("CERMIC_ENVS_REQUIRE", "")
    required = {"gymnasium": "check|torch", "pettingzoo": "check|torch", "torchrl": "torch", "benchmarl": "torch"}[library]
    there = importlib.util.find_spec(library) is not None
    if not there and re.search(required, asked):
        raise RuntimeError(f"{library} is not installed, and {asked} asks for its tests")
    return unittest.skipUnless(there, f"{library} is not installed")


def recipe(spec: cermic_envs.Spec, t: int, mask: np.ndarray | None) -> np.ndarray:
    """Actions without random numbers, the same as those of the Go test that wrote known.json."""
    rows = spec.num_envs * spec.num_agents
    if not spec.choices:
        low, high = np.array(spec.low, np.float32), np.array(spec.high, np.float32)
        part = (7 * t + 3 * np.arange(rows)[:, None] + 5 * np.arange(len(low))) % 11
        return np.ascontiguousarray((low + (high - low) * part.astype(np.float32) / np.float32(10)).reshape(spec.action_shape), np.float32)
    out = np.zeros(rows, np.int32)
    allowed = np.ones((rows, spec.choices), bool) if mask is None else mask.reshape(rows, -1)
    for row in range(rows):
        known = np.flatnonzero(allowed[row])
        out[row] = known[(7 * t + 3 * row) % len(known)]
    return out.reshape(spec.action_shape)


class Sentences(unittest.TestCase):
    """Tests of exceptions."""

    def refused(self, kind: type[Exception], part: str, call: Callable[[], Any]) -> None:
        """Checks that call raises one sentence that has part in it."""
        with self.assertRaises(kind) as caught:
            call()
        text = str(caught.exception)
        self.assertIs(type(caught.exception), kind, text)
        self.assertIn(part, text)
        self.assertNotIn("\n", text)
        self.assertGreater(len(text.split()), 3)
