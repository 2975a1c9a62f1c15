"""A folder of dialogues to the facts that its experts stated, with the books.

    dialogues.jsonl -> facts.jsonl  drops.jsonl  manifest.json

Two books are kept: every dialogue is the parent of statements or of one drop, every statement of
one fact or of one drop. A dialogue whose model failed is a drop of its own kind: nothing is known
about it, and the same command asks for it alone, since replies that could be read are kept.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from fieldtruth import models, store
from fieldtruth.faults import Refused, TooManyFailed, Usage
from fieldtruth.models.contract import Spent
from fieldtruth.records import Dialogue, Drop, Fact, Record
from fieldtruth.rooms import names
from fieldtruth.run.cached import Cached
from fieldtruth.run.checked import Shape, open_shaped
from fieldtruth.run.ledger import Ledger
from fieldtruth.run.progress import SILENT, Track
from fieldtruth.run.scrubbing import of_dialogues
from fieldtruth.run.workspace import Books
from fieldtruth.stages import facts as stating
from fieldtruth.stages.facts.by_model import READ, ByModel
from fieldtruth.stages.facts.by_model.prompts import SCHEMAS
from fieldtruth.stages.facts.by_rules import Rules
from fieldtruth.stages.facts.shapes import Extractor

RULES = "rules"
STAGE = stating.STAGE
_ID: Any = attrgetter("id")


class Job(Record, frozen=True, kw_only=True):
    """Who extracts: `rules`, or a backend with its options; what its replies are filed under."""

    model: str = RULES
    options: Mapping[str, str] = {}
    name: str | None = None
    cache: Path | None = None
    allow_errors: float = 0.0


class Extracted(Record, frozen=True, kw_only=True):
    """What was done: the folder's books, facts by category and by knowledge, calls and tokens."""

    books: Books
    extractor: str
    categories: dict[str, int]
    knowledge: dict[str, int]
    failed: int
    cached: int = 0  # replies that were kept from before
    spent: Spent | None = None


def extract(folder: Path, job: Job, track: Track = SILENT) -> Extracted:
    """Write the facts of a folder of dialogues. See `check` for dialogues whose model failed.

    Raises `Usage`, `BadRecord` for a broken line, `Refused` where dialogues are not those that
    `ingest` counted.
    """
    books = of_dialogues(folder)
    extractor, asked = _extractor(job, folder)
    by_dialogue = Ledger(STAGE, stating.OF_DIALOGUES)
    by_statement = Ledger(STAGE, stating.OF_STATEMENTS)
    count: Counter[str] = Counter({"statements": 0, "facts": 0})
    tally: dict[str, Counter[str]] = {"category": Counter(), "knowledge": Counter()}
    with store.lock(folder), ExitStack() as stack:
        put = stack.enter_context(store.writing_lists(folder / "facts.jsonl"))
        drop = stack.enter_context(store.writing_lists(folder / "drops.jsonl"))
        drops = _earlier(folder, drop)
        rows = store.read(folder / "dialogues.jsonl", Dialogue)
        dialogues = by_dialogue.incoming(track(rows, books.counts["dialogues"]))
        for made in stating.extract(dialogues, extractor):
            facts = [each for each in made.records if isinstance(each, Fact)]
            lost = [each for each in made.records if isinstance(each, Drop)]
            _settle(made, by_dialogue, by_statement)
            put(facts)
            drop([*([made.dropped] if made.dropped else []), *lost])
            drops.update(f"{STAGE}: {each.reason}" for each in lost)
            drops.update([f"{STAGE}: {made.dropped.reason}"] if made.dropped else [])
            count.update({"statements": len(made.statements), "facts": len(facts)})
            for field, counter in tally.items():
                counter.update(getattr(each, field) for each in facts)
        by_statement.close()
        _agree(folder, books, by_dialogue.close().incoming)
        _close(folder, _before(books))  # until all is in its place, nothing counts
    books = _close(folder, _after(books, count, drops))
    spent = [each.spent for each in asked]
    return Extracted(
        books=books, extractor=extractor.by, categories=dict(sorted(tally["category"].items())),
        knowledge=dict(sorted(tally["knowledge"].items())),
        failed=sum(books.drops.get(f"{STAGE}: {why}", 0) for why in stating.FAILED),
        cached=sum(each.hits for each in asked), spent=_sum(spent),
    )  # fmt: skip


