"""Every control: the protocol's own prompt and reader, one thing changed, and no truth in it."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.builders import NAMES, item
from tests.strategies import ASK_LEVELS, FINISHES, KINDS, SPACES, hostile, items

from fieldtruth import controls, rooms
from fieldtruth.controls.contract import Pixels
from fieldtruth.draws import rng
from fieldtruth.grading import Instruction, open_protocol
from fieldtruth.records import Finish, Item, Space

CONTROLS = ("blank", "rotate1", "rotate2", "rotate3", "shuffle", "textonly", "wrong_target")
BASES = ("candidates", "known_target", "open_set")
PHOTO = ("blank", "shuffle")
ABLE = [
    *(f"{base}+{control}" for base in BASES for control in PHOTO),
    *(f"candidates+rotate{by}" for by in (1, 2, 3)),
    "known_target+wrong_target",
]
ITEM = item(candidates=NAMES, absent_query="leaf mold")

every = st.sampled_from(ABLE)
spaces = st.sampled_from(SPACES)
seeds = st.integers(0, 2**32)


def opened(name: str) -> tuple[Instruction, Instruction]:
    """The instruction, and that of its protocol alone."""
    return open_protocol(name), open_protocol(name.partition("+")[0])


def asked(instruction: Instruction, of: Item) -> Item:
    found = instruction.asked(of)
    assert found is not None
    return found


def photo(name: str, pixels: Pixels, key: str = "leaf-1", seed: int = 0) -> Pixels:
    change = rooms.open_room(controls, name).CONTROL.photo
    shown: Pixels = change(pixels, rng(seed, f"control {name}", key))
    return shown


@st.composite
def pixels(draw: st.DrawFn) -> Pixels:
    """A photo of 1 to 40 pixels a side in which all pixels differ."""
    high, wide = draw(st.integers(1, 40)), draw(st.integers(1, 40))
    numbers = np.arange(high * wide, dtype=np.int64).reshape(high, wide)
    return np.stack([numbers % 251, numbers // 251, numbers % 7], axis=-1).astype(np.uint8)


def rows(photo: Pixels) -> list[tuple[int, ...]]:
    return sorted(map(tuple, photo.reshape(-1, 3).tolist()))


def test_the_room_holds_the_controls_of_the_design() -> None:
    assert tuple(rooms.names(controls)) == CONTROLS
    for name in CONTROLS:
        assert len(rooms.open_room(controls, name).__doc__ or "") > 60


# --- the words -----------------------------------------------------------------------------------


@given(st.sampled_from(BASES), st.sampled_from(PHOTO), items(), spaces)
def test_a_changed_photo_is_asked_about_in_the_same_words(
    base: str, control: str, of: Item, space: Space
) -> None:
    instruction, alone = opened(f"{base}+{control}")
    assert asked(instruction, of) == of
    assert instruction.protocol is alone.protocol
    assert instruction.suits(of) == alone.suits(of)


@given(items(positive=True), spaces, st.sampled_from(KINDS), st.sampled_from(ASK_LEVELS))
def test_a_wrong_target_changes_nothing_but_the_name(
    of: Item, space: Space, kind: Any, level: Any
) -> None:
    instruction, alone = opened("known_target+wrong_target")
    sick = replace(of, kind=kind, level=level, query="zq true", absent_query="zq wrong")
    prompt = instruction.protocol.ask(asked(instruction, sick), space)
    assert "zq true" not in prompt
    own = alone.protocol.ask(sick, space)
    assert own.count("zq true") == prompt.count("zq wrong") >= 3
    assert prompt.encode() == own.replace("zq true", "zq wrong").encode()


@given(items(), spaces, st.integers(1, 3))
def test_a_rotation_changes_nothing_but_the_order(of: Item, space: Space, by: int) -> None:
    instruction, alone = opened(f"candidates+rotate{by}")
    some = replace(of, candidates=("zq rust", "zq scab", "zq wilt", "zq smut"))
    changed = asked(instruction, some)
    assert replace(changed, candidates=some.candidates) == some
    own, prompt = (alone.protocol.ask(each, space) for each in (some, changed))
    listed = [f"{n}. {name}" for n, name in enumerate(some.candidates or (), 1)]
    turned = [f"{n}. {name}" for n, name in enumerate(changed.candidates or (), 1)]
    block, other = "\n".join(listed), "\n".join(turned)
    assert own.count(block) == 1
    assert prompt.encode() == own.replace(block, other).encode()


def test_over_all_rotations_each_name_stands_once_at_each_place() -> None:
    lists = [asked(open_protocol(name), ITEM).candidates for name in ABLE if "rotate" in name]
    assert lists == [
        (NAMES[1], NAMES[2], NAMES[3], NAMES[0]),
        (NAMES[2], NAMES[3], NAMES[0], NAMES[1]),
        (NAMES[3], NAMES[0], NAMES[1], NAMES[2]),
    ]
    for column in zip(NAMES, *(names or () for names in lists), strict=True):
        assert sorted(column) == sorted(NAMES)


@given(every, hostile, spaces, st.sampled_from(FINISHES))
def test_replies_are_read_by_the_protocols_own_reader(
    name: str, text: str, space: Space, finish: Finish
) -> None:
    instruction, alone = opened(name)
    readings = [each.protocol.read(text, space, finish) for each in (instruction, alone)]
    assert readings[0] == readings[1]


@given(every, items(positive=True), spaces)
def test_the_words_do_not_depend_on_where_or_how_much_the_truth_is(
    name: str, of: Item, space: Space
) -> None:
    one = replace(of, absent_query="zq wrong")
    other = replace(one, boxes=((0.0, 0.0, one.width * 0.5, one.height * 0.5),), id="j", group="h")
    instruction = open_protocol(name)
    first, second = (instruction.protocol.ask(asked(instruction, i), space) for i in (one, other))
    assert first == second


# --- what is right -------------------------------------------------------------------------------


@given(items(positive=True), spaces)
def test_the_right_answer_to_a_wrong_target_is_empty(of: Item, space: Space) -> None:
    instruction = open_protocol("known_target+wrong_target")
    changed = asked(instruction, replace(of, absent_query=f"zq {of.label}"))
    assert instruction.protocol.answer(changed, space) == "[]"
    assert instruction.absent


@given(items(), spaces, st.integers(1, 3))
def test_the_right_answer_to_a_rotated_list_is_the_same(of: Item, space: Space, by: int) -> None:
    instruction, alone = opened(f"candidates+rotate{by}")
    changed = asked(instruction, of)
    assert instruction.protocol.answer(changed, space) == alone.protocol.answer(of, space)
    assert not instruction.absent


def test_who_cannot_be_asked() -> None:
    wrong = open_protocol("known_target+wrong_target")
    assert wrong.suits(ITEM)
    assert not wrong.suits(replace(ITEM, absent_query=None))
    healthy = item(level="healthy", label=None, kind=None, boxes=(), absent_query="rust")
    assert not wrong.suits(healthy)
    assert not open_protocol("candidates+rotate1").suits(replace(ITEM, candidates=None))
    assert not open_protocol("candidates+blank").suits(replace(ITEM, candidates=None))


@pytest.mark.parametrize(
    "name",
    [
        "candidates+wrong_target", "open_set+wrong_target", "known_target+rotate1",
        "open_set+rotate2",
    ],
)  # fmt: skip
def test_a_control_that_would_change_nothing_cannot_be_asked(name: str) -> None:
    assert not open_protocol(name).suits(ITEM)


def test_tables_lead_with_what_a_control_is_for() -> None:
    assert open_protocol("known_target+wrong_target").headline == ("wrong_target_abstention",)
    blank, base = opened("candidates+blank")
    assert blank.headline == ("false_abstention", *base.headline)
    assert open_protocol("candidates+rotate1").headline == base.headline


# --- the photos ----------------------------------------------------------------------------------


@given(pixels(), seeds)
def test_blank_is_grey_and_of_the_same_size(shot: Pixels, seed: int) -> None:
    shown = photo("blank", shot, seed=seed)
    assert shown.shape == shot.shape
    assert shown.dtype.name == "uint8"
    assert set(shown.ravel().tolist()) == {128}


@given(pixels(), seeds)
def test_shuffling_keeps_every_pixel_and_leaves_the_remainder(shot: Pixels, seed: int) -> None:
    before = shot.copy()
    shown = photo("shuffle", shot, seed=seed)
    assert (shot == before).all()
    assert shown.shape == shot.shape
    assert rows(shown) == rows(shot)
    high, wide = shot.shape[0] // 4, shot.shape[1] // 4
    assert (shown[4 * high :] == shot[4 * high :]).all()
    assert (shown[:, 4 * wide :] == shot[:, 4 * wide :]).all()


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 3), st.integers(0, 3), seeds)
def test_whole_tiles_change_places(high: int, wide: int, more: int, over: int, seed: int) -> None:
    shot = np.zeros((4 * high + more, 4 * wide + over, 3), dtype=np.uint8)
    for tile in range(16):
        y, x = tile // 4 * high, tile % 4 * wide
        shot[y : y + high, x : x + wide] = tile + 1
    shown = photo("shuffle", shot, seed=seed)
    seen = [
        shown[tile // 4 * high :, tile % 4 * wide :][:high, :wide].ravel().tolist()
        for tile in range(16)
    ]
    assert all(len(set(values)) == 1 for values in seen)
    assert sorted(values[0] for values in seen) == list(range(1, 17))


def test_what_is_drawn_is_keyed_by_seed_and_item() -> None:
    shot = np.arange(64 * 64 * 3, dtype=np.int64).reshape(64, 64, 3).astype(np.uint8)
    same = [photo("shuffle", shot, "leaf-1").tobytes() for _ in range(3)]
    assert len(set(same)) == 1
    keys = [("leaf-1", 0), ("leaf-2", 0), ("leaf-1", 1), ("leaf-3", 0)]
    others = {photo("shuffle", shot, name, seed).tobytes() for name, seed in keys}
    assert len(others) == 4


def test_a_photo_smaller_than_the_grid_stays_as_it_is() -> None:
    shot = np.arange(27, dtype=np.uint8).reshape(3, 3, 3)
    assert (photo("shuffle", shot) == shot).all()


def test_the_answer_under_a_rotation_names_the_same_thing() -> None:
    changed = asked(open_protocol("candidates+rotate2"), ITEM)
    reply = json.loads(open_protocol("candidates+rotate2").protocol.answer(changed, "pixel"))
    assert {row["label"] for row in reply} == {ITEM.label}
