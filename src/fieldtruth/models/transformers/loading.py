"""Weights, the adapter on them, their precision, and how large a photo they are shown."""

import warnings
from pathlib import Path
from typing import Any, NamedTuple

from fieldtruth import geometry, pretrained
from fieldtruth.faults import Usage
from fieldtruth.models.transformers import on_cpu
from fieldtruth.models.transformers.card import Card, read_card
from fieldtruth.models.transformers.settings import Patches, Precision
from fieldtruth.records import Space

ADAPTER = "adapter_model.safetensors"
ADAPTER_CONFIG = "adapter_config.json"
TABLES = ("embed_tokens", "lm_head")  # of tokens; they may be saved along, whole


class Caps(NamedTuple):
    """The bounds of the area, in pixels, that a photo is resized to; None: there are none."""

    least: int | None
    most: int | None

    def __str__(self) -> str:
        return f"{self.least}..{self.most}px" if self.most else "uncapped"


class Weights(NamedTuple):
    """A model that is ready on its device, and its kind (`model_type`)."""

    model: Any
    kind: str
    dtype: str


def load(place: str, device: str, dtype: Precision, **options: Any) -> Weights:
    """The model of a folder or hub name, in `eval` mode on `device`, which is a real one.

    Raises `Usage` where it cannot be loaded, is no model of photos and words but LoRA weights of
    one, is not in safetensors or not whole; no code of its own is run.
    """
    library = pretrained.load_transformers()
    torch = pretrained.load_torch()
    dtype = precision(device, dtype)
    _no_adapter(place)
    model = pretrained.whole(
        library.AutoModelForImageTextToText, place, trust_remote_code=False,
        dtype=getattr(torch, dtype), **options,
    )  # fmt: skip
    try:
        model.to(device)
    except (MemoryError, RuntimeError) as error:
        if not pretrained.no_memory(error):
            raise
        why = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise Usage(
            f"{place}: expected room for its weights on {device} in {dtype}, got: {why}; free "
            "some, say dtype=bfloat16, or device=cpu"
        ) from error
    return Weights(model.eval(), model.config.model_type, dtype)


def _no_adapter(place: str) -> None:
    """Raise `Usage` for LoRA weights alone, which transformers would put on whatever they name."""
    folder = Path(place).expanduser()
    if (folder / ADAPTER_CONFIG).is_file() and not (folder / pretrained.CONFIG).is_file():
        raise Usage(
            f"{place}: expected a whole model, got LoRA weights; ask them as path=BASE,"
            f"adapter={place}, or merge them with: fieldtruth train merge {place} --out MERGED"
        )


def precision(device: str, said: Precision) -> Precision:
    """What `auto` is there: bfloat16 on a GPU that has it, else float32."""
    if said != "auto":
        return said
    half = device.startswith("cuda") and pretrained.load_torch().cuda.is_bf16_supported()
    return "bfloat16" if half else "float32"


def quicken(weights: Weights, device: str, patches: Patches) -> None:
    """Use the CPU's order of arithmetic where it is asked for, or where it helps.

    Raises `Usage` where it was asked for and the model has none.
    """
    if patches == "off" or (patches == "auto" and device != "cpu"):
        return
    changed = on_cpu.patch(weights.model) if weights.kind == "qwen3_vl" else 0
    if patches == "on" and not changed:
        raise Usage(f"patches=on: expected a model of the kind qwen3_vl, got {weights.kind}")


def cap(processor: Any, least: int | None, most: int | None, place: str) -> Caps:
    """Bound the area of photos where a bound is given; returns the bounds that hold.

    Raises `Usage` where the processor has none to set, or where they cross.
    """
    eyes = processor.image_processor
    size = dict(getattr(eyes, "size", None) or {})
    bounded = hasattr(eyes, "merge_size") and {"shortest_edge", "longest_edge"} <= set(size)
    if not bounded:
        if least is not None or most is not None:
            raise Usage(
                f"{place}: expected a processor with bounds on a photo's area, got a "
                f"{type(eyes).__name__}; leave out min_pixels and max_pixels (`train sft` has the "
                "paper's where none are given; its preset = 'plantxpert' has none)"
            )
        return Caps(None, None)
    least = size["shortest_edge"] if least is None else least
    most = size["longest_edge"] if most is None else most
    if least > most:
        raise Usage(f"min_pixels: expected no more than max_pixels ({most}), got {least}")
    eyes.size = {"shortest_edge": least, "longest_edge": most}
    return Caps(least, most)


def noted(caps: Caps, card: Card, own: Caps) -> tuple[str, ...]:
    """What has to be said of the photos that a trained model is shown, at `caps`.

    Either that it was trained at another resolution; or that it was trained at less than its
    processor's `own`, so that a base that is asked beside it sees more unless told not to.
    """
    trained = Caps(card.min_pixels, card.max_pixels)
    if caps != trained:
        return (
            f"it was trained on photos of {trained} and is asked about photos of {caps}: its scores"
            " are of both",
        )
    if caps.most and own.most and caps.most < own.most:
        return (
            f"photos are shown as in its training, at {caps}; a base that is compared with it is "
            f"shown them at {own} unless it is given min_pixels={caps.least},"
            f"max_pixels={caps.most} too",
        )
    return ()


