"""Facts of a folder to a folder of questions, with the knowledge base that is disjoint from them.

questions.jsonl    both forms; of further numbers of options questions-5.jsonl, questions-6.jsonl
evaluation.jsonl   facts of the conversations that are asked about, or share a photo with one
knowledge.jsonl    all other facts
drops.jsonl        what could have been asked, and why it was not
manifest.json      the books, the funnel, and what it was made from
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from operator import attrgetter
from os.path import normpath
from pathlib import Path

import msgspec

from fieldtruth import __version__, models, store
from fieldtruth.faults import BadRecord, Refused, TooManyFailed, Usage
from fieldtruth.models.contract import Metered, Model, Spent, as_known
from fieldtruth.privacy import Looked
from fieldtruth.records import SCHEMA, Dialogue, Drop, Fact, Question, Record
from fieldtruth.rooms import open_room
from fieldtruth.run import migrations, scrubbing
from fieldtruth.run.cached import Cached
from fieldtruth.run.ledger import Ledger
from fieldtruth.run.progress import SILENT, Track
from fieldtruth.run.workspace import seen_from
from fieldtruth.stages import questions as asking
from fieldtruth.stages.questions import invented
from fieldtruth.stages.questions.settings import MODEL_FAILED, OF_PHOTOS, OF_WORDS, PERSONAL

EVALUATION, KNOWLEDGE = "evaluation.jsonl", "knowledge.jsonl"
Tell = Callable[[str], None]


class Writer(Record, frozen=True, kw_only=True):
    """Who writes wrong answers: a backend with its options; `rules` are ours alone.

    `images`: where the photos lie, if not where the dialogues' manifest says; `because`: why names
    of people need not have been looked for in the dialogues.
    """

    model: str = "rules"
    options: Mapping[str, str] = {}
    cache: Path | None = None
    images: Path | None = None
    because: str | None = None


class Made(Record, frozen=True, kw_only=True):
    """`manifest.json`: what was made of what. `funnel` counts from dialogues to questions."""

    schema: int = SCHEMA
    source: str
    root: str  # of the photos, as seen from this folder
    funnel: dict[str, int]
    asked: dict[str, int]  # questions, each in both forms, by type
    categories: dict[str, int]
    drops: dict[str, int]
    evaluation: int  # facts
    knowledge: int
    joined: int  # conversations that share a photo with another
    extractors: tuple[str, ...]
    wrong_answers: str
    options: tuple[int, ...]
    want: int | None
    per_group: int
    seed: int
    inputs: dict[str, str]
    code: str = __version__
    spent: Spent | None = None
    personal: Looked | None = None  # who looked for personal data in the dialogues
    because: str | None = None  # why names need not have been looked for


class _Books(msgspec.Struct):
    """What is needed of the manifest of a folder of dialogues."""

    source: str
    root: str


class Folder(Record, frozen=True, kw_only=True):
    """A folder that `facts` left: its dialogues and facts, and where the photos lie."""

    source: str
    root: Path
    dialogues: tuple[Dialogue, ...]
    facts: tuple[Fact, ...]


def open_folder(folder: Path, root: Path | None = None) -> Folder:
    """The dialogues and facts of a folder. `root` stands in place of what the manifest says.

    Raises `Usage` for what is not there, `BadRecord` for a fact of no dialogue of it or whose
    words are not in the turn that it names.
    """
    for name, maker in (("dialogues", "ingest"), ("facts", "facts"), ("manifest", "ingest")):
        path = folder / (f"{name}.jsonl" if name != "manifest" else store.MANIFEST)
        if not path.is_file():
            raise Usage(f"{folder}: expected {path.name}, got none; run `fieldtruth {maker}` first")
    try:
        books = msgspec.json.decode((folder / store.MANIFEST).read_bytes(), type=_Books)
    except (ValueError, RecursionError) as error:
        raise BadRecord(f"{folder / store.MANIFEST}: expected a manifest, got: {error}") from None
    dialogues = tuple(store.read_unique(folder / "dialogues.jsonl", Dialogue))
    facts = tuple(store.read_unique(folder / "facts.jsonl", Fact))
    known = {each.id: each for each in dialogues}
    for number, fact in enumerate(facts, start=1):
        _hold(folder / "facts.jsonl", number, fact, known.get(fact.dialogue))
    at = Path(normpath(folder.resolve() / books.root)) if root is None else root
    if root is not None and not root.is_dir():
        raise Usage(f"--images: expected the folder of the photos, got none at {root}")
    return Folder(source=books.source, root=at, dialogues=dialogues, facts=facts)


def _hold(path: Path, number: int, fact: Fact, dialogue: Dialogue | None) -> None:
    where = f"{path}:{number} (id {fact.id!r})"
    if dialogue is None:
        raise BadRecord(f"{where}: expected a dialogue beside it, got {fact.dialogue!r}; "
                        "run `fieldtruth facts` again")  # fmt: skip
    if fact.group != dialogue.group:
        raise BadRecord(f"{where}: expected the dialogue's group {dialogue.group!r}, got "
                        f"{fact.group!r}; run `fieldtruth facts` again")  # fmt: skip


def questions(
    folder: Path,
    out: Path,
    settings: asking.Settings,
    writer: Writer,
    track: Track = SILENT,
    tell: Tell = lambda _: None,
) -> Made:
    """Write the questions of a folder as `out`, new or empty, whole or not at all."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Usage(f"{out}: expected no such folder or an empty one, got files; name another")
    there = open_folder(folder, writer.images)
    looked = scrubbing.gate(folder, writer.because)
    at = there.root if there.root.is_dir() else None
    plan = asking.plan(there.dialogues, there.facts, at, settings, track)
    model = _open(writer)
    wrong = _invented(plan, settings, model, tell)
    asked = asking.ask(plan, there.facts, wrong, settings)
    _balance(there, plan, asked)
    made = _made(there, out, (plan, asked), settings, writer)
    made = msgspec.structs.replace(
        made,
        inputs={
            name: store.sha256(folder / name)
            for name in ("dialogues.jsonl", "facts.jsonl", store.MANIFEST)
        },
        spent=_spent(model),
        personal=looked,
        because=writer.because,
    )
    with store.drafting(out) as part:
        for count, some in asked.questions.items():
            store.write(part / file_of(count, settings), some)
        store.write(part / EVALUATION, asked.evaluation)
        store.write(part / KNOWLEDGE, asked.knowledge)
        store.write(part / "drops.jsonl", _drops(plan, asked))
        with store.replacing(part / store.MANIFEST) as file:
            file.write(msgspec.json.format(msgspec.json.encode(made), indent=1) + b"\n")
        store.publish(part, out)
    return made


