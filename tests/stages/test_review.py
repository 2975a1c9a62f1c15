"""Photos to people and back: what is shown, what is hidden, and that nobody gets lost.

The exports were made by a real server (`tests/labelstudio`), never by hand.
"""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders import four, item
from tests.labelstudio import people

from fieldtruth.faults import BadRecord, Refused, Usage
from fieldtruth.formats.label_studio.reading import Annotated
from fieldtruth.records import Drop, Item
from fieldtruth.stages.review import returning, sending
from fieldtruth.stages.review.decisions import Decision, counted, decisions
from fieldtruth.stages.review.sent import Sent, read_sent
from fieldtruth.store import read

KEPT = Path(__file__).parents[1] / "formats" / "label_studio"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return people.sent(tmp_path_factory.mktemp("review"))


def tasks(folder: Path) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = json.loads((folder / "tasks.json").read_text())
    return made


# --- back, on what a server exported -----------------------------------------------------------


def test_what_people_did_on_a_server_comes_back(folder: Path, tmp_path: Path) -> None:
    made = returning.receive(KEPT / "full.json", folder, tmp_path / "out")
    items = {each.id: each for each in read(tmp_path / "out" / "items.jsonl", Item)}
    told = {name: (each.level, [list(box) for box in each.boxes]) for name, each in items.items()}
    assert told == people.BOXES
    drops = {each.sample: each for each in read(tmp_path / "out" / "drops.jsonl", Drop)}
    assert {name: each.reason for name, each in drops.items()} == people.DROPS
    assert drops["web:rust/removed"].detail == "poor_photo, other"
    assert drops["web:rust/apart"].detail.endswith("flag")
    assert set(people.DROPS.values()) <= set(returning.REASONS)
    assert (made.sent, made.items, made.positives, made.healthy) == (10, 4, 3, 1)
    assert made.drops == dict(Counter(people.DROPS.values()))
    # Two saw `kept` and `apart`; the other eight were asked of two and seen by one or none.
    assert (made.annotations, made.annotators, made.short) == (11, 2, 8)
    before = {each.id: each for each in read(folder.parent / "items.jsonl", Item)}
    for name, each in items.items():
        same = {"boxes": before[name].boxes, "level": before[name].level}
        assert msgspec.structs.replace(each, **same) == before[name]


def test_every_decision_is_logged(folder: Path, tmp_path: Path) -> None:
    returning.receive(KEPT / "full.json", folder, tmp_path / "out")
    log = list(read(tmp_path / "out" / "log.jsonl", Decision))
    said = Counter((each.item.rpartition("/")[2], each.said, each.counts) for each in log)
    assert said == {
        ("kept", "boxes", True): 1, ("kept", "boxes", False): 1, ("moved", "boxes", True): 1,
        ("turned", "boxes", True): 1, ("gone", "absent", True): 1, ("skipped", "skip", False): 1,
        ("removed", "remove", True): 1, ("apart", "boxes", False): 1, ("apart", "flag", False): 1,
        ("begun", "draft", False): 1, ("healthy", "absent", True): 1,
    }  # fmt: skip
    moved = next(each for each in log if each.item.endswith("moved"))
    assert moved.note == "a <b>note</b>"
    assert moved.remarks == (
        "box 3: sticks out of the photo; cut", "box 4: rotated by 90 degrees; the box around it",
        "box 5: no area; left out",
    )  # fmt: skip
    assert all(each.at.startswith("20") and each.who for each in log if each.said != "draft")


def test_the_lean_export_says_the_same_of_what_it_holds(folder: Path, tmp_path: Path) -> None:
    made = returning.receive(KEPT / "lean.json", folder, tmp_path / "out")
    items = {each.id: each for each in read(tmp_path / "out" / "items.jsonl", Item)}
    told = {name: (each.level, [list(box) for box in each.boxes]) for name, each in items.items()}
    assert told == people.BOXES
    drops = {each.sample: each.reason for each in read(tmp_path / "out" / "drops.jsonl", Drop)}
    less = {"web:rust/skipped": "not_returned", "web:rust/begun": "not_annotated"}
    assert drops == people.DROPS | less  # it holds neither skips nor drafts
    assert made.twice == 0


def test_anchoring_on_what_a_server_exported(folder: Path, tmp_path: Path) -> None:
    """Three positives: both kept; one shifted by a pixel of 32 and one deleted; one kept."""
    found = returning.receive(KEPT / "full.json", folder, tmp_path / "out").anchoring.overall
    assert (found.photos, found.proposals, found.kept, found.adjusted) == (3, 5, 4, 0)
    assert (found.deleted, found.final, found.new) == (1, 7, 3)
    assert found.kept_share.value == pytest.approx(4 / 5)
    assert found.new_share.value == pytest.approx(3 / 7)
    # IoU of (10, 42) and (11, 43) on x: 31 / 33
    assert found.overlap.value == pytest.approx((3 + 31 / 33) / 4)


