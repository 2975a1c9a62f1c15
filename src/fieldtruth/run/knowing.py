"""Make a knowledge base in a folder of its own, whole or not at all.

facts.jsonl    what may be looked up, one Fact a line
train.jsonl    conversations for a trainer, in TRL's chat form; photos in images/
drops.jsonl    facts that were left out, and why
manifest.json  counts, settings, hashes; photos that may not be handed on, by their hash
"""

from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from fieldtruth import __version__, draws, images, store
from fieldtruth.faults import Refused, Usage
from fieldtruth.formats.contract import write_lines
from fieldtruth.privacy import metadata
from fieldtruth.records import SCHEMA, Drop, Fact, Record
from fieldtruth.run import scrubbing
from fieldtruth.run.ledger import Ledger
from fieldtruth.run.progress import SILENT, Track
from fieldtruth.stages import knowledge as stage
from fieldtruth.store import Reference
from fieldtruth.store.licences import may_copy
from fieldtruth.store.photos import copy_as, place_of
from fieldtruth.store.references import write_references

FACTS, TRAIN, DROPS = "facts.jsonl", "train.jsonl", "drops.jsonl"
KNOWLEDGE = "knowledge.jsonl"  # what `questions` left for learning


class Job(Record, frozen=True, kw_only=True):
    """`facts`: a file of facts, or the folder that `questions` or `facts` made. `images`: where
    their photos lie, if the folder does not say. `benchmarks`: frozen benchmarks that the base may
    know nothing of. `general`: a file of conversations, whose photos lie below
    `general_images`."""

    facts: Path
    images: Path | None = None
    benchmarks: Sequence[Path] = ()
    general: Path | None = None
    general_images: Path | None = None


class Made(Record, frozen=True, kw_only=True):
    """What was made; `general_rows` of `general_seen` conversations of the general set."""

    facts: int
    conversations: int
    pairs: int
    general_rows: int
    general_seen: int
    photos: int
    absent: int  # photos kept only as references
    counts: Mapping[str, Mapping[str, int]]
    drops: Mapping[str, int]


class _Photo(NamedTuple):
    """A photo on disk, and what it is."""

    path: Path
    identity: str


