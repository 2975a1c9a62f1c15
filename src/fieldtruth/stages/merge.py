"""Merge: LoRA weights put into their base, so that it is one model like any other.

The processor's files are kept byte for byte. The merged weights are asked what base and adapter
were, in full precision, and once more when the written folder is opened anew: where the logits are
not the same, nothing is left. (The published script compared 40 greedy replies, took 36 equal ones
for faithful, ended with 0 in any case and deleted the folder first.)
"""

from pathlib import Path
from typing import Any

from fieldtruth import pretrained, store
from fieldtruth.faults import Fault, Usage
from fieldtruth.models.transformers import loading
from fieldtruth.models.transformers.answering import Speaker
from fieldtruth.models.transformers.card import Card, write_card
from fieldtruth.models.transformers.encoding import batch
from fieldtruth.models.transformers.processor import open_processor
from fieldtruth.models.transformers.saving import copy_processor, save
from fieldtruth.models.transformers.settings import Precision, space_of
from fieldtruth.records import Record

# Of the largest logit: rounding adds up over layers; a wrong merge is off by tenths.
_BOUNDS: dict[str, float] = {"float32": 1e-4, "float16": 0.02, "bfloat16": 0.1}
_PROMPTS = ("Where is the leaf rust in this photo?", "Is anything wrong with this plant?")
_SIDE = 128  # pixels of the photo that is asked about


class Merged(Record, frozen=True, kw_only=True):
    """`difference`: the largest, of any logit of the merged model; `of` the largest logit.

    `exact` is the same before the weights are rounded to `dtype`.
    """

    base: str
    adapter: str
    weights: str  # hash of the merged weights
    dtype: str
    exact: float
    difference: float
    of: float


def merge(adapter: str, out: Path, base: str | None = None, dtype: Precision = "auto") -> Merged:
    """Write the merged model as `out`, a folder that is not there yet or empty.

    `base` is the adapter's own if not given; `dtype` auto is that of the base's weights. Raises
    `Usage` where adapter or base cannot be used or `out` is not empty; `Fault` where the merged
    model says something else; `CannotWrite` where there is no room.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Usage(f"{out}: expected a new or empty folder, got one with something in it")
    torch = pretrained.load_torch()
    place = base or loading.base_of(adapter)
    said = pretrained.precision_of(place) if dtype == "auto" else dtype
    whole, card = loading.attach(loading.load(place, "cpu", "float32"), place, adapter)
    before = _logits(whole.model, place)
    with pretrained.hushed(), store.drafting(out) as part:
        single = whole.model.merge_and_unload()
        exact = _apart(before, _logits(single, place), "float32", adapter)
        save(single.to(getattr(torch, said)), part, out)
        copy_processor(place, part)
        weights = pretrained.weights_of(str(part))
        write_card(part, _card(card, place, whole.kind))
        after = _logits(loading.load(str(part), "cpu", "float32").model, str(part))
        difference = _apart(before, after, said, adapter)
        store.publish(part, out)
    return Merged(
        base=place, adapter=adapter, weights=weights, dtype=said, exact=exact,
        difference=difference, of=float(before.abs().max()),
    )  # fmt: skip


def _apart(before: Any, after: Any, dtype: str, adapter: str) -> float:
    """The largest difference of any logit; `Fault` where it is more than rounding to `dtype`."""
    difference, of = float((before - after).abs().max()), float(before.abs().max())
    if not difference <= _BOUNDS[dtype] * max(of, 1.0):  # false for NaN
        raise Fault(
            f"{adapter}: expected the merged model to say what base and adapter say, got logits"
            f" that differ by {difference:.3g} of {of:.3g}; nothing was written"
        )
    return difference


def _card(card: Card | None, base: str, kind: str) -> Card:
    """What is known of the merged weights: that of the adapter, where it has a card."""
    least, most = (card.min_pixels, card.max_pixels) if card else (None, None)
    return Card(
        method="merged", base=base, base_weights=pretrained.weights_of(base),
        min_pixels=least, max_pixels=most,
        space=card.space if card else space_of(kind, None), step=card.step if card else 0,
    )  # fmt: skip


def _logits(model: Any, place: str) -> Any:
    """What a model makes of two prompts about a photo drawn here: (2, tokens, vocabulary)."""
    torch = pretrained.load_torch()
    speaker = Speaker(model, open_processor(place), "cpu", 1)
    asked = [speaker.encoder.ask(prompt, [_photo()]) for prompt in _PROMPTS]
    with torch.inference_mode():
        given = batch(asked, speaker.pad, "left", "cpu")
        seen = given["attention_mask"].bool()
        return model(**given).logits[seen].float()


def _photo() -> Any:
    from PIL import Image

    ramp = Image.linear_gradient("L").resize((_SIDE, _SIDE))
    return Image.merge("RGB", (ramp, ramp.rotate(90), ramp.rotate(180)))


def line(done: Merged, out: Path) -> str:
    """For people."""
    return (
        f"{done.adapter} merged into {done.base} ({done.dtype}); logits differ by at most "
        f"{done.difference:.2g} of {done.of:.2g}. In {out}"
    )
