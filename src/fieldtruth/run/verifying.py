"""Questions, figures, and passages of evidence handed to people and taken back.

    OUT/questions.html   the page          OUT/ANNOTATOR.xlsx   what each person fills in
    OUT/sent.jsonl       which row is which question, for the way back
    OUT/sent-questions.jsonl               the questions as they were handed out
    OUT/source.json      the folder of the figures, or of the evidence, that rows came from

and back: questions.jsonl (only what nobody found wrong), drops.jsonl, ticks.jsonl (who said what),
verification.json (funnel and agreement); THIRD.xlsx with the rows that a third person is to decide.
Of figures and of passages a folder comes back that holds what is kept, as `vetting` says.
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
from fieldtruth.run import picturing, scrubbing, vetting
from fieldtruth.run.evidencing import EVIDENCE
from fieldtruth.run.figuring import FIGURES
from fieldtruth.run.ledger import Ledger
from fieldtruth.stages import verification
from fieldtruth.stages.verification import SENT, SHEETS, Kind, Row, Sent, Ticks, Verified

QUESTIONS = "sent-questions.jsonl"
REPORT = "verification.json"


class Job(Record, frozen=True, kw_only=True):
    """What to hand out to whom. `questions`: a file, a folder that `questions` made, a frozen
    benchmark, or what `figures` or `evidence` made; `dialogues`: a folder with dialogues.jsonl, or
    with evidence of figures; `overlap` people see each row; `third` decides where they differ."""

    questions: Path
    annotators: tuple[str, ...]
    dialogues: Path | None = None
    images: Path | None = None
    overlap: int | None = None
    because: str | None = None  # why names need not have been looked for in the dialogues
    seed: int = 0
    third: str | None = None


class Handed(Record, frozen=True, kw_only=True):
    """What was handed out: rows, the questions they stand for, and rows a person."""

    rows: int
    questions: int
    photos: int
    annotators: dict[str, int]
    page: str = "questions.html"
    what: str = "question"


class _Shown(Record, frozen=True, kw_only=True):
    """What is put on the page: rows, the folder of their photos, what is told of each."""

    questions: list[Question]
    root: Path | None
    told: dict[str, list[tuple[str, str]]]
    dialogues: dict[str, Dialogue]


class _Root(msgspec.Struct):
    root: str


def send(job: Job, out: Path) -> Handed:
    """Write page and workbooks as `out`, new or empty, whole or not at all."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Usage(f"{out}: expected no such folder or an empty one, got files; name another")
    kind = vetting.kind_of(job.questions)
    source = None if kind is None else vetting.source(job.questions, kind, out)
    shown = _shown(job) if kind is None else _vetted(job, kind)
    questions = shown.questions
    rows = verification.rows(
        questions, job.annotators, job.overlap, job.seed, kind=kind, third=job.third
    )
    sheet = rows[0].sent.sheet
    mine = {
        who: [row for row in rows if who in row.sent.annotators] for who in job.annotators
    }  # fmt: skip
    with store.drafting(out) as part:
        (part / sheet.page).write_bytes(
            verification.render(rows, shown.dialogues, shown.root, shown.told)
        )
        for who, some in mine.items():
            verification.write(part / f"{who}.xlsx", some, who)
        store.write(part / SENT, [row.sent for row in rows])
        store.write(part / QUESTIONS, sorted(questions, key=attrgetter("id")))
        if source is not None:
            with store.replacing(part / vetting.SOURCE) as file:
                file.write(msgspec.json.encode(source) + b"\n")
        store.publish(part, out)
    return Handed(
        rows=len(rows), questions=len(questions),
        photos=len({image for each in questions for image in each.images}),
        annotators={who: len(some) for who, some in mine.items()}, page=sheet.page,
        what=sheet.what,
    )  # fmt: skip


def _shown(job: Job) -> _Shown:
    """Questions, with their conversations or figures."""
    questions, root = questions_of(job.questions, job.images)
    if not questions:
        raise Usage(f"{job.questions}: expected questions, got none")
    return _Shown(
        questions=questions, root=root, told=_figures(job), dialogues=_dialogues(job, questions)
    )


def _vetted(job: Job, kind: Kind) -> _Shown:
    """Figures, or passages of evidence."""
    if job.dialogues is not None or job.because is not None:
        raise Usage("--dialogues, --because: expected them with questions, got figures; leave out")
    some, root, told = vetting.rows_of(job.questions, kind)
    if not some:
        raise Usage(f"{job.questions}: expected {SHEETS[kind].what}s to look at, got none")
    if job.images is not None and not job.images.is_dir():
        raise Usage(f"--images: expected the folder of the figures, got none at {job.images}")
    return _Shown(questions=some, root=job.images or root, told=told, dialogues={})


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

    `least` people have to have read a row; all that it was sent to where it is None. Where a third
    person decides, rows that wait for them are dropped as undecided, and their workbook is written.
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
    kind = rows[0].kind
    source = vetting.opened(sent) if kind in vetting.MADE else None
    ledger = Ledger("verification", verification.REASONS)
    for _ in ledger.incoming(questions.values()):
        pass
    outgoing: list[Record] = [*kept, *drops]
    for _ in ledger.outgoing(outgoing, _question_of):
        pass
    ledger.close()
    with store.drafting(out) as part:
        if source is None:
            store.write(part / store.QUESTIONS, kept)
        else:
            vetting.keep(source, kind, {each.id for each in kept}, (part, out))
        waiting = [row for row in rows if row.id in set(made.undecided)]
        if waiting and (third := waiting[0].third) is not None:
            books_of = [Row(sent=row, forms=tuple(questions[q] for q in row.questions))
                        for row in waiting]  # fmt: skip
            verification.write(part / f"{third}.xlsx", books_of, third)
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
        f"{made.rows} rows for {made.questions} {made.what}s with {made.photos} photos: "
        f"{out / made.page}; rows a person: {people}"
    )
