"""From saved replies to readings, scores, a table in the terminal, and a report.

`score --out` leaves `score.json` in a folder: the result and where its inputs lie with their
hashes. `report` reads that file, checks that the inputs are still the same and draws the page.
Replies to questions go their own road (`answers`), and have their own page.
"""

from collections.abc import Mapping, Sequence
from os.path import relpath
from pathlib import Path
from typing import Any

import msgspec

from fieldtruth import store
from fieldtruth.faults import BadRecord, Refused, Usage
from fieldtruth.grading import Graded, asks_questions, grade
from fieldtruth.records import SCHEMA, Prediction, Record
from fieldtruth.run import answers, asking, migrations
from fieldtruth.run.judging import NONE, Judging, Tell
from fieldtruth.stages import guessable
from fieldtruth.stages import read as reading
from fieldtruth.stages import score as scoring

RESULT = "score.json"


class _File(Record, frozen=True, kw_only=True):
    """A predictions file that was scored; `path` is relative to the result's folder."""

    path: str
    sha256: str


class _Bench(Record, frozen=True, kw_only=True):
    path: str
    digest: str


class _Inputs(Record, frozen=True, kw_only=True, omit_defaults=True):
    """What a result was made from."""

    benchmark: _Bench
    predictions: tuple[_File, ...]
    graded: str | None = None  # the hash of `graded.jsonl`, which answers to questions leave


def read(predictions: Path, benchmark: Path | None) -> list[dict[str, Any]]:
    """What each saved reply is read as, in file order; `benchmark` gives options their texts."""
    bench = store.open_bench(benchmark) if benchmark else None
    questions = bench.questions if bench else None
    return reading.read_file(asking.replies(predictions), questions)


def reading_lines(rows: Sequence[Mapping[str, Any]]) -> str:
    """One line a reply that needed a repair or gave no answer, then the counts."""
    lines = [
        f"{row['item']} [{row['protocol']}] {row['outcome']}"
        + (f": {'; '.join(row['repairs'])}" if row["repairs"] else "")
        for row in rows
        if row["repairs"] or row["outcome"] in ("prose", "unreadable", "error")
    ]
    for protocol, counts in reading.outcomes(rows).items():
        told = ", ".join(f"{name} {count}" for name, count in counts.items())
        lines.append(f"{protocol}: {told}")
    return "\n".join(lines)


def guessed(
    benchmark: Path, predictions: Sequence[Path], alpha: float, out: Path | None = None
) -> guessable.Guesses:
    """The questions that models answer without photos; with `out`, a file of them, one a line."""
    bench = store.open_bench(benchmark)
    rows = [row for path in predictions for row in asking.replies(path)]
    found = guessable.guessable(bench.questions, rows, alpha)
    if out is not None:
        store.write(bench.outside(out), found.questions)
    return found


def score(
    benchmark: Path, predictions: Sequence[Path], options: scoring.Options, out: Path | None = None
) -> dict[str, Any]:
    """Score the replies to items in some files; with `out`, leave the result for `report`."""
    bench = store.open_bench(benchmark)
    if out is not None:
        bench.outside(out)
    rows = [row for path in predictions for row in asking.replies(path)]
    scores = scoring.score(bench, rows, options)
    scores["settings"] = {
        "unit": "image" if options.as_published else options.unit,
        "resamples": options.resamples,
        "matching": options.matching,
        "allow_missing": options.allow_missing,
        "as_published": options.as_published,
    }
    if out is not None:
        _save(scores, benchmark, predictions, out)
    return scores


def of_questions(
    benchmark: Path,
    predictions: Sequence[Path],
    judging: Judging | None = None,
    hand: Path | None = None,
) -> bool:
    """Whether the replies in some files are to questions; `Usage` where they are to both kinds.

    A judge and grades by hand are for questions alone.
    """
    found = {asks_questions(row.protocol) for path in predictions for row in asking.replies(path)}
    if len(found) > 1:
        raise Usage("expected replies to items or to questions, got both; score them apart")
    asks = found.pop() if found else not store.open_bench(benchmark).items
    wanted = judging is not None and (judging.url != NONE or bool(judging.options))
    if not asks and (wanted or hand is not None):
        raise Usage(
            "--judge, --hand: expected replies to questions, got replies to items, which need none"
        )
    return asks


