"""Every problem is told with its row, and a clean file of each kind has none."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.builders import (
    conversation,
    example,
    examples_folder,
    frozen,
    healthy_row,
    plain,
    question,
    row,
)

from fieldtruth.faults import Refused, Usage
from fieldtruth.records import Example
from fieldtruth.sources.drawn.symptoms import SUFFERS
from fieldtruth.stages.check import Report, Settings, check, line
from fieldtruth.stages.check.answers import labels, tokens
from fieldtruth.stages.check.problems import MEANING

HIT = '[{"bbox_2d": [100, 100, 300, 200], "label": "early blight"}]'
Row = Mapping[str, Any] | bytes


def written(path: Path, rows: Sequence[Row]) -> Path:
    """Lines of JSON; bytes as they are."""
    raw = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in rows]
    path.write_bytes(b"".join(each + b"\n" for each in raw))
    return path


def checked(folder: Path, rows: Sequence[Row], **settings: Any) -> Report:
    """These rows beside `a.png` (64 x 48), `b.png`, a tiny `t.png`, a thin `s.png`."""
    if not (folder / "a.png").exists():
        plain(folder / "a.png", 1, (64, 48))
        plain(folder / "b.png", 2, (64, 48))
        plain(folder / "t.png", 3, (64, 27))
        plain(folder / "s.png", 4, (5_601, 28))
        (folder / "x.png").write_bytes(b"no photo")
    return check(written(folder / "rows.jsonl", rows), Settings(**settings))


def told(report: Report) -> list[tuple[int, str]]:
    return [(each.row, each.problem) for each in report.problems]


# --- clean files of each kind ------------------------------------------------------------------

CLEAN: dict[str, tuple[str, Mapping[str, Any]]] = {
    "plain messages": ("chat", conversation("c")),
    "trl": ("chat", {
        "messages": [
            {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "Where?"}]},
            {"role": "assistant", "content": [{"type": "text", "text": HIT}]},
        ],
        "images": ["a.png"],
    }),
    "trl with nulls": ("chat", {
        "messages": [
            {"role": "user", "content": [{"type": "image", "text": None},
                                         {"type": "text", "text": "Where?"}]},
            {"role": "assistant", "content": "[]"},
        ],
        "images": [{"bytes": None, "path": "a.png"}],
    }),
    "photo within a part": ("chat", {
        "messages": [
            {"role": "user", "content": [{"type": "image", "image": "a.png"},
                                         {"type": "text", "text": "Where?"}]},
            {"role": "assistant", "content": HIT},
        ],
    }),
    "prompt and completion": ("chat", {
        "prompt": [{"role": "user", "content": "<image>Where?"}],
        "completion": [{"role": "assistant", "content": HIT}],
        "image": "a.png",
    }),
    "texts": ("chat", {"prompt": "What is rust?", "completion": "A fungus."}),
    "llama-factory": ("chat", {
        "conversations": [{"from": "human", "value": "<image>\nWhere?"},
                          {"from": "gpt", "value": HIT}],
        "images": ["a.png"],
    }),
    "qwen": ("chat", {
        "id": 7,
        "image": ["a.png", "b.png"],
        "conversations": [{"from": "human", "value": "<image><image>Which is rust?"},
                          {"from": "gpt", "value": "The second."}],
    }),
    "turns": ("chat", {
        "messages": [
            {"role": "system", "content": "You look at leaves."},
            {"role": "user", "content": "<image>Where?"}, {"role": "assistant", "content": HIT},
            {"role": "user", "content": "Sure?"}, {"role": "assistant", "content": "Yes."},
        ],
        "images": ["a.png"],
    }),
    "mcq": ("questions", question("q", images=["a.png"])),
    "open": ("questions", question("q", form="open", options=None, answer="Remove the leaves.",
                                   facts=["Remove the leaves.", "Spray copper."])),
    "made by hand": ("questions", {
        "id": "q", "form": "open", "question": "Why?", "answer": "Rain.", "source": "s",
        "licence": "CC0",
    }),
}  # fmt: skip


@pytest.mark.parametrize("name", CLEAN)
def test_what_is_right_has_no_problem(name: str, tmp_path: Path) -> None:
    kind, value = CLEAN[name]
    assert checked(tmp_path, [value]) == Report(kind=kind, rows=1, problems=())
    (tmp_path / "rows.json").write_text(json.dumps([value], indent=1))
    assert check(tmp_path / "rows.json", Settings()).problems == ()


def test_examples_and_their_folder(tmp_path: Path) -> None:
    folder = examples_folder(tmp_path, [example("e"), example("h", role="healthy", image="b.png")])
    for path in (folder, folder / "examples.jsonl"):
        assert check(path, Settings()) == Report(kind="examples", rows=2, problems=())


def test_every_name_of_a_drawn_leaf_is_known() -> None:
    for crop, names in SUFFERS.items():
        assert list(labels(dict.fromkeys(names), crop)) == []
        assert list(labels(dict.fromkeys(names))) == []


# --- one problem each --------------------------------------------------------------------------


def said(answer: str, **more: Any) -> dict[str, Any]:
    return conversation("c", answer=answer, **more)


def asked(prompt: str, images: Sequence[str] = ("a.png",)) -> dict[str, Any]:
    return conversation("c", prompt=prompt, images=images)


def boxed(*numbers: float) -> dict[str, Any]:
    return said(json.dumps([{"bbox_2d": numbers, "label": "early blight"}]))


PARTS = [{"type": "image"}, {"type": "text", "text": "Where? <image>"}]
TURNS = {
    "roles": [["user"], ["assistant"], ["user", "user", "assistant"], ["user", "assistant", "user"],
              ["system"], ["user", "system", "assistant"], ["user", "narrator"]],
}  # fmt: skip
CHAT: list[tuple[dict[str, Any], list[str]]] = [
    (asked("Where?"), ["placeholders"]),
    (asked("<image><image>Where?"), ["placeholders"]),
    (asked("<image>Where?", []), ["placeholders"]),
    (asked("<image>Where?", ["a.png", "b.png"]), ["placeholders"]),
    ({"image": "a.png", "conversations": [{"from": "human", "value": "Where?"},
                                          {"from": "gpt", "value": "[]"}]}, ["placeholders"]),
    ({"messages": [{"role": "user", "content": [{"type": "text", "text": "Where?"}]},
                   {"role": "assistant", "content": "[]"}], "images": ["a.png"]},
     ["placeholders"]),
    ({"messages": [{"role": "user", "content": PARTS}, {"role": "assistant", "content": "[]"}],
      "images": ["a.png"]}, ["literal_image"]),
    (said("It is <image>."), ["literal_image"]),
    (said("[] <|image_pad|>"), ["literal_image"]),
    (asked("<image>Is <|vision_start|> a token?"), ["literal_image"]),
    (asked(" <image>\n"), ["empty_prompt"]),
    (said(""), ["unreadable_answer"]),
    (said('{"boxes": 3}'), ["unreadable_answer"]),
    (said('[{"bbox_2d": [1, 2, 3], "label": "rust"}]'), ["unreadable_answer"]),
    (said(HIT[:-1] + ', {"bbox_2d": [1, 2'), ["unreadable_answer"]),
    (said(HIT + "\nor\n" + HIT), ["several_answers"]),
    (boxed(300, 100, 100, 200), ["degenerate_box"]),
    (boxed(100, 100, 100, 200), ["degenerate_box"]),
    (boxed(100.2, 100, 100.4, 200), ["degenerate_box"]),
    (boxed(0.1, 0.2, 0.3, 0.4), ["degenerate_box"]),
    (boxed(100, 100, 1001, 200), ["box_out_of_space"]),
    (boxed(-1, 100, 300, 200), ["box_out_of_space"]),
    (said("word " * 1_100), ["answer_too_long"]),
    (said(HIT.replace("early blight", "zzyzx gloom")), ["unknown_label"]),
    (said(HIT.replace("early blight", "healthy")), ["unknown_label"]),
    (asked("<image>Where?", ["gone.png"]), ["image_missing"]),
    (asked("<image>Where?", ["A.png"]), ["image_missing"]),
    (asked("<image>Where?", ["https://example.org/a.png"]), ["image_missing"]),
    (asked("<image>Where?", ["/no/such/a.png"]), ["image_missing"]),
    (asked("<image>Where?", ["x.png"]), ["image_unreadable"]),
    (asked("<image>Where?", ["."]), ["image_unreadable"]),
    (asked("<image>Where?", ["/dev/null"]), ["image_unreadable"]),
    (asked("<image>Where?", ["../a.png"]), ["image_unsafe"]),
    (asked("<image>Where?", ["a\0.png"]), ["image_unsafe"]),
    (asked("<image>Where?", ["t.png"]), ["image_too_small"]),
    (asked("<image>Where?", ["s.png"]), ["image_too_thin"]),
    ({"messages": "x"}, ["bad_row"]),
    ({"messages": []}, ["bad_row"]),
    ({"messages": [{"role": "user"}]}, ["bad_row"]),
    ({"messages": [{"content": "x"}]}, ["bad_row"]),
    ({"messages": [{"role": "user", "content": [{"text": "x"}]}]}, ["bad_row"]),
    ({"prompt": 3, "completion": "x"}, ["bad_row"]),
    (conversation("c") | {"images": "a.png"}, ["bad_row"]),
    (conversation("c") | {"images": [None]}, ["bad_row"]),
    ({"what": 1}, ["bad_row"]),
    *(({"messages": [{"role": each, "content": "[]"} for each in roles]}, ["roles"])
      for roles in TURNS["roles"]),
]  # fmt: skip


@pytest.mark.parametrize(("value", "expected"), CHAT)
def test_a_conversation(value: dict[str, Any], expected: list[str], tmp_path: Path) -> None:
    found = told(checked(tmp_path, [value]))
    assert found == [(1, problem) for problem in expected]


EXAMPLES: list[tuple[dict[str, Any], list[str]]] = [
    ({"prompt": "<image>Where?"}, ["literal_image"]),
    ({"prompt": "\n"}, ["empty_prompt"]),
    ({"answer": "It is rust."}, ["unreadable_answer"]),
    ({"answer": f"```json\n{HIT}\n```"}, ["unreadable_answer"]),
    ({"answer": HIT.replace("300", "100")}, ["degenerate_box"]),
    ({"answer": HIT.replace("300", "3000")}, ["box_out_of_space"]),
    ({"answer": HIT, "space": "pixel"}, ["box_out_of_space"]),
    ({"answer": HIT.replace("100, 100, 300, 200", "56, 0, 57, 57"), "space": "pixel_resized"},
     ["box_out_of_space"]),
    ({"query": "zzyzx gloom"}, ["unknown_label"]),
    ({"candidates": ["rust", "scab", "blight", "zzyzx gloom"]}, ["unknown_label"]),
    ({"kind": "object", "query": "zzyzx gloom"}, []),
    ({"split": "test"}, ["test_image"]),
    ({"image": "gone.png"}, ["image_missing"]),
    ({"image": "../a.png"}, ["image_unsafe"]),
    ({"image": "/etc/hosts"}, ["image_unsafe"]),
    ({"width": 640, "height": 480}, ["wrong_size"]),
    ({"source": "elsewhere"}, ["image_missing"]),
    ({"role": "healthy"}, ["bad_row"]),
    ({"mood": "good"}, ["bad_row"]),
    ({"width": "64"}, ["bad_row"]),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "expected"), EXAMPLES)
def test_an_example(changes: dict[str, Any], expected: list[str], tmp_path: Path) -> None:
    folder = examples_folder(tmp_path, [example("e")])
    value = json.loads((folder / "examples.jsonl").read_text()) | changes
    written(folder / "examples.jsonl", [value])
    report = check(folder, Settings())
    assert (report.kind, told(report)) == ("examples", [(1, each) for each in expected])


QUESTIONS: list[tuple[dict[str, Any], list[str]]] = [
    ({"answer": "E"}, ["bad_letter"]),
    ({"answer": "b"}, ["bad_letter"]),
    ({"answer": "AB"}, ["bad_letter"]),
    ({"options": ["rust", "scab", " Rust "], "answer": "B"}, ["duplicate_options"]),
    ({"options": ["rust", " ", "scab"], "answer": "A"}, ["empty_text"]),
    ({"question": ""}, ["empty_text"]),
    ({"question": "Is <image> ill?"}, ["literal_image"]),
    ({"options": ["rust"], "answer": "A"}, ["bad_row"]),
    ({"options": None}, ["bad_row"]),
    ({"form": "open"}, ["bad_row"]),
    ({"form": "essay"}, ["bad_row"]),
    ({"form": "open", "options": None, "answer": "- Prune.\n- Spray."}, ["no_facts"]),
    ({"form": "open", "options": None, "answer": "1. Prune\n 2) Spray", "facts": ["Prune"]}, []),
    ({"form": "open", "options": None, "answer": "Prune.", "facts": [""]}, ["empty_text"]),
    ({"images": ["gone.png"]}, ["image_missing"]),
    ({"images": ["t.png"]}, ["image_too_small"]),
    ({"images": ["/etc/hosts"]}, ["image_unsafe"]),
    ({"colour": "red"}, ["bad_row"]),
    ({"answer": "leaf mold of soot"}, ["answer_absent"]),
    ({"question": "Which rust is it?", "options": ["leaf rust", "smut"], "answer": "A"},
     ["answer_in_question"]),
    ({"options": ["rust", "None of the above"], "answer": "A"}, ["catch_all"]),
    ({"options": ["citrus greening", "scab", "huanglongbing"], "answer": "A"}, ["also_right"]),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "expected"), QUESTIONS)
def test_a_question(changes: dict[str, Any], expected: list[str], tmp_path: Path) -> None:
    report = checked(tmp_path, [question("q", **changes)])
    assert (report.kind, told(report)) == ("questions", [(1, each) for each in expected])


def test_every_problem_has_a_test() -> None:
    tables = [each for table in (CHAT, EXAMPLES, QUESTIONS) for _, found in table for each in found]
    elsewhere = {"duplicate_id", "shared_photo", "answer_position", "answer_length", "answer_form"}
    assert set(tables) | elsewhere == set(MEANING)


# --- rows of one file --------------------------------------------------------------------------


def test_nothing_is_lost_of_a_file_with_bad_rows(tmp_path: Path) -> None:
    good = conversation("c")
    rows: list[Row] = [
        b"\xff\xfe", good | {"id": 1}, b"", b'{"id": NaN}', b'{"id": "x"', b"[" * 100_000, b"3",
        b"\0", b'{"id": "\\ud800"}', {"conversations": []}, good | {"id": 1}, b"null",
        json.dumps(good).encode()[:-1] + b', "messages": []}',
    ]  # fmt: skip
    report = checked(tmp_path, rows)
    bad = [(at, "bad_row") for at in (1, 3, 4, 5, 6, 7, 8, 9, 10)]
    assert (report.kind, report.rows) == ("chat", 13)
    assert told(report) == [*bad, (11, "duplicate_id"), (12, "bad_row"), (13, "bad_row")]
    assert report.problems[-1].detail == "expected every field once, got 'messages' twice"
    assert report.problems[9].id == "1"
    assert report.problems[9].detail == "row 2 has it too"


def test_a_line_longer_than_any_row(tmp_path: Path) -> None:
    long = b'{"id": "' + b"x" * (64 << 20) + b'"}'
    report = checked(tmp_path, [conversation("d"), long, asked("Where?")])
    assert told(report) == [(2, "bad_row"), (3, "placeholders")]


@pytest.mark.parametrize(
    ("raw", "rows", "bad"),
    [
        (b"[]", 0, [1]), (b"", 0, [1]), (b"[{}, 3]", 2, [1, 2]), (b"[%s,]", 2, [2]),
        (b"[%s %s]", 2, [2]), (b"[%s", 2, [2]), (b"[%s] [", 2, [2]), (b"\xef\xbb\xbf[%s]", 1, []),
        (b'[%s, {"id": NaN}, %s]', 3, [2]), (b'[%s, {"a": "\xff"}, %s]', 3, [2]),
        (b"[%s, {, %s]", 2, [2]), (b"[" * 100_000, 1, [1]), (b"[%s\n,\t%s ]\n", 2, []),
    ],
)  # fmt: skip
def test_a_list(raw: bytes, rows: int, bad: list[int], tmp_path: Path) -> None:
    plain(tmp_path / "a.png", 1, (64, 48))
    del_id = {k: v for k, v in conversation("c").items() if k != "id"}
    (tmp_path / "rows.json").write_bytes(raw.replace(b"%s", json.dumps(del_id).encode()))
    report = check(tmp_path / "rows.json", Settings())
    assert report.rows == rows
    assert told(report) == [(at, "bad_row") for at in bad]


def test_what_questions_share(tmp_path: Path) -> None:
    rows = [
        question("q1", images=["a.png"], group="g"), question("q2", images=["a.png"], group="g"),
        question("q3", images=["a.png"], group="h"), question("q1", images=["b.png"], group="h"),
    ]  # fmt: skip
    assert told(checked(tmp_path, rows)) == [(3, "shared_photo"), (4, "duplicate_id")]


# --- settings ----------------------------------------------------------------------------------


def test_the_box_space_of_a_conversation(tmp_path: Path) -> None:
    fits = said('[{"bbox_2d": [10, 10, 64, 48], "label": "rust"}]')
    wide = said('[{"bbox_2d": [10, 10, 65, 48], "label": "rust"}]')
    assert told(checked(tmp_path, [fits, wide], space="pixel")) == [
        (2, "box_out_of_space"), (2, "duplicate_id"),
    ][::-1]  # fmt: skip
    declared = [fits | {"id": 1, "space": "pixel"}, wide | {"id": 2, "space": "pixel"}]
    assert told(checked(tmp_path, declared)) == [(2, "box_out_of_space")]
    assert told(checked(tmp_path, declared, space="norm1000")) == []
    unit = said('[{"bbox_2d": [0.1, 0.1, 0.10004, 0.2], "label": "rust"}]')
    assert told(checked(tmp_path, [unit], space="norm1")) == [(1, "degenerate_box")]


def test_the_budget(tmp_path: Path) -> None:
    assert tokens(HIT) == 38
    assert told(checked(tmp_path, [said(HIT)], budget=39)) == []
    assert told(checked(tmp_path, [said(HIT)], budget=38)) == [(1, "answer_too_long")]
    boxes = [{"bbox_2d": [101, 202, 303, 404], "label": "early blight"}] * 7
    assert 250 <= tokens(json.dumps(boxes)) <= 270  # the published 256 tokens held about seven


def test_photos_lie_elsewhere(tmp_path: Path) -> None:
    photo = plain(tmp_path / "in" / "deep" / "a.png", 1, (64, 48))
    path = written(tmp_path / "rows.jsonl", [asked("<image>?", ["deep/a.png"])])
    assert told(check(path, Settings())) == [(1, "image_missing")]
    assert told(check(path, Settings(images=tmp_path / "in"))) == []
    for image in (str(photo), f"file://{photo}"):
        written(path, [asked("<image>?", [image])])
        assert told(check(path, Settings())) == []
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "deep").symlink_to(tmp_path / "in" / "deep")
    written(path, [asked("<image>?", ["deep/a.png"])])
    assert told(check(path, Settings(images=tmp_path / "out"))) == [(1, "image_unsafe")]


def test_photos_of_a_test_split(tmp_path: Path) -> None:
    bench = frozen(tmp_path / "bench", [row("p", group="g"), healthy_row("h", group="k")])
    copy = tmp_path / "copy.png"
    copy.write_bytes((tmp_path / "photos" / "a.png").read_bytes())
    plain(tmp_path / "other.png", 9, (32, 30))
    rows = [asked("<image>?", ["copy.png"]) | {"id": 1}, asked("<image>?", ["other.png"])]
    path = written(tmp_path / "rows.jsonl", rows)
    found = told(check(path, Settings(tests=(bench,))))
    assert (1, "test_image") in found
    assert [each for each in found if each[0] == 2] == []
    assert (1, "test_image") not in told(check(path, Settings()))
    (bench / "items.jsonl").write_text("")
    with pytest.raises(Refused, match="expected every file as it was frozen"):
        check(path, Settings(tests=(bench,)))


def test_examples_of_a_test_split_by_hash_and_by_group(tmp_path: Path) -> None:
    bench = frozen(tmp_path / "bench", [row("p", group="g", source="s"), healthy_row("h")])
    identity = next(
        each["image_sha256"]
        for each in map(json.loads, (bench / "items.jsonl").read_text().splitlines())
        if each["id"] == "p"
    )
    folder = examples_folder(tmp_path / "set", [
        example("hash", image_sha256=identity), example("group", group="g", source="s"),
        example("other", group="g", source="hand"), example("clean"),
    ])  # fmt: skip
    found = check(folder, Settings(tests=(bench,), images=tmp_path / "set" / "release"))
    assert [(each.id, each.problem) for each in found.problems] == [
        ("hash", "test_image"), ("group", "test_image"),
    ]  # fmt: skip


def test_groups_are_known_however_a_mixture_or_a_split_calls_them(tmp_path: Path) -> None:
    """A mixture writes `SOURCE:GROUP` for a release's own group; `split` calls groups by contents,
    and those of two sources may be one."""
    content = "0123456789abcdef" * 2
    bench = frozen(tmp_path / "bench", [
        row("p", group="plant 4", source="s"), healthy_row("h", group=content, source="t"),
    ])  # fmt: skip
    folder = examples_folder(tmp_path / "set", [
        example("own", group="s:plant 4", source="s"), example("other", group="t:plant 4"),
        example("near", group=content, source="s"), example("far", group=content[::-1]),
    ])  # fmt: skip
    found = check(folder, Settings(tests=(bench,), images=tmp_path / "set" / "release"))
    assert [(each.id, each.problem) for each in found.problems] == [
        ("own", "test_image"), ("near", "test_image"),
    ]  # fmt: skip


def test_photos_kept_by_reference_are_known_by_their_hash(tmp_path: Path) -> None:
    closed = [row("p", licence="unknown"), healthy_row("h")]
    bench = frozen(tmp_path / "bench", closed)
    path = written(tmp_path / "photos" / "rows.jsonl", [asked("<image>?", ["a.png"])])
    assert (1, "test_image") in told(check(path, Settings(tests=(bench,))))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"space": "metres"}, "--space: expected one of pixel, .*got 'metres'"),
        ({"budget": 0}, "--budget: expected 1 token or more, got 0"),
        ({"images": Path("/no/such")}, "--images: expected a folder, got none"),
        ({"tests": (Path("/no/such"),)}, "expected the folder of a frozen benchmark"),
    ],
)
def test_settings_that_cannot_be_used(settings: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(Usage, match=said):
        checked(tmp_path, [conversation("c")], **settings)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(Usage, match="expected a file, got nothing there"):
        check(tmp_path / "none.jsonl", Settings())
    with pytest.raises(Usage, match=r"or a folder with examples\.jsonl"):
        check(tmp_path, Settings())
    (tmp_path / "rows.parquet").write_bytes(b"PAR1....")
    with pytest.raises(Usage, match="got parquet"):
        check(tmp_path / "rows.parquet", Settings())


def test_what_people_read(tmp_path: Path) -> None:
    rows = [asked("Where?") | {"id": at} for at in range(5)]
    report = checked(tmp_path, [*rows, b"", said("[]")])
    assert line(report, Path("F")).splitlines() == [
        "        1 bad_row: not a JSON object of this file's shape; nothing else was looked at in "
        "it",
        "          row 6: expected a row, got a blank line",
        "        5 placeholders: as many <image> as photos are needed, one for each",
        "          row 1 (id '0'): 0 placeholders, 1 photos",
        "          row 2 (id '1'): 0 placeholders, 1 photos",
        "          row 3 (id '2'): 0 placeholders, 1 photos",
        "F: 7 rows of chat: 6 problems in 6 of them",
    ]
    assert line(checked(tmp_path, [said("[]")]), Path("F")) == "F: 1 rows of chat: no problems"


# --- properties --------------------------------------------------------------------------------

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=8,
)
KEYS = [
    "messages", "conversations", "prompt", "completion", "images", "image", "id", "role", "content",
    "from", "value", "question", "form", "options", "answer", "parent", "protocol", "type", "text",
]  # fmt: skip
hostile = st.dictionaries(
    st.sampled_from(KEYS),
    json_values
    | st.lists(st.dictionaries(st.sampled_from(KEYS), json_values, max_size=4), max_size=3),
    max_size=6,
)


@settings(max_examples=40)
@given(st.lists(hostile | st.binary(max_size=20), min_size=1, max_size=4))
def test_whatever_the_rows_hold_each_is_told_of(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Row]
) -> None:
    path = tmp_path_factory.getbasetemp() / "hostile.jsonl"
    rows = [each.replace(b"\n", b" ") if isinstance(each, bytes) else each for each in rows]
    assume(rows[0][:4] != b"PAR1" if isinstance(rows[0], bytes) else True)  # says it is parquet
    report = check(written(path, rows), Settings())
    assert report.rows == len(rows)
    assert {each.problem for each in report.problems} <= set(MEANING)
    broken = {at for at, each in enumerate(rows, start=1) if isinstance(each, bytes)}
    assert {each.row for each in report.problems} >= broken - {
        at for at in broken if _is_object(rows[at - 1])
    }


def _is_object(raw: Row) -> bool:
    try:
        return isinstance(raw, bytes) and isinstance(json.loads(raw), dict)
    except ValueError:
        return False


@given(st.integers(0, 4), st.integers(0, 4))
def test_placeholders_are_as_many_as_photos(
    tmp_path_factory: pytest.TempPathFactory, tags: int, photos: int
) -> None:
    folder = tmp_path_factory.getbasetemp()
    plain(folder / "a.png", 1, (64, 48))
    value = asked(f"{'<image>' * tags}Where?", ["a.png"] * photos)
    found = told(check(written(folder / "counts.jsonl", [value]), Settings()))
    assert (found == []) == (tags == photos)
    assert found in ([], [(1, "placeholders")])


def test_an_example_that_is_written_is_read(tmp_path: Path) -> None:
    """The builder's example is a record: no field is missing here and there."""
    assert isinstance(example("e"), Example)
