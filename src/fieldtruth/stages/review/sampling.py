"""Machine-made boxes for people to judge: a stratified sample of the training split.

    tasks.json, config.xml, project.json, images/, sheet.html   as `review export`
    sample.jsonl    which task is which annotation, with its scores and its stratum's size
    drops.jsonl     annotations that were drawn and whose photo could not be sent

A stratum is a source and a level. The largest strata share the sample equally, and what one has
too few for goes to the others. Each photo stands once in a stratum. What is drawn depends on the
annotations' ids alone, never on the order of a file (AgroGround's appendix on the audit;
agroground.md, section 14).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

from fieldtruth import images, store
from fieldtruth.draws import key
from fieldtruth.faults import Unreadable, Usage
from fieldtruth.formats.label_studio import writing as studio
from fieldtruth.records import Annotation, Box, Drop, Kind, Record, Target
from fieldtruth.stages.review.sending import project, sheet
from fieldtruth.stages.review.sent import DROPS, PHOTOS, apart, new_folder, task_id
from fieldtruth.stages.review.sheet import Asked, asked
from fieldtruth.taxonomy import cues
from fieldtruth.taxonomy.cues import Cue

SAMPLE = "sample.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How much to draw. `strata`: at most so many, the largest; `annotators` people a photo."""

    number: int = 100
    strata: int = 8
    annotators: int = 1
    url: str = f"{studio.LOCAL}{PHOTOS}/"
    cues: Path | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("number", "strata", "annotators"):
            if getattr(self, name) < 1:
                raise Usage(f"{name}: expected at least 1, got {getattr(self, name)}")


@dataclass(frozen=True, slots=True)
class Boxed:
    """One annotation of the split, with its target, its source, and where its photos lie."""

    annotation: Annotation
    target: Target
    source: str
    root: Path

    @property
    def stratum(self) -> str:
        """Source and level."""
        return f"{self.source}/{self.annotation.level}"


class Sampled(Record, frozen=True, kw_only=True):
    """One task of an audit. `stratum_size` photos of the split are in its stratum."""

    id: str
    annotation: str
    source: str
    stratum: str
    stratum_size: int
    label: str
    kind: Kind
    crop: str | None
    image: str
    width: int
    height: int
    boxes: tuple[Box, ...]
    scores: tuple[float, ...]
    rule: str
    photo: str
    annotators: int = 1


class Drawn(Record, frozen=True, kw_only=True):
    """What was drawn, by stratum; `drawn == tasks + sum(drops)`."""

    photos: int  # of all strata
    drawn: int
    tasks: int
    strata: dict[str, int]
    drops: dict[str, int]


def sample(boxed: Iterable[Boxed], out: Path, settings: Settings) -> Drawn:
    """Draw, and write what Label Studio takes to the new folder `out`."""
    strata = _strata(boxed, settings)
    size = {name: len(rows) for name, rows in strata.items()}
    chosen = [
        each
        for name, count in shares(size, settings.number, settings.strata).items()
        for each in strata[name][:count]
    ]
    if not chosen:
        raise Usage("review sample: expected annotations in that split, got none")
    with new_folder(out) as part:
        made = [_sampled(each, size[each.stratum], part / PHOTOS, settings) for each in chosen]
        tasks = sorted((each for each in made if isinstance(each, Sampled)), key=attrgetter("id"))
        drops = [each for each in made if isinstance(each, Drop)]
        apart(each.id for each in tasks)
        _write(part, tasks, settings)
        store.write(part / DROPS, drops)
    return Drawn(
        photos=sum(size.values()), drawn=len(chosen), tasks=len(tasks),
        strata=dict(sorted(Counter(each.stratum for each in tasks).items())),
        drops=dict(sorted(Counter(each.reason for each in drops).items())),
    )  # fmt: skip


def line(made: Drawn, out: Path) -> str:
    """What was drawn, in one line for people."""
    of = ", ".join(f"{name} {count}" for name, count in made.strata.items())
    lost = ", ".join(f"{reason} {count}" for reason, count in made.drops.items())
    return f"{made.tasks} of {made.photos} photos ({of}); left out: {lost or 'none'}. In {out}"


