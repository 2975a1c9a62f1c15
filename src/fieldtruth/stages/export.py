"""Export: a frozen benchmark in a file format that other tools read (`formats/`)."""

from pathlib import Path

from fieldtruth import formats, store
from fieldtruth.faults import Usage
from fieldtruth.formats.contract import Exported, Exporter
from fieldtruth.rooms import names, open_room


def export(name: str, benchmark: Path, out: Path, *, fetched: bool = False) -> Exported:
    """Write a benchmark to `out`, a new or empty folder, in the format of that name.

    The folder appears whole or not at all. `fetched`: photos that the benchmark may not hand on
    go along where they were fetched; keep such an export to yourself. Raises `Refused` when the
    benchmark does not verify, `Usage` for a format that takes none or when `out` holds files.
    """
    write = _exporter(name)
    bench = store.open_bench(benchmark)
    out = out.resolve()
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Usage(f"{out}: expected no such folder or an empty one, got files; name another")
    bench.outside(out)
    with store.drafting(out) as part:
        made = write(bench, part, fetched=fetched)
        store.publish(part, out)
    return made


def line(made: Exported, out: Path) -> str:
    """What was written, in one line for people."""
    apart = f", {made.absent} left out (kept by reference only)" if made.absent else ""
    return f"{made.rows} rows with {made.photos} photos{apart}: {out}"


def _exporter(name: str) -> Exporter:
    write: Exporter | None = getattr(open_room(formats, name), "EXPORT", None)
    if write is None:
        able = [each for each in names(formats) if hasattr(open_room(formats, each), "EXPORT")]
        raise Usage(
            f"{name}: expected a format that benchmarks are exported to ({', '.join(able)})"
        )
    return write
