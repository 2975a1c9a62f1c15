"""Ask a model about all of a benchmark, so that a kill loses nothing and repeats nothing.

Replies are appended to a journal beside the output as they come and put in the benchmark's
order at the end. A rerun of the same command asks only for what is missing or failed. Replies of
another model version, protocol or benchmark are never mixed in: their fingerprint differs.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec

from fieldtruth import store
from fieldtruth.faults import BadRecord, TooManyFailed, Usage
from fieldtruth.models.contract import Metered, Model, Noted, Spent
from fieldtruth.records import SCHEMA, Prediction, Record
from fieldtruth.run import migrations
from fieldtruth.run.asks import Asks, How, Ready, asks, known
from fieldtruth.run.cached import Cached
from fieldtruth.run.progress import SILENT, Track
from fieldtruth.run.retrieving import Lookup, arm, with_facts
from fieldtruth.run.spread import Engine, open_model
from fieldtruth.stages.predict import CONTEXTS, replied


class Job(Record, frozen=True, kw_only=True):
    """What to ask whom: a benchmark folder, a backend with its options, a protocol.

    `protocol` is NAME or NAME+CONTROL; what a control draws is keyed by `seed`.
    """

    benchmark: Path
    model: str
    protocol: str
    options: Mapping[str, str] = {}  # of the backend
    name: str | None = None  # what the replies are filed under; the backend's if not given
    limit: int | None = None  # ask only about the first so many items
    cache: Path | None = None  # a folder of replies that any number of runs share
    seed: int = 0
    engine: Engine = "local"
    workers: int | None = None  # of the engine; as many as it has cores if not given
    lookup: Lookup | None = None  # facts that are shown before each question
    max_photos: int | None = None  # of one question, the first ones; all if not given
    context: str | None = None  # what is told with a question: one of `predict.CONTEXTS`
    run: int | None = None  # the number of a repeated run


class Asked(Record, frozen=True, kw_only=True):
    """What a run of `predict` did."""

    items: int
    asked: int
    kept: int  # of an earlier run
    failed: int
    unsuited: int  # items the protocol, or its control, cannot ask
    cached: int = 0  # answered from the cache
    limited: int = 0  # items that a limit left out
    capped: int = 0  # questions that have more photos than were sent
    why: str | None = None  # the error that most of the failed calls ended with
    spent: Spent | None = None
    note: str | None = None


def predict(
    job: Job, out: Path, track: Track = SILENT, tell: Callable[[str], None] | None = None
) -> Asked:
    """Ask about every suited item that `out` or its journal has no good reply for.

    `tell` gets what the backend has to say, and the estimate of the cost, before the first call.
    """
    bench = store.open_bench(job.benchmark)
    for place in filter(None, (out, job.cache)):
        bench.outside(place)
    known(job.protocol)
    name = _filed_under(job)
    model = open_model(job.model, job.options, job.engine, job.workers)
    notes = model.notes if isinstance(model, Noted) else ()
    if job.cache is not None:
        model = Cached(name, model, store.Cache(job.cache))
    how = How(job.max_photos, job.context)
    about = asks(bench, job.protocol, model, job.seed, how)
    if job.lookup is not None:
        about = with_facts(about, bench, job.lookup)
    wanted_ids = about.ids[: job.limit]
    fingerprint = {
        "benchmark": bench.manifest.digest,
        "protocol": job.protocol,
        "model": f"{name}: {job.model} {model.version}",
        **about.seal,
    }
    wanted = {(each, job.protocol, name) for each in about.ids}
    earlier = list(_finished(out, fingerprint, wanted))
    with store.Journal(out, Prediction, fingerprint, key=attrgetter("item")) as journal:
        for prediction in earlier:
            if prediction.item not in journal:
                journal.append(prediction)
        todo = _todo(wanted_ids, journal)
        with about.ready(todo, out) as ready:
            if tell is not None:
                for told in (*notes, *_estimate(ready, model)):
                    tell(told)
            broken = _broken(ready, job.protocol, name, about)
            asked = replied(ready.requests, job.protocol, (name, model), about.space)
            with closing(asked) as replies:
                for prediction in track(chain(broken, replies), len(todo)):
                    journal.append(prediction)
        errors = Counter(reply.error for reply in journal.done() if reply.failed)
        _seal(out, fingerprint)
        journal.finish(each for each in about.ids if each in journal)
        note = journal.note
    cached = model.hits if isinstance(model, Cached) else 0
    return Asked(
        items=len(wanted_ids), asked=len(todo) - cached, kept=len(wanted_ids) - len(todo),
        failed=errors.total(), unsuited=about.unsuited, cached=cached,
        limited=len(about.ids) - len(wanted_ids), capped=about.capped,
        why=errors.most_common(1)[0][0] if errors else None,
        spent=model.spent if isinstance(model, Metered) else None, note=note,
    )  # fmt: skip


def _filed_under(job: Job) -> str:
    """The name with its arms (design, section 3); one that it has already is not put twice."""
    name, arms = job.name or job.model, list[str]()
    if job.context is not None:
        if job.context not in CONTEXTS:
            raise Usage(f"--context: expected one of {', '.join(CONTEXTS)}, got {job.context!r}")
        arms.append(CONTEXTS[job.context])
    if job.lookup is not None:
        arms.append(arm(job.lookup))
    if job.run is not None:
        arms.append(f"run{job.run}")
    own = name.split("@")[1:]
    return "@".join((name, *(each for each in arms if each not in own)))


def _estimate(ready: Ready, model: Model) -> Iterator[str]:
    """What asking will cost, where the backend can say."""
    said = model.estimate(ready.requests) if isinstance(model, Metered) else None
    if said:
        yield said


def _broken(ready: Ready, protocol: str, name: str, about: Asks) -> list[Prediction]:
    """An error for each item whose photo could not be changed: no model can be asked about it."""
    return [
        Prediction(
            item=item, protocol=protocol, model=name, text="", space=about.space, finish="error",
            error=why,
        )
        for item, why in ready.broken.items()
    ]  # fmt: skip


def _todo(ids: Sequence[str], journal: store.Journal[Prediction]) -> list[str]:
    """Those without a good reply: those never asked, then those whose call failed.

    So items that no server can answer do not stand before all others in every rerun.
    """
    good = {reply.item for reply in journal.done() if not reply.failed}
    todo = [each for each in ids if each not in good]
    return sorted(todo, key=lambda each: each in journal)


def check(done: Asked, allow_errors: float) -> None:
    """Raise `TooManyFailed` where more than this share of the calls failed; all is saved."""
    if done.failed > allow_errors * max(done.items, 1):
        raise TooManyFailed(
            f"{done.failed} of {done.items} calls failed; the same command asks only those again"
        )


def line(done: Asked, out: Path) -> str:
    """What a person reads when `predict` ends."""
    parts = [f"{done.items} replies", f"{done.asked} asked now", f"{done.kept} kept"]
    if done.cached:
        parts.append(f"{done.cached} from the cache")
    if done.failed:
        parts.append(f"{done.failed} FAILED (no answer; the same command asks them again)")
        parts += [f"most with: {done.why}"] if done.why else []
    if done.unsuited:
        parts.append(f"{done.unsuited} items not asked: this protocol does not suit them")
    if done.capped:
        parts.append(f"{done.capped} questions shown with fewer photos than they have")
    if done.limited:
        parts.append(f"{done.limited} items left out by --limit: not for numbers to report")
    if done.spent:
        parts += _spent(done.spent)
    if done.note:
        parts.append(done.note)
    return f"{', '.join(parts)}. In {out}"


def _spent(spent: Spent) -> list[str]:
    if not spent.calls:
        return []
    thought = f" ({spent.reasoning_tokens:,} of them thought)" if spent.reasoning_tokens else ""
    parts = [f"{spent.input_tokens:,} tokens in and {spent.output_tokens:,} out{thought}"]
    if spent.retries:
        parts.append(f"{spent.retries} retries")
    if spent.cost is not None:
        parts.append(f"cost {spent.cost:.4g}")
    return [*parts, *spent.notes]


def with_flags(options: Mapping[str, str], flags: Mapping[str, object]) -> Mapping[str, str]:
    """The backend's options with the flags that were given (not None); `Usage` for one twice."""
    given = {name: str(value) for name, value in flags.items() if value is not None}
    twice = sorted(given.keys() & options.keys())
    if twice:
        raise Usage(f"--{twice[0].replace('_', '-')}: it is in --model-args too; give it once")
    return {**options, **given}


