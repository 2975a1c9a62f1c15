"""Questions asked with facts of a knowledge base before them: retrieval, an arm of its own.

The base must have been made without what the benchmark holds (`knowledge --not BENCH`), or a fact
would be the answer to its own question. What was shown with each question lies beside the replies.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np

from fieldtruth import store
from fieldtruth.faults import Refused, Usage
from fieldtruth.models.contract import Request
from fieldtruth.records import Fact, Question, Record
from fieldtruth.retrieval import Embedder, Index, Vectors
from fieldtruth.run.asks import Asks, Ready
from fieldtruth.run.knowing import FACTS

_INTRO = (
    "Facts that experts stated about other cases, as a search found them. They may or may not bear "
    "on the question."
)


class Lookup(Record, frozen=True, kw_only=True):
    """`knowledge`: a folder that `knowledge` made; `k` facts a question; `embedder`: the folder of
    another encoder than the packaged one."""

    knowledge: Path
    k: int
    embedder: str | None = None


class Found(Record, frozen=True, kw_only=True):
    """The facts that were shown with one question, the nearest first, and their cosines."""

    item: str
    facts: tuple[str, ...]
    cosines: tuple[float, ...]


def arm(lookup: Lookup) -> str:
    """What follows NAME@ where replies are filed (design, section 3)."""
    return f"retrieve{lookup.k}"


def retrieved_beside(out: Path) -> Path:
    """Where it is told what was shown."""
    return out.with_name(f"{out.stem}.retrieved.jsonl")


def with_facts(about: Asks, bench: store.Bench, lookup: Lookup) -> Asks:
    """The same questions, each with its `k` nearest facts before the prompt.

    Raises `Usage` where there is no knowledge base or nothing to look up for, `Refused` where the
    base may know the benchmark.
    """
    questions = {each.id: each for each in bench.questions}
    if not set(about.ids) <= questions.keys():
        raise Usage("--retrieve: expected a protocol of questions, got one of items")
    if lookup.k < 1:
        raise Usage(f"--retrieve: expected at least 1 fact a question, got {lookup.k}")
    facts = _facts(lookup.knowledge, bench)
    embedder = Embedder(lookup.embedder)
    index = Index(_vectors(facts, embedder, lookup.knowledge))
    nearest = index.nearest(embedder.vectors([_query(questions[i]) for i in about.ids]), lookup.k)
    found = {
        name: Found(
            item=name,
            facts=tuple(facts[row].id for row, _ in pairs),
            cosines=tuple(round(cosine, 4) for _, cosine in pairs),
        )
        for name, pairs in zip(about.ids, nearest, strict=True)
    }
    told = {fact.id: _told(fact) for fact in facts}
    digest = store.sha256(lookup.knowledge / FACTS)[:16]

    @contextmanager
    def ready(ids: Sequence[str], out: Path) -> Iterator[Ready]:
        store.write(retrieved_beside(out), (found[name] for name in about.ids))
        with about.ready(ids, out) as plain:
            yield Ready(
                [_asked(each, found[each.id], told) for each in plain.requests], plain.broken
            )

    seal = {"retrieved": f"{lookup.k} of {digest} by {embedder.version}"}
    return replace(about, seal={**about.seal, **seal}, ready=ready)


def _facts(folder: Path, bench: store.Bench) -> list[Fact]:
    path, manifest = folder / FACTS, folder / store.MANIFEST
    if not (path.is_file() and manifest.is_file()):
        raise Usage(f"{folder}: expected a knowledge base, got none; see `fieldtruth knowledge`")
    try:
        made = msgspec.json.decode(manifest.read_bytes(), type=_Made)
    except msgspec.DecodeError as error:
        raise Usage(f"{manifest}: expected a knowledge base's manifest, got: {error}") from None
    if bench.manifest.digest not in made.inputs.values():
        raise Refused(
            f"{folder}: expected a knowledge base made without {bench.manifest.name}, got one that "
            f"may hold its answers; make it again with --not {bench.folder}"
        )
    if store.sha256(path) != made.files.get(FACTS):
        raise Refused(f"{path}: expected the file as it was made, got another; make it again")
    facts = list(store.read_unique(path, Fact))
    if not facts:
        raise Usage(f"{path}: expected facts, got none")
    return facts


class _Made(msgspec.Struct):
    files: dict[str, str]
    inputs: dict[str, str]


def _vectors(facts: Sequence[Fact], embedder: Embedder, folder: Path) -> Vectors:
    """The facts' vectors, kept beside them, since a large base takes minutes."""
    kept = folder / f"vectors-{embedder.version}.npy"
    if kept.is_file():
        try:
            found: Vectors = np.load(kept, allow_pickle=False)
        except (ValueError, EOFError, OSError):
            found = np.empty((0, 0), np.float32)
        if found.dtype == np.float32 and found.ndim == 2 and len(found) == len(facts):
            return found
    made = embedder.vectors([_told(fact) for fact in facts])
    if os.access(folder, os.W_OK):
        with store.replacing(kept) as file:
            np.save(file, made)
    return made


def _told(fact: Fact) -> str:
    """A fact as a model reads it."""
    about = fact.species or fact.crop
    return f"{about}: {fact.statement}" if about else fact.statement


def _query(question: Question) -> str:
    """What is searched for: what the model is asked, without the form of the answer."""
    parts = (question.background, question.question, *(question.options or ()))
    return "\n".join(part for part in parts if part)


def _asked(request: Request, found: Found, told: dict[str, str]) -> Request:
    listed = "\n".join(f"- {told[name]}" for name in found.facts)
    return msgspec.structs.replace(request, prompt=f"{_INTRO}\n{listed}\n\n{request.prompt}")
