"""Two passes of a model over the questions of a benchmark -> its errors, sorted."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from fieldtruth import store
from fieldtruth.faults import BadRecord, TooManyFailed, Usage
from fieldtruth.grading.questions import Answered
from fieldtruth.records import Prediction, Record
from fieldtruth.run import asking
from fieldtruth.run.judging import Judging, Tell, asked, is_asked, place
from fieldtruth.stages import errors as sorting
from fieldtruth.stages.score_questions import Settings, gather


class Wanted(Record, frozen=True, kw_only=True):
    """Who sorts: a judge, which sees the photos if `photos`, and files of kinds by hand."""

    judging: Judging = Judging()
    hands: tuple[Path, ...] = ()
    photos: bool = False
    allow_missing: float = 0.0  # of the first pass


def sort(
    benchmark: Path,
    passes: tuple[Path, Path],
    wanted: Wanted,
    out: Path | None,
    tell: Tell,
) -> dict[str, Any]:
    """Sort the errors of the first pass by the second; with `out`, leave them there one a line.

    Raises `Usage` where a pass is not of one
    model under one protocol with options, `Refused` where the first is not complete: an error that
    was never made cannot be sorted.
    """
    bench = store.open_bench(benchmark)
    who = wanted.judging
    if out is not None:
        bench.outside(out)
    bench.outside(place(who, passes[1]))
    first = _answers(bench, passes[0], Settings(allow_missing=wanted.allow_missing))
    second = _answers(bench, passes[1], Settings(allow_missing=1.0))
    judge = None
    if is_asked(who):
        judge = asked(who, passes[1], sorting.PROMPT, sorting.is_kind)
    found, rows = sorting.sort_errors(
        bench,
        first,
        second,
        sorting.Sorters(
            judge=judge,
            photos=wanted.photos,
            hands={str(path): by_hand(path) for path in wanted.hands},
        ),
        tell,
    )
    if out is not None:
        store.write(out, rows)
    return found


def _answers(bench: store.Bench, path: Path, settings: Settings) -> Answered:
    rows: list[Prediction] = list(asking.replies(path))
    if any(row.protocol not in ("choice", "reasoned_choice") for row in rows):
        raise Usage(f"{path}: expected replies under choice or reasoned_choice, got others")
    graded = gather(bench, rows, settings)
    if len(graded) != 1:
        raise Usage(
            f"{path}: expected one model under one protocol, got "
            f"{', '.join(f'{each.model} under {each.protocol}' for each in graded)}"
        )
    return graded[0]


def by_hand(path: Path) -> Mapping[str, sorting.Read]:
    """What a person sorted, from lines with `id` and `kind`: those `--out` left, filled in.

    Lines that are not for a person to sort, or still `unsorted`, are passed over.
    """
    kinds: dict[str, sorting.Read] = {}
    store.fields_once(path)
    with store.open_existing(path) as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                told = msgspec.json.decode(line, type=dict[str, Any])
                if told.get("kind") in set(sorting.KINDS) - {"perception", "knowledge"}:
                    continue
                row = msgspec.convert(told, sorting.ByHand)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise BadRecord(
                    f'{path}:{number}: expected {{"id", "kind": "perception" or "knowledge"}}, '
                    f"got {error}"
                ) from None
            if row.id in kinds:
                raise BadRecord(f"{path}:{number}: expected one line for {row.id!r}, got another")
            kinds[row.id] = row.kind
    return kinds


def check(found: Mapping[str, Any], allow_missing: float) -> None:
    """Raise `TooManyFailed` where the judge failed on more errors than may be missing."""
    left, errors = found["kinds"]["unsorted"]["count"], found["errors"]
    if "judge" in found["sorted_by"] and left and left / errors > allow_missing:
        raise TooManyFailed(
            f"{found['model']}: the judge failed on {left} of {errors} errors, expected at most a "
            f"share of {allow_missing:g}; the same command asks only those again, or accept a "
            "larger share with --allow-missing"
        )


def line(found: Mapping[str, Any]) -> str:
    """What a person reads when errors are sorted."""
    counts = ", ".join(f"{kind} {each['count']}" for kind, each in found["kinds"].items())
    lines = [f"{found['model']}: {found['errors']} errors in {found['answered']} answers: {counts}"]
    for pair in found["agreement"]:
        kappa = pair["kappa"]
        told = "not to be told" if kappa["value"] is None else f"{kappa['value']:.3f}"
        if kappa["value"] is not None:
            told += f" [{kappa['low']:.3f}, {kappa['high']:.3f}]"
        lines.append(f"{pair['a']} and {pair['b']}: kappa {told}, n={pair['n']}")
    return "\n".join(lines)
