"""Targets to boxes through a model: what it is asked, and what its words are taken for.

Any backend will do. A detector gets a phrase for the label (`taxonomy.prompts`; AgroGround,
appendix B); one that reads sentences the known-target instruction; `colour` the name. All photos
of a sample are asked about; where the model boxes the target on several, the one it is surest of
is annotated (the first, where it says no scores). Words that cannot be read and calls that failed
are drops of their own kind, and never "no boxes": only the explicit empty answer is.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np

from fieldtruth import geometry, images
from fieldtruth.box_rules import Floats, Kept, Name, Seen, keep
from fieldtruth.detections import WHOLE
from fieldtruth.faults import Refused, Unreadable
from fieldtruth.models.contract import Model, Request, Words, as_known, in_order
from fieldtruth.protocols import known_target
from fieldtruth.records import Annotation, AskLevel, Box, Drop, Item, Sample, Space, Target
from fieldtruth.replies import read_boxes
from fieldtruth.store import inside
from fieldtruth.taxonomy.prompts import grounding_prompt

REASONS = (
    "photo_unreadable",
    "model_failed",  # asked again by the next run
    "unreadable_reply",
    "nothing_found",
    "no_box_left",
)
AT_A_TIME = 1024  # targets whose photos are asked about together


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """How targets are asked about.

    `prompts` holds a recipe's own detector prompts and `cues` how a symptom looks, by label id or
    `label@crop`; `by` is what an annotation says it was drawn by.
    """

    model: Model
    by: str
    rules: Name = "published"
    prompts: Mapping[str, str] = field(default_factory=dict)
    cues: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Report:
    """What became of the boxes, by source: `boxes` said, and what each rule removed."""

    boxes: Counter[str] = field(default_factory=Counter)  # by "SOURCE: said" or "SOURCE: RULE"
    targets: Counter[str] = field(default_factory=Counter)  # by "SOURCE: lesion", "object", "both"

    def add(self, source: str, said: int, kept: Kept) -> None:
        """Count one photo's boxes."""
        self.boxes[f"{source}: said"] += said
        for rule, count in kept.removed.items():
            self.boxes[f"{source}: {rule}"] += count
        for level, (boxes, _) in kept.levels.items():
            self.boxes[f"{source}: kept {level}"] += len(boxes)
        levels = " and ".join(sorted(kept.levels)) or "none"
        self.targets[f"{source}: {levels}"] += 1


@dataclass(frozen=True, slots=True)
class _Shot:
    """One photo of a target: its place in the sample, its path there, its size."""

    target: Target
    image: str
    path: Path
    size: tuple[int, int]


def detect(
    asking: Asking,
    targets: Iterable[Target],
    samples: Mapping[str, Sample],
    root: Path,
    report: Report,
) -> Iterator[Annotation | Drop]:
    """One or two annotations for every target (lesions, objects), or one drop."""
    waiting: list[Target] = []
    for target in targets:
        waiting.append(target)
        if len(waiting) == AT_A_TIME:
            yield from _together(asking, waiting, samples, root, report)
            waiting = []
    yield from _together(asking, waiting, samples, root, report)


def _together(
    asking: Asking,
    targets: Sequence[Target],
    samples: Mapping[str, Sample],
    root: Path,
    report: Report,
) -> Iterator[Annotation | Drop]:
    shots: dict[str, list[_Shot]] = {}
    sizes: dict[Path, tuple[int, int]] = {}
    troubles: dict[str, str] = {}
    for target in targets:
        shots[target.id] = []
        for image in samples[target.sample].images:
            try:
                path = inside(root, image)
                size = sizes[path] if path in sizes else images.size(path)
                shots[target.id].append(_Shot(target, image, path, sizes.setdefault(path, size)))
            except (Unreadable, Refused) as fault:
                troubles.setdefault(target.id, str(fault))
    asked = [shot for target in targets for shot in shots[target.id]]
    requests = [_request(asking, shot) for shot in asked]
    replies = in_order(as_known(asking.model, requests))
    said = {id(shot): words for shot, words in zip(asked, replies, strict=True)}
    for target in targets:
        if not shots[target.id]:
            yield _drop(target, "photo_unreadable", troubles.get(target.id, "no photo"))
            continue
        answers = [(shot, said[id(shot)]) for shot in shots[target.id]]
        yield from _annotated(asking, samples[target.sample].source, answers, report)


def _request(asking: Asking, shot: _Shot) -> Request:
    target = shot.target
    level: AskLevel = "object" if target.kind in WHOLE else "lesion"
    phrase = grounding_prompt(
        target.label, kind=target.kind, crop=target.crop, recipe=asking.prompts, cues=asking.cues
    )
    return Request(
        id=f"{target.id}:{shot.image}",
        prompt=known_target.PROTOCOL.ask(_question(shot, level), asking.model.space),
        images=(shot.path,),
        names=(target.label,),
        phrases=(phrase.text,),
        level=level,
    )


