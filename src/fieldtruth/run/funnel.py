"""A source's funnel: how many rows came in, what they became, and why the rest went no further."""

from collections.abc import Iterator
from typing import Protocol


class Counted(Protocol):
    """The books of a source's folder, as far as its funnel goes."""

    @property
    def counts(self) -> dict[str, int]: ...

    @property
    def drops(self) -> dict[str, int]: ...

    @property
    def kinds(self) -> dict[str, int]: ...


def table(books: Counted) -> str:
    """The funnel as a plain table: what, how many, and which share of the rows.

    Targets are by kind; drops by stage and reason, the most first. A sample may name several
    targets, so shares are of rows for what is a row, and none stands beside the others.
    """
    rows = books.counts.get("rows", 0)
    lines = [(what, count, f"{count / rows:.1%}" if rows and share else "")
             for what, count, share in _lines(books)]  # fmt: skip
    widths = [max(len(str(line[at])) for line in lines) for at in range(3)]
    return "\n".join(
        f"  {what.ljust(widths[0])}  {count:>{widths[1]}}  {share:>{widths[2]}}".rstrip()
        for what, count, share in lines
    )


def _lines(books: Counted) -> Iterator[tuple[str, int, bool]]:
    """What, how many, and whether each of them is a row of the release."""
    counts = books.counts
    yield "rows", counts.get("rows", 0), True
    for name in ("samples", "targets"):
        if name in counts:
            yield name, counts[name], name == "samples"
    for kind, count in sorted(books.kinds.items(), key=lambda entry: (-entry[1], entry[0])):
        yield f"  {kind}", count, False
    for name in ("healthy", "annotations"):
        if name in counts:
            yield name, counts[name], False
    yield "dropped", sum(books.drops.values()), False
    for reason, count in sorted(books.drops.items(), key=lambda entry: (-entry[1], entry[0])):
        yield f"  {reason}", count, not reason.startswith("annotate")
