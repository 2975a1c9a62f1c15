"""The small vision-language model that comes with this program; `card.md` says what it can do.

    --model tiny

A Qwen3-VL of some million weights that learned on drawn leaves on a CPU: the backend
`transformers` with weights that are already there. Its files are held against their hashes before
any of them is opened.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from fieldtruth.faults import Refused
from fieldtruth.models.contract import Opener, settings_of
from fieldtruth.models.transformers import answering
from fieldtruth.models.transformers import settings as usual
from fieldtruth.records import Record
from fieldtruth.store import sha256

WEIGHTS = Path(__file__).parent / "weights"
SUMS = "SHA256SUMS"  # in the form of the program `sha256sum`


class Settings(Record, frozen=True, kw_only=True):
    """As of `transformers`, but for what the weights settle."""

    max_new_tokens: Annotated[int, Meta(ge=1)] | None = None
    min_pixels: Annotated[int, Meta(ge=1)] | None = None
    max_pixels: Annotated[int, Meta(ge=1)] | None = None
    batch: Annotated[int, Meta(ge=1)] = 8
    device: str = "auto"
    dtype: usual.Precision = "auto"
    temperature: Annotated[float, Meta(ge=0)] = 0.0
    seed: int = 0
    patches: usual.Patches = "auto"


def verify(folder: Path) -> None:
    """Raise `Refused` where a file of the weights is not the one that was shipped."""
    sums = folder / SUMS
    if not sums.is_file():
        raise Refused(f"{sums}: expected the hashes of the weights, got none; install again")
    for line in sums.read_text(encoding="utf-8").splitlines():
        expected, _, name = line.partition("  ")
        there = folder / name
        got = sha256(there) if there.is_file() else None
        if got != expected:
            raise Refused(
                f"{there}: expected the file that was shipped (sha256 {expected}), got "
                f"{f'another ({got})' if got else 'none'}; install fieldtruth again"
            )


def _open(options: Mapping[str, str]) -> answering.Transformers:
    told = settings_of("tiny", options, Settings)
    verify(WEIGHTS)
    return answering.Transformers(usual.Settings(path=str(WEIGHTS), **msgspec.structs.asdict(told)))


ACCELERATED = True  # a worker of it wants a GPU where there is one
OPEN: Opener = _open
