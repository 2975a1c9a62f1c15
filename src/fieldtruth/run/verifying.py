"""Questions handed to people and taken back.

    OUT/questions.html   the page          OUT/ANNOTATOR.xlsx   what each person fills in
    OUT/sent.jsonl       which row is which question, for the way back
    OUT/sent-questions.jsonl               the questions as they were handed out

and back: questions.jsonl (only what nobody found wrong), drops.jsonl, ticks.jsonl (who said what),
verification.json (funnel and agreement).
"""

from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path

import msgspec

from fieldtruth import store
from fieldtruth.faults import BadRecord, Refused, Usage
from fieldtruth.papers.evidence import Evidence
from fieldtruth.papers.records import Figure
from fieldtruth.privacy import still_personal
from fieldtruth.records import Dialogue, Question, Record
from fieldtruth.run import picturing, scrubbing
from fieldtruth.run.evidencing import EVIDENCE
from fieldtruth.run.figuring import FIGURES
from fieldtruth.run.ledger import Ledger
from fieldtruth.stages import verification
from fieldtruth.stages.verification import SENT, Sent, Ticks, Verified

QUESTIONS = "sent-questions.jsonl"
REPORT = "verification.json"


class Job(Record, frozen=True, kw_only=True):
    """What to hand out to whom. `questions`: a file, a folder that `questions` made, or a frozen
    benchmark; `dialogues`: a folder with dialogues.jsonl, or with evidence of figures; `overlap`
    people see each row."""

    questions: Path
    annotators: tuple[str, ...]
    dialogues: Path | None = None
    images: Path | None = None
    overlap: int | None = None
    because: str | None = None  # why names need not have been looked for in the dialogues
    seed: int = 0


class Handed(Record, frozen=True, kw_only=True):
    """What was handed out: rows, the questions they stand for, and rows a person."""

    rows: int
    questions: int
    photos: int
    annotators: dict[str, int]


class _Root(msgspec.Struct):
    root: str


