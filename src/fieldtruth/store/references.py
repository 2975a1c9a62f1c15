"""Photos that an export may not hold: their hashes, and the script that brings them in."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from fieldtruth.store import fetch
from fieldtruth.store.manifest import MANIFEST, Reference


def write_references(
    folder: Path, references: Mapping[str, Reference], about: Mapping[str, Any] | None = None
) -> None:
    """Write `manifest.json` with them and what else is known, and `fetch.py` where it has work.

    Where there is nothing to say, nothing is written.
    """
    if references:
        shutil.copyfile(fetch.__file__, folder / "fetch.py")
    if references or about:
        told = {**(about or {}), "references": dict(references)}
        whole = msgspec.json.encode(told, order="deterministic")
        (folder / MANIFEST).write_bytes(msgspec.json.format(whole, indent=1) + b"\n")
