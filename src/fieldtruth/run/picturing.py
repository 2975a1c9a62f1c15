"""Figures with their evidence to a folder of questions, with the books.

    OUT/questions.jsonl  notes.jsonl  drops.jsonl  manifest.json

Every figure is the parent of items or of one drop, every item of one question or one drop.
"""

from collections import Counter
from collections.abc import Sequence
from os.path import normpath
from pathlib import Path

import msgspec

from fieldtruth import __version__, store
from fieldtruth.faults import BadRecord, TooManyFailed, Usage
from fieldtruth.models.contract import UNREADABLE, Spent, Words
from fieldtruth.papers.evidence import Evidence
from fieldtruth.papers.records import Figure
from fieldtruth.records import SCHEMA, Drop, Record
from fieldtruth.run.cached import Cached
from fieldtruth.run.checked import Shape, open_shaped
from fieldtruth.run.evidencing import EVIDENCE, RULES, Found
from fieldtruth.run.figuring import FIGURES
from fieldtruth.run.ledger import Ledger
from fieldtruth.run.progress import SILENT, Track
from fieldtruth.run.questioning import Tell, Writer
from fieldtruth.run.screening import PAPERS
from fieldtruth.run.workspace import seen_from
from fieldtruth.stages.questions import figures as asking
from fieldtruth.stages.questions.figures import by_model
from fieldtruth.stages.questions.figures.drawn import OPTIONS

NOTES = "notes.jsonl"


class Made(Record, frozen=True, kw_only=True):
    """`manifest.json`: what was made of what. `root`: of the images, as seen from this folder."""

    schema: int = SCHEMA
    source: str = "papers"
    root: str
    funnel: dict[str, int]  # figures to questions
    domains: dict[str, int]
    challenges: dict[str, int]
    crops: dict[str, int]
    sorts: dict[str, int]
    drops: dict[str, int]
    short: int  # figures with fewer questions than `per_figure`
    per_figure: int
    by: str
    seed: int
    inputs: dict[str, str]
    code: str = __version__
    spent: Spent | None = None


class _There(Record, frozen=True, kw_only=True):
    figures: tuple[Figure, ...]
    evidence: dict[str, Evidence]
    root: Path


class _Item(Record, frozen=True, kw_only=True):
    id: str


def of_figures(folder: Path) -> bool:
    """Whether a folder holds figures, and not dialogues; `Usage` where it holds papers alone."""
    if (folder / FIGURES).is_file():
        return True
    if (folder / PAPERS).is_file():
        raise Usage(
            f"{folder}: expected what `evidence` made, got what `screen` made; run `fieldtruth "
            "figures` on it, and `fieldtruth evidence` on what that makes"
        )
    return False


def settings(per_figure: int | None, seed: int) -> asking.Settings:
    """How many of one figure; eight where nobody says."""
    return asking.Settings(per_figure=asking.EIGHT if per_figure is None else per_figure, seed=seed)


def refuse(*, want: int | None, options: str, faces: bool, because: str | None) -> None:
    """Raise `Usage` for what only questions of dialogues have."""
    given = {
        "--want": want is not None, "--options": options != str(OPTIONS), "--faces": faces,
        "--because": because is not None,
    }  # fmt: skip
    for flag, told in given.items():
        if told:
            raise Usage(f"{flag}: expected it with dialogues, got figures; leave it out")


