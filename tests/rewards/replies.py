"""Replies written out, and the truth they are held against."""

import json
from collections.abc import Sequence
from typing import Any

from fieldtruth.rewards.contract import Paid, Reward, Rollout, pay

FOUR = ("rust", "scab", "wilt", "mold")
TRUE = ((100, 100, 300, 300), (500, 100, 700, 300), (100, 600, 300, 800))
SPECK = (900, 900, 920, 920)

Corners = Sequence[float]


def words(*boxes: Corners, name: str | None = "rust") -> str:
    """A reply of these boxes under one name, or none."""
    label = {} if name is None else {"label": name}
    return json.dumps([{"bbox_2d": list(box), **label} for box in boxes])


def rollout(text: str, *, true: Sequence[Corners] = TRUE, choose: bool = False, **more: Any) -> Any:
    """A reply about a photo with rust, in norm1000."""
    fields: dict[str, Any] = {
        "space": "norm1000", "protocol": "candidates" if choose else "known_target",
        "label": "rust", "candidates": FOUR if choose else None, "healthy": False, "query": "rust",
    }  # fmt: skip
    boxes = tuple(tuple(map(float, box)) for box in true)
    return Rollout(**{**fields, "text": text, "boxes": boxes, **more})


def absent(text: str, *, healthy: bool = True, **more: Any) -> Any:
    """A reply about a photo without what is asked for."""
    if healthy:
        more = {"label": None, **more}
    return rollout(text, true=(), healthy=healthy, **more)


def one(reward: Reward, reply: Rollout) -> Paid:
    return pay(reward, [reply])[0]
