"""Grounding DINO: a detector that is asked for one phrase at a time, through transformers.

    --model grounding_dino --model-args "path=IDEA-Research/grounding-dino-tiny"

`path` is a local folder or a hub name. A box is kept where the score of its best token is over
`box` (0.25 if not given); `text` (0.20) is the published bound on the tokens of a phrase, which
decides no box, since a box over 0.25 has a token over 0.20 (AgroGround, appendix C; reference,
section 3). Both are part of the version.

Each name of a request gets a pass of its own, so that a box never carries words of two names: its
label is the name that was asked about, not what the detector makes of its tokens. With several
names the one with the best box wins, and its boxes are the answer; with none over the bound the
answer is the empty list. What is asked for is the request's own phrase, or, with
`prompts=taxonomy` (the default), what `grounding_prompt` makes of the name, or, with
`prompts=raw`, the bare name.

With `filters=published` (or `ours`) only the boxes are left that `annotate` would keep by its rules
of that name (`box_rules`): the annotator itself, to be scored. A name's kind is the taxonomy's;
where lesions and whole things are left, those are the answer that the prompt asks for.

A photo is decoded and prepared once for all that is asked about it. Only photos of equal prepared
size share a batch: padding the smaller to the larger moves its boxes. A batch that the memory does
not hold is halved and tried again; a single pass that it does not hold is an error.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from msgspec import Meta

from fieldtruth import box_rules, pretrained
from fieldtruth.faults import Unreadable
from fieldtruth.geometry import as_boxes
from fieldtruth.images import open_upright
from fieldtruth.models.contract import (
    Opener,
    Replies,
    Request,
    Words,
    failed,
    in_order,
    say,
    settings_of,
)
from fieldtruth.records import AskLevel, Box, Record, Space
from fieldtruth.taxonomy import label, label_id
from fieldtruth.taxonomy.prompts import grounding_prompt

WAITING = 4  # batches of prepared photos that are held until others of their size come
RULE = 1  # add one when the same photo may be answered otherwise


class Settings(Record, frozen=True, kw_only=True):
    """What was asked for on the command line. `batch` is in passes; `box` and `text` in scores."""

    path: str
    box: Annotated[float, Meta(ge=0, le=1)] = 0.25
    text: Annotated[float, Meta(ge=0, le=1)] = 0.20
    prompts: Literal["taxonomy", "raw"] = "taxonomy"
    filters: Literal["none", "ours", "published"] = "none"
    batch: Annotated[int, Meta(ge=1)] = 8
    device: str = "auto"


@dataclass(slots=True)
class _Pass:
    """One phrase on one photo: the request it is for, which of its names, and what came of it."""

    request: int
    name: str
    phrase: str
    level: AskLevel
    pixels: Any  # (3, height, width), prepared
    size: tuple[int, int]  # the upright photo's width and height


@dataclass(slots=True)
class _Found:
    """What a detector says of one name: boxes in pixels of the upright photo, and their scores."""

    name: str
    boxes: list[Box]
    scores: list[float]


class GroundingDino:
    """Boxes in pixels of the upright photo, with a score each, best first."""

    space: Space = "pixel"

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        library = pretrained.load_transformers()
        self._device = pretrained.pick_device(settings.device)
        self._model = pretrained.whole(library.AutoModelForZeroShotObjectDetection, settings.path)
        self._processor = pretrained.opened(settings.path, library.AutoProcessor.from_pretrained)
        self._model.to(self._device).eval()
        weights = pretrained.fingerprint(settings.path, self._model)
        eyes = type(self._processor.image_processor).__name__  # each resizes in its own way
        bounds = f"{settings.box:g}-{settings.text:g}-{settings.prompts}-{eyes}"
        if settings.filters != "none":
            bounds += f"-{settings.filters}"
        self.version = f"grounding_dino-{RULE}-{weights}-{bounds}"

    def reply(self, requests: Sequence[Request]) -> Iterator[Words]:
        """One `Words` per request, in order."""
        return in_order(self.replies(requests))

    def replies(self, requests: Sequence[Request]) -> Replies:
        """Photo by photo in the order of their first request: each is decoded once."""
        of_photo: dict[Path | None, list[int]] = {}
        for place, request in enumerate(requests):
            of_photo.setdefault(request.images[0] if request.images else None, []).append(place)
        waiting: dict[tuple[int, ...], list[_Pass]] = {}  # by prepared size
        found: dict[int, list[_Found | Words]] = {}
        owed = {place: len(self._asked(request)) for place, request in enumerate(requests)}
        for photo, places in of_photo.items():
            passes = self._passes(photo, [(place, requests[place]) for place in places])
            if isinstance(passes, Words):
                yield from ((place, passes) for place in places)
                continue
            for each in passes:
                ready = waiting.setdefault(tuple(each.pixels.shape), [])
                ready.append(each)
                if len(ready) == self._settings.batch:
                    yield from self._done(waiting.pop(tuple(each.pixels.shape)), found, owed)
            while sum(map(len, waiting.values())) > WAITING * self._settings.batch:
                yield from self._done(waiting.pop(next(iter(waiting))), found, owed)
        for ready in waiting.values():
            yield from self._done(ready, found, owed)

    def _asked(self, request: Request) -> list[tuple[str, str]]:
        """(name, phrase) for each name that is asked about; at least one."""
        names = request.names or (request.prompt,)
        if request.phrases:
            return list(zip(names, request.phrases, strict=True))
        if self._settings.prompts == "raw":
            return [(name, name) for name in names]
        return [(name, grounding_prompt(name).text) for name in names]

    def _passes(
        self, photo: Path | None, requests: Sequence[tuple[int, Request]]
    ) -> list[_Pass] | Words:
        """Everything that is asked about one photo, or why it cannot be."""
        if photo is None:
            return failed("expected a photo, got none")
        try:
            picture = open_upright(photo)
        except Unreadable as fault:
            return failed(str(fault))
        prepared = self._processor.image_processor(images=[picture], return_tensors="pt")
        pixels = prepared["pixel_values"][0]
        return [
            _Pass(place, name, phrase, request.level, pixels, picture.size)
            for place, request in requests
            for name, phrase in self._asked(request)
        ]

    def _done(
        self, ready: Sequence[_Pass], found: dict[int, list[_Found | Words]], owed: dict[int, int]
    ) -> Replies:
        """Run a batch; the requests that wait for nothing more are answered."""
        for each, one in zip(ready, self._tried(ready), strict=True):
            found.setdefault(each.request, []).append(one)
            owed[each.request] -= 1
            if not owed[each.request]:
                yield each.request, _answer(found.pop(each.request))

    def _tried(self, ready: Sequence[_Pass]) -> list[_Found | Words]:
        """What comes of each pass, or that there is no memory for it."""
        try:
            return list(self._run(ready))
        except (MemoryError, RuntimeError) as error:
            if not pretrained.no_memory(error):
                raise
            why = (str(error).strip() or type(error).__name__).splitlines()[0]
        if self._device.startswith("cuda"):
            pretrained.load_torch().cuda.empty_cache()
        if len(ready) == 1:
            return [failed(f"out of memory on {self._device} for this photo alone: {why}")]
        half = len(ready) // 2
        return [*self._tried(ready[:half]), *self._tried(ready[half:])]

    def _run(self, ready: Sequence[_Pass]) -> Iterator[_Found]:
        torch = pretrained.load_torch()
        texts = self._processor.tokenizer(
            [_sentence(each.phrase) for each in ready], padding=True, truncation=True,
            max_length=self._model.config.max_text_len, return_tensors="pt",
            return_token_type_ids=True,
        )  # fmt: skip
        with torch.inference_mode():
            said = self._model(
                pixel_values=torch.stack([each.pixels for each in ready]).to(self._device),
                **texts.to(self._device),
            )
            scores = said.logits.sigmoid().amax(dim=-1).float().cpu().numpy()
            boxes = said.pred_boxes.float().cpu().numpy()
        for each, score, box in zip(ready, scores, boxes, strict=True):
            found = _kept(each, score, box, self._settings.box)
            if self._settings.filters != "none":
                found = _left(found, each.level, each.size, self._settings.filters)
            yield found


def _answer(said: Sequence[_Found | Words]) -> Words:
    """The boxes of the surest name; of equal ones that which was offered first. An error is one."""
    broken = next((one for one in said if isinstance(one, Words)), None)
    if broken is not None:
        return broken
    best = max(
        (one for one in said if isinstance(one, _Found)),
        key=lambda one: max(one.scores, default=0.0),
    )
    return Words(text=say(best.boxes, best.name, best.scores))


def _sentence(phrase: str) -> str:
    """As the weights were trained: lower case, a full stop at its end and nowhere else."""
    return " ".join(phrase.lower().replace(".", " ").split()) + "."


def _kept(each: _Pass, scores: Any, boxes: Any, bound: float) -> _Found:
    """What is over the bound, best first. `boxes` are centre, width and height from 0 to 1."""
    width, height = each.size
    kept = [place for place in (-scores).argsort(kind="stable") if scores[place] > bound]
    corners, kept_scores = [], []
    for place in kept:
        x, y, across, down = (float(value) for value in boxes[place])
        box = (
            max(0.0, (x - across / 2) * width),
            max(0.0, (y - down / 2) * height),
            min(float(width), (x + across / 2) * width),
            min(float(height), (y + down / 2) * height),
        )
        corners.append(box)
        kept_scores.append(float(scores[place]))
    return _Found(each.name, corners, kept_scores)


def _left(found: _Found, level: AskLevel, size: tuple[int, int], rules: box_rules.Name) -> _Found:
    """What the annotator's rules leave, at the level that is asked for or else at the other."""
    what = label(label_id(found.name))
    seen = box_rules.Seen(as_boxes(found.boxes), np.array(found.scores), scored=True)
    kept = box_rules.keep(seen, what.kind if what else "disease", size, rules).levels
    left = kept.get(level) or next(iter(kept.values()), None)
    if left is None:
        return _Found(found.name, [], [])
    boxes = [(x1, y1, x2, y2) for x1, y1, x2, y2 in left[0].tolist()]
    return _Found(found.name, boxes, left[1].tolist())


def _open(options: Mapping[str, str]) -> GroundingDino:
    return GroundingDino(settings_of("grounding_dino", options, Settings))


ACCELERATED = True  # a worker of it wants a GPU where there is one
OPEN: Opener = _open
