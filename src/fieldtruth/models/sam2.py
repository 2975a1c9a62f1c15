"""SAM 2 behind a detector: a box in whose place nothing can be cut out is no box.

    --model sam2 --model-args "path=facebook/sam2.1-hiera-large,detector=grounding_dino,
                               detector.path=IDEA-Research/grounding-dino-tiny"

The detector answers first, with its own options after `detector.`; each of its boxes is then given
to SAM 2, and one whose mask is empty is removed, as AgroGround's paper says and its code does not
(appendix C; reference, section 3 and its erratum). `empty=mark` keeps such boxes: each row has the
share of its box that the mask fills under `mask`, and whoever asks decides, as `annotate` does,
which counts them. `empty=keep` looks at no mask.

A photo is embedded once for all that is asked about it.
"""

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
from PIL import Image

from fieldtruth import models, pretrained
from fieldtruth.faults import Unreadable, Usage
from fieldtruth.images import open_upright
from fieldtruth.models.contract import (
    Model,
    Opener,
    Replies,
    Request,
    Words,
    as_known,
    failed,
    in_order,
    settings_of,
)
from fieldtruth.records import Record, Space
from fieldtruth.rooms import open_room

RULE = 1  # add one when the same boxes may be judged otherwise
FINEST = 256  # places along each side of a box at which its mask is read
HELD = 4  # photos whose embeddings are held


class Settings(Record, frozen=True, kw_only=True):
    """What was asked for on the command line, but for the detector's own options."""

    path: str
    detector: str = "grounding_dino"
    empty: Literal["remove", "mark", "keep"] = "remove"
    device: str = "auto"


class Row(Record, frozen=True, kw_only=True, omit_defaults=True):
    """One object of a detector's reply; `mask` is the share of the box that was cut out."""

    bbox_2d: tuple[float, float, float, float]
    label: str
    score: float | None = None
    mask: float | None = None


class Sam2:
    """The detector's boxes in pixels of the upright photo, less those without a mask."""

    space: Space = "pixel"

    def __init__(self, settings: Settings, detector: Model) -> None:
        if detector.space != "pixel":
            raise Usage(
                f"detector: expected one that writes pixels of the photo, got {settings.detector}, "
                f"which writes {detector.space}"
            )
        self._settings = settings
        self._detector = detector
        library = pretrained.load_transformers()
        self._device = pretrained.pick_device(settings.device)
        self._model = pretrained.whole(library.Sam2Model, settings.path)
        self._model.to(self._device).eval()
        self._prepare = _Preparation.of(settings.path)
        self._embedded: OrderedDict[Path, tuple[Any, tuple[int, int]]] = OrderedDict()
        weights = pretrained.fingerprint(settings.path, self._model)
        self.version = f"sam2-{RULE}-{weights}-{settings.empty}-{detector.version}"

    def reply(self, requests: Sequence[Request]) -> Iterator[Words]:
        """One `Words` per request, in order."""
        return in_order(self.replies(requests))

    def replies(self, requests: Sequence[Request]) -> Replies:
        """The detector's replies as they come, each with its boxes looked at."""
        with closing(as_known(self._detector, requests)) as replies:
            for place, words in replies:
                yield place, self._judged(requests[place], words)

    def _judged(self, request: Request, words: Words) -> Words:
        if words.error is not None or self._settings.empty == "keep":
            return words
        try:
            rows = msgspec.json.decode(words.text, type=list[Row])
        except msgspec.DecodeError as error:
            return failed(f"{self._settings.detector}: expected a list of boxes, got: {error}")
        if not rows:
            return words
        try:
            shares = self._shares(request.images[0], [row.bbox_2d for row in rows])
        except Unreadable as fault:
            return failed(str(fault))
        rows = [
            msgspec.structs.replace(row, mask=round(share, 4))
            for row, share in zip(rows, shares, strict=True)
            if share > 0 or self._settings.empty == "mark"
        ]
        return Words(text=msgspec.json.encode(rows).decode(), finish=words.finish)

    def _shares(self, photo: Path, boxes: Sequence[tuple[float, ...]]) -> list[float]:
        """For each box the share of its area that its mask fills: 0 where the mask is empty."""
        torch = pretrained.load_torch()
        embedded, (width, height) = self._embedding(photo)
        scale = self._prepare.scale(width, height)
        corners = torch.tensor([[*boxes]], dtype=torch.float32) * torch.tensor(scale)
        with torch.inference_mode():
            said = self._model(
                image_embeddings=embedded,
                input_boxes=corners.to(self._device),
                multimask_output=False,
            )
        logits = said.pred_masks[0].float().cpu()  # (boxes, 1, rows, columns)
        return [
            _filled(logits[place : place + 1], box, (width, height))
            for place, box in enumerate(boxes)
        ]

    def _embedding(self, photo: Path) -> tuple[Any, tuple[int, int]]:
        if photo in self._embedded:
            self._embedded.move_to_end(photo)
            return self._embedded[photo]
        torch = pretrained.load_torch()
        picture = open_upright(photo)
        pixels = torch.from_numpy(self._prepare.pixels(picture)).to(self._device)
        with torch.inference_mode():
            self._embedded[photo] = self._model.get_image_embeddings(pixels), picture.size
        if len(self._embedded) > HELD:
            self._embedded.popitem(last=False)
        return self._embedded[photo]