def _question(shot: _Shot, level: AskLevel) -> Item:
    """The photo as an item of which only the question is known."""
    target = shot.target
    return Item(
        id=target.id, image=shot.image, image_sha256="", width=shot.size[0], height=shot.size[1],
        source="", licence="", crop=target.crop, kind=None, label=None, level="healthy", boxes=(),
        query=target.label, absent_query=None, candidates=None, group="",
        ask_level=level, ask_kind=target.kind,
    )  # fmt: skip


def _annotated(
    asking: Asking, source: str, answers: Sequence[tuple[_Shot, Words]], report: Report
) -> Iterator[Annotation | Drop]:
    """What the replies about all photos of one target come to."""
    best: tuple[float, _Shot, Kept, bool] | None = None
    reasons: list[tuple[str, str]] = []
    target = answers[0][0].target
    for shot, words in answers:
        seen = _read(words, asking.model.space, shot.size)
        if isinstance(seen, tuple):
            reasons.append(seen)
            continue
        kept = keep(seen, target.kind, shot.size, asking.rules)
        report.add(source, len(seen.boxes), kept)
        if not kept.levels:
            reasons.append(("no_box_left", ", ".join(f"{k} {n}" for k, n in kept.removed.items())))
            continue
        score = max(float(scores.max()) for _, scores in kept.levels.values())
        if best is None or score > best[0]:
            best = score, shot, kept, seen.scored
    # A photo that could not be asked about may be the one that shows it: the target waits.
    failed = [reason for reason in reasons if reason[0] == "model_failed"]
    if failed or best is None:
        reason, detail = (failed or sorted(reasons, key=lambda one: REASONS.index(one[0])))[0]
        yield _drop(target, reason, detail)
        return
    _, shot, kept, scored = best
    for level, (boxes, scores) in kept.levels.items():
        yield Annotation(
            id=f"{target.id}:{level}",
            target=target.id,
            image=shot.image,
            width=shot.size[0],
            height=shot.size[1],
            level=level,
            boxes=tuple(_box(row) for row in boxes.tolist()),
            scores=tuple(round(score, 4) for score in scores.tolist()) if scored else (),
            rule=f"{asking.by}, {asking.rules} rules",
        )


def _box(row: Sequence[float]) -> Box:
    x1, y1, x2, y2 = row
    return x1, y1, x2, y2


def _read(words: Words, space: Space, size: tuple[int, int]) -> Seen | tuple[str, str]:
    """The boxes in pixels, or the reason and detail of a drop."""
    if words.error is not None or words.finish == "error":
        return "model_failed", words.error or "no words came back"
    reading = read_boxes(words.text, space, words.finish)
    if reading.outcome == "empty":
        return "nothing_found", ""
    if reading.outcome != "boxes":
        return "unreadable_reply", f"{reading.outcome}: {words.text[:120]!r}"
    boxes = geometry.to_pixels(geometry.as_boxes(reading.boxes), space, *size)
    scores, masks = _extras(words.text, len(boxes), space)
    scored = scores is not None
    return Seen(boxes, np.ones(len(boxes)) if scores is None else scores, scored, masks)


class _Extra(msgspec.Struct):
    """What a detector's row says beside the box."""

    score: float | None = None
    mask: float | None = None


def _extras(text: str, count: int, space: Space) -> tuple[Floats | None, Floats | None]:
    """Scores and masks, where the reply is plain JSON that has them for each of the boxes."""
    try:
        rows = msgspec.json.decode(text, type=list[msgspec.Raw])
        if len(rows) != count:  # the reader left some out: theirs go with them
            alone = ((row, f"[{bytes(row).decode()}]") for row in rows)
            rows = [row for row, told in alone if read_boxes(told, space, "stop").boxes]
        extras = [msgspec.json.decode(row, type=_Extra) for row in rows]
    except (msgspec.DecodeError, RecursionError):
        return None, None
    scores = _each([row.score for row in extras], count)
    masks = _each([row.mask for row in extras], count)
    return None if scores is None else np.clip(scores, 0, 1), masks


def _each(said: Sequence[float | None], count: int) -> Floats | None:
    """What is said of each of the boxes, in their order; None where it is not said of all."""
    known = [value for value in said if value is not None and math.isfinite(value)]
    return np.array(known) if len(known) == len(said) == count else None


def _drop(target: Target, reason: str, detail: str) -> Drop:
    return Drop(
        id=f"{target.id}:annotate", sample=target.sample, parent=target.id, stage="annotate",
        reason=reason, detail=detail,
    )  # fmt: skip
