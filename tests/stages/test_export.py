"""An export appears whole or not at all, and only of a benchmark that verifies."""

from pathlib import Path

import pytest
from tests.builders import four

from fieldtruth.faults import Refused, Usage
from fieldtruth.stages.export import export, line


def test_a_benchmark_as_parquet(tmp_path: Path) -> None:
    made = export("parquet", four(tmp_path / "bench"), tmp_path / "deep" / "out")
    assert sorted(path.name for path in (tmp_path / "deep").iterdir()) == ["out"]
    assert sorted(path.name for path in (tmp_path / "deep" / "out").rglob("*")) == [
        "README.md", "data", "test.parquet",
    ]  # fmt: skip
    assert line(made, Path("O")) == "4 rows with 4 photos: O"


def test_an_export_made_anew_replaces_what_a_killed_one_left(tmp_path: Path) -> None:
    (tmp_path / ".out.part" / "data").mkdir(parents=True)
    (tmp_path / "out").mkdir()
    export("parquet", four(tmp_path / "bench"), tmp_path / "out")
    assert not (tmp_path / ".out.part").exists()


def test_what_cannot_be(tmp_path: Path) -> None:
    bench = four(tmp_path / "bench")
    with pytest.raises(Usage, match=r"formats has no 'xls'; it has: .*parquet"):
        export("xls", bench, tmp_path / "out")
    with pytest.raises(Usage, match=r"markdown: expected a format .*parquet"):
        export("markdown", bench, tmp_path / "out")
    with pytest.raises(Usage, match="expected no such folder or an empty one"):
        export("parquet", bench, bench)
    with pytest.raises(Usage, match="expected a place outside the benchmark"):
        export("parquet", bench, bench / "parquet")
    (bench / "items.jsonl").write_text("")
    with pytest.raises(Refused, match=r"items\.jsonl differs"):
        export("parquet", bench, tmp_path / "out")
    assert not (tmp_path / "out").exists()
