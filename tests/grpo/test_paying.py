"""Replies held against their examples: the reward is that of `fieldtruth reward`, to the digit."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from tests.builders import NAMES, example
from typer.testing import CliRunner

from fieldtruth.cli import app
from fieldtruth.faults import Usage
from fieldtruth.models.contract import Words
from fieldtruth.records import Example
from fieldtruth.rewards import grounded, published
from fieldtruth.rewards.contract import Paid, Rollout
from fieldtruth.stages.grpo.paying import Payer, looked_at, reward_of, rollout
from fieldtruth.stages.grpo.settings import Grpo

LISTED: dict[str, Any] = {"protocol": "candidates", "candidates": NAMES, "query": None}
HIT = f'[{{"bbox_2d": [156, 166, 468, 500], "label": "{NAMES[0]}"}}]'


def some() -> list[Example]:
    """A photo that shows its target, asked in both ways; a healthy one; one asked for another."""
    return [
        example("known"),
        example("listed", **LISTED),
        example("well", role="healthy"),
        example("other", role="wrong_target"),
    ]


def settings(**changes: Any) -> Grpo:
    return Grpo(**({"base": "b", "train": ("t",), "out": "o"} | changes))


def test_a_reply_carries_the_truth_of_its_example() -> None:
    made = rollout(example("known"), Words(text="[]", finish="length"))
    of = example("known")
    (box,) = of.boxes
    wide, high = of.width, of.height
    assert made.boxes[0] == pytest.approx(
        (box[0] / wide * 1000, box[1] / high * 1000, box[2] / wide * 1000, box[3] / high * 1000)
    )
    assert (made.label, made.query, made.finish) == (of.label, of.query, "length")
    assert (made.width, made.height, made.space) == (wide, high, "norm1000")
    kinds = [rollout(each, Words(text="[]")) for each in some()]
    assert [each.protocol for each in kinds] == [
        "known_target", "candidates", "known_target", "known_target+wrong_target",
    ]  # fmt: skip
    assert [each.healthy for each in kinds] == [False, False, True, False]
    assert [len(each.boxes) for each in kinds] == [1, 1, 0, 0]


@pytest.mark.parametrize("kind", ["published", "grounded"])
def test_what_is_paid_in_training_is_what_the_command_pays(tmp_path: Path, kind: str) -> None:
    said = [HIT, "[]", HIT.replace("468", "431.7"), "nothing here", HIT + HIT, '[{"bbox_2d": [1]}]']
    kept: list[Rollout] = []
    payer = Payer(
        reward_of(settings(reward=kind)), lambda number: some()[number],
        lambda ids: Words(text=said[ids[0]]), lambda _, rollouts: kept.extend(rollouts),
    )  # fmt: skip
    rows = [number for number in range(4) for _ in said]
    ids = [[place] for _ in range(4) for place in range(len(said))]
    earned = payer(
        completion_ids=ids, row=rows, trainer_state=SimpleNamespace(global_step=0), image=None,
        prompts=None,
    )  # fmt: skip
    path = tmp_path / "replies.jsonl"
    path.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in kept))
    done = CliRunner().invoke(app, ["reward", str(path), "--kind", kind, "--json"])
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    paid = told["replies"] if isinstance(told, dict) else told
    assert [each["reward"] for each in paid] == earned
    assert len(set(earned)) > 3
    assert payer.take()["reward"] == pytest.approx(sum(earned) / len(earned), abs=1e-15)
    assert payer.take() == {}


def test_weights_stand_over_those_of_the_reward() -> None:
    recognition = {"localization": 0.30, "multi": 0.10, "recognition": 0.35}
    assert reward_of(settings(reward="published", weights=recognition)) == published.Published(
        published.RECOGNITION_WEIGHTED
    )
    found = reward_of(settings(weights={"name": 0.35, "localization": 0.2}))
    assert isinstance(found, grounded.Grounded)
    assert (found.candidates.name, found.known_target) == (0.35, grounded.KNOWN_TARGET)
    assert reward_of(settings()) == grounded.REWARD
    assert reward_of(settings(reward="published")) == published.REWARD


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"weights": {"name": 0.9}}, "weights: expected weights of at least 0 that add up to 1"),
        ({"known_weights": {"nme": 0.9}}, "known_weights: expected some of format, answer"),
        ({"reward": "published", "weights": {"name": 0.2}}, "some of format, localization, multi"),
        ({"reward": "published", "known_weights": {"name": 0.2}}, "with the grounded reward"),
        ({"reward": "praise"}, "rewards has no 'praise'; it has: grounded, published"),
    ],
)
def test_weights_that_are_none_are_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(Usage, match=words):
        reward_of(settings(**changes))


def test_a_round_is_looked_at() -> None:
    known, listed, well, other = some()
    second = HIT.replace(NAMES[0], NAMES[1])
    pairs = [
        (known, HIT), (known, "[]"), (known, "so it is"), (known, f"[{HIT[1:-1]}, {HIT[1:-1]}]"),
        (listed, HIT), (listed, second), (well, "[]"), (well, HIT), (other, "[]"),
    ]  # fmt: skip
    rollouts = [rollout(each, Words(text=text)) for each, text in pairs]
    paid = [Paid(reward=0.5, terms={"format": 0.1}, outcome="boxes") for _ in pairs]
    found = looked_at(rollouts, paid, [10] * 8 + [1])
    assert found == pytest.approx({
        "reward": 0.5, "tokens": 9.0, "truncated": 0.0, "unread": 1 / 9, "empty": 1 / 6,
        "abstained": 2 / 3, "boxes": 5 / 6, "first_option": 1 / 2, "paid_format": 0.1,
    })  # fmt: skip
    alone = looked_at([rollout(well, Words(text="[", finish="length"))], paid[:1], [3])
    assert {"empty", "boxes", "first_option"}.isdisjoint(alone)
    assert (alone["truncated"], alone["abstained"], alone["unread"]) == (1.0, 0.0, 1.0)
