"""Cues that a model writes, the file that a person edits, and what `taxonomy` says of a name."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from fieldtruth import cli
from fieldtruth.faults import BadRecord, TooManyFailed, Usage
from fieldtruth.models.contract import Words
from fieldtruth.run.describing import Described, Writer, check, describe, prompt_for, read_cue
from fieldtruth.taxonomy import cues
from fieldtruth.taxonomy.prompts import grounding_prompt

EARLY, LATE = "early blight@tomato", "late blight@tomato"


def writer(folder: Path, replies: dict[str, str], cache: Path | None = None) -> Writer:
    table = folder / "table.jsonl"
    table.write_text("".join(json.dumps({"id": a, "text": b}) + "\n" for a, b in replies.items()))
    return Writer(model="scripted", options={"table": str(table)}, cache=cache)


def told(*words: object) -> Result:
    return CliRunner().invoke(cli.app, [str(word) for word in words])


def test_a_cue_is_written_with_who_wrote_it_and_stays_when_a_person_edits_it(
    tmp_path: Path,
) -> None:
    out = tmp_path / "cues.toml"
    said = writer(tmp_path, {EARLY: "Brown rings.", LATE: "Wet dark edges"})
    done = describe(["Early_Blight", "tomato early blight"], "tomatoes", said, out)
    assert done == Described(asked=1, kept=0, cached=0)
    cue = cues.read(out)[EARLY]
    assert (cue.cue, cue.reviewed) == ("Brown rings", False)
    assert cue.by.startswith("scripted: scripted-")
    assert len(cue.prompt) == 64

    mine = out.read_text().replace("Brown rings", "brown spots like a target")
    out.write_text(mine.replace("reviewed = false", "reviewed = true"))
    again = describe(["early blight", "late blight"], "tomato", said, out)
    assert again == Described(asked=1, kept=1, cached=0)
    both = cues.read(out)
    assert both[EARLY].cue == "brown spots like a target"
    assert both[EARLY].reviewed
    assert both[LATE].cue == "Wet dark edges"
    texts = {key: each.cue for key, each in both.items()}
    made = grounding_prompt("early blight", crop="tomato", cues=texts)
    assert made.text == "early blight, brown spots like a target on tomato leaf"


def test_a_reply_is_asked_for_once_for_all_files(tmp_path: Path) -> None:
    said = writer(tmp_path, {EARLY: "rings"}, tmp_path / "cache")
    one = describe(["early blight"], "tomato", said, tmp_path / "one.toml")
    two = describe(["early blight"], "tomato", said, tmp_path / "two.toml")
    assert (one.asked, one.cached, two.asked, two.cached) == (1, 0, 0, 1)
    assert (tmp_path / "one.toml").read_bytes() == (tmp_path / "two.toml").read_bytes()


def test_what_got_no_usable_reply_is_told_and_the_rest_is_written(tmp_path: Path) -> None:
    out = tmp_path / "cues.toml"
    said = writer(tmp_path, {EARLY: "rings", LATE: "\n ...\n"})
    done = describe(["early blight", "late blight", "rust"], "tomato", said, out)
    assert done.failed == (LATE, "rust@tomato")
    assert list(cues.read(out)) == [EARLY]
    with pytest.raises(TooManyFailed, match="2 labels got no usable reply"):
        check(done)
    check(Described(asked=1, kept=0, cached=0))


@pytest.mark.parametrize("names", [[], [""], ["rust", " - "]])
def test_no_name_is_refused(tmp_path: Path, names: list[str]) -> None:
    with pytest.raises(Usage, match="expected the names of labels"):
        describe(names, None, writer(tmp_path, {}), tmp_path / "cues.toml")
    assert not (tmp_path / "cues.toml").exists()


@pytest.mark.parametrize(
    ("text", "cue"),
    [
        ("brown rings", "brown rings"),
        ("<think>a leaf</think>\n\n- **Brown rings.**\nmore", "Brown rings"),
        ('"White\tpowder"', "White powder"),
        ("", None),
        ("...\n12", None),
        ("x" * 161, None),
    ],
)
def test_the_first_line_that_says_something(text: str, cue: str | None) -> None:
    assert read_cue(Words(text=text)) == cue
    assert read_cue(Words(text=text, finish="error", error="gone")) is None


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("early blight@tomato", "how the disease 'early blight' looks on tomato leaf in a photo"),
        ("colorado beetle@potato", "how the pest 'colorado beetle' looks on potato in a photo"),
        ("canada goldenrod", "how the weed 'canada goldenrod' looks in a photo"),
        ("root rot", "how the disease 'root rot' looks on root in a photo"),
    ],
)
def test_the_prompt_names_kind_and_organ(key: str, words: str) -> None:
    assert words in prompt_for(key)


TEXT = st.text(st.characters(codec="utf-8"), min_size=1)
CUE = st.builds(cues.Cue, cue=TEXT, by=TEXT, prompt=st.text("abc"), reviewed=st.booleans())


@given(st.dictionaries(TEXT, CUE, max_size=4))
def test_the_file_reads_back_whatever_it_holds(held: dict[str, cues.Cue]) -> None:
    rows: dict[str, Any] = tomllib.loads(cues.text_of(held))
    assert {key: cues.Cue(**row) for key, row in rows.items()} == held


@pytest.mark.parametrize("text", ["[x", "x = 1", '["a"]\ncue = 3', '["a"]\ncue = "b"\nhow = "c"'])
def test_a_file_that_is_none_is_told_with_its_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "cues.toml").write_text(text)
    with pytest.raises(BadRecord, match=r"cues\.toml: expected tables"):
        cues.read(tmp_path / "cues.toml")


def test_a_name_on_the_command_line() -> None:
    shown = told("taxonomy", "--crop", "Apple", "Apple_Scab").stdout
    assert shown.startswith("'Apple_Scab' is 'scab' on apple (punctuation or blanks, then label")
    assert "a detector is asked: scab, rough corky spots on apple leaf" in shown
    found = json.loads(told("taxonomy", "Powder Mildew", "--json").stdout)
    assert (found["label"], found["known"], found["kind"]) == ("powdery mildew", True, "disease")
    assert found["how"] == ["case", "synonym of ours"]
    assert found["hosts"]["cherry"] == ["Podosphaera clandestina"]
    assert found["sources"]["planteome_pso"] == "CC BY 4.0"
    assert "not in the data" in told("taxonomy", "no such thing").stdout
    assert "any of: bunt, dwarf bunt" in told("taxonomy", "stinking smut").stdout
    assert "with --crop tomato: 'late blight'" in told("taxonomy", "Tomato___Late_blight").stdout


def test_the_collisions_on_the_command_line() -> None:
    rows = json.loads(told("taxonomy", "collisions", "--json").stdout)
    assert {"name", "why", "meanings", "host"} <= set(rows[0])
    lines = told("taxonomy", "collisions").stdout.splitlines()
    assert len(lines) == len(rows) + 1
    assert lines[-1] == f"{len(rows)} collisions; none of them merges anything"


def test_describing_on_the_command_line(tmp_path: Path) -> None:
    table = writer(tmp_path, {"early blight": "rings"}).options["table"]
    words = ["taxonomy", "describe", "early blight", "--model", "scripted", "--model-args"]
    out = tmp_path / "cues.toml"
    result = told(*words, f"table={table}", "--out", out)
    assert (result.exit_code, result.stdout) == (
        0,
        f"1 asked, 0 from the cache, 0 kept. In {out}\n",
    )
    words[2] = "rust"
    assert told(*words, f"table={table}", "--out", out).exit_code == 3
    assert told("taxonomy", "describe", "rust", "--out", out).exit_code == 2
