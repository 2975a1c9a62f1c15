"""CARD.md: true counts, commands that run, and no text from outside that becomes markup."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec.structs import replace
from tests.builders import NAMES, frozen, healthy_row, leaf, plain, row

from fieldtruth import store
from fieldtruth.faults import Usage
from fieldtruth.records import Item, Prediction, Question
from fieldtruth.stages.freeze import About, Settings, freeze
from fieldtruth.stages.freeze.card import FEW, ROWS
from fieldtruth.stages.freeze.fields import MEANINGS

HOSTILE = "x | y\n| z | <img src=x onerror=alert(1)> `c` **b** [l](https://e.example)\\"


def card(bench: Path) -> tuple[dict[str, Any], str]:
    """The header as YAML reads it, and the text."""
    _, head, body = (bench / "CARD.md").read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(head), body


def made(folder: Path, *rows: dict[str, Any], **settings: Any) -> Path:
    """These rows frozen with these settings, photos `a.png` to `c.png`."""
    for shade, name in enumerate(("a.png", "b.png", "c.png"), start=1):
        plain(folder / "photos" / name, shade)
    lines = folder / "set.jsonl"
    lines.write_text("".join(json.dumps(each) + "\n" for each in rows))
    given = {"name": "leaves", "version": "1.0"} | settings
    freeze(lines, folder / "photos", folder / "bench", Settings(**given))
    return folder / "bench"


def read(body: str) -> list[Token]:
    return MarkdownIt("commonmark", {"html": True}).enable("table").parse(body)


def tables(body: str) -> list[list[list[str]]]:
    """Every table as rows of cells, as a reader shows them."""
    found: list[list[list[str]]] = []
    inside = False
    for token in read(body):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type in ("th_open", "td_open"):
            inside = True
        elif token.type == "inline" and inside:
            found[-1][-1].append("".join(child.content for child in token.children or ()))
            inside = False
    return found


def counts(body: str, heading: str) -> dict[Any, Any]:
    """The table of counts under that heading."""
    wanted = next(rows for rows in tables(body) if rows[0] == [heading, "items"])
    return dict(wanted[1:])


def test_the_counts_are_those_of_the_items(tmp_path: Path) -> None:
    bench = made(
        tmp_path,
        row("p0", boxes=[[1, 1, 5, 5], [6, 6, 9, 9], [10, 10, 12, 12]]),
        row("p1", source="web", licence="CC BY 4.0", level="object", absent_query="mosaic virus"),
        healthy_row("h0", candidates=None),
        row("z", licence="unknown", image="c.png", kind="pest", label="late blight"),
    )
    head, body = card(bench)
    assert counts(body, "level") == {"lesion": "2", "healthy": "1", "object": "1"}
    assert counts(body, "kind") == {"disease": "2", "none": "1", "pest": "1"}
    assert counts(body, "source") == {"hand": "3", "web": "1"}
    assert counts(body, "licence") == {"CC0": "2", "CC BY 4.0": "1", "unknown": "1"}
    assert counts(body, "crop") == {"tomato": "4"}
    assert counts(body, "label") == {"early blight": "2", "late blight": "1"}
    flat = " ".join(body.split())
    assert "4 items on 3 photos. 3 show something" in flat
    assert "(5 boxes), 1 show a healthy plant" in flat
    assert "1 boxes in the median and 3 at most" in flat
    assert "With an `absent_query`: 1 items." in flat
    assert "by the hash of their bytes (2 of 3)" in flat
    assert "1 of 3 photos may not be handed on" in flat
    assert "| `candidates` | which of `candidates` is it, and where? | 3 |" in body
    assert head["license"] == ["cc-by-4.0", "cc0-1.0", "unknown"]
    assert head["configs"][0]["data_files"] == [{"split": "test", "path": "items.jsonl"}]
    assert store.sha256(bench / "items.jsonl") in body


def test_what_is_not_known_is_not_stated(tmp_path: Path) -> None:
    _, body = card(made(tmp_path, row("p0", kind=None, crop=None)))
    flat = " ".join(body.split())
    assert "Not recorded for any item: crop, kind." in flat
    assert "Not audited" in flat
    assert "by whom, is not recorded" in flat
    assert "Given out by" not in body
    assert "no healthy photo, so abstention cannot be measured" in body


def test_an_audit_is_told_with_its_reason(tmp_path: Path) -> None:
    audit = store.Audit(coverage=0.995, findings={"copy": 2}, reason="seen | by hand")
    _, body = card(made(tmp_path, row("p0"), audit=audit))
    assert "covered 99.5% of the photos; findings: copy 2. Frozen all the same" in body
    assert "seen &#124; by hand" in body


def test_small_strata_are_named_and_large_ones_are_not(tmp_path: Path) -> None:
    rows = [row(f"p{n}", label=NAMES[n == 0], query=None) for n in range(FEW)] + [healthy_row("h")]
    _, body = card(made(tmp_path, *rows))
    assert (
        f"Strata of fewer than {FEW} records say little: label late blight (1), level healthy "
        f"(1), label early blight ({FEW - 1})."
    ) in body
    assert (
        f"{FEW + 1} records fall into 2 groups that belong together, the largest of {FEW}" in body
    )


@pytest.mark.parametrize(
    ("groups", "told"),
    [
        (1, "All 6 records are of one group: no number on them has an interval"),
        (2, "2 groups that belong together, the largest of 5; intervals resample groups (of so"),
        (4, "intervals resample groups (of so few it is too narrow to rely on), and a split"),
        (5, "5 groups that belong together, the largest of 2; intervals resample groups, and a"),
    ],
)
def test_the_card_does_not_promise_an_interval_that_says_nothing(
    tmp_path: Path, groups: int, told: str
) -> None:
    rows = [row(f"p{n}", group=f"g{min(n, groups - 1)}") for n in range(6)]
    _, body = card(made(tmp_path, *rows))
    assert told in body


def test_long_tables_end_in_a_row_that_counts_the_rest(tmp_path: Path) -> None:
    rows = [row(f"p{n:03}", label=f"blight {n:03}", candidates=None) for n in range(ROWS + 7)]
    _, body = card(made(tmp_path, *rows))
    told = counts(body, "label")
    assert len(told) == ROWS + 1
    assert told["(7 more)"] == "7"


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    about = About(creator=HOSTILE, cite=f"{HOSTILE}\n```\n# gone\n\x00", url="https://e.example/|")
    hostile = {"source": HOSTILE, "licence": HOSTILE, "crop": HOSTILE, "label": HOSTILE}
    bench = made(
        tmp_path,
        row("```\n<b>", **hostile, candidates=None),
        name=HOSTILE, version='1: "x" #', about=about, config={"a|b": HOSTILE},
    )  # fmt: skip
    head, body = card(bench)
    shown = " ".join(HOSTILE.split())
    assert head["pretty_name"] == f'{shown} 1: "x" #'
    assert head["license"] == "other"
    assert counts(body, "source") == counts(body, "licence") == {shown: "1"}
    for rows in tables(body):
        assert {len(cells) for cells in rows} == {len(rows[0])}
    tokens = read(body)
    plainly = [child for token in tokens for child in token.children or ()]
    assert not {"html_inline", "link_open", "strong_open", "image"} & {t.type for t in plainly}
    assert not [token for token in tokens if token.type == "html_block"]
    headings = [t.content for t, before in zip(tokens[1:], tokens, strict=False)
                if before.type == "heading_open"]  # fmt: skip
    assert len([each for each in headings if not each.endswith("?")]) == 1
    assert not [each for each in headings if "gone" in each]
    blocks = [token.content for token in tokens if token.type == "code_block"]
    assert blocks == [f"{HOSTILE}\n```\n# gone\n\ufffd\n"]
    assert store.verify(bench) == []


def test_who_gives_it_out_is_told_where_it_is_known(tmp_path: Path) -> None:
    about = About(published="2026-01-31", creator="A {lab}", url="https://e.example/x")
    bench = made(tmp_path, row("p0"), about=about)
    _, body = card(bench)
    for line in (
        "author = {{A (lab)}},", "title = {{leaves}},", "version = {1.0},", "year = {2026},",
        "url = {https://e.example/x},",
    ):  # fmt: skip
        assert f"      {line}\n" in body
    assert store.open_bench(bench).manifest.config == {
        "published": "2026-01-31", "creator": "A {lab}", "url": "https://e.example/x",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("about", "told"),
    [
        (About(published="31.1.2026"), "--published: expected a date like 2026-01-31"),
        (About(published="2026-02-30"), "--published"),
        (About(url="javascript:alert(1)"), "--url: expected an address"),
    ],
)
def test_what_cannot_be_said_of_it(tmp_path: Path, about: About, told: str) -> None:
    with pytest.raises(Usage, match=told):
        made(tmp_path, row("p0"), about=about)
    assert not (tmp_path / "bench").exists()


def test_a_paper_is_named_only_for_the_source_it_belongs_to(tmp_path: Path) -> None:
    coffee = {"source": "coffee", "licence": "MIT"}
    _, body = card(made(tmp_path / "right", row("p0", **coffee), row("p1")))
    rights = next(rows for rows in tables(body) if rows[0][-1] == "described in")
    assert rights[1][:3] == ["coffee", "MIT", "1"]
    assert "compag.2019.105162" in rights[1][3]
    assert rights[2] == ["hand", "CC0", "1", "not recorded"]
    _, body = card(made(tmp_path / "other", row("p0", source="coffee", licence="CC0")))
    assert "compag" not in body


def test_every_field_of_the_records_has_its_meaning() -> None:
    for kind in (Item, Question):
        assert list(MEANINGS[kind]) == list(kind.__struct_fields__)
        assert all(MEANINGS[kind].values())


def shell(body: str) -> list[str]:
    """The commands on a card, in order."""
    blocks = [t.content for t in read(body) if t.type == "fence" and t.info == "sh"]
    return [line for block in blocks for line in block.splitlines()]


def run(bench: Path, command: str) -> subprocess.CompletedProcess[str]:
    program, *words = command.split()
    call = {"fieldtruth": [sys.executable, "-m", "fieldtruth"], "python": [sys.executable]}
    return subprocess.run([*call[program], *words], cwd=bench, capture_output=True, text=True)


@pytest.mark.slow
def test_the_commands_on_the_card_run_as_they_stand(tmp_path: Path) -> None:
    leaf(tmp_path / "photos" / "leaf.png", [(60, 50, 80, 60)])
    sick = {"image": "leaf.png", "boxes": [[60, 50, 80, 60]]}
    bench = frozen(
        tmp_path / "bench",
        [
            row("p0", **sick),
            row("p1", **sick, candidates=None),
            healthy_row("h0", query=None),
            row("z", licence="unknown", image="b.png"),
        ],
    )
    _, body = card(bench)
    commands = [line.replace("FOLDER_OF_THE_ORIGINALS", "../photos") for line in shell(body)]
    assert [line.split()[:2] for line in commands] == [
        ["fieldtruth", "verify"], ["python", "fetch.py"], ["fieldtruth", "predict"],
        ["fieldtruth", "predict"], ["fieldtruth", "score"], ["fieldtruth", "report"],
    ]  # fmt: skip
    for command in commands:
        done = run(bench, command)
        assert (done.returncode, done.stderr) == (0, ""), command
    assert (tmp_path / "scores" / "report.html").is_file()
    example = next(t.content for t in read(body) if t.type == "fence" and t.info == "json")
    (tmp_path / "mine.jsonl").write_text(example)
    assert [each.item for each in store.read(tmp_path / "mine.jsonl", Prediction)] == ["p0"]
    said = run(bench, "fieldtruth read ../mine.jsonl --json")
    assert json.loads(said.stdout)[0]["outcome"] == "boxes"
    assert store.verify(bench) == []


@pytest.mark.slow
def test_the_commands_on_a_card_of_questions_run(tmp_path: Path) -> None:
    asked = {
        "id": "q1", "form": "mcq", "images": ["a.png"], "question": "What is it?",
        "options": ["rust", "blight"], "answer": "B", "source": "hand", "licence": "CC0",
    }  # fmt: skip
    bench = made(tmp_path, asked)
    store.write(
        tmp_path / "answers.jsonl",
        [Prediction(item="q1", protocol="choice", model="mine", text="The answer is B.")],
    )
    head, body = card(bench)
    assert head["task_categories"] == ["visual-question-answering"]
    assert "1 questions on 1 photos" in body
    done = [run(bench, command) for command in shell(body)]
    assert [each.returncode for each in done] == [0, 0]
    assert json.loads(done[1].stdout)[0]["letter"] == "B"


def test_healthy_photos_without_a_name_cannot_be_asked_and_the_card_says_so(tmp_path: Path) -> None:
    _, body = card(made(tmp_path, healthy_row("h0", query=None, candidates=None)))
    assert "there is nothing to ask a model by name" in body
    assert shell(body) == ["fieldtruth verify ."]
    assert "healthy photos only" in body


def test_what_was_frozen_before_there_were_cards_still_verifies(tmp_path: Path) -> None:
    bench = made(tmp_path, row("p0"))
    later = ("CARD.md", "croissant.json")
    manifest = store.open_bench(bench).manifest
    for name in later:
        (bench / name).unlink()
    assert [each.path for each in store.verify(bench)] == list(later)
    files = {name: digest for name, digest in manifest.files.items() if name not in later}
    (bench / "manifest.json").write_bytes(replace(manifest, files=files).sealed().rendered())
    assert store.verify(bench) == []


@pytest.mark.parametrize("name", ["CARD.md", "croissant.json"])
def test_the_card_cannot_change_unnoticed(tmp_path: Path, name: str) -> None:
    bench = made(tmp_path, row("p0"))
    with (bench / name).open("a") as file:
        file.write(" ")
    assert [(each.path, each.what) for each in store.verify(bench)] == [(name, "differs")]