def _settle(made: stating.Made, by_dialogue: Ledger, by_statement: Ledger) -> None:
    """A dialogue into both books: what it was the parent of, and what that was the parent of."""
    statements = [_Statement(id=name) for name in made.statements]
    paid: Sequence[Record] = [made.dropped] if made.dropped else statements
    for _ in by_dialogue.outgoing(paid, lambda _: made.dialogue.id):
        pass
    for _ in by_statement.incoming(statements):
        pass
    for _ in by_statement.outgoing(made.records, _ID):
        pass


class _Statement(Record, frozen=True, kw_only=True):
    id: str


def check(done: Extracted, folder: Path, job: Job) -> None:
    """Raise `TooManyFailed` where the model failed on more dialogues than are allowed."""
    owed = done.books.counts["dialogues"]
    if done.failed > job.allow_errors * owed:
        raise TooManyFailed(
            f"{folder}: {done.failed} of {owed} dialogues could not be asked about, more than the "
            f"share {job.allow_errors:g} that is allowed; drops.jsonl says why; the same command "
            "asks for these alone"
        )


def line(done: Extracted, folder: Path) -> str:
    """What a person reads when `facts` ends."""
    books = done.books
    counts = ", ".join(f"{n} {name}" for name, n in books.counts.items() if name != "rows")
    lost = ", ".join(
        f"{why.removeprefix(f'{STAGE}: ')} {n}"
        for why, n in books.drops.items() if why.startswith(f"{STAGE}: ")
    )  # fmt: skip
    kinds = ", ".join(f"{name} {n}" for name, n in done.knowledge.items())
    kept = f"; {done.cached} replies from the cache" if done.cached else ""
    return f"{counts} ({kinds or 'none'}); dropped: {lost or 'none'}{kept}. In {folder}"


def _extractor(job: Job, folder: Path) -> tuple[Extractor, list[Cached]]:
    """The extractor, and the models that it asks."""
    if job.model == RULES:
        if job.options or job.cache or job.name:
            raise Usage(f"--model {RULES}: expected no --model-args, --name or --cache")
        return Rules(), []
    if job.model not in names(models):
        has = ", ".join((RULES, *names(models)))
        raise Usage(f"facts has no model {job.model!r}; it has: {has}")
    filed = job.name or job.model
    asked = [
        open_shaped(
            job.model, job.options, Shape(schema, READ[which]), job.cache or folder / "replies",
            filed,
        )
        for which, schema in SCHEMAS.items()
    ]  # fmt: skip
    category, knowledge = asked
    return ByModel(filed, category, knowledge), asked


def _agree(folder: Path, books: Books, found: int) -> None:
    if books.counts["dialogues"] != found:
        raise Refused(
            f"{folder / 'dialogues.jsonl'}: expected the {books.counts['dialogues']} dialogues "
            f"that {store.MANIFEST} counts, got {found}; run `fieldtruth ingest` again"
        )


def _earlier(folder: Path, drop: Any) -> Counter[str]:
    """The drops of the stages before, kept as they are, and their counts."""
    counts: Counter[str] = Counter()
    path = folder / "drops.jsonl"
    for each in store.read(path, Drop) if path.exists() else ():
        if each.stage != STAGE:
            drop([each])
            counts[f"{each.stage}: {each.reason}"] += 1
    return counts


def _before(books: Books) -> Books:
    """The books as they were when there were no facts."""
    return replace(
        books,
        counts={k: n for k, n in books.counts.items() if k not in ("statements", "facts")},
        drops={why: n for why, n in books.drops.items() if not why.startswith(f"{STAGE}: ")},
    )


def _after(books: Books, count: Mapping[str, int], drops: Mapping[str, int]) -> Books:
    return replace(
        books, counts=_before(books).counts | dict(count), drops=dict(sorted(drops.items()))
    )


def _close(folder: Path, books: Books) -> Books:
    with store.replacing(folder / store.MANIFEST) as file:
        file.write(msgspec.json.format(msgspec.json.encode(books), indent=1) + b"\n")
    return books


def _sum(spent: Sequence[Spent]) -> Spent | None:
    """What all calls took together; None where none were made."""
    if not spent:
        return None
    costs = [each.cost for each in spent if each.cost is not None]
    return Spent(
        calls=sum(each.calls for each in spent), retries=sum(each.retries for each in spent),
        input_tokens=sum(each.input_tokens for each in spent),
        output_tokens=sum(each.output_tokens for each in spent),
        reasoning_tokens=sum(each.reasoning_tokens for each in spent),
        cost=sum(costs) if costs else None,
        notes=tuple(_notes(spent)),
    )  # fmt: skip


def _notes(spent: Sequence[Spent]) -> Iterator[str]:
    yield from dict.fromkeys(note for each in spent for note in each.notes)
