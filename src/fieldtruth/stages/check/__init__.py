"""Check: what would spoil a training run or a question set, told row by row before it begins.

No model and no GPU; photos are opened as far as their header. Nothing is written and no row is
lost: one that cannot be read is a problem with its number, and the check goes on.

    kinds      what is asked of a row of each kind
    items      rows of a benchmark in the making
    questions  rows of a question set
    tells      what gives the right option away, in a row and over the set
    answers    the right reply, read as a model's would be; its length; its names
    photos     there, readable, large enough, of no test split
    problems   the closed list of what may be wrong
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Protocol, TypeVar, get_args

from fieldtruth import store
from fieldtruth.faults import Usage
from fieldtruth.records import Record, Space
from fieldtruth.stages.check.answers import BUDGET
from fieldtruth.stages.check.kinds import RULES, Desk, kind_of
from fieldtruth.stages.check.photos import Photos, open_tests
from fieldtruth.stages.check.problems import MEANING, Found
from fieldtruth.store import any_rows

__all__ = ["BUDGET", "Problem", "Report", "Settings", "check", "line"]

SHOWN = 3  # rows of each problem in what people read
T = TypeVar("T")


class Track(Protocol):
    """Shows how far an iteration is."""

    def __call__(self, records: Iterable[T], total: int | None = None) -> Iterator[T]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What rows are held against.

    `images`: where relative paths of photos begin; else where the manifest of a training folder
    says, or the file's own folder. `space`: that of the boxes in conversations; else what a row
    declares, or norm1000. `budget`: tokens that a reply may take. `tests`: frozen benchmarks
    whose photos may not be there.
    """

    images: Path | None = None
    space: str | None = None
    budget: int = BUDGET
    tests: tuple[Path, ...] = ()


class Problem(Record, frozen=True, kw_only=True):
    """One thing that is wrong with a row. `row` counts from 1; in JSON lines it is the line. 0 is
    the set as a whole."""

    row: int
    id: str | None
    problem: str
    detail: str


class Report(Record, frozen=True, kw_only=True):
    """What a file is (`examples`, `items`, `chat`, `questions`, or `unknown`), its problems."""

    kind: str
    rows: int
    problems: tuple[Problem, ...]


def check(path: Path, settings: Settings, track: Track | None = None) -> Report:
    """Look at every row of a training file, a training folder, or a question set.

    Raises `Usage` where there is no such file, it is not JSON, or a setting cannot be used;
    `Refused` for a test benchmark that does not verify.
    """
    file = path / store.EXAMPLES if path.is_dir() else path
    if file != path and not file.is_file():
        raise Usage(
            f"{path}: expected a file, or a folder with {store.EXAMPLES} as `compose --training` "
            "makes it, got none; name the file"
        )
    desk, its, count = _desk(file, settings), ("unknown", ""), 0
    found: list[Problem] = []
    for row in track(any_rows.read(file)) if track else any_rows.read(file):
        count += 1
        if its[0] == "unknown" and not row.fault:
            its = kind_of(row.value)
        told = _told(row, its, desk)
        name = _id(row.value)
        found += [Problem(row=row.number, id=name, problem=p, detail=d) for p, d in told]
    found += [Problem(row=0, id=None, problem=p, detail=d) for p, d in desk.choices.found()]
    if not count:
        found.append(Problem(row=1, id=None, problem="bad_row", detail="expected rows, got none"))
    return Report(kind=its[0], rows=count, problems=tuple(found))


def _told(row: any_rows.Row, its: tuple[str, str], desk: Desk) -> Iterable[Found]:
    """What is wrong with a row of a file of this kind and shape."""
    if row.fault:
        return [Found("bad_row", row.fault)]
    kind, shape = kind_of(row.value)
    if kind == "unknown":
        return [Found("bad_row", f"of no known kind: has {_fields(row.value)}")]
    if (kind, shape) != its:
        return [Found("bad_row", f"expected {its[1]}, as in the rows before, got {shape}")]
    return RULES[kind](row.number, row.value, desk)


def line(report: Report, path: Path) -> str:
    """For people: each problem with its count and first rows, then one closing line."""
    counts = Counter(each.problem for each in report.problems)
    lines = []
    for name in (each for each in MEANING if each in counts):
        lines.append(f"{counts[name]:>9,} {name}: {MEANING[name]}")
        some = (each for each in report.problems if each.problem == name)
        for each in islice(some, SHOWN):
            who = f" (id {each.id!r})" if each.id is not None else ""
            where = f"row {each.row}{who}" if each.row else "the set"
            lines.append(f"          {where}: {each.detail}")
    bad = len({each.row for each in report.problems if each.row})
    where = f"in {bad:,} of them" if bad else "of the set"
    end = f"{len(report.problems):,} problems {where}" if lines else "no problems"
    return "\n".join([*lines, f"{path}: {report.rows:,} rows of {report.kind}: {end}"])


def _desk(file: Path, settings: Settings) -> Desk:
    if settings.budget < 1:
        raise Usage(f"--budget: expected 1 token or more, got {settings.budget}")
    if settings.images is not None and not settings.images.is_dir():
        raise Usage(f"--images: expected a folder, got none at {settings.images}")
    space = next((each for each in get_args(Space) if each == settings.space), None)
    if settings.space is not None and space is None:
        raise Usage(
            f"--space: expected one of {', '.join(get_args(Space))}, got {settings.space!r}"
        )
    tests = open_tests(settings.tests)
    return Desk(file, settings.images, Photos(tests), tests, settings.budget, space)


def _fields(value: dict[str, object]) -> str:
    names = ", ".join(list(value)[:8])
    return names[:200] or "no fields"


def _id(value: dict[str, object]) -> str | None:
    name = value.get("id")
    return str(name)[:200] if isinstance(name, str | int) and not isinstance(name, bool) else None