def lookup(k: int | None, knowledge: Path | None, embedder: str | None) -> Lookup | None:
    """What the flags of retrieval ask for together; `Usage` where one of the two is missing."""
    if k is None and knowledge is None and embedder is None:
        return None
    if k is None or knowledge is None:
        raise Usage("--retrieve: expected K beside --knowledge DIR, got only one of the two")
    return Lookup(knowledge=knowledge, k=k, embedder=embedder)


def share(flag: str, value: float) -> float:
    """The value of a flag that is a share; `Usage` for one that is none."""
    if not 0 <= value <= 1:  # false for NaN as well
        raise Usage(f"{flag}: expected a share from 0 to 1, got {value}")
    return value


def parse_options(text: str, flag: str = "--model-args") -> Mapping[str, str]:
    """`key=value,key=value` as a mapping; `Usage` for a piece that is not of that form."""
    options: dict[str, str] = {}
    for piece in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = piece.partition("=")
        if not equals or not key.strip():
            raise Usage(f"{flag}: expected key=value,key=value, got {piece!r}")
        if key.strip() in options:
            raise Usage(f"{flag}: {key.strip()!r} is given twice")
        options[key.strip()] = value.strip()
    return options


def replies(path: Path) -> Iterator[Prediction]:
    """The replies in a file; `Refused` where a newer version wrote it, as the file beside says."""
    _made_with(_sealed(path))
    return store.read(path, Prediction)