def build(job: Job, settings: stage.Settings, out: Path, track: Track = SILENT) -> Made:
    """Write the knowledge base. Raises `Usage` for a place that is taken or a file that is not
    there, `BadRecord` for a line that is no fact, `Refused` for facts of dialogues that nobody
    scrubbed, and for a photo that changes meanwhile."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Usage(f"{out}: expected no such folder or an empty one, got files; name another")
    file, root = _where(job)
    facts = list(store.read_unique(file, Fact))
    known = _known(job.benchmarks)
    photos = _photos(facts, root, track)
    base = stage.build(facts, {k: v.identity for k, v in photos.items()}, known, settings)
    ledger = Ledger("knowledge", stage.REASONS)
    for _ in ledger.incoming(facts):
        pass
    made_of: tuple[Fact | Drop, ...] = (*base.kept, *base.drops)
    for _ in ledger.outgoing(made_of, _parent):
        pass
    ledger.close()
    others, seen = _general(job, len(base.talks), settings)
    with store.drafting(out) as part:
        handed = _Handed(part, _closed(base.talks, photos))
        rows = [_talk(talk, photos, handed) for talk in base.talks]
        rows += [_other(row, job, handed) for row in others]
        rows.sort(key=lambda row: (draws.key(settings.seed, "knowledge", row["id"]), row["id"]))
        write_lines(part / TRAIN, rows)
        store.write(part / FACTS, base.kept)
        store.write(part / DROPS, base.drops)
        made = Made(
            facts=len(base.kept), conversations=len(base.talks),
            pairs=sum(len(talk.pairs) for talk in base.talks), general_rows=len(others),
            general_seen=seen, photos=len(handed.copied), absent=len(handed.references),
            counts=stage.counts(base), drops=_reasons(base.drops),
        )  # fmt: skip
        write_references(part, handed.references, _about(job, file, settings, made, part))
        store.publish(part, out)
    return made


def _parent(record: Fact | Drop) -> str:
    return record.parent or "" if isinstance(record, Drop) else record.id


def line(made: Made, out: Path) -> str:
    """What a person reads when it ends."""
    lost = ", ".join(f"{reason} {count}" for reason, count in made.drops.items())
    beside = f" and {made.general_rows} of {made.general_seen} general rows"
    return (
        f"{made.facts} facts to look up; {made.pairs} questions with answers in "
        f"{made.conversations} conversations{beside if made.general_seen else ''}, "
        f"{made.photos} photos; left out: {lost or 'none'}. In {out}"
    )


def _where(job: Job) -> tuple[Path, Path | None]:
    """The file of facts, and the folder of the photos."""
    if not job.facts.is_dir():
        return job.facts, job.images
    found = [job.facts / name for name in (KNOWLEDGE, FACTS) if (job.facts / name).is_file()]
    if not found:
        raise Usage(
            f"{job.facts}: expected {KNOWLEDGE} or {FACTS}, got neither; make them with "
            "`fieldtruth facts` and `fieldtruth questions`"
        )
    raw = found[0].name == FACTS and (job.facts / "dialogues.jsonl").is_file()
    if raw and scrubbing.of_dialogues(job.facts).personal is None:
        raise Refused(
            f"{job.facts}: expected facts of dialogues in which personal data was looked for, got "
            f"them as they came; run `fieldtruth scrub {job.facts}`, then `facts` again"
        )
    return found[0], job.images or store.root_beside(job.facts)


def _known(benchmarks: Sequence[Path]) -> stage.Known:
    """What the benchmarks are made of; `Usage` for a file, whose photos nobody vouches for."""
    known = stage.Known()
    for path in benchmarks:
        if not path.is_dir():
            raise Usage(
                f"--not {path}: expected a frozen benchmark, which tells its photos by their "
                "hashes, got none there: freeze the questions first"
            )
        bench = store.open_bench(path)
        for question in bench.questions:
            known.groups.add(question.group)
            for image in question.images:
                known.photos.add(_hash_of(bench, image))
        for item in bench.items:
            known.photos.add(item.image_sha256)
    return known


def _hash_of(bench: store.Bench, image: str) -> str:
    reference = bench.manifest.references.get(image)
    return reference.sha256 if reference else bench.manifest.files[image]


def _photos(facts: Sequence[Fact], root: Path | None, track: Track) -> dict[str, _Photo]:
    """The photos that may go along, by the paths in the facts: those that are there, open, and tell
    nobody where or by whom they were taken."""
    names = list(dict.fromkeys(image for fact in facts for image in fact.images))
    if root is None or not names:
        return {}
    found = {}
    for name in track(names, len(names)):
        path = store.inside(root, name)
        seen = images.examine(path).facts
        if seen is not None and not metadata.tells(path):
            found[name] = _Photo(path, seen.sha256)
    return found


def _general(job: Job, talks: int, settings: stage.Settings) -> tuple[list[stage.General], int]:
    if job.general is None:
        if settings.rows or settings.share:
            raise Usage("--general: expected the general set that rows are taken of, got none")
        return [], 0
    want = stage.share_of(talks, settings)
    return stage.general.drawn(stage.general.read(job.general), want, settings.seed)


class _Handed:
    """Photos that go along, each once; one that a licence keeps back is only a reference."""

    def __init__(self, folder: Path, closed: Set[str]) -> None:
        """`closed`: the hashes of those that are kept back."""
        self._folder, self._closed = folder, closed
        self.copied: set[str] = set()
        self.references: dict[str, Reference] = {}
        (folder / "images").mkdir()

    def photo(self, path: Path, identity: str, name: str) -> str:
        """Where the photo lies below the folder."""
        place = place_of(identity, name)
        if identity in self._closed:
            self.references[place] = Reference(sha256=identity, original=name)
        elif place not in self.copied:
            copy_as(path, self._folder / place, identity)
            self.copied.add(place)
        return place


def _closed(talks: Sequence[stage.Talk], photos: Mapping[str, _Photo]) -> set[str]:
    """The photos that one of their licences keeps back."""
    kept = (talk.images for talk in talks if not may_copy(talk.licence))
    return {photos[name].identity for names in kept for name in names}


def _talk(talk: stage.Talk, photos: Mapping[str, _Photo], handed: _Handed) -> dict[str, Any]:
    shown = [handed.photo(photos[name].path, photos[name].identity, name) for name in talk.images]
    turns = [
        turn
        for pair in talk.pairs
        for turn in (("user", pair.question), ("assistant", pair.answer))
    ]
    facts = [fact for pair in talk.pairs for fact in pair.facts]
    return _row(talk.id, turns, shown) | {
        "facts": facts, "group": talk.group, "source": talk.source, "licence": talk.licence,
    }  # fmt: skip


def _other(row: stage.General, job: Job, handed: _Handed) -> dict[str, Any]:
    """A row of the general set; its photos are the reader's own, and go along."""
    shown = []
    for name in row.images:
        if job.general_images is None:
            raise Usage(
                f"{job.general} row {row.row}: expected --general-images, the folder that "
                f"{name!r} lies in, got none"
            )
        path = store.inside(job.general_images, name)
        if not path.is_file():
            raise Usage(
                f"{job.general} row {row.row}: expected a photo, got nothing at {path}; fetch the "
                "set's photos, or take its rows without them"
            )
        shown.append(handed.photo(path, store.sha256(path), name))
    extra = {
        "facts": [],
        "group": row.id,
        "source": "general",
        "licence": "as the general set says",
    }
    return _row(row.id, row.turns, shown) | extra


def _row(name: str, turns: Sequence[tuple[str, str]], shown: Sequence[str]) -> dict[str, Any]:
    """One line in TRL's chat form: the photos stand before the first words of the user."""
    messages = []
    left = len(shown)
    for role, words in turns:
        parts: list[dict[str, str]] = []
        if role == "user" and left:
            parts += [{"type": "image"} for _ in range(left)]
            left = 0
        messages.append({"role": role, "content": [*parts, {"type": "text", "text": words}]})
    return {"id": name, "messages": messages, "images": list(shown)}


def _about(
    job: Job, file: Path, settings: stage.Settings, made: Made, part: Path
) -> dict[str, Any]:
    inputs = {file.name: store.sha256(file)}
    if job.general is not None:
        inputs["general"] = store.sha256(job.general)
    for path in job.benchmarks:
        inputs[f"not {path.name}"] = store.open_bench(path).manifest.digest
    return {
        "schema": SCHEMA, "made": msgspec.to_builtins(made),
        "settings": msgspec.to_builtins(settings),
        "files": {name: store.sha256(part / name) for name in (FACTS, TRAIN, DROPS)},
        "inputs": inputs, "code": __version__,
    }  # fmt: skip


def _reasons(drops: Sequence[Drop]) -> dict[str, int]:
    found = dict.fromkeys(stage.REASONS, 0)
    for drop in drops:
        found[drop.reason] += 1
    return {reason: count for reason, count in found.items() if count}
