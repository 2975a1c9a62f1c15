"""From saved replies to numbers and a page, and only from the replies that were scored."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.builders import HIT, four, frozen, replies, row

from fieldtruth import store
from fieldtruth.faults import BadRecord, Fault, Refused, Usage
from fieldtruth.run import results
from fieldtruth.stages.score import Options

RIGHT = {"p0": HIT, "p1": HIT, "h0": "[]", "h1": "[]"}
SILENT = dict.fromkeys(RIGHT, "[]")


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    return four(tmp_path / "bench")


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """A model that is always right and one that always says that nothing is there."""
    return [
        replies(tmp_path / "right.jsonl", "right", RIGHT),
        replies(tmp_path / "silent.jsonl", "silent", SILENT),
    ]


def saved(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "score.json").read_text())
    return found


def test_scores_are_the_same_whether_or_not_they_are_kept(bench: Path, files: list[Path]) -> None:
    out = bench.parent / "new" / "results"
    scores = results.score(bench, files, Options(), out)
    assert scores == results.score(bench, files, Options())
    assert list(scores["models"]) == ["right", "silent"]
    right, silent = (scores["models"][name]["candidates"] for name in ("right", "silent"))
    assert [right["metrics"][name]["value"] for name in ("joint", "f1", "abstention")] == [1, 1, 1]
    assert [silent["metrics"][name]["value"] for name in ("joint", "f1", "abstention")] == [0, 0, 1]
    assert silent["metrics"]["false_abstention"]["n"] == 2
    assert scores["settings"] == {
        "unit": "group", "resamples": 1000, "matching": "greedy", "allow_missing": 0.0,
        "as_published": False,
    }  # fmt: skip
    kept = saved(out)
    assert kept.pop("schema") == 1
    assert {name: kept[name] for name in kept if name != "inputs"} == json.loads(json.dumps(scores))
    assert kept["inputs"] == {
        "benchmark": {"path": "../../bench", "digest": store.read_manifest(bench)[0].digest},
        "predictions": [
            {"path": f"../../{path.name}", "sha256": store.sha256(path)} for path in files
        ],
    }


def test_the_published_way_says_so_in_its_settings(bench: Path, files: list[Path]) -> None:
    scores = results.score(bench, files, Options(as_published=True))
    assert (scores["settings"]["unit"], scores["settings"]["as_published"]) == ("image", True)


def test_the_page_of_a_result(bench: Path, files: list[Path]) -> None:
    out = bench.parent / "results"
    results.score(bench, files, Options(), out)
    page = results.report(out)
    assert page == out / "report.html"
    text = page.read_text()
    assert "right" in text
    assert text.rstrip().endswith("</html>")
    elsewhere = results.report(out, bench.parent / "pages" / "p.html", note="Drawn by a program.")
    assert "Drawn by a program." in elsewhere.read_text()


def test_a_result_can_be_carried_elsewhere_with_what_it_was_made_from(
    tmp_path: Path, bench: Path, files: list[Path]
) -> None:
    results.score(bench, files, Options(), tmp_path / "results")
    there = tmp_path / "there"
    there.mkdir()
    for name in ("bench", "right.jsonl", "silent.jsonl", "results"):
        shutil.move(tmp_path / name, there / name)
    assert results.report(there / "results").is_file()


def rewrite(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_page_of_other_inputs_is_refused(bench: Path, files: list[Path]) -> None:
    out = bench.parent / "results"
    results.score(bench, files, Options(), out)
    original = files[1].read_text()
    rewrite(files[1], '"h1"', '"h0"')
    with pytest.raises(Refused, match=r"silent\.jsonl: expected the replies that were scored"):
        results.report(out)
    files[1].unlink()
    with pytest.raises(Refused, match=r"silent\.jsonl: expected the replies that were scored"):
        results.report(out)
    files[1].write_text(original)
    rewrite(bench / "items.jsonl", "early blight", "late blight")
    with pytest.raises(Refused, match=r"items\.jsonl differs"):
        results.report(out)
    shutil.rmtree(bench)
    with pytest.raises(Usage, match="expected the folder of a frozen benchmark"):
        results.report(out)
    frozen(bench, [row("p0")])
    with pytest.raises(Refused, match="is not the benchmark that was scored; score again"):
        results.report(out)
    assert not (out / "report.html").exists()


def test_nothing_is_written_into_the_benchmark(bench: Path, files: list[Path]) -> None:
    with pytest.raises(Usage, match="expected a place outside the benchmark"):
        results.score(bench, files, Options(), bench / "results")
    results.score(bench, files, Options(), bench.parent / "results")
    with pytest.raises(Usage, match="expected a place outside the benchmark"):
        results.report(bench.parent / "results", bench / "report.html")
    assert store.verify(bench) == []


def test_a_result_that_is_not_there_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(Usage, match=r"expected score\.json; make it with `score \.\.\. --out "):
        results.report(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "null", "{}", '{"inputs": {}, "settings": {"matching": "greedy"}}',
        '{"inputs": {"benchmark": {"path": "b", "digest": "d"}, "predictions": []}}',
        '{"inputs": {"benchmark": {"path": "b", "digest": "d"}, "predictions": [{"path": "p"}]},'
        ' "settings": {"matching": "greedy"}}',
        '{"inputs": {"benchmark": {"path": 5, "digest": "d"}, "predictions": []},'
        ' "settings": {"matching": "greedy"}}',
    ],
)  # fmt: skip
def test_a_result_that_is_no_result(tmp_path: Path, text: str) -> None:
    (tmp_path / "score.json").write_text(text)
    with pytest.raises(BadRecord, match=r"score\.json: expected what `score --out` writes"):
        results.report(tmp_path)


def test_what_cannot_be_scored_leaves_no_result(bench: Path, files: list[Path]) -> None:
    out = bench.parent / "results"
    fewer = replies(bench.parent / "fewer.jsonl", "fewer", {"p0": HIT, "h0": "[]"})
    cases: list[tuple[list[Path], type[Fault], str]] = [
        ([fewer], Refused, "0 error and 2 missing for 4 items"),
        ([files[0], files[0]], Refused, "4 duplicate and 0 extra"),
        ([bench.parent / "absent.jsonl"], Usage, "expected a file, got nothing there"),
        ([bench / "items.jsonl"], BadRecord, r"items\.jsonl:1 \(id 'h0'\): expected .*Prediction"),
        ([], Usage, "expected predictions to score, got none"),
    ]
    for given, fault, told in cases:
        with pytest.raises(fault, match=told):
            results.score(bench, given, Options(), out)
        assert not out.exists()
    scores = results.score(bench, [fewer], Options(allow_missing=0.5), out)
    assert scores["models"]["fewer"]["candidates"]["outcomes"]["missing"] == 2
    assert saved(out)["settings"]["allow_missing"] == 0.5


def test_a_tampered_benchmark_is_not_scored(bench: Path, files: list[Path]) -> None:
    rewrite(bench / "items.jsonl", "early blight", "late blight")
    with pytest.raises(Refused, match=r"items\.jsonl differs"):
        results.score(bench, files, Options())


def test_what_replies_were_read_as(bench: Path, tmp_path: Path) -> None:
    words = {"p0": f"Sure:\n```json\n{HIT}\n```", "p1": "I see a leaf.", "h0": "", "h1": "[]"}
    rows = results.read(replies(tmp_path / "r.jsonl", "m", words), bench)
    assert [each["outcome"] for each in rows] == ["boxes", "prose", "unreadable", "empty"]
    told = results.reading_lines(rows).splitlines()
    assert told[0].startswith("p0 [candidates] boxes: ")
    assert told[1:3] == ["p1 [candidates] prose", "h0 [candidates] unreadable"]
    assert told[3:] == ["candidates: boxes 1, truncated 0, prose 1, unreadable 1, empty 1"]
    assert rows == results.read(tmp_path / "r.jsonl", None)


def test_readings_follow_the_file(tmp_path: Path) -> None:
    path = replies(tmp_path / "r.jsonl", "m", {"z": "[]", "a": HIT})
    assert [each["item"] for each in results.read(path, None)] == ["z", "a"]
    assert results.reading_lines([]) == ""