def test_one_person_can_be_taken(folder: Path, tmp_path: Path) -> None:
    log = json.loads((KEPT / "full.json").read_text())
    who = sorted({each["completed_by"] for task in log for each in task["annotations"]})
    made = returning.receive(KEPT / "full.json", folder, tmp_path / "out", str(who[-1]))
    assert made.drops["flagged"] == 1
    (mine,) = read(tmp_path / "out" / "items.jsonl", Item)
    assert (mine.id, mine.boxes) == ("farm:early blight/kept", ((10.0, 12.0, 42.0, 36.0),))
    with pytest.raises(Usage, match="--annotator: expected one of"):
        returning.receive(KEPT / "full.json", folder, tmp_path / "else", "99")


def test_a_file_in_pixels_is_told_as_one(folder: Path, tmp_path: Path) -> None:
    rows = json.loads((KEPT / "full.json").read_text())
    for row in rows:
        for each in row["annotations"]:
            each["result"] = [people.drawn("a", 2691.55, 3, 143.4, 4)]
            each["was_cancelled"] = False
        row["drafts"] = []
    (tmp_path / "pixels.json").write_text(json.dumps(rows))
    with pytest.raises(BadRecord, match=r"got none: task \w+: box 1: expected percent.*pixels\?"):
        returning.receive(tmp_path / "pixels.json", folder, tmp_path / "out")
    assert not (tmp_path / "out").exists()


# --- which decision counts ---------------------------------------------------------------------

BOX = (1.0, 2.0, 30.0, 40.0)


def said(who: str, verdict: str = "", **more: Any) -> Annotated:
    choices = {"verdict": (verdict,)} if verdict else {"level": ("lesion",)}
    fields: dict[str, Any] = {
        "task": "t", "number": 1, "who": who, "at": "1", "choices": choices,
        "boxes": () if verdict else (BOX,),
    }  # fmt: skip
    return Annotated(**(fields | more))


def outcome(*told: Annotated, of: Item | None = None) -> tuple[str | None, str]:
    sent = Sent(id="t", item=of or item(), photo="p.png", shown=(), blind=False)
    chosen, reason, _ = counted(decisions(sent, told), None)
    return (f"{chosen.who} {chosen.said}" if chosen else None), reason


@pytest.mark.parametrize(
    ("told", "counts"),
    [
        ([], (None, "not_annotated")),
        ([said("a")], ("a boxes", "")),
        ([said("a", at="2"), said("b", at="1")], ("b boxes", "")),  # the earlier person's
        ([said("a", at="1"), said("a", "flag", at="2")], ("a flag", "")),  # a person's later word
        ([said("a"), said("b", "absent")], (None, "annotators_disagree")),
        ([said("a"), said("b", choices={"level": ("object",)})], (None, "annotators_disagree")),
        ([said("a"), said("b", "absent"), said("c", ground_truth=True)], ("c boxes", "")),
        ([said("a", "remove"), said("b", "remove", at="0")], ("b remove", "")),
        ([said("a", skipped=True)], (None, "skipped")),
        ([said("a", skipped=True), said("b")], ("b boxes", "")),
        ([said("a", draft=True)], (None, "draft_only")),
        ([said("a", boxes=(), choices={})], (None, "nothing_said")),
        ([said("a", "absent", boxes=(BOX,))], (None, "unusable")),
        ([said("a", choices={"verdict": ("flag", "absent")})], (None, "unusable")),
        ([said("a", "keep")], (None, "unusable")),
        ([said("a", choices={"level": ("leaf",)})], (None, "unusable")),
        ([said("a", faults=("box 1: no",))], (None, "unusable")),
        ([said("a", faults=("box 1: no",)), said("b")], ("b boxes", "")),
        ([said("a", "flag", boxes=(BOX,))], ("a flag", "")),  # the boxes do not matter
    ],
)
def test_which_decision_counts(told: list[Annotated], counts: tuple[str | None, str]) -> None:
    assert outcome(*told) == counts


def test_the_level_that_was_sent_where_none_is_chosen() -> None:
    sent = Sent(id="t", item=item(level="object"), photo="p", shown=(), blind=False)
    (made,) = decisions(sent, [said("a", choices={})])
    assert (made.level, made.remarks) == ("object", ("no level chosen; object, as it was sent",))


