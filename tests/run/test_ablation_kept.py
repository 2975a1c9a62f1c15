"""What an ablation keeps: a row beside whatever lies there, and items that its words belong to."""

import gzip
import shutil
from pathlib import Path

from tests.builders import frozen, healthy_row, row, table
from tests.run.test_ablation import RIGHT, did, laid

from fieldtruth.run import ablation
from fieldtruth.run.ablation import kept


def test_a_row_is_kept_beside_what_else_lies_in_its_folder(tmp_path: Path) -> None:
    path = laid(tmp_path)
    (tmp_path / "kept/right-seed0").mkdir(parents=True)
    (tmp_path / "kept/right-seed0/.DS_Store").write_bytes(b"seen")
    assert did(path, 1) == [("right", "done"), ("half", "left")]
    table(tmp_path / "right.jsonl", RIGHT | {"p1": "[]"})
    assert did(path, 1) == [("right", "done"), ("half", "left")]
    assert did(path, 1) == [("right", "kept"), ("half", "done")]
    assert (tmp_path / "kept/right-seed0/.DS_Store").read_bytes() == b"seen"


def test_items_are_kept_byte_for_byte(tmp_path: Path) -> None:
    """In whatever order they were frozen: so their hash is that of the rows that they belong to."""
    path = laid(tmp_path)
    did(path)
    made = kept.scores(tmp_path / "kept/right-seed0")
    assert made is not None
    raw = gzip.decompress((tmp_path / "kept/benchmarks/hand.jsonl.gz").read_bytes())
    assert raw == (tmp_path / "bench/items.jsonl").read_bytes()
    assert kept.digest(tmp_path / "kept", "hand") == made.benchmarks["hand"].digest


def test_words_are_never_held_against_the_items_of_another_benchmark(tmp_path: Path) -> None:
    """One that was drawn anew under its old name, before both rows were asked about it."""
    path = laid(tmp_path)
    did(path)
    assert ablation.summarise(ablation.read(path)).differences
    shutil.rmtree(tmp_path / "bench")
    frozen(tmp_path / "bench", [row("p0"), healthy_row("h0"), healthy_row("h1")])
    assert did(path, 1) == [("right", "done"), ("half", "left")]
    made = ablation.summarise(ablation.read(path))
    assert (made.differences, made.changes) == ((), ())
    assert made.rows == {"right": (0,), "half": (0,)}
    did(path)
    assert ablation.summarise(ablation.read(path)).differences
