"""Replies held against their examples: what each is paid, and what a round of them looks like."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from fieldtruth import geometry, rewards, rooms
from fieldtruth.faults import Usage
from fieldtruth.grading.evidence import answer
from fieldtruth.models.contract import Words
from fieldtruth.records import Box, Example, Reading
from fieldtruth.replies import read_boxes
from fieldtruth.rewards import grounded, published
from fieldtruth.rewards.contract import Paid, Reward, Rollout, pay
from fieldtruth.stages.grpo.settings import Grpo
from fieldtruth.tuning.validating import ABSENT

Told = Mapping[str, float]


def reward_of(settings: Grpo) -> Reward:
    """The reward by its name, under the weights that were given.

    Raises `Usage` for a name or a weight that there is not, and for weights that do not add up.
    """
    given, known = settings.weights, settings.known_weights
    if settings.reward == "published":
        if known:
            raise Usage("known_weights: expected them with the grounded reward, got published")
        return published.Published(_weighed(published.Weights(), given, "weights"))
    if settings.reward == "grounded":
        return grounded.Grounded(
            candidates=_weighed(grounded.CANDIDATES, given, "weights"),
            known_target=_weighed(grounded.KNOWN_TARGET, known, "known_weights"),
        )
    found: Reward = rooms.open_room(rewards, settings.reward).REWARD
    if given or known:
        raise Usage(f"weights: expected none, for the reward {settings.reward!r} has its own")
    return found


def _weighed(own: Any, given: Told, name: str) -> Any:
    there = [field.name for field in fields(own)]
    for each in given:
        if each not in there:
            raise Usage(f"{name}: expected some of {', '.join(there)}, got {each!r}")
    try:
        return replace(own, **given)
    except Usage as fault:
        raise Usage(f"{name}: {fault}") from None


def rollout(example: Example, words: Words) -> Rollout:
    """A reply with the truth of its example; boxes are those of the pixels, not rounded."""
    boxes: tuple[Box, ...] = ()
    if example.boxes:
        true = geometry.from_pixels(
            geometry.as_boxes(example.boxes), example.space, example.width, example.height
        )
        boxes = tuple((a, b, c, d) for a, b, c, d in true.tolist())
    return Rollout(
        text=words.text, space=example.space, boxes=boxes, label=example.label,
        protocol=ABSENT if example.role == "wrong_target" else example.protocol,
        candidates=example.candidates, healthy=example.role == "healthy", finish=words.finish,
        query=example.query, width=example.width, height=example.height,
    )  # fmt: skip


class Payer:
    """Stands where TRL calls a reward function: tokens in, rewards out, the round looked at.

    `say` turns the tokens of a reply into words, `hand` takes each round's replies.
    """

    __name__ = "reward"  # TRL names its figures by it

    def __init__(
        self,
        reward: Reward,
        example: Callable[[int], Example],
        say: Callable[[Sequence[int]], Words],
        hand: Callable[[int, Sequence[Rollout]], None] | None,
    ) -> None:
        self._reward, self._example, self._say, self._hand = reward, example, say, hand
        self._round: dict[str, float] = {}

    def __call__(
        self, *, completion_ids: Sequence[Sequence[int]], row: Sequence[int], trainer_state: Any,
        **_: Any,
    ) -> list[float]:  # fmt: skip
        """One reward for each reply, in order."""
        examples = {number: self._example(number) for number in dict.fromkeys(row)}
        rollouts = [
            rollout(examples[number], self._say(ids))
            for number, ids in zip(row, completion_ids, strict=True)
        ]
        paid = pay(self._reward, rollouts)
        self._round = looked_at(rollouts, paid, [len(ids) for ids in completion_ids])
        if self._hand is not None:
            self._hand(trainer_state.global_step + 1, rollouts)
        return [each.reward for each in paid]

    def take(self) -> dict[str, float]:
        """How the last round looked, once."""
        found, self._round = self._round, {}
        return found


def looked_at(
    rollouts: Sequence[Rollout], paid: Sequence[Paid], tokens: Sequence[int]
) -> dict[str, float]:
    """Means over the replies of a round; a share of nothing is left out.

    `boxes` are for each box that is there; `empty` is of replies to photos that show what is asked
    for, `abstained` of the others; `first_option` of choices among listed names on the former;
    `unread` of all; `paid_TERM` is what a term paid, of all.
    """
    readings = [read_boxes(each.text, each.space, each.finish) for each in rollouts]
    there = [bool(each.boxes) for each in rollouts]
    found = {
        "reward": _mean([each.reward for each in paid]),
        "tokens": _mean(tokens),
        "truncated": _mean([each.finish == "length" for each in rollouts]),
        "unread": _mean([each.outcome not in ("boxes", "empty") for each in readings]),
        "empty": _mean([r.outcome == "empty" for r, shown in _both(readings, there) if shown]),
        "abstained": _mean(
            [r.outcome == "empty" for r, shown in _both(readings, there) if not shown]
        ),
        "boxes": _boxes(rollouts, readings),
        "first_option": _first(rollouts, readings),
    }
    for name in dict.fromkeys(name for each in paid for name in each.terms):
        found[f"paid_{name}"] = _mean([each.terms.get(name, 0.0) for each in paid])
    return {name: value for name, value in found.items() if value is not None}


def _both(readings: Sequence[Reading], there: Sequence[bool]) -> list[tuple[Reading, bool]]:
    return list(zip(readings, there, strict=True))


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if len(values) else None


def _boxes(rollouts: Sequence[Rollout], readings: Sequence[Reading]) -> float | None:
    true = sum(len(each.boxes) for each in rollouts)
    said = sum(
        len(reading.boxes) for each, reading in zip(rollouts, readings, strict=True) if each.boxes
    )
    return said / true if true else None


def _first(rollouts: Sequence[Rollout], readings: Sequence[Reading]) -> float | None:
    chosen = []
    for each, reading in zip(rollouts, readings, strict=True):
        names = each.candidates or ()
        if each.boxes and names:
            name = answer(reading.labels, names)
            known = [answer([one], names) for one in names]
            if name in known:
                chosen.append(name == known[0])
    return _mean(chosen)