def made_with(path: Path) -> dict[str, Any]:
    """What `predict` says about the replies it left there; nothing where it did not make them."""
    return _made_with(_sealed(path))


def _sealed(out: Path) -> Path:
    return out.with_name(f"{out.stem}.manifest.json")


def _seal(out: Path, fingerprint: Mapping[str, str]) -> None:
    with store.replacing(_sealed(out)) as file:
        whole = msgspec.json.encode({"schema": SCHEMA, **fingerprint})
        file.write(msgspec.json.format(whole, indent=1) + b"\n")


def _finished(
    out: Path, fingerprint: Mapping[str, str], wanted: Collection[tuple[str, str, str]]
) -> Iterator[Prediction]:
    """The replies of an earlier finished run of the same job; `Usage` if they are of another.

    `wanted` are (item, protocol, model); a row beyond them would be lost at the end.
    """
    if not out.exists():
        return
    made = _made_with(_sealed(out))
    if made != fingerprint:
        names = [key for key in fingerprint if made.get(key) != fingerprint[key]]
        raise Usage(
            f"{out}: holds replies of another job ({', '.join(names)} differ); "
            "name another --out, or remove it"
        )
    for row in store.read(out, Prediction):
        if (row.item, row.protocol, row.model) not in wanted:
            raise Usage(
                f"{out}: holds a reply of {row.model} to {row.item} under {row.protocol}, which "
                "is not of this job; name another --out, or remove it"
            )
        yield row


def _made_with(seal: Path) -> dict[str, Any]:
    """What a finished run was made with; nothing where that is not there or cannot be read."""
    try:
        return migrations.document(seal.read_bytes(), seal, "predict")
    except (FileNotFoundError, BadRecord):
        return {}