def file_of(count: int, settings: asking.Settings) -> str:
    """The file of the choices of so many options: the first number asked for has the plain name."""
    return store.QUESTIONS if count == settings.options[0] else f"questions-{count}.jsonl"


def numbers(text: str) -> tuple[int, ...]:
    """`4,5,6` as numbers; `Usage` for what is none."""
    try:
        return tuple(int(each) for each in text.split(","))
    except ValueError:
        raise Usage(f"--options: expected numbers such as 4 or 4,5,6, got {text!r}") from None


def _drops(plan: asking.Plan, asked: asking.Asked) -> list[Drop]:
    return sorted((*plan.drops, *asked.drops, *asked.personal), key=attrgetter("id"))


def _open(writer: Writer) -> Model | None:
    if writer.model == "rules":
        if writer.options or writer.cache is not None:
            raise Usage("--model: expected a model for --model-args and --cache, got none")
        return None
    options = dict(writer.options)
    if writer.model == "openai":
        options.setdefault("schema", str(invented.SCHEMA))
    model: Model = open_room(models, writer.model).OPEN(options)
    return Cached(writer.model, model, store.Cache(writer.cache)) if writer.cache else model


def _spent(model: Model | None) -> Spent | None:
    if model is None or not isinstance(model, Metered):
        return None
    return model.spent


def _invented(
    plan: asking.Plan, settings: asking.Settings, model: Model | None, tell: Tell
) -> dict[str, Sequence[str] | None]:
    """What the model writes for each question; nothing where nobody is asked."""
    if model is None:
        return {}
    requests = [invented.request(each, settings.wrong) for each in plan.chosen]
    if isinstance(model, Metered) and (cost := model.estimate(requests)):
        tell(cost)
    found: dict[str, Sequence[str] | None] = {}
    with closing(as_known(model, requests)) as replies:
        for place, words in replies:
            found[plan.chosen[place].draft.id] = invented.read(words)
    return found


