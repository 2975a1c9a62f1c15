"""One bar on stderr where somebody looks, and nothing anywhere else."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from fieldtruth.run.progress import SILENT, Track

CODE = """
import sys
from fieldtruth.run.progress import Track
print(*Track("predict colour", quiet=sys.argv[1] == "quiet")(iter("abc"), 3))
"""


def test_the_records_pass_as_they_are_one_by_one(capsys: pytest.CaptureFixture[str]) -> None:
    def endless() -> Iterator[int]:
        number = 0
        while True:
            yield number
            number += 1

    passing = Track("label")(endless(), 3)
    assert [next(passing) for _ in range(5)] == [0, 1, 2, 3, 4]
    assert list(SILENT([])) == []
    assert capsys.readouterr() == ("", "")


def test_where_nobody_looks_there_is_no_bar_even_if_colours_are_forced() -> None:
    forced = os.environ | {"FORCE_COLOR": "1", "TTY_COMPATIBLE": "1"}
    said = subprocess.run([sys.executable, "-c", CODE, "no"], capture_output=True, env=forced)
    assert (said.stdout, said.stderr) == (b"a b c\n", b"")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(("quiet", "shown"), [("no", True), ("quiet", False)])
def test_on_a_terminal_the_bar_is_on_stderr_alone(quiet: str, shown: object) -> None:
    ours, theirs = os.openpty()
    command = [sys.executable, "-c", CODE, quiet]
    said = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, text=True, check=True)
    os.write(theirs, b"END")
    seen = b""
    while not seen.endswith(b"END"):
        seen += os.read(ours, 4096)
    os.close(ours)
    os.close(theirs)
    assert said.stdout == "a b c\n"
    assert (b"predict colour" in seen) == shown
    assert (seen == b"END") != shown