def send(job: Job, out: Path) -> Handed:
    """Write page and workbooks as `out`, new or empty, whole or not at all."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Usage(f"{out}: expected no such folder or an empty one, got files; name another")
    questions, root = questions_of(job.questions, job.images)
    if not questions:
        raise Usage(f"{job.questions}: expected questions, got none")
    dialogues = _dialogues(job, questions)
    rows = verification.rows(questions, job.annotators, job.overlap, job.seed)
    mine = {
        who: [row for row in rows if who in row.sent.annotators] for who in job.annotators
    }  # fmt: skip
    with store.drafting(out) as part:
        (part / verification.PAGE).write_bytes(
            verification.render(rows, dialogues, root, _figures(job))
        )
        for who, some in mine.items():
            verification.write(part / f"{who}.xlsx", some, who)
        store.write(part / SENT, [row.sent for row in rows])
        store.write(part / QUESTIONS, sorted(questions, key=attrgetter("id")))
        store.publish(part, out)
    return Handed(
        rows=len(rows), questions=len(questions),
        photos=len({image for each in questions for image in each.images}),
        annotators={who: len(some) for who, some in mine.items()},
    )  # fmt: skip


def questions_of(path: Path, images: Path | None) -> tuple[list[Question], Path | None]:
    """The questions, and the folder that their photos are relative to, where it is known."""
    if images is not None and not images.is_dir():
        raise Usage(f"--images: expected the folder of the photos, got none at {images}")
    if not path.is_dir():
        return list(store.read_unique(path, Question)), images
    if (path / store.MANIFEST).is_file() and (path / "CARD.md").is_file():
        return list(store.open_bench(path).questions), path
    if not (path / store.QUESTIONS).is_file():
        raise Usage(f"{path}: expected {store.QUESTIONS} there, got none; run `questions` first")
    root = images or _root(path)
    return list(store.read_unique(path / store.QUESTIONS, Question)), root


def _root(folder: Path) -> Path | None:
    path = folder / store.MANIFEST
    if not path.is_file():
        return None
    try:
        root = folder.resolve() / msgspec.json.decode(path.read_bytes(), type=_Root).root
    except (ValueError, RecursionError) as error:
        raise BadRecord(f"{path}: expected what `questions` writes, got: {error}") from None
    return root if root.is_dir() else None


def _dialogues(job: Job, shown: Sequence[Question]) -> dict[str, Dialogue]:
    """The dialogues that are shown, by id. `Refused` where personal data may be left in them."""
    if job.dialogues is None or picturing.of_figures(job.dialogues):
        return {}
    scrubbing.gate(job.dialogues, job.because)
    groups = {each.id.rsplit(":", 2)[0] for each in shown}
    rows = store.read_unique(job.dialogues / "dialogues.jsonl", Dialogue)
    found = {each.id: each for each in rows if each.id in groups}
    for each in found.values():
        if left := still_personal(each):
            raise Refused(
                f"{job.dialogues}: dialogue {each.id!r} still holds personal data "
                f"({left[0].kind}); run `fieldtruth scrub {job.dialogues}`"
            )
    return found


def _figures(job: Job) -> dict[str, list[tuple[str, str]]]:
    """What is shown beside each figure: its caption, and what the paper says of it."""
    if job.dialogues is None or not picturing.of_figures(job.dialogues):
        return {}
    if not (job.dialogues / EVIDENCE).is_file():
        raise Usage(f"{job.dialogues}: expected {EVIDENCE} there; run `fieldtruth evidence`")
    told = {each.id: each for each in store.read_unique(job.dialogues / EVIDENCE, Evidence)}
    made: dict[str, list[tuple[str, str]]] = {}
    for figure in store.read_unique(job.dialogues / FIGURES, Figure):
        made[figure.id] = [("Caption", figure.caption)]
        if (found := told.get(figure.id)) is not None:
            made[figure.id].insert(0, ("Type of figure", found.figure_type))
            made[figure.id] += [(f"Page {each.page}", each.text) for each in found.passages]
    return made


def receive(books: Sequence[Path], sent: Path, out: Path, least: int | None = None) -> Verified:
    """What people ticked, as `out`, new or empty: only fully clean questions are kept.

    `least` people have to have read a row; all that it was sent to where it is None.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Usage(f"{out}: expected no such folder or an empty one, got files; name another")
    if least is not None and least < 1:
        raise Usage(f"--least: expected at least 1 person, got {least}")
    if not (sent / SENT).is_file():
        raise Usage(f"{sent}: expected what `review questions` made, got no {SENT} there")
    rows = list(store.read_unique(sent / SENT, Sent))
    questions = {each.id: each for each in store.read_unique(sent / QUESTIONS, Question)}
    ticks = _ticks(books, {row.id: row for row in rows})
    needed = max(len(row.annotators) for row in rows) if least is None else least
    kept, drops, made = verification.settle(rows, ticks, questions, needed)
    ledger = Ledger("verification", verification.REASONS)
    for _ in ledger.incoming(questions.values()):
        pass
    outgoing: list[Record] = [*kept, *drops]
    for _ in ledger.outgoing(outgoing, _question_of):
        pass
    ledger.close()
    with store.drafting(out) as part:
        store.write(part / store.QUESTIONS, kept)
        store.write(part / "drops.jsonl", drops)
        store.write(part / "ticks.jsonl", ticks)
        with store.replacing(part / REPORT) as file:
            file.write(msgspec.json.format(msgspec.json.encode(made), indent=1) + b"\n")
        store.publish(part, out)
    return made


def _question_of(record: Record) -> str:
    return str(getattr(record, "parent", None) or record.id)  # type: ignore[attr-defined]


def _ticks(books: Sequence[Path], rows: dict[str, Sent]) -> list[Ticks]:
    found: list[Ticks] = []
    first: dict[str, Path] = {}
    for path in books:
        some = verification.read(path, rows)
        for who in dict.fromkeys(each.annotator for each in some):
            if first.setdefault(who, path) != path:
                raise Usage(
                    f"{path}: expected each person's workbook once, got {who!r} here and in "
                    f"{first[who]}; leave one out"
                )
        found += some
    return sorted(found, key=lambda each: (each.row, each.annotator))


def line(made: Handed, out: Path) -> str:
    """What was handed out, in one line for people."""
    people = ", ".join(f"{who}.xlsx {count}" for who, count in made.annotators.items())
    return (
        f"{made.rows} rows for {made.questions} questions with {made.photos} photos: "
        f"{out / verification.PAGE}; rows a person: {people}"
    )