def shares(size: Mapping[str, int], number: int, strata: int) -> dict[str, int]:
    """How many of each of the largest strata: equal shares, the odd ones to the larger.

    >>> shares({"a": 90, "b": 50, "c": 2, "d": 1}, 11, 3)
    {'a': 5, 'b': 4, 'c': 2}
    """
    largest = sorted(size, key=lambda name: (-size[name], name))[:strata]
    taken: dict[str, int] = {}
    left = number
    for at, name in enumerate(reversed(largest)):  # the smallest first: the others share the rest
        taken[name] = min(size[name], left // (len(largest) - at))
        left -= taken[name]
    return {name: taken[name] for name in largest}


def _strata(boxed: Iterable[Boxed], settings: Settings) -> dict[str, list[Boxed]]:
    """The photos of each stratum in the order they are drawn in, each by one annotation."""
    drawn: dict[str, dict[tuple[Path, str], tuple[tuple[int, str], Boxed]]] = {}
    for each in boxed:
        photos = drawn.setdefault(each.stratum, {})
        photo, name = (each.root, each.annotation.image), each.annotation.id
        mine = (key(settings.seed, "review sample", name), name)
        if photo not in photos or mine < photos[photo][0]:
            photos[photo] = (mine, each)
    return {
        stratum: [each for _, each in sorted(photos.values(), key=lambda pair: pair[0])]
        for stratum, photos in drawn.items()
    }


def _sampled(each: Boxed, size: int, photos: Path, settings: Settings) -> Sampled | Drop:
    mark, target = each.annotation, each.target
    path = store.inside(each.root, mark.image, f"annotation {mark.id!r}")
    try:
        seen = images.facts(path)
        if (seen.width, seen.height) != (mark.width, mark.height):
            got = f"expected {mark.width}x{mark.height}, got {seen.width}x{seen.height}"
            return _drop(each, "photo_differs", got)
        photo = studio.place_photo(path, photos, seen.sha256)
    except Unreadable as fault:
        return _drop(each, "photo_unreadable", str(fault))
    return Sampled(
        id=task_id(settings.seed, mark.id), annotation=mark.id, source=each.source,
        stratum=each.stratum, stratum_size=size, label=target.label, kind=target.kind,
        crop=target.crop, image=mark.image, width=mark.width, height=mark.height,
        boxes=mark.boxes, scores=mark.scores, rule=mark.rule, photo=photo,
        annotators=settings.annotators,
    )  # fmt: skip


def _drop(each: Boxed, reason: str, detail: str) -> Drop:
    mark = each.annotation
    return Drop(
        id=f"{mark.id}:review", sample=each.target.sample, parent=mark.id, stage="review sample",
        reason=reason, detail=detail,
    )  # fmt: skip


def _write(folder: Path, tasks: Sequence[Sampled], settings: Settings) -> None:
    words = cues.read(settings.cues) if settings.cues else {}
    questions = [_question(each, words) for each in tasks]
    made = [_task(each, of, settings) for each, of in zip(tasks, questions, strict=True)]
    project(folder, "audit of boxes", studio.audit_config(), made, settings.annotators)
    sheet(folder, questions)
    store.write(folder / SAMPLE, tasks)


def _question(each: Sampled, words: Mapping[str, Cue]) -> Asked:
    return asked(each.label, each.kind, each.crop, words)


def _task(each: Sampled, question: Asked, settings: Settings) -> dict[str, Any]:
    level = each.stratum.rpartition("/")[2]
    wanted = "each lesion" if level == "lesion" else "each affected leaf, plant or animal"
    data = {
        "task": each.id, "image": settings.url + each.photo, "cue": question.cue,
        "ask": f"{question.ask}: {wanted}",
    }  # fmt: skip
    result = studio.regions(each.boxes, each.width, each.height, studio.TARGET)
    return {"data": data, "predictions": [studio.prediction(result, "machine")]}
