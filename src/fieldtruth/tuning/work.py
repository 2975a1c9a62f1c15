"""One run, opened: its base, its eyes, its examples, and whether it lies in `out` already."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec

from fieldtruth import pretrained, store
from fieldtruth.faults import BadRecord, Usage
from fieldtruth.models.transformers import loading, ranks
from fieldtruth.models.transformers.card import Card
from fieldtruth.models.transformers.loading import Caps
from fieldtruth.models.transformers.processor import open_processor
from fieldtruth.models.transformers.settings import Patches, Precision, space_of
from fieldtruth.records import Example, Record, Space
from fieldtruth.tuning.checkpoints import Checkpoints
from fieldtruth.tuning.rows import Rows

RUN = "run.json"
TRAINED = "train.json"
# Settings that change no weight: where things lie, and how fast they are done.
PLACES = ("base", "train", "val", "out", "tests", "workers", "val_batch")
T = TypeVar("T")
R = TypeVar("R", bound=Record)


class Told(Protocol):
    """What every run is told, whatever it learns by."""

    @property
    def base(self) -> str: ...
    @property
    def out(self) -> str: ...
    @property
    def space(self) -> Space | None: ...
    @property
    def rank(self) -> int: ...
    @property
    def dtype(self) -> Precision: ...
    @property
    def patches(self) -> Patches: ...
    @property
    def val_limit(self) -> int | None: ...


class Track(Protocol):
    """Shows how far an iteration is."""

    def __call__(self, records: Iterable[T], total: int | None = None) -> Iterator[T]: ...


class Lies(Protocol):
    """What is trained on."""

    digests: tuple[str, ...]

    @property
    def space(self) -> Space | None: ...


class Eyes(NamedTuple):
    """The bounds of photos' areas, as (least, most): when training, and when validating."""

    training: tuple[int | None, int | None]
    validating: tuple[int | None, int | None]


class Work:
    """A run with its weights loaded.

    Raises `Usage` where the base cannot be used, or where the examples are written in another
    space than the model writes.
    """

    def __init__(self, told: Told, device: str, rows: Lies, val: Rows | None, eyes: Eyes) -> None:
        self.told, self.device, self.rows, self.val = told, device, rows, val
        self.out = Path(told.out)
        options = {"attn_implementation": "eager"} if device == "cpu" else {}
        # Weights that learn are held in full; a base under LoRA only has to be read.
        dtype = told.dtype if told.rank else "float32"
        self.weights = loading.load(told.base, device, dtype, **options)
        loading.quicken(self.weights, device, told.patches)
        self.processor, self.caps = _capped(told.base, eyes.training)
        self.val_processor, self.val_caps = _capped(told.base, eyes.validating)
        self.space = self._agreed()
        self.shown: Sequence[tuple[Example, Path]] = val.head(told.val_limit) if val else []
        self.base_weights = pretrained.weights_of(told.base)

    def _agreed(self) -> Space:
        """The one space that is written and read."""
        space, told, val = space_of(self.weights.kind, self.told.space), self.told, self.val
        if self.rows.space not in (None, space) or (val and space != val.space):
            raise Usage(
                f"train: expected examples in {space}, the box space of the base, got them in "
                f"{self.rows.space}{f' and {val.space}' if val else ''}; compose them with "
                f"--space {space}, or say space = {self.rows.space!r} if it is to learn that"
            )
        for processor, caps in (
            (self.processor, self.caps), (self.val_processor, self.val_caps),
        ):  # fmt: skip
            loading.same_rule(space, caps, processor, told.base)
        return space

    def checkpoints(self, select: str) -> Checkpoints:
        """Where they go; `select` is what they are compared by."""
        card = Card(
            method="lora" if self.told.rank else "full", base=self.told.base,
            base_weights=self.base_weights, space=self.space, min_pixels=self.caps.least,
            max_pixels=self.caps.most, step=0,
        )  # fmt: skip
        return Checkpoints(self.out, card, select)

    def fingerprint(self) -> str:
        """Differs where settings, examples, base or caps do; not where they only lie elsewhere."""
        told = msgspec.structs.asdict(self.told)  # type: ignore[arg-type]
        told = {name: each for name, each in told.items() if name not in PLACES}
        told |= {
            "base_weights": self.base_weights,
            "train": self.rows.digests,
            "val": self.val.digests if self.val else (),
            "device": self.device.partition(":")[0],
            **({"processes": ranks.count()} if ranks.count() > 1 else {}),
        }
        raw = msgspec.json.encode(told, order="deterministic")
        return sha256(raw).hexdigest()[:16]


def _capped(base: str, bounds: tuple[int | None, int | None]) -> tuple[Any, Caps]:
    processor = open_processor(base)
    return processor, loading.cap(processor, *bounds, base)


def begin(out: Path, run: str, checkpoints: Checkpoints) -> None:
    """Say which run lies there; remove what is no checkpoint of it, and what another one left.

    That one came to no checkpoint, but the base was validated, perhaps another one: see `finished`.
    """
    if _lies(out) not in (None, run):
        checkpoints.remove()
    with store.replacing(out / RUN) as file:
        file.write(msgspec.json.encode({"run": run}) + b"\n")
    checkpoints.clear()


def finished(
    out: Path,
    run: str,
    checkpoints: Checkpoints,
    kind: type[R],
    early: Callable[[R], bool] = lambda _: False,
) -> R | None:
    """What came of this run if it is done; `Usage` where another one lies there.

    `early`: whether it ended before its last step; then its checkpoints stay, to go on from.
    """
    lies, done = _lies(out), out / TRAINED
    begun = done.is_file() or checkpoints.steps()
    if lies is not None and begun and lies != run:  # one that came to no checkpoint is no loss
        raise Usage(
            f"{out}: holds another run (its base, examples or settings differ); name another "
            "out, or remove it"
        )
    if lies is None and out.is_dir() and any(out.iterdir()):
        raise Usage(f"{out}: expected an empty folder, or the run to go on with")
    if not done.is_file():
        return None
    made = _read(done, kind)
    if not early(made):
        checkpoints.remove()
    return made


def _lies(out: Path) -> str | None:
    """Which run lies there."""
    path = out / RUN
    return _read(path, dict[str, str]).get("run", "") if path.is_file() else None


def _read(path: Path, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadRecord(
            f"{path}: expected what a training of this version leaves, got: {error}; name another "
            f"out, or remove {path.parent}"
        ) from None


def end(out: Path, made: Record, checkpoints: Checkpoints, *, early: bool = False) -> None:
    """Say what came of a run, and only then let go of its checkpoints; see `finished`."""
    with store.replacing(out / TRAINED) as file:
        file.write(msgspec.json.format(msgspec.json.encode(made), indent=1) + b"\n")
    if not early:
        checkpoints.remove()


def device_of(said: str) -> str:
    """The CPU or the first GPU, or this process's of several; `Usage` for any other."""
    if said not in ("auto", "cpu", "cuda", "cuda:0"):
        raise Usage(
            f"device: expected cpu or cuda to train on, got {said!r}; choose a GPU with "
            "CUDA_VISIBLE_DEVICES=N"
        )
    return ranks.join(pretrained.pick_device(said))


def rows_of(folders: Sequence[str], limit: int | None = None) -> Rows:
    """The examples of several folders, at most so many of each."""
    return Rows([store.open_examples(Path(each)) for each in folders], limit)


def versions() -> dict[str, str]:
    """Of what trains."""
    return {name: version(name) for name in ("torch", "transformers", "trl", "peft", "accelerate")}
