"""Bring in the photos that this benchmark may not hold itself: python fetch.py FOLDER

FOLDER holds the original releases, under the paths they were frozen from or under any others.
Every photo is copied only when its SHA-256 is that of the manifest. Needs nothing but Python.
"""

import hashlib
import json
import os
import shutil
import sys
from pathlib import Path


def fetch(bench: Path, originals: Path) -> "list[str]":
    """Copy what is missing from `originals` into `bench`; returns the photos still missing."""
    text = (bench / "manifest.json").read_text(encoding="utf-8")
    references = json.loads(text)["references"]
    elsewhere = None  # sha256 -> path of all that lies in `originals`; slow, so only when needed
    missing = []
    for place in sorted(references):
        wanted, original = references[place]["sha256"], references[place]["original"]
        target = bench / place
        if any(".." in Path(each).parts or Path(each).is_absolute() for each in (place, original)):
            missing.append(place)
        elif not (target.is_file() and _sha256(target) == wanted):
            source = originals / original
            if not (source.is_file() and _sha256(source) == wanted):
                if elsewhere is None:
                    files = sorted(path for path in originals.rglob("*") if path.is_file())
                    elsewhere = {_sha256(path): path for path in files}
                source = elsewhere.get(wanted, source)
            if not _copy(source, target, wanted):
                missing.append(place)
    return missing


def _copy(source: Path, target: Path, wanted: str) -> bool:
    if not source.is_file():
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    shutil.copyfile(source, part)
    if _sha256(part) != wanted:
        part.unlink()
        return False
    os.replace(part, target)  # noqa: PTH105 - one call, whole or not at all
    return True


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for chunk in iter(lambda: file.read(1 << 20), b""):
            digest.update(chunk)
    return digest.hexdigest()


def main(words: "list[str]") -> int:
    """0 when every photo is there; 1 naming those that are not; 2 for a wrong call."""
    if len(words) != 1 or not Path(words[0]).is_dir():
        sys.stderr.write((__doc__ or "") + "\n")
        return 2
    missing = fetch(Path(__file__).resolve().parent, Path(words[0]))
    for place in missing:
        sys.stderr.write(f"{place}: no file of its hash in {words[0]}\n")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