class _Preparation(Record, frozen=True, kw_only=True):
    """How the weights want a photo: its side in pixels, and what each channel is shifted by.

    Done here because the library's own preparation of this model needs torchvision.
    """

    height: int
    width: int
    mean: tuple[float, float, float]
    deviation: tuple[float, float, float]

    @staticmethod
    def of(place: str) -> "_Preparation":
        read = pretrained.settings_file(place, "preprocessor_config.json", "processor_config.json")
        read = read.get("image_processor", read)
        try:
            return _Preparation(
                height=int(read["size"]["height"]),
                width=int(read["size"]["width"]),
                mean=tuple(map(float, read["image_mean"])),  # type: ignore[arg-type]
                deviation=tuple(map(float, read["image_std"])),  # type: ignore[arg-type]
            )
        except (KeyError, TypeError, ValueError) as error:
            raise Usage(
                f"{place}: expected size, image_mean and image_std of the photo's preparation, "
                f"got: {error!r}"
            ) from None

    def scale(self, width: int, height: int) -> tuple[float, float, float, float]:
        """From pixels of the photo to pixels of the prepared one."""
        across, down = self.width / width, self.height / height
        return across, down, across, down

    def pixels(self, picture: Image.Image) -> np.ndarray[Any, np.dtype[np.float32]]:
        """(1, 3, height, width)."""
        small = picture.resize((self.width, self.height), Image.Resampling.BILINEAR)
        levels = np.asarray(small, dtype=np.float32) / 255
        shifted = (levels - np.array(self.mean)) / np.array(self.deviation)
        return np.ascontiguousarray(shifted.transpose(2, 0, 1)[None], dtype=np.float32)


def _filled(logits: Any, box: Sequence[float], size: tuple[int, int]) -> float:
    """The share of a box's pixels that a mask covers.

    `logits` (1, 1, rows, columns) are those of the whole photo, over 0 in the mask; they are
    read between their cells, linearly, at the centres of the box's pixels, or of `FINEST` squares
    where it has more along a side.
    """
    torch = pretrained.load_torch()
    x1, y1, x2, y2 = box
    across, down = (
        (low + (high - low) * (torch.arange(steps) + 0.5) / steps) / whole * 2 - 1
        for low, high, whole in ((x1, x2, size[0]), (y1, y2, size[1]))
        for steps in (min(FINEST, max(1, round(high - low))),)
    )
    places = torch.stack(torch.meshgrid(across, down, indexing="xy"), dim=-1)[None]
    read = torch.nn.functional.grid_sample(
        logits, places, mode="bilinear", padding_mode="border", align_corners=False
    )
    return float((read > 0).float().mean())


def _open(options: Mapping[str, str]) -> Sam2:
    own = {key: value for key, value in options.items() if not key.startswith("detector.")}
    its = {key.removeprefix("detector."): value for key, value in options.items() if key not in own}
    settings = settings_of("sam2", own, Settings)
    if settings.detector == "sam2":
        raise Usage("detector: expected another backend than sam2 itself")
    detector: Model = open_room(models, settings.detector).OPEN(its)
    return Sam2(settings, detector)


ANNOTATE = {"empty": "mark"}  # what `annotate` opens it with where it is not told otherwise
ACCELERATED = True  # a worker of it wants a GPU where there is one
OPEN: Opener = _open
