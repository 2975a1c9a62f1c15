"""A knowledge base in a folder: its files, its photos, its books, and what it refuses."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from PIL import ExifTags, Image
from tests.builders import plain, question

from fieldtruth import store
from fieldtruth.faults import BadRecord, Refused, Usage
from fieldtruth.records import Drop, Fact
from fieldtruth.run import knowing
from fieldtruth.stages import check
from fieldtruth.stages.freeze import Settings as Freezing
from fieldtruth.stages.freeze import freeze
from fieldtruth.stages.knowledge import Settings

KINDS = ("disease/issue identification", "management instructions", "background")


def facts(folder: Path, talks: int = 4, licence: str = "CC0", **changes: Any) -> Path:
    """A folder as `questions` leaves it: three facts of each talk, and a photo each."""
    rows = []
    for talk in range(talks):
        plain(folder / "release" / f"{talk}.png", talk + 1, size=(64, 48))
        for number, kind in enumerate(KINDS):
            fields: dict[str, Any] = {
                "id": f"d:{talk}:{number}", "dialogue": f"d:{talk}", "category": "disease",
                "knowledge": kind, "statement": f"statement {talk} {number}", "turn": 1,
                "words": "w", "species": "tomato", "group": f"g{talk}", "source": "d",
                "licence": licence, "extractor": "hand", "images": (f"{talk}.png",),
            }  # fmt: skip
            rows.append(Fact(**(fields | changes)))
    folder.mkdir(exist_ok=True)
    store.write(folder / "knowledge.jsonl", rows)
    (folder / "manifest.json").write_text(json.dumps({"root": "release"}))
    return folder


def benchmark(folder: Path, photos: Path, **changes: Any) -> Path:
    rows = [question("q1", **changes)]
    lines = folder.with_name("rows.jsonl")
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    freeze(lines, photos, folder, Freezing(name="asked", version="1", split="test"))
    return folder


def rows(base: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (base / "train.jsonl").read_text().splitlines()]


def test_what_lies_in_the_folder(tmp_path: Path) -> None:
    job = knowing.Job(facts=facts(tmp_path / "in"))
    made = knowing.build(job, Settings(), tmp_path / "base")
    assert (made.facts, made.conversations, made.pairs, made.photos) == (12, 4, 8, 4)
    assert dict(made.counts["knowledge"]) == {KINDS[0]: 4, KINDS[1]: 4}
    first = next(row for row in rows(tmp_path / "base") if row["id"] == "d:0")
    assert [turn["role"] for turn in first["messages"]] == ["user", "assistant"] * 2
    assert first["messages"][0]["content"][0] == {"type": "image"}
    assert [part["type"] for part in first["messages"][2]["content"]] == ["text"]
    assert first["facts"] == ["d:0:0", "d:0:1"]
    assert (tmp_path / "base" / first["images"][0]).is_file()
    found = check.check(tmp_path / "base" / "train.jsonl", check.Settings())
    assert (found.kind, found.rows, found.problems) == ("chat", 4, ())
    assert knowing.line(made, tmp_path) == (
        "12 facts to look up; 8 questions with answers in 4 conversations, 4 photos; left out: "
        f"none. In {tmp_path}"
    )


def test_two_runs_are_byte_equal_whatever_the_order_of_the_facts(tmp_path: Path) -> None:
    folder = facts(tmp_path / "in")
    knowing.build(knowing.Job(facts=folder), Settings(seed=3), tmp_path / "a")
    lines = (folder / "knowledge.jsonl").read_text().splitlines()
    blocks = [lines[at : at + 3] for at in range(0, 12, 3)]
    (folder / "knowledge.jsonl").write_text(
        "".join(f"{line}\n" for block in reversed(blocks) for line in block)
    )
    knowing.build(knowing.Job(facts=folder), Settings(seed=3), tmp_path / "b")
    assert (tmp_path / "a/train.jsonl").read_bytes() == (tmp_path / "b/train.jsonl").read_bytes()
    knowing.build(knowing.Job(facts=folder), Settings(seed=4), tmp_path / "c")
    assert (tmp_path / "a/train.jsonl").read_bytes() != (tmp_path / "c/train.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("changes", "left"),
    [
        ({"group": "g2"}, "benchmark_conversation"),
        ({"images": ["2.png"], "group": "another"}, "benchmark_photo"),
    ],
)
def test_nothing_that_the_benchmark_knows(
    tmp_path: Path, changes: dict[str, Any], left: str
) -> None:
    folder = facts(tmp_path / "in")
    bench = benchmark(tmp_path / "bench", folder / "release", **changes)
    job = knowing.Job(facts=folder, benchmarks=(bench,))
    made = knowing.build(job, Settings(), tmp_path / "base")
    assert (made.facts, dict(made.drops)) == (9, {left: 3})
    gone = list(store.read(tmp_path / "base/drops.jsonl", Drop))
    assert {drop.parent for drop in gone} == {"d:2:0", "d:2:1", "d:2:2"}
    kept = {fact.dialogue for fact in store.read(tmp_path / "base/facts.jsonl", Fact)}
    assert kept == {"d:0", "d:1", "d:3"}


def test_a_file_of_questions_is_no_benchmark(tmp_path: Path) -> None:
    folder = facts(tmp_path / "in")
    (tmp_path / "q.jsonl").write_text(json.dumps(question("q1", images=["2.png"])) + "\n")
    job = knowing.Job(facts=folder, benchmarks=(tmp_path / "q.jsonl",))
    with pytest.raises(Usage, match="freeze the questions first"):
        knowing.build(job, Settings(), tmp_path / "base")


def test_photos_that_may_not_be_handed_on_are_only_named(tmp_path: Path) -> None:
    folder = facts(tmp_path / "in", licence="All rights reserved")
    made = knowing.build(knowing.Job(facts=folder), Settings(), tmp_path / "base")
    assert (made.photos, made.absent) == (0, 4)
    assert not list((tmp_path / "base/images").iterdir())
    told = json.loads((tmp_path / "base/manifest.json").read_text())["references"]
    assert {each["original"] for each in told.values()} == {f"{n}.png" for n in range(4)}


def test_a_photo_that_tells_where_it_was_taken_does_not_go_along(tmp_path: Path) -> None:
    folder = facts(tmp_path / "in")
    exif = Image.Exif()
    exif[ExifTags.Base.Make] = "Phone"
    exif.get_ifd(ExifTags.IFD.GPSInfo)[ExifTags.GPS.GPSLatitude] = (39.0, 17.0, 0.0)
    Image.new("RGB", (64, 48), (1, 2, 3)).save(folder / "release/2.png", exif=exif)
    made = knowing.build(knowing.Job(facts=folder), Settings(), tmp_path / "base")
    assert (made.facts, made.photos) == (12, 3)
    assert next(row for row in rows(tmp_path / "base") if row["id"] == "d:2")["images"] == []


def test_general_rows_beside_them(tmp_path: Path) -> None:
    said = [{"from": "human", "value": "<image>\nHi"}, {"from": "gpt", "value": "Yes"}]
    rest = [{"id": str(n), "image": f"{n}.png", "conversations": said} for n in range(20)]
    (tmp_path / "general.json").write_text(json.dumps(rest))
    for number in range(20):
        plain(tmp_path / "coco" / f"{number}.png", 50 + number, size=(64, 48))
    job = knowing.Job(
        facts=facts(tmp_path / "in"), general=tmp_path / "general.json",
        general_images=tmp_path / "coco",
    )  # fmt: skip
    made = knowing.build(job, Settings(share=0.5), tmp_path / "base")
    assert (made.general_rows, made.general_seen, made.photos) == (4, 20, 8)
    found = rows(tmp_path / "base")
    assert sum(row["source"] == "general" for row in found) == 4
    assert check.check(tmp_path / "base/train.jsonl", check.Settings()).problems == ()


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"general_images": None}, Usage, "expected --general-images"),
        ({"general": None}, Usage, "expected the general set"),
        ({"facts": "nowhere"}, Usage, "nowhere"),
        ({"general_images": "in"}, Usage, "fetch the set's photos"),
    ],
)
def test_what_is_missing(
    tmp_path: Path, changes: dict[str, Any], error: type[Exception], said: str
) -> None:
    turns = [{"from": "human", "value": "<image>"}, {"from": "gpt", "value": "Yes"}]
    (tmp_path / "general.json").write_text(json.dumps([{"image": "a.png", "conversations": turns}]))
    paths = {"facts": "in", "general": "general.json", "general_images": "coco"} | changes
    facts(tmp_path / "in")
    told = {name: tmp_path / path if path else None for name, path in paths.items()}
    with pytest.raises(error, match=said):
        knowing.build(msgspec.convert(told, knowing.Job), Settings(rows=1), tmp_path / "base")
    assert not (tmp_path / "base").exists()


def test_facts_of_dialogues_that_nobody_scrubbed(tmp_path: Path) -> None:
    folder = facts(tmp_path / "in")
    (folder / "knowledge.jsonl").rename(folder / "facts.jsonl")
    (folder / "dialogues.jsonl").touch()
    books = {"schema": 1, "source": "d", "root": "release", "licence": "CC0", "paper": "p",
             "counts": {"rows": 0, "dialogues": 0}, "drops": {}}  # fmt: skip
    (folder / "manifest.json").write_text(json.dumps(books))
    with pytest.raises(Refused, match=r"personal data.*fieldtruth scrub"):
        knowing.build(knowing.Job(facts=folder), Settings(), tmp_path / "base")
    books["personal"] = {"detectors": ["rules"], "names": False, "hidden": {}}
    (folder / "manifest.json").write_text(json.dumps(books))
    assert knowing.build(knowing.Job(facts=folder), Settings(), tmp_path / "base").facts == 12


def test_a_place_that_is_taken_and_a_fact_that_is_none(tmp_path: Path) -> None:
    folder = facts(tmp_path / "in")
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "mine.txt").write_text("mine")
    with pytest.raises(Usage, match="got files"):
        knowing.build(knowing.Job(facts=folder), Settings(), tmp_path / "base")
    with (folder / "knowledge.jsonl").open("a") as file:
        file.write('{"id": "x"}\n')
    with pytest.raises(BadRecord, match=r"knowledge.jsonl:13 \(id 'x'\)"):
        knowing.build(knowing.Job(facts=folder), Settings(), tmp_path / "other")
    assert [each.name for each in (tmp_path / "base").iterdir()] == ["mine.txt"]


def test_a_path_that_leads_out_of_the_release(tmp_path: Path) -> None:
    folder = facts(tmp_path / "in", images=("../../etc/passwd",))
    with pytest.raises(Refused, match="passwd"):
        knowing.build(knowing.Job(facts=folder), Settings(), tmp_path / "base")