def same_rule(space: Space, caps: Caps, processor: Any, place: str) -> None:
    """Raise `Usage` where boxes count pixels of a resized photo that is resized otherwise.

    `pixel_resized` is read by one rule (`geometry.resized`), from the photo's own size.
    """
    if space != "pixel_resized":
        return
    eyes = processor.image_processor
    grid = getattr(eyes, "patch_size", 0) * getattr(eyes, "merge_size", 0)
    if (grid, *caps) != (geometry.GRID, geometry.MIN_PIXELS, geometry.MAX_PIXELS):
        raise Usage(
            f"{place}: its boxes are pixels of a photo resized to multiples of {geometry.GRID} "
            f"within {geometry.MIN_PIXELS}..{geometry.MAX_PIXELS}px, and here it is resized to "
            f"multiples of {grid} within {caps}; leave out min_pixels and max_pixels (give "
            f"min_pixels={geometry.MIN_PIXELS},max_pixels={geometry.MAX_PIXELS} where its "
            "processor has others), or, for a model trained to, give another space"
        )


def attach(weights: Weights, base: str, adapter: str) -> tuple[Weights, Card | None]:
    """Put LoRA weights on a model; returns it with their card, where they have one.

    Raises `Usage` where there are none in safetensors, or where they were made for another base:
    by the hash on their card or of the base that they name, where it lies here; by the base's name
    where both are hub names; or because a weight has no place in the model or another shape, or a
    place has none.
    """
    peft = pretrained.load_peft()
    from safetensors import SafetensorError

    folder = _folder(adapter)
    card = read_card(folder)
    own = card.base if card else _named_base(adapter)
    if not _fits(card, own, base):
        raise Usage(_other_base(adapter, own, base))
    try:
        with pretrained.hushed():
            warnings.filterwarnings("ignore", "Found missing adapter keys")  # it is no mere warning
            model = peft.PeftModel.from_pretrained(weights.model, str(folder))
    except SafetensorError as error:
        raise Usage(f"{folder / ADAPTER}: expected safetensors, got: {error}") from error
    except (RuntimeError, ValueError, KeyError) as error:
        raise Usage(_other_base(adapter, own, base)) from error
    _all_there(model, folder, _other_base(adapter, own, base))
    return weights._replace(model=model.eval()), card


def _fits(card: Card | None, own: str, base: str) -> bool:
    """Whether the base that is `own` to an adapter is this one, as far as can be told."""
    if card is not None:
        return card.base_weights == pretrained.weights_of(base)
    if own == base:
        return True
    if own and any(Path(own).glob("*.safetensors")):
        return pretrained.weights_of(own) == pretrained.weights_of(base)
    return not own or Path(own).is_dir() or Path(base).expanduser().is_dir()


def base_of(adapter: str) -> str:
    """The base that an adapter says it was trained on; `Usage` where it says none."""
    card = read_card(_folder(adapter))
    named = card.base if card else _named_base(adapter)
    if not named:
        raise Usage(f"{adapter}: expected the base it was trained on in {ADAPTER_CONFIG}, got none")
    return named


def _folder(adapter: str) -> Path:
    """Where LoRA weights lie; `Usage` where none do."""
    folder = Path(adapter).expanduser()
    if not (folder / ADAPTER).is_file() or not (folder / ADAPTER_CONFIG).is_file():
        raise Usage(
            f"{adapter}: expected a folder with {ADAPTER} and {ADAPTER_CONFIG}, got none; "
            "`train sft` makes one"
        )
    return folder


def _named_base(adapter: str) -> str:
    named = pretrained.settings_file(adapter, ADAPTER_CONFIG).get("base_model_name_or_path")
    return named if isinstance(named, str) else ""


def _all_there(model: Any, folder: Path, trouble: str) -> None:
    """Every weight of the adapter has its place, and every place its weight.

    peft passes over those that have none, and lets a layer be that is left out.
    """
    from safetensors import safe_open

    with safe_open(folder / ADAPTER, framework="pt") as file:
        given = set(file.keys())
    peft = pretrained.load_peft()
    # Told, it does not ask the hub whether the base has other tokens.
    held = set(peft.get_peft_model_state_dict(model, save_embedding_layers=False))
    astray = {name for name in given - held if not any(table in name for table in TABLES)}
    if astray or held - given:
        raise Usage(trouble)


def _other_base(adapter: str, own: str, base: str) -> str:
    return (
        f"{adapter}: expected an adapter for {base}, got one for another base"
        f"{f' ({own})' if own and own != base else ''}; give path= the base that it was trained on"
    )
