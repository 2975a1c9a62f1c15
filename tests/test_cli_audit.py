"""`fieldtruth audit` and `freeze --audit` as their users meet them (design, section 8)."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.scenes import blank, save, scene, scenes
from typer.testing import CliRunner

from fieldtruth import cli


def run(code: int, *words: object) -> Any:
    result = CliRunner().invoke(cli.app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def sets(tmp_path: Path) -> tuple[Path, Path]:
    """Two sets that share nothing."""
    scenes(tmp_path / "a", [1, 2])
    scenes(tmp_path / "b", [3])
    return tmp_path / "a", tmp_path / "b"


def test_the_shape_that_is_relied_on(sets: tuple[Path, Path]) -> None:
    a, b = sets
    blank(a / "x.png")
    blank(b / "y.png", 40)
    (b / "text.jpg").write_text("no photo")
    save(scene(2), b / "copy.jpg", quality=80)
    told = json.loads(run(0, "audit", a, b, "--radius", 6, "--json").stdout)
    assert {"sets", "pairs", "groups", "conflicts"} <= set(told)
    assert list(told["sets"]) == [str(a), str(b)]
    mine = told["sets"][str(b)]
    assert {"images", "readable", "unreadable", "degenerate", "coverage"} == set(mine)
    assert (mine["images"], mine["readable"], mine["coverage"]) == (4, 3, 0.75)
    assert [(each["path"], each["reason"]) for each in mine["unreadable"]] == [
        ("text.jpg", "not_a_photo")
    ]
    assert [each["path"] for each in mine["degenerate"]] == ["y.png"]
    leak, empty = told["pairs"]
    assert {"a", "b", "set_a", "set_b", "distance", "correlation", "verdict"} <= set(leak)
    assert (leak["a"], leak["b"], leak["verdict"]) == ("2.jpg", "copy.jpg", "copy")
    assert (leak["set_a"], leak["set_b"]) == (str(a), str(b))
    assert (empty["distance"], empty["correlation"], empty["verdict"]) == (0, None, "unverified")
    assert told["conflicts"] == []


@pytest.mark.parametrize("trouble", ["none", "within", "copy", "constant", "unreadable"])
def test_only_the_gate_changes_the_exit_code(sets: tuple[Path, Path], trouble: str) -> None:
    a, b = sets
    if trouble in ("within", "copy"):
        save(scene(2), (a if trouble == "within" else b) / "copy.jpg", quality=80)
    elif trouble == "constant":
        blank(a / "x.png")
        blank(b / "y.png")
    elif trouble == "unreadable":
        (b / "text.jpg").write_text("no photo")
    run(0, "audit", a, b)
    result = run(0 if trouble in ("none", "within") else 4, "audit", a, b, "--gate", "--json")
    assert json.loads(result.stdout)["complete"] is True


def test_a_collision_does_not_close_the_gate(tmp_path: Path) -> None:
    from tests.scenes import collision

    save(scene(1), tmp_path / "a" / "x.png")
    save(collision(scene(1), 1), tmp_path / "b" / "y.png")
    told = json.loads(run(0, "audit", tmp_path / "a", tmp_path / "b", "--gate", "--json").stdout)
    assert [each["verdict"] for each in told["pairs"]] == ["collision"]


def test_set_names_are_the_paths_as_given(
    sets: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(sets[0].parent)
    told = json.loads(run(0, "audit", "a/", "./b", "--json").stdout)
    assert list(told["sets"]) == ["a/", "./b"]


def test_lines_for_people(sets: tuple[Path, Path]) -> None:
    said = run(0, "audit", *sets).stdout
    assert "2 photos, 100.0% compared" in said
    assert "0 copy (0 between sets)" in said


def test_an_audit_goes_into_a_benchmark(sets: tuple[Path, Path]) -> None:
    a, b = sets
    save(scene(2), b / "copy.jpg", quality=80)
    items, report = a.parent / "items.jsonl", a.parent / "audit.json"
    row = {"id": "i", "image": "2.jpg", "source": "s", "licence": "CC0", "level": "healthy"}
    items.write_text(json.dumps(row))
    report.write_text(run(0, "audit", a, b, "--json").stdout)
    words = ["freeze", items, "--images", a, "--name", "n", "--version", "1"]
    words += ["--out", a.parent / "bench", "--audit", report]
    assert "between groups: copy" in run(4, *words).stderr
    made = json.loads(run(0, *words, "--accept", "known", "--json").stdout)
    assert made["audit"]["reason"] == "known"
    assert run(2, "freeze", *words[1:-2], "--accept", "known").stderr


@pytest.mark.parametrize(
    "words", [["nowhere"], ["a", "--radius", "17"], ["a", "--max-pairs", "0"], []]
)
def test_usage(sets: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    monkeypatch.chdir(sets[0].parent)
    run(2, "audit", *words)
