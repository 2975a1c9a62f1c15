"""Every fault that was published has an answer, and every test that is named for one exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "published-faults.md"
ROW = re.compile(r"^\| W-(\d+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
NAMED = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")
ANSWERED = set(range(1, 98))

ROWS = {int(number): answer for number, _, answer in ROW.findall(PAGE.read_text("utf-8"))}


def test_every_fault_has_a_row() -> None:
    assert set(ROWS) >= ANSWERED


@pytest.mark.parametrize("number", sorted(ROWS))
def test_the_tests_that_are_named_exist(number: int) -> None:
    named = NAMED.findall(ROWS[number])
    assert named or len(ROWS[number].split()) > 4, "expected tests, or a sentence that says why not"
    for path, name in named:
        text = (ROOT / path).read_text("utf-8")
        assert not name or re.search(rf"^def {name}\(", text, re.MULTILINE), f"{path}::{name}"