def questions(
    folder: Path, out: Path, wanted: asking.Settings, writer: Writer, track: Track = SILENT,
    tell: Tell = lambda _: None,
) -> Made:  # fmt: skip
    """Write the questions of what `evidence` left in `folder` as `out`, new or empty."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Usage(f"{out}: expected no such folder or an empty one, got files; name another")
    there = _opened(folder, writer.images)
    model = _model(writer, folder)
    said = _said(there, model, wanted, tell)
    asked: list[asking.Asked] = []
    unasked: list[Drop] = []
    for figure in track(there.figures, len(there.figures)):
        made = _of(figure, there.evidence.get(figure.id), said, wanted)
        (unasked if isinstance(made, Drop) else asked).append(made)  # type: ignore[arg-type]
    _balance(there, asked, unasked)
    drops = sorted((*unasked, *(each for one in asked for each in one.drops)), key=lambda d: d.id)
    whole = _made(there, out, asked, drops, wanted)
    by = RULES if model is None else f"{writer.model}: {model.version}, {by_model.PROMPT.stem}"
    whole = msgspec.structs.replace(
        whole, by=by, spent=None if model is None else model.spent,
        inputs={name: store.sha256(folder / name) for name in (FIGURES, EVIDENCE)},
    )  # fmt: skip
    with store.drafting(out) as part:
        store.write(part / store.QUESTIONS, [each for one in asked for each in one.questions])
        store.write(part / NOTES, [each for one in asked for each in one.notes])
        store.write(part / "drops.jsonl", drops)
        with store.replacing(part / store.MANIFEST) as file:
            file.write(msgspec.json.format(msgspec.json.encode(whole), indent=1) + b"\n")
        store.publish(part, out)
    return whole


def check(made: Made, allow_errors: float) -> None:
    """Raise `TooManyFailed` where the model failed on more figures than are allowed."""
    failed = sum(made.drops.get(why, 0) for why in (asking.MODEL_FAILED, asking.UNREADABLE))
    if failed > allow_errors * made.funnel["figures"]:
        raise TooManyFailed(
            f"{failed} of {made.funnel['figures']} calls failed; run it again into another folder "
            "with the same --cache: only those are asked again"
        )


def line(made: Made, out: Path) -> str:
    """The funnel and one closing line, for people."""
    width = max(map(len, made.funnel))
    rows = [f"  {what.ljust(width)}  {count:>7,}" for what, count in made.funnel.items()]
    kinds = ", ".join(f"{name} {n}" for name, n in made.challenges.items()) or "none"
    lost = ", ".join(f"{why} {n}" for why, n in made.drops.items()) or "none"
    end = (
        f"{made.funnel['questions']} questions of four options ({kinds}); {made.short} figures "
        f"have fewer than {made.per_figure}; dropped: {lost}. In {out}"
    )
    return "\n".join([*rows, end])


def _opened(folder: Path, images: Path | None) -> _There:
    for name in (FIGURES, EVIDENCE, store.MANIFEST):
        if not (folder / name).is_file():
            raise Usage(f"{folder}: expected {name} there, got none; run `fieldtruth evidence`")
    path = folder / store.MANIFEST
    try:
        found = msgspec.json.decode(path.read_bytes(), type=Found)
    except (ValueError, RecursionError) as error:
        raise BadRecord(f"{path}: expected what `evidence` writes, got: {error}") from None
    root = Path(normpath(folder.resolve() / found.root)) if images is None else images
    if not root.is_dir():
        raise Usage(f"{root}: expected the folder of the figures, got none; name it with --images")
    figures = tuple(store.read_unique(folder / FIGURES, Figure))
    told = {each.id: each for each in store.read_unique(folder / EVIDENCE, Evidence)}
    known = {each.id for each in figures}
    for number, name in enumerate(told, start=1):
        if name not in known:
            raise BadRecord(
                f"{folder / EVIDENCE}:{number}: expected a figure of {FIGURES}, got {name!r}; run "
                "`fieldtruth evidence` again"
            )
    return _There(figures=figures, evidence=told, root=root)


def _model(writer: Writer, folder: Path) -> Cached | None:
    if writer.model == RULES:
        if writer.options or writer.cache is not None:
            raise Usage("--model: expected a model for --model-args and --cache, got none")
        return None
    cache = writer.cache or folder.with_name(f"{folder.name}.replies")
    return open_shaped(writer.model, writer.options, Shape(by_model.SCHEMA, by_model.read), cache)


def _said(
    there: _There, model: Cached | None, settings: asking.Settings, tell: Tell
) -> dict[str, Words] | None:
    """What the model writes for each figure; None where nobody is asked."""
    if model is None:
        return None
    some = [each for each in there.figures if each.id in there.evidence]
    requests = [
        by_model.request(each, there.evidence[each.id], settings.per_figure, there.root)
        for each in some
    ]
    if cost := model.estimate(requests):
        tell(cost)
    return dict(zip([each.id for each in some], model.reply(requests), strict=True))


def _of(
    figure: Figure, evidence: Evidence | None, said: dict[str, Words] | None,
    settings: asking.Settings,
) -> asking.Asked | Drop:  # fmt: skip
    if evidence is None:
        return asking.unasked(figure, asking.NO_EVIDENCE, "see the drops of `evidence`")
    reply = None
    if said is not None:
        words = said[figure.id]
        if words.error is not None or words.finish == "error":
            why = words.error or "the model gave no words"
            if why.startswith(f"{UNREADABLE}: "):
                return asking.unasked(figure, asking.UNREADABLE, why)
            return asking.unasked(figure, asking.MODEL_FAILED, why)
        reply = by_model.read(words.text)
    made = asking.ask(figure, evidence, reply, settings)
    return made if made.items else asking.unasked(figure, asking.NOTHING, figure.label)


def _balance(there: _There, asked: Sequence[asking.Asked], unasked: Sequence[Drop]) -> None:
    figures = Ledger("questions", asking.OF_FIGURES)
    for _ in figures.incoming(there.figures):
        pass
    items = [_Item(id=name) for one in asked for name in one.items]
    outgoing: list[Record] = [*items, *unasked]
    for _ in figures.outgoing(outgoing, _figure_of):
        pass
    figures.close()
    by_item = Ledger("questions: items", asking.OF_ITEMS)
    for _ in by_item.incoming(items):
        pass
    paid: list[Record] = [each for one in asked for each in (*one.questions, *one.drops)]
    for _ in by_item.outgoing(paid, _item_of):
        pass
    by_item.close()


def _figure_of(record: Record) -> str:
    if isinstance(record, Drop):
        return record.sample
    return str(getattr(record, "id", "")).rpartition(":")[0]


def _item_of(record: Record) -> str:
    return (record.parent or "") if isinstance(record, Drop) else str(getattr(record, "id", ""))


def _made(
    there: _There, out: Path, asked: Sequence[asking.Asked], drops: Sequence[Drop],
    settings: asking.Settings,
) -> Made:  # fmt: skip
    some = [each for one in asked for each in one.questions]
    notes = [each for one in asked for each in one.notes]
    return Made(
        root=seen_from(out, there.root),
        funnel={
            "figures": len(there.figures), "with evidence": len(there.evidence),
            "that can be asked about": sum(bool(each.questions) for each in asked),
            "items": sum(len(each.items) for each in asked), "questions": len(some),
        },
        domains=dict(sorted(Counter(each.domain or "" for each in some).items())),
        challenges=dict(sorted(Counter(each.challenge or "" for each in some).items())),
        crops=dict(sorted(Counter(each.crop or "not told" for each in some).items())),
        sorts=dict(sorted(Counter(each.sort for each in notes).items())),
        drops=dict(sorted(Counter(each.reason for each in drops).items())),
        short=sum(len(each.questions) < settings.per_figure for each in asked)
        + len(there.figures) - len(asked),
        per_figure=settings.per_figure, by="", seed=settings.seed, inputs={},
    )  # fmt: skip
