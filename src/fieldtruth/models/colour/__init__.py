"""The embedded default: classical lesion segmentation by colour, and naming by neighbours.

    fieldtruth train colour TRAINING_BENCH --out colour.json
    --model colour --model-args fitted=colour.json

It needs no GPU, no weights and no network, and reads no sentences: only the names and the level
of a request. leaf -> pixels -> parts (boxes) -> naming is how a photo goes through; `fitting`
learns all of it from boxes.

What it answers:
- `[]` where the best blob on the leaf is less likely a lesion than the fitted threshold;
- `[]` where one name is asked about and the nearest training photos have other names, if that
  seldom misjudged a training photo;
- else the lesions' boxes, or under object wording a box around each leaf that has one;
- named as the one of the names offered that most of the nearest training photos have. Names it
  was not trained on get no votes; where it knows none of them, the first offered is said, and
  where none is offered, any name that it knows may be.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from PIL import Image

from fieldtruth.faults import Usage
from fieldtruth.models.colour.fitted import Fitted, load
from fieldtruth.models.colour.fitting import fit, fit_all
from fieldtruth.models.contract import Opener, Request, Words, by_photo, known_options, say
from fieldtruth.records import Space

__all__ = ["OPEN", "Colour", "Fitted", "fit", "fit_all", "load"]


class Colour:
    """A fitted colour model; boxes in pixels of the upright photo."""

    space: Space = "pixel"

    def __init__(self, fitted: Fitted) -> None:
        self._fitted = fitted
        self.version = fitted.version

    def reply(self, requests: Sequence[Request]) -> Iterator[Words]:
        """One `Words` per request; a photo that cannot be opened is an error."""
        return by_photo(requests, self._answer)

    def _answer(self, photo: Image.Image, request: Request) -> str:
        seen = self._fitted.see(photo)
        if seen.row is None or seen.evidence < self._fitted.enough:
            return say([], "")
        naming = self._fitted.naming
        asked = request.names[0] if len(request.names) == 1 else None
        if asked is not None and self._fitted.declines and naming.rules_out(seen.row, asked):
            return say([], "")
        boxes = seen.leaves if request.level == "object" else seen.boxes
        return say(boxes, naming.best(seen.row, request.names))


def _open(options: Mapping[str, str]) -> Colour:
    known_options("colour", options, ("fitted",))
    if not options.get("fitted"):
        raise Usage(
            "colour has to be fitted first: `fieldtruth train colour TRAINING_BENCH --out "
            "colour.json`, then --model-args fitted=colour.json"
        )
    return Colour(load(Path(options["fitted"])))


OPEN: Opener = _open
