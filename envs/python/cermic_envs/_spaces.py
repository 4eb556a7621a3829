# SPDX-License-Identifier: Apache-2.0
"""Gymnasium spaces and observations of single agents, for the interfaces of PettingZoo and Gymnasium."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from ._env import Spec, Step

ILLEGAL = ("raise", "replace")


def observation(spec: Spec, pixels: bool, length: int) -> spaces.Space[Any]:
    """Observation space of one agent: a Box [O], or a Dict of an image or cells, and numbers; with a mask if actions have one."""
    box = spaces.Box(-np.inf, np.inf, (length,), np.float32)
    base: spaces.Space[Any] = box
    if spec.view is not None:
        h, w = spec.view
        if pixels:
            base = spaces.Dict({"rgb": spaces.Box(0, 255, (8 * h, 8 * w, 3), np.uint8), "vector": box})
        else:
            base = spaces.Dict({"cells": spaces.Box(0, spec.cell_values - 1, (h, w), np.uint16), "vector": box})
    if spec.masked:
        return spaces.Dict({"observation": base, "action_mask": spaces.Box(0, 1, (spec.choices,), np.int8)})
    return base


def action(spec: Spec) -> spaces.Space[Any]:
    """Action space of one agent."""
    if spec.choices:
        return spaces.Discrete(spec.choices)
    return spaces.Box(np.array(spec.low, np.float32), np.array(spec.high, np.float32), dtype=np.float32)


def observed(step: Step, at: Any, length: int) -> Any:
    """Observations of the agents at index at in [E,N], as views of step's arrays."""
    base: Any = step.obs[at][..., :length]
    if step.cells is not None:
        base = {"vector": base}
        if step.pixels is not None:
            base["rgb"] = step.pixels[at]
        else:
            base["cells"] = step.cells[at]
    if step.mask is not None:
        return {"observation": base, "action_mask": step.mask[at].view(np.int8)}
    return base


def copied(x: Any) -> Any:
    """A copy of an observation."""
    return {key: copied(value) for key, value in x.items()} if isinstance(x, dict) else x.copy()


def known_illegal(illegal: str) -> str:
    """Rejects unknown values of illegal."""
    if illegal not in ILLEGAL:
        raise ValueError(f"illegal is {illegal!r}, want 'raise' or 'replace': what happens to actions that their mask forbids")
    return illegal


def replace_illegal(actions: np.ndarray, mask: np.ndarray | None) -> None:
    """Replaces each action [E,N] that mask [E,N,K] forbids by the first allowed one."""
    if mask is None:
        return
    known = (actions >= 0) & (actions < mask.shape[-1])
    allowed = np.take_along_axis(mask, np.where(known, actions, 0)[..., None].astype(np.intp), -1)[..., 0]
    np.copyto(actions, mask.argmax(-1).astype(actions.dtype), where=known & ~allowed)
