"""The command line as its users meet it: words in, words and an exit code out."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer.main
from tests.builders import HIT, class_folders, four, healthy_row, replies, row, table
from typer.testing import CliRunner, Result

from fieldtruth import cli

RIGHT = {"p0": HIT, "p1": HIT, "h0": "[]", "h1": "[]"}
COMMANDS = sorted(typer.main.get_command(cli.app).commands)  # type: ignore[attr-defined]


def told(*words: object) -> Result:
    """A command run in this process."""
    return CliRunner().invoke(cli.app, [str(word) for word in words])


def asked(code: int, *words: object) -> Result:
    """A command that has to end with this code; a bug's traceback fails the test as itself."""
    result = told(*words)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def out_of(code: int, *words: object) -> Any:
    """What a command prints with --json; nothing else may stand on stdout."""
    return json.loads(asked(code, *words, "--json").stdout)


def process(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fieldtruth", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    return four(tmp_path / "bench")


# Ctrl-C at the moment at which the first package is loaded.
EARLY = """
import sys
class Early:
    def find_spec(self, name, *_):
        if name == "typer":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Early())
from fieldtruth.__main__ import main
main()
"""


def test_an_interrupt_while_the_command_line_loads_is_no_traceback() -> None:
    ran = subprocess.run([sys.executable, "-c", EARLY], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (130, "")
    assert ran.stderr == "fieldtruth: interrupted; nothing was begun. Give the same command again\n"


def test_commands_are_listed_in_pipeline_order() -> None:
    help_text = asked(0, "--help").stdout
    listed = [line.split()[0] for line in help_text.split("Commands:")[1].splitlines() if line]
    assert listed == list(cli.ORDER)
    assert sorted(listed) == COMMANDS
    contract = [
        "demo", "run", "ingest", "label", "annotate", "freeze", "verify", "diff", "predict", "read",
        "score", "report",
    ]  # fmt: skip
    assert [name for name in listed if name in contract] == contract


@pytest.mark.parametrize("command", [*COMMANDS, "train colour"])
def test_every_command_explains_itself_and_its_flags(command: str) -> None:
    shown = asked(0, *command.split(), "--help").stdout
    assert shown.startswith(f"Usage: fieldtruth {command} ")
    told_of = shown.split("\n\n")[1].strip()
    assert told_of
    assert told_of[0].isupper() or told_of.startswith("`")


@pytest.mark.parametrize(
    ("command", "flags"),
    [
        ("demo", ["--out", "--photos"]),
        ("run", ["--from", "--until", "--set", "--json"]),
        ("ingest", ["--out", "--json"]),
        ("annotate", ["--model"]),
        ("freeze", ["--images", "--name", "--version", "--out"]),
        ("predict", ["--model", "--protocol", "--out", "--quiet"]),
        ("read", ["--bench", "--json"]),
        ("score", ["--allow-missing", "--as-published", "--unit", "--json"]),
    ],
)
def test_the_flags_that_are_relied_on(command: str, flags: list[str]) -> None:
    """Design, section 5."""
    shown = asked(0, command, "--help").stdout
    assert [flag for flag in flags if flag not in shown] == []


def test_the_whole_road_in_json(tmp_path: Path) -> None:
    photos, work = class_folders(tmp_path / "photos", each=2, healthy=2), tmp_path / "work"
    ingested = out_of(0, "ingest", "folder", photos, "--out", work)
    assert ingested["counts"] == {"rows": 10, "samples": 10}
    assert out_of(0, "label", work)["counts"]["targets"] == 8
    assert out_of(0, "annotate", work, "--model", "leaf_box")["counts"]["annotations"] == 8
    items, bench = tmp_path / "items.jsonl", tmp_path / "bench"
    composed = out_of(0, "compose", work, "--out", items)
    assert (composed["items"], composed["without_candidates"]) == (10, 0)
    words = ["--images", photos, "--name", "mine", "--version", "1", "--out", bench]
    assert out_of(0, "freeze", items, *words)["items"] == 10
    assert out_of(0, "verify", bench) == []
    assert out_of(0, "diff", bench, bench)["items"] == {"added": [], "removed": [], "changed": []}

    # The licence of a folder is not stated: its photos are referenced, and not here yet.
    said = tmp_path / "leaf_box.jsonl"
    words = ["predict", bench, "--model", "leaf_box", "--protocol", "candidates", "--out", said]
    first = out_of(3, *words)
    assert (first["asked"], first["failed"]) == (10, 10)
    subprocess.run([sys.executable, bench / "fetch.py", photos], check=True)
    again = out_of(0, *words)
    assert (again["asked"], again["failed"]) == (10, 0)

    rows = out_of(0, "read", said, "--bench", bench)
    assert [each["outcome"] for each in rows] == ["boxes"] * 10
    assert set(rows[0]) == {
        "item", "protocol", "outcome", "boxes", "labels", "letter", "repairs", "truncated",
    }  # fmt: skip
    scores = out_of(0, "score", bench, said, "--out", tmp_path / "results")
    assert scores["benchmark"] == {
        "name": "mine", "version": "1", "items": 10, "positives": 8, "healthy": 2,
    }  # fmt: skip
    entry = scores["models"]["leaf_box"]["candidates"]
    assert entry["metrics"]["region_iou"]["value"] > 0.9
    never = entry["metrics"]["abstention"]
    assert [never[each] for each in ("value", "low", "high", "n")] == [0, 0, 0, 2]
    assert entry["outcomes"]["boxes"] == 10
    shown = asked(0, "report", tmp_path / "results").stdout
    assert shown == f"report: {tmp_path / 'results' / 'report.html'}\n"


def test_lines_for_people(bench: Path, tmp_path: Path) -> None:
    at = table(tmp_path / "table.jsonl", RIGHT)
    said = tmp_path / "said.jsonl"
    line = asked(
        0, "predict", bench, "--model", "scripted", "--protocol", "candidates", "--out", said,
        "--model-args", f"table={at},space=pixel", "--name", "mine",
    ).stdout  # fmt: skip
    assert line == f"4 replies, 4 asked now, 0 kept. In {said}\n"
    assert asked(0, "read", said).stdout == "candidates: empty 2, truncated 0, boxes 2\n"
    assert asked(0, "verify", bench).stdout == f"{bench}: verified\n"
    assert "mine" in asked(0, "score", bench, said).stdout
    assert "mine" in asked(0, "score", bench, said, "--as-published").stdout
    assert asked(0, "diff", bench, bench).stdout.endswith("0 added, 0 removed, 0 changed\n")


def test_drawn_leaves(tmp_path: Path) -> None:
    line = asked(0, "draw", tmp_path / "leaves", "--leaves", 3, "--seed", 4).stdout
    assert line.endswith(f"photos of 3 leaves drawn. In {tmp_path / 'leaves'}\n")


@pytest.mark.parametrize(
    ("words", "told_of"),
    [
        ("run nothing.toml", "nothing.toml: expected a recipe, got: No such file"),
        ("ingest plantnet PHOTOS --out W", "sources has no 'plantnet'; it has: "),
        ("ingest folder NOWHERE --out W", "expected the raw release of folder, got nothing there"),
        ("label W", "run `ingest` first"),
        ("annotate W", "run `label` first"),
        ("compose W --out i.jsonl", "run `annotate` first"),
        ("freeze nothing.jsonl --images . --name n --version 1 --out B", "nothing there"),
        ("verify NOWHERE", "expected the folder of a frozen benchmark"),
        ("diff BENCH NOWHERE", "expected the folder of a frozen benchmark"),
        ("predict BENCH --model gpt --protocol candidates --out o", "models has no 'gpt'"),
        ("predict BENCH --model scripted --protocol guess --out o", "protocols has no 'guess'"),
        ("predict BENCH --model scripted --protocol candidates --out o", "scripted needs"),
        ("predict BENCH --model leaf_box --protocol candidates --out o --model-args x",
         "--model-args: expected key=value"),
        ("read nothing.jsonl", "expected a file, got nothing there"),
        ("score BENCH nothing.jsonl", "expected a file, got nothing there"),
        ("score BENCH SAID --unit leaf", "unit: expected one of group, image, got 'leaf'"),
        ("score BENCH SAID --matching best", "matching: expected one of greedy"),
        ("score BENCH SAID --allow-missing 2", "expected a share from 0 to 1, got 2.0"),
        ("score BENCH SAID --allow-missing nan", "expected a share from 0 to 1, got nan"),
        ("report NOWHERE", "expected score.json"),
        ("train", "Usage: fieldtruth train"),
        ("", "Usage: fieldtruth"),
        ("pedict BENCH", "No such command 'pedict'"),
        ("verify", "Missing argument"),
        ("verify BENCH --fast", "No such option"),
        ("predict BENCH --model leaf_box --out o", "Missing option '--protocol'"),
        ("score BENCH SAID --allow-missing many", "'--allow-missing'"),
        ("predict BENCH --model leaf_box --protocol candidates --out o --allow-errors -1",
         "--allow-errors: expected a share from 0 to 1, got -1"),
        ("predict BENCH --model leaf_box --protocol candidates --out o --allow-errors nan",
         "--allow-errors: expected a share from 0 to 1, got nan"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_ends_with_2_and_one_message(
    bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, told_of: str
) -> None:
    monkeypatch.chdir(tmp_path)
    said = replies(tmp_path / "said.jsonl", "m", RIGHT)
    places = {"BENCH": bench, "SAID": said, "PHOTOS": tmp_path / "photos", "W": tmp_path / "w",
              "NOWHERE": tmp_path / "nowhere"}  # fmt: skip
    result = asked(2, *(places.get(word, word) for word in words.split()))
    assert told_of in result.output
    assert "Traceback" not in result.output
    assert not list(tmp_path.glob("o*"))


def test_what_is_wrong_in_a_file_ends_with_1_and_names_the_line(tmp_path: Path) -> None:
    four(tmp_path / "bench")
    lines = tmp_path / "rows.jsonl"
    lines.write_text(json.dumps(row("a")) + "\n" + json.dumps(healthy_row("b", colour="red")))
    words = ["--images", tmp_path / "photos", "--name", "n", "--version", "1", "--out"]
    said = asked(1, "freeze", lines, *words, tmp_path / "new").output
    assert said.startswith(f"fieldtruth: {lines}:2 (id 'b'): expected only fields of Item")
    assert said.count("\n") == 1


@pytest.mark.parametrize(("share", "code"), [(0, 3), (0.4, 3), (0.5, 0), (1, 0)])
def test_more_failed_calls_than_allowed_end_with_3_and_everything_is_saved(
    bench: Path, tmp_path: Path, share: float, code: int
) -> None:
    at = table(tmp_path / "table.jsonl", {"p0": HIT, "h0": "[]"})
    said = tmp_path / "said.jsonl"
    result = asked(
        code, "predict", bench, "--model", "scripted", "--protocol", "candidates", "--out", said,
        "--model-args", f"table={at}", "--allow-errors", share,
    )  # fmt: skip
    assert len(said.read_text().splitlines()) == 4
    assert "2 FAILED" in result.stdout
    assert ("fieldtruth: 2 of 4 calls failed" in result.stderr) == (code == 3)


def test_a_tampered_benchmark_ends_with_4_and_names_its_files(bench: Path, tmp_path: Path) -> None:
    said = replies(tmp_path / "said.jsonl", "m", RIGHT)
    (photo, *_) = sorted((bench / "images").iterdir())
    photo.write_bytes(photo.read_bytes() + b"x")
    (bench / "notes.txt").write_text("mine")
    (bench / "items.jsonl").unlink()
    place = f"images/{photo.name}"
    lines = [f"{place}: differs", "items.jsonl: missing", "notes.txt: extra"]
    assert asked(4, "verify", bench).stdout.splitlines() == lines
    assert out_of(4, "verify", bench) == [
        {"path": place, "what": "differs"},
        {"path": "items.jsonl", "what": "missing"},
        {"path": "notes.txt", "what": "extra"},
    ]
    refused = asked(4, "score", bench, said).output
    assert refused.startswith(f"fieldtruth: {bench}: expected every file as it was frozen, got: ")
    assert place in refused
    words = ["--model", "leaf_box", "--protocol", "candidates", "--out", tmp_path / "o.jsonl"]
    asked(4, "predict", bench, *words)


def test_other_refusals_end_with_4(bench: Path, tmp_path: Path) -> None:
    asked(4, "train", "colour", bench, "--out", tmp_path / "colour.json")  # a test split
    few = replies(tmp_path / "few.jsonl", "m", {"p0": HIT})
    assert "3 missing" in asked(4, "score", bench, few).output
    lines = tmp_path / "rows.jsonl"
    lines.write_text(json.dumps(row("a", image="../a.png")))
    words = ["--images", tmp_path / "photos", "--name", "n", "--version", "1", "--out"]
    assert "a step up" in asked(4, "freeze", lines, *words, tmp_path / "new").output


def test_as_a_process(bench: Path) -> None:
    """What a shell sees: stdout for results, stderr for faults, the code from the process."""
    good = process("verify", bench, "--json")
    assert (good.returncode, good.stdout, good.stderr) == (0, "[]\n", "")
    (bench / "notes.txt").write_text("mine")
    bad = process("verify", bench)
    assert (bad.returncode, bad.stdout, bad.stderr) == (4, "notes.txt: extra\n", "")
    wrong = process("verify", bench / "nowhere")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("fieldtruth: ")
    assert wrong.stderr.count("\n") == 1
