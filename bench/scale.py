"""What each stage up to training examples costs a row, in time, memory and disk: docs/scale.md.

    python bench/scale.py [--quick] [--rows N]

A release in CDDM's form (bench/ingest.py draws it; here its photos hold noise, a JPEG of 320 x 240)
goes through ingest, label, annotate, split and compose, each in a process of its own: wall and CPU
seconds on this machine, what its memory grew by, and what it left on the disk. The detector answers
at once, so `annotate` shows what is ours: opening photos, the cache of replies, rules, records.
Then a plain read of every photo's bytes, which is what checking the run again costs. There is no
target to miss: the figures are for planning.
"""

import json
import resource
import runpy
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

ROWS, SHARE = 100_000, 9.3  # rows a photo, as in CDDM
BESIDE = Path(__file__).with_name("ingest.py")
BOX = '[{"bbox_2d": [40, 40, 120, 100], "label": "x", "score": 0.5}]'


class AtOnce:
    """A detector that takes no time."""

    space = "pixel"
    version = "1"

    def reply(self, requests: Sequence[object]) -> Iterator[object]:
        """The same box for every request."""
        from fieldtruth.models.contract import Words

        return (Words(text=BOX) for _ in requests)


def ingest_rows(root: Path, out: Path) -> None:
    """Rows to samples."""
    from fieldtruth.run import workspace

    workspace.ingest("cddm", root, out / "set")


def label_samples(_: Path, out: Path) -> None:
    """Samples to targets and healthy photos."""
    from fieldtruth.run import workspace

    workspace.label(out / "set")


def annotate_targets(_: Path, out: Path) -> None:
    """Targets to boxes of a detector that takes no time, through the cache."""
    from fieldtruth import store
    from fieldtruth.run import workspace
    from fieldtruth.run.cached import Cached
    from fieldtruth.stages.annotate.detected import Asking

    model = Cached("at once", AtOnce(), store.Cache(out / "set" / "replies"))  # type: ignore[arg-type]
    workspace.annotate(out / "set", "at once", asking=Asking(model=model, by="nobody"))


def split_photos(_: Path, out: Path) -> None:
    """Photos to groups and splits."""
    from fieldtruth.run import splitting
    from fieldtruth.stages.split import Settings

    splitting.split([out / "set"], Settings())


def compose_examples(_: Path, out: Path) -> None:
    """A training mixture of the photos in train."""
    from fieldtruth.run import composing
    from fieldtruth.stages.compose import Mix

    composing.compose_training([out / "set"], out / "mix", Mix())


def read_photos(root: Path, _: Path) -> None:
    """The hash of every photo's bytes: what a second run of a recipe does."""
    from fieldtruth import store

    for path in (root / "dataset/images").rglob("*.jpg"):
        store.sha256(path)


STAGES: dict[str, Callable[[Path, Path], None]] = {
    "ingest": ingest_rows, "label": label_samples, "annotate": annotate_targets,
    "split": split_photos, "compose": compose_examples, "read photos": read_photos,
}  # fmt: skip


def peak() -> int:
    """Bytes of memory at most until now."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def child(stage: str, root: str, out: str) -> int:
    """One stage in this process; what it took as JSON."""
    import scipy.ndimage  # noqa: F401  so that starting counts for none

    from fieldtruth.run import composing, splitting  # noqa: F401

    before, wall, start = peak(), time.perf_counter(), time.process_time()
    STAGES[stage](Path(root), Path(out))
    took = {"cpu": time.process_time() - start, "wall": time.perf_counter() - wall}
    print(json.dumps({**took, "grown": peak() - before}))
    return 0


def on_disk(folder: Path) -> int:
    """Bytes of all files, as `ls` counts them."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def count(path: Path) -> int:
    """The records in a file."""
    with path.open("rb") as file:
        return sum(1 for _ in file)


def photos(root: Path) -> int:
    """Noise in every photo, each its own; how many there are."""
    paths = sorted((root / "dataset/images").rglob("*.jpg"))
    for number, path in enumerate(paths):
        coarse = np.random.default_rng(number).integers(0, 256, (15, 20, 3), np.uint8)
        picture = Image.fromarray(coarse).resize((320, 240), Image.Resampling.BICUBIC)
        picture.save(path, quality=90)
    return len(paths)


def main(arguments: list[str]) -> int:
    """Measure and print."""
    if arguments[:1] == ["child"]:
        return child(*arguments[1:])
    rows = int(arguments[arguments.index("--rows") + 1]) if "--rows" in arguments else ROWS
    if "--quick" in arguments:
        rows = ROWS // 10
    with tempfile.TemporaryDirectory() as folder:
        root, out = Path(folder) / "release", Path(folder) / "out"
        out.mkdir()
        drawn: Callable[..., None] = runpy.run_path(str(BESIDE))["release"]
        drawn(root, rows, max(100, int(rows / SHARE)), repeated=True)
        shown = photos(root)
        size = on_disk(root / "dataset/images")
        print(f"{rows} rows, {shown} photos of {size / shown / 1e3:.0f} kB")
        left = 0
        for stage in STAGES:
            words = [sys.executable, __file__, "child", stage, str(root), str(out)]
            said = subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout
            took, now = json.loads(said), on_disk(out)
            print(
                f"  {stage:<12} {took['wall']:7.1f} s wall, {took['cpu']:7.1f} s CPU, memory "
                f"+{took['grown'] / 1e6:6.0f} MB, disk +{(now - left) / 1e6:6.1f} MB"
            )
            left = now
        for name in ("samples", "targets", "healthy", "annotations", "drops", "splits"):
            path = out / "set" / f"{name}.jsonl"
            lines = count(path)
            print(f"  {name:<12} {lines:8d} lines of {path.stat().st_size / max(1, lines):.0f} B")
        examples = out / "mix" / "examples.jsonl"
        lines = count(examples)
        print(f"  {'examples':<12} {lines:8d} lines of {examples.stat().st_size / lines:.0f} B")
        replies = [path for path in (out / "set" / "replies").rglob("*") if path.is_file()]
        blocks = sum(path.stat().st_blocks for path in replies) * 512
        print(f"  {'replies':<12} {len(replies):8d} files, {blocks / 1e6:.1f} MB in blocks")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
