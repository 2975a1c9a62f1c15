"""What a reward is: saved or sampled replies with their truth in, what each is paid out.

A reward's file ends in `REWARD: Reward = ...`; its name is `fieldtruth reward --kind`. Callers pay
through `pay`, which keeps what holds for all: a failed call has no words, so it earns 0 and is
told as an error.
"""

from collections.abc import Sequence
from math import prod
from typing import Protocol

from fieldtruth.faults import BadRecord, Usage
from fieldtruth.geometry import space_limits
from fieldtruth.records import Box, Finish, Outcome, Record, Space
from fieldtruth.replies.answers import FARTHEST

PROTOCOLS = ("known_target", "candidates", "known_target+wrong_target")


class Rollout(Record, frozen=True, kw_only=True):
    """One reply with the truth it is held against (design, section 8; a contract).

    `boxes` are the true ones in `space`, the reply's own, in its order of axes; `()` on a healthy
    photo and where what is asked for is not on the photo. `label` is what the photo shows, `query`
    what was asked for where that is another name. `width` and `height` of the upright photo say how
    large it is in spaces of pixels; a share of its area cannot be known without.
    """

    text: str
    space: Space
    protocol: str
    boxes: tuple[Box, ...]
    label: str | None = None
    candidates: tuple[str, ...] | None = None
    healthy: bool
    finish: Finish = "stop"
    query: str | None = None
    width: int | None = None
    height: int | None = None

    def __post_init__(self) -> None:
        if self.protocol not in PROTOCOLS:
            raise ValueError(f"expected a protocol of {', '.join(PROTOCOLS)}, got {self.protocol}")
        if self.healthy and self.boxes:
            raise ValueError(f"expected no boxes on a healthy photo, got {len(self.boxes)}")
        if self.protocol.endswith("wrong_target") and self.boxes:
            raise ValueError(f"expected no boxes of a wrong target, got {len(self.boxes)}")
        if any(side is not None and side < 1 for side in (self.width, self.height)):
            raise ValueError(f"expected a size over 0, got {self.width} x {self.height}")
        wide, high = (min(limit, FARTHEST) for limit in self.limits)
        for a1, b1, a2, b2 in self.boxes:
            if not (0 <= a1 < a2 <= wide and 0 <= b1 < b2 <= high):  # false for NaN as well
                raise ValueError(
                    f"expected boxes in {self.space}, corners in order, from 0 to {wide:g} and "
                    f"{high:g}, got {[a1, b1, a2, b2]}"
                )

    @property
    def limits(self) -> tuple[float, float]:
        """The largest value on each axis, in the space's order; infinite where it is not known."""
        return space_limits(self.space, self.width, self.height)

    @property
    def chosen(self) -> bool:
        """Whether the prompt listed names to choose from."""
        return self.protocol == "candidates"


class Paid(Record, frozen=True, kw_only=True):
    """What a reply earns, from 0 to 1. `terms` is what each term paid; they add up to `reward`."""

    reward: float
    terms: dict[str, float]
    outcome: Outcome


class Reward(Protocol):
    """One way to pay replies."""

    def unfit(self, rollout: Rollout) -> str | None:
        """Why it cannot pay this one: what was expected and what was got; None where it can."""
        ...

    def pay(self, rollouts: Sequence[Rollout]) -> list[Paid]:
        """One for each, in order; never raises, whatever the words."""
        ...


def pay(
    reward: Reward, rollouts: Sequence[Rollout], where: str = "reply ", first: int = 0
) -> list[Paid]:
    """What each reply earns, in order. A failed call earns 0, has no terms, and is an `error`.

    Raises `BadRecord` at the first that the reward cannot pay; `where` and its number,
    counted from `first`, name it.
    """
    for index, rollout in enumerate(rollouts):
        if why := reward.unfit(rollout):
            raise BadRecord(f"{where}{first + index}: {why}; correct the line")
    said = [rollout for rollout in rollouts if rollout.finish != "error"]
    if len(said) == len(rollouts):
        return reward.pay(said)
    paid = iter(reward.pay(said))
    failed = Paid(reward=0.0, terms={}, outcome="error")
    return [failed if rollout.finish == "error" else next(paid) for rollout in rollouts]


def require_whole(weights: Sequence[float]) -> None:
    """Raise `Usage` unless these are shares that add up to 1."""
    if not (min(weights) >= 0 and abs(sum(weights) - 1) <= 1e-9):  # false for NaN as well
        raise Usage(f"expected weights of at least 0 that add up to 1, got {list(weights)}")


def frame(rollout: Rollout) -> float:
    """The photo's area in the reply's space.

    Where its size is not known, the least that it can be: up to the far corner of the true boxes.
    """
    area = prod(rollout.limits)
    if area < float("inf"):
        return area
    _, _, far_a, far_b = zip(*rollout.boxes, strict=True) if rollout.boxes else ([], [], [0], [0])
    return float(max(far_a) * max(far_b))
