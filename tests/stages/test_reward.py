"""`reward` over a file: in order, whole, and every bad line named."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.rewards.replies import TRUE, words
from typer.testing import CliRunner

from fieldtruth.cli import app
from fieldtruth.faults import BadRecord, Usage
from fieldtruth.rewards.contract import Rollout
from fieldtruth.stages.reward import line, paid_file


def row(text: str = "[]", **more: Any) -> dict[str, Any]:
    """A line as the contract gives it, all its fields and no other."""
    fields: dict[str, Any] = {
        "text": text, "space": "norm1000", "protocol": "known_target", "boxes": list(TRUE),
        "label": "rust", "candidates": None, "healthy": False, "finish": "stop",
    }  # fmt: skip
    return {**fields, **more}


def file(folder: Path, *rows: dict[str, Any] | str) -> Path:
    path = folder / "replies.jsonl"
    lines = [each if isinstance(each, str) else json.dumps(each) for each in rows]
    path.write_text("".join(f"{each}\n" for each in lines))
    return path


def ran(*words: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, [str(word) for word in words])
    return done.exit_code, done.stdout, done.stderr


def test_what_the_command_prints(tmp_path: Path) -> None:
    healthy = row(boxes=[], label=None, healthy=True)
    failed = row(words(*TRUE), finish="error")
    path = file(tmp_path, row(words(*TRUE), query="rust"), row(), healthy, failed)
    for kind in ("published", "grounded"):
        code, out, _ = ran("reward", path, "--kind", kind, "--json")
        paid = json.loads(out)
        assert code == 0
        assert [each["reward"] for each in paid] == pytest.approx([1.0, 0.1, 1.0, 0.0])
        assert [each["outcome"] for each in paid] == ["boxes", "empty", "empty", "error"]
        assert all(set(each) == {"reward", "terms", "outcome"} for each in paid)
    code, out, _ = ran("reward", path, "--kind", "grounded")
    assert (code, out.split(" (")[0]) == (0, "reward 0.700 over 3 replies")
    assert out.endswith("boxes 1, empty 2, error 1)\n")


def test_no_replies(tmp_path: Path) -> None:
    assert paid_file(file(tmp_path), "grounded") == []
    assert line([]) == "0 replies, none of them with words: nothing"


def test_a_file_of_many_is_paid_in_order(tmp_path: Path) -> None:
    path = file(tmp_path, *(row(words(*TRUE[: 1 + n % 3])) for n in range(2100)))
    paid = [each.reward for each in paid_file(path, "grounded")]
    assert len(paid) == 2100
    assert paid == pytest.approx(700 * paid[:3])
    assert paid[0] < paid[1] < paid[2] == 1.0
    bad = file(tmp_path, *(row() for _ in range(1500)), row(space="pixel"))
    with pytest.raises(BadRecord, match=r"replies.jsonl:1501: expected boxes in norm1000"):
        paid_file(bad, "published")


def test_lines_are_read_as_they_are_paid(tmp_path: Path) -> None:
    """Some at a time, fewer where they are long; what shows progress sees each."""
    seen: list[int] = []

    def track(rows: Iterable[Rollout]) -> Iterator[Rollout]:
        for each in rows:
            seen.append(len(each.text))
            yield each

    long = "rust " * 1_000_000
    path = file(tmp_path, row(), row(long), row(long), row(words(*TRUE)), row("[" * 100_000))
    paid = paid_file(path, "grounded", track)
    assert seen == [2, len(long), len(long), len(words(*TRUE)), 100_000]
    assert [each.reward for each in paid] == pytest.approx([0.1, 0.0, 0.0, 1.0, 0.0])
    bad = file(tmp_path, row(long), row(long), row(space="pixel"))
    with pytest.raises(BadRecord, match=r"replies.jsonl:3: expected boxes in norm1000"):
        paid_file(bad, "published")


def test_a_file_of_nothing_is_no_replies(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_bytes(b"")
    assert ran("reward", path, "--kind", "grounded", "--json")[:2] == (0, "[]\n")
    path.write_bytes(b"\x00\xff")
    assert ran("reward", path, "--kind", "grounded", "--json")[:2] == (1, "")
    assert ran("reward", tmp_path, "--kind", "grounded")[0] == 2


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (row(extra=1), "expected only fields of Rollout"),
        ({k: v for k, v in row().items() if k != "healthy"}, "the field 'healthy'"),
        (row(space="mm"), "expected one of loc1024, norm1"),
        (row(space=None), "in space, got null"),
        (row(protocol="open_set"), "expected a protocol of known_target, candidates"),
        (row(protocol="candidates+blank"), "expected a protocol of known_target, candidates"),
        (row(protocol="known_target+wrong_target"), "expected no boxes of a wrong target, got 3"),
        (row(boxes=[[1, 2, 3]]), "in boxes[0], got [1, 2, 3]"),
        (row(boxes=[[1, 2, 3, "4"]]), 'expected a number in boxes[0][3], got "4"'),
        (row(boxes=[[3, 2, 1, 4]]), "corners in order"),
        (row(boxes=[[1, 2, 1, 4]]), "corners in order"),
        (row(boxes=[[1, 2, 3, 1001]]), "from 0 to 1000 and 1000"),
        (row(space="norm1"), "from 0 to 1 and 1"),
        (row(space="pixel", width=400, height=1000), "from 0 to 400 and 1000"),
        (row(space="pixel", width=0, height=5), "expected a size over 0"),
        (row(space="pixel", boxes=[[0, 0, 9, 1e200]]), "from 0 to 1e+12 and 1e+12"),
        (row(boxes=[[1, 2, 3, float("nan")]]), "expected a finite number in boxes[0][3], got NaN"),
        (json.dumps(row()).replace("300", "1e999", 1), "finite number"),
        (row(healthy=True), "expected no boxes on a healthy photo, got 3"),
        (row(finish="ok"), "expected one of"),
        (row(label=None), "expected a label beside 3 boxes"),
        (row(protocol="candidates"), "expected the candidates that were listed, got None"),
        ("", "blank line"),
        ("[]", "expected a JSON object"),
    ],
)
def test_a_line_that_is_no_reply(bad: dict[str, Any] | str, told: str, tmp_path: Path) -> None:
    path = file(tmp_path, row(), bad)
    with pytest.raises(BadRecord) as error:
        paid_file(path, "grounded")
    assert f"{path}:2" in str(error.value)
    assert told in str(error.value)


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Usage, match="rewards has no 'mine'; it has: grounded, published"):
        paid_file(file(tmp_path, row()), "mine")
    assert ran("reward", tmp_path / "none.jsonl", "--kind", "grounded")[0] == 2
    assert ran("reward", file(tmp_path, row()))[0] == 2