# --- there -------------------------------------------------------------------------------------


def test_nothing_tells_what_a_photo_shows(folder: Path) -> None:
    """Neither the photo's name nor the task's id, words or place says what the answer is."""
    shown = tasks(folder)
    assert [each["data"]["task"] for each in shown] == sorted(
        each["data"]["task"] for each in shown
    )
    asks = {each["data"]["ask"] for each in shown}
    assert asks == {"early blight (tomato)"}  # the healthy ones too
    for each in shown:
        assert set(each["data"]) == {"task", "image", "ask", "cue"}
        assert re.fullmatch(
            r"/data/local-files/\?d=images/[0-9a-f]{32}\.(png|jpg)", each["data"]["image"]
        )
    names = sorted(path.name for path in (folder / "images").iterdir())
    assert names == sorted(each["data"]["image"].rpartition("/")[2] for each in shown)


def test_all_boxes_of_a_task_are_in_one_prediction(folder: Path) -> None:
    sent = read_sent(folder)
    for each in tasks(folder):
        mine = sent[each["data"]["task"]]
        if not mine.item.boxes:
            assert "predictions" not in each
            continue
        (prediction,) = each["predictions"]
        kinds = Counter(region["type"] for region in prediction["result"])
        assert kinds == {"rectanglelabels": len(mine.item.boxes), "choices": 1}


def test_a_larger_blind_share_holds_the_smaller(tmp_path: Path) -> None:
    rows = people.items(tmp_path)
    held: dict[float, set[str]] = {}
    for share in (0.0, 0.3, 0.6, 1.0):
        out = tmp_path / str(share)
        made = sending.send(rows, tmp_path / "photos", out, sending.Settings(blind=share))
        blind = {each.item.id for each in read_sent(out).values() if each.blind}
        boxed = {name for name, (_, _, boxes) in people.ITEMS.items() if boxes}
        assert (made.blind, made.bare) == (len(blind & boxed), len(people.ITEMS) - len(boxed))
        without = {e["data"]["task"] for e in tasks(out) if "predictions" not in e}
        held[share] = blind
        healthy = {e.id for e in read_sent(out).values() if not e.item.positive}
        assert without == {e.id for e in read_sent(out).values() if e.blind} | healthy
    assert held[0.0] == set()
    assert held[0.3] < held[0.6] < held[1.0] == set(people.ITEMS)


def test_other_items_change_nothing_and_two_runs_are_one(tmp_path: Path) -> None:
    rows = people.items(tmp_path)
    half = tmp_path / "half.jsonl"
    half.write_text("".join(rows.read_text().splitlines(keepends=True)[::-2]))
    options = sending.Settings(blind=0.5, seed=3)
    for name, source in (("all", rows), ("half", half), ("again", rows)):
        sending.send(source, tmp_path / "photos", tmp_path / name, options)
    everything, fewer = read_sent(tmp_path / "all"), read_sent(tmp_path / "half")
    assert fewer == {name: each for name, each in everything.items() if name in fewer}
    first, again = (
        {p.relative_to(tmp_path / n): p.read_bytes() for p in (tmp_path / n).rglob("*.*")}
        for n in ("all", "again")
    )
    assert first == again


def test_photos_that_cannot_be_sent_are_drops(tmp_path: Path) -> None:
    rows = people.items(tmp_path)
    (tmp_path / "photos" / "a.png").write_text("broken")
    (tmp_path / "photos" / "b.png").unlink()
    (tmp_path / "photos" / "d.png").write_bytes((tmp_path / "photos" / "e.png").read_bytes())
    made = sending.send(rows, tmp_path / "photos", tmp_path / "out", sending.Settings())
    assert made.drops == {"photo_differs": 1, "photo_unreadable": 2}
    assert made.items == 10 == made.tasks + 3
    drops = {each.sample for each in read(tmp_path / "out" / "drops.jsonl", Drop)}
    assert drops == {
        "farm:early blight/kept", "farm:early blight/moved", "web:rust/skipped",
    }  # fmt: skip


def test_a_benchmark_is_sent_from_its_own_photos(tmp_path: Path) -> None:
    made = sending.send(four(tmp_path / "bench"), None, tmp_path / "out", sending.Settings())
    assert (made.tasks, made.photos) == (4, 2)


@pytest.mark.parametrize(
    "options", [{"blind": 1.5}, {"blind": float("nan")}, {"annotators": 0}, {"title": "a"}]
)
def test_settings_that_cannot_be(options: dict[str, Any]) -> None:
    with pytest.raises(Usage, match="expected"):
        sending.Settings(**options)