def _balance(there: Folder, plan: asking.Plan, asked: asking.Asked) -> None:
    """Every draft became questions or one drop; every fact is in one of the two halves."""
    drafts = Ledger("questions", asking.REASONS)
    for _ in drafts.incoming(plan.drafts):
        pass
    first = next(iter(asked.questions.values()))
    for _ in drafts.outgoing((*first, *plan.drops, *asked.drops), _draft_of):
        pass
    drafts.close()
    facts = Ledger("questions: facts", (PERSONAL,))
    for _ in facts.incoming(there.facts):
        pass
    halves: list[Record] = [*asked.evaluation, *asked.knowledge, *asked.personal]
    for _ in facts.outgoing(halves, _fact_of):
        pass
    facts.close()
    groups = {question.group for question in first}
    shared = [f for f in asked.knowledge if plan.seen.group[f.group] in groups]
    if shared:
        raise Refused(f"knowledge and evaluation share {shared[0].group!r}: a bug of `questions`")


def _fact_of(record: Record) -> str:
    if isinstance(record, Drop):
        return record.parent or ""
    assert isinstance(record, Fact)
    return record.id


def _draft_of(record: Record) -> str:
    if isinstance(record, Drop):
        return record.parent or ""
    assert isinstance(record, Question)
    return record.id.rpartition(":")[0]


def _made(
    there: Folder,
    out: Path,
    done: tuple[asking.Plan, asking.Asked],
    settings: asking.Settings,
    writer: Writer,
) -> Made:
    plan, asked = done
    first = next(iter(asked.questions.values()))
    choices = [each for each in first if each.form == "mcq"]
    drops = Counter(each.reason for each in _drops(plan, asked))
    return Made(
        source=there.source,
        root=seen_from(out, there.root),
        funnel=_funnel(there, plan, drops, len(choices)),
        asked=dict(sorted(Counter(each.qtype or "" for each in choices).items())),
        categories=dict(sorted(Counter(each.domain or "" for each in choices).items())),
        drops=dict(sorted(drops.items())),
        evaluation=len(asked.evaluation),
        knowledge=len(asked.knowledge),
        joined=plan.seen.joined,
        extractors=tuple(sorted({fact.extractor for fact in there.facts})),
        wrong_answers=writer.model,
        options=settings.options,
        want=settings.want,
        per_group=settings.per_group,
        seed=settings.seed,
        inputs={},
    )


def _funnel(
    there: Folder, plan: asking.Plan, drops: Mapping[str, int], asked: int
) -> dict[str, int]:
    without = {each.id for each in there.dialogues if plan.seen.why_not.get(each.id, ("",))[0]}
    told = {fact.dialogue for fact in there.facts}
    content = sum(drops.get(each, 0) for each in OF_WORDS)
    lost = sum(drops.get(each, 0) for each in OF_PHOTOS)
    return {
        "dialogues": len(there.dialogues),
        "with facts": len(told),
        "with facts and photos": len(told - without),
        "facts": len(there.facts),
        "could be asked about": len(plan.drafts),
        "of these with a clear answer": len(plan.drafts) - content,
        "and with photos": len(plan.drafts) - content - lost,
        "chosen": len(plan.chosen),
        "questions": asked,
    }


def check(made: Made, allow_errors: float) -> None:
    """Raise `TooManyFailed` where more calls failed than are allowed; the rest is written."""
    failed, asked = made.drops.get(MODEL_FAILED, 0), made.funnel["chosen"]
    if failed > allow_errors * asked:
        raise TooManyFailed(
            f"{failed} of {asked} calls failed; run it again into another folder with the same "
            "--cache: only those are asked again"
        )


def line(made: Made, out: Path) -> str:
    """The funnel and one closing line, for people."""
    width = max(map(len, made.funnel))
    rows = [f"  {what.ljust(width)}  {count:>7,}" for what, count in made.funnel.items()]
    types = ", ".join(f"{name} {count}" for name, count in made.asked.items()) or "none"
    lost = ", ".join(f"{why} {count}" for why, count in made.drops.items()) or "none"
    end = (
        f"{made.funnel['questions']} questions, each as a choice and open ({types}); not asked: "
        f"{lost}; {made.evaluation} facts held out, {made.knowledge} of knowledge. In {out}"
    )
    return "\n".join([*rows, end])


def read_made(folder: Path) -> Made:
    """The manifest of a folder of questions; `Usage` where it is none."""
    path = folder / store.MANIFEST
    if not path.is_file():
        raise Usage(f"{folder}: expected what `questions` made, got no {store.MANIFEST} there")
    try:
        return msgspec.convert(migrations.document(path.read_bytes(), path, "questions"), Made)
    except msgspec.ValidationError as error:
        raise BadRecord(f"{path}: expected what `questions` writes, got: {error}") from None
