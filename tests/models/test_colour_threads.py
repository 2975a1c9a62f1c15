"""The colour model is the same to the byte however many threads numpy's linear algebra uses."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = """
import sys
from pathlib import Path

from fieldtruth.models import colour
from fieldtruth.models.contract import Request
from tests.models.leaves import NAMES, leaves

root = Path(sys.argv[1])
fitted = colour.fit(leaves(root, range(3)), root)
fitted.save(root / "colour.json")
asked = [
    Request(id=item.id, prompt="", images=(root / item.image,), names=names)
    for item in leaves(root, range(50, 52))
    for names in (NAMES, ("leaf rust",))
]
for words in colour.Colour(fitted).reply(asked):
    print(words.text)
"""


def fitted_with(threads: int, folder: Path) -> tuple[bytes, str]:
    """The fitted file and the replies of a process with so many threads."""
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(folder)],
        cwd=ROOT,
        env=os.environ | dict.fromkeys(names, str(threads)),
        capture_output=True,
        text=True,
        check=True,
    )
    return (folder / "colour.json").read_bytes(), done.stdout


@pytest.mark.slow
def test_one_thread_or_two(tmp_path: Path) -> None:
    fitted, said = fitted_with(1, tmp_path / "one")
    assert said.count("\n") == 12
    assert said.count("bbox_2d") > 10
    assert fitted_with(2, tmp_path / "two") == (fitted, said)