def test_paths_and_folders_that_cannot_be(folder: Path, tmp_path: Path) -> None:
    rows = people.items(tmp_path)
    with pytest.raises(Usage, match="expected --images"):
        sending.send(rows, None, tmp_path / "out", sending.Settings())
    with pytest.raises(Usage, match="got files"):
        sending.send(rows, tmp_path / "photos", tmp_path / "photos", sending.Settings())
    with pytest.raises(Usage, match="what `review export` made"):
        returning.receive(KEPT / "full.json", tmp_path, tmp_path / "out")
    rows.write_text(rows.read_text().replace('"a.png"', '"../a.png"'))
    with pytest.raises(Refused, match=r"kept.*a step up"):
        sending.send(rows, tmp_path / "photos", tmp_path / "out", sending.Settings())
    assert not (tmp_path / "out").exists()


def test_the_sheet_is_text_whatever_the_names(tmp_path: Path) -> None:
    rows = people.items(tmp_path)
    hostile = "<img src=x onerror=alert(1)>"
    text = rows.read_text().replace('"query": "early blight"', f'"query": "{hostile}"', 1)
    rows.write_text(text)
    cues = tmp_path / "cues.toml"
    cues.write_text('["early blight"]\ncue = "<b>brown</b> & round"\n')
    options = sending.Settings(cues=cues)
    sending.send(rows, tmp_path / "photos", tmp_path / "out", options)
    page = (tmp_path / "out" / "sheet.html").read_text()
    assert "<img" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert "&lt;b&gt;brown&lt;/b&gt; &amp; round" in page
    assert "<script" not in page
    cues_shown = {each["data"]["cue"] for each in tasks(tmp_path / "out")}
    assert "<b>brown</b> & round" in cues_shown


def test_items_written_by_hand_need_no_hashes(tmp_path: Path) -> None:
    """What `freeze` fills in is filled in; what is given has to be the photo's."""
    rows = people.items(tmp_path)
    given = [json.loads(line) for line in rows.read_text().splitlines()]
    less = ("image_sha256", "width", "height", "group", "query", "absent_query", "candidates")
    bare = [{name: each[name] for name in each if name not in less} for each in given]
    path = tmp_path / "bare.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in bare))
    sending.send(path, tmp_path / "photos", tmp_path / "out", sending.Settings())
    sent = {each.item.id: each.item for each in read_sent(tmp_path / "out").values()}
    assert len(sent) == len(given)
    for each in given:
        own = sent[each["id"]]
        assert (own.image_sha256, own.width, own.height, own.query) == (
            each["image_sha256"], each["width"], each["height"], each["label"],
        )  # fmt: skip
    assert len({own.group for own in sent.values()}) == len(
        {each["image_sha256"] for each in given}
    )
    bare[0]["boxes"] = [[0, 0, 9999, 9999]]
    path.write_text(json.dumps(bare[0]) + "\n")
    with pytest.raises(BadRecord, match=r"bare\.jsonl:1 \(id .*; correct the line"):
        sending.send(path, tmp_path / "photos", tmp_path / "no", sending.Settings())
    asked = {"id": "q", "form": "open", "question": "?", "answer": "a", "source": "s",
             "licence": "CC0"}  # fmt: skip
    path.write_text(json.dumps(asked) + "\n")
    with pytest.raises(BadRecord, match="expected an item, got a question"):
        sending.send(path, tmp_path / "photos", tmp_path / "no", sending.Settings())


# --- no one gets lost --------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_books_balance_whatever_a_server_sends(
    data: st.DataObject, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rows = json.loads((KEPT / "full.json").read_text())
    kept = data.draw(st.lists(st.sampled_from(rows), min_size=1, max_size=12))
    for row in kept:
        row["annotations"] = [
            each | {"was_cancelled": data.draw(st.booleans())}
            for each in data.draw(st.permutations(row["annotations"]))[
                : data.draw(st.integers(0, 2))
            ]
        ]
    place = tmp_path_factory.mktemp("books")
    (place / "e.json").write_text(json.dumps(kept))
    if not any(row["annotations"] or row["drafts"] for row in kept):
        with pytest.raises(BadRecord, match="none of them annotated"):
            returning.receive(place / "e.json", folder, place / "out")
        return
    made = returning.receive(place / "e.json", folder, place / "out")
    items = [each.id for each in read(place / "out" / "items.jsonl", Item)]
    drops = [each.sample for each in read(place / "out" / "drops.jsonl", Drop)]
    assert sorted(items + drops) == sorted(people.ITEMS)
    assert made.twice == sum(n > 1 for n in Counter(id(row) for row in kept).values())