def score_answers(
    benchmark: Path,
    predictions: Sequence[Path],
    wanted: answers.Request,
    out: Path | None = None,
    tell: Tell | None = None,
) -> dict[str, Any]:
    """Score the replies to questions in some files; with `out`, leave the result for `report`."""
    bench = store.open_bench(benchmark)
    if out is not None:
        bench.outside(out)
    scores, graded = answers.score(bench, predictions, wanted, tell)
    if out is not None:
        store.make_folder(out)
        (out / RESULT).unlink(missing_ok=True)  # never an old score beside new grades
        store.write(out / answers.GRADED, graded)
        _save(scores, benchmark, predictions, out, store.sha256(out / answers.GRADED))
    return scores


def report(folder: Path, page: Path | None = None, note: str | None = None) -> Path:
    """Draw the page of a result; `Refused` where an input is not what was scored."""
    from fieldtruth.stages import report as drawing

    scores = load(folder)
    inputs: _Inputs = scores.pop("inputs")
    bench = store.open_bench(folder / inputs.benchmark.path)
    if bench.manifest.digest != inputs.benchmark.digest:
        raise Refused(f"{bench.folder}: is not the benchmark that was scored; score again")
    rows: list[Prediction] = []
    for entry in inputs.predictions:
        path = folder / entry.path
        if not path.is_file() or store.sha256(path) != entry.sha256:
            raise Refused(f"{path}: expected the replies that were scored; score again")
        rows += asking.replies(path)
    if inputs.graded is not None:
        page = bench.outside(page or folder / "report.html")
        return _page_of_questions(folder, scores, bench, inputs.graded, (page, note))
    naive = scoring.score(bench, rows, scoring.Options(as_published=True))
    return drawing.report(
        scores,
        list(graded(bench, rows, scores["settings"]["matching"])),
        bench,
        predictions=rows,
        naive=naive,
        note=note,
        out=bench.outside(page or folder / "report.html"),
    )


def _page_of_questions(
    folder: Path,
    scores: Mapping[str, Any],
    bench: store.Bench,
    expected: str,
    page: tuple[Path, str | None],
) -> Path:
    from fieldtruth.stages.report import questions as drawing

    graded = answers.read_graded(folder)
    if store.sha256(folder / answers.GRADED) != expected:
        raise Refused(f"{folder / answers.GRADED}: expected the answers as graded; score again")
    replies = [
        drawing.Answer(each.item, each.protocol, each.model, each.text, each.grades)
        for each in graded
    ]
    out, note = page
    return drawing.report(scores, replies, bench, out, note)


def graded(bench: store.Bench, rows: Sequence[Prediction], matching: Any) -> list[Graded]:
    """Each model under each protocol, in the order in which they come in."""
    found: dict[tuple[str, str], list[Prediction]] = {}
    for row in rows:
        found.setdefault((row.model, row.protocol), []).append(row)
    return [
        grade(bench.items, some, protocol, matching=matching)
        for (_, protocol), some in found.items()
    ]


def _save(
    scores: Mapping[str, Any],
    benchmark: Path,
    predictions: Sequence[Path],
    out: Path,
    graded: str | None = None,
) -> None:
    store.make_folder(out)
    manifest, _ = store.read_manifest(benchmark)
    inputs = _Inputs(
        benchmark=_Bench(path=relpath(benchmark, out), digest=manifest.digest),
        predictions=tuple(
            _File(path=relpath(path, out), sha256=store.sha256(path)) for path in predictions
        ),
        graded=graded,
    )
    with store.replacing(out / RESULT) as file:
        whole = msgspec.json.encode({"schema": SCHEMA, **scores, "inputs": inputs})
        file.write(msgspec.json.format(whole, indent=1) + b"\n")


def load(folder: Path) -> dict[str, Any]:
    """What `score` left in a folder, with its `inputs`; `Usage` where there is nothing."""
    path = folder / RESULT
    if not path.is_file():
        raise Usage(f"{folder}: expected {RESULT}; make it with `score ... --out {folder}`")
    scores = migrations.document(path.read_bytes(), path, "score --out")
    try:
        scores["inputs"] = msgspec.convert(scores["inputs"], _Inputs)
        if scores["inputs"].graded is None:
            scores["settings"]["matching"]
    except (msgspec.ValidationError, KeyError, TypeError) as error:
        raise BadRecord(f"{path}: expected what `score --out` writes, got: {error}") from None
    return scores
