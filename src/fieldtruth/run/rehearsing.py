"""A dry run: a training recipe to its first optimizer step, on a small model, before a GPU is paid.

The base gives way to the small model that comes with this program, or to the one that is named;
the examples are the recipe's where they are at hand, else leaves drawn for it. Everything else is
as the recipe says, but that there is one step without warm-up, activations are worked out anew on
the way back as on a GPU, and what is made is thrown away.

It shows that the settings fit together and which weights learn. It says nothing about the real
base's memory and speed: docs/full-systems.md works those out.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from fieldtruth import pretrained, store
from fieldtruth.faults import Usage
from fieldtruth.models import tiny
from fieldtruth.models.transformers import ranks
from fieldtruth.models.transformers.first_step import FirstStep, Learning, Range
from fieldtruth.records import Example, Record
from fieldtruth.run import ablation, execute, recipe, tuning
from fieldtruth.run.progress import SILENT, Track
from fieldtruth.stages import grpo, sft
from fieldtruth.stages.grpo import Grpo
from fieldtruth.stages.sft import Sft
from fieldtruth.tuning import work
from fieldtruth.tuning.validating import selector

BASE = "tiny"  # the model that comes with this program
LEAVES, SIDE = 96, 256  # drawn where there is nothing else: some 45 photos to train on
VAL, BUDGET = 2, 64  # examples validated on, tokens of a reply
ASKED, SAID = 4, 160  # prompts of a round, tokens of a reply to them
TALKS = "talks.jsonl"
Tell = Callable[[str], None]


class Rehearsed(Record, frozen=True, kw_only=True):
    """What one step of a recipe came to.

    `recipe_base` is what the recipe names, `base` what stood in its place. `data`: the recipe's
    examples, or drawn leaves since those in `missing` are not at hand. `memory` is the most that
    was held, in bytes: of the GPU, or of the whole process.
    """

    recipe_base: str
    base: str
    data: Literal["recipe", "drawn"]
    missing: tuple[str, ...]
    examples: int
    loss: float
    grad_norm: float  # before it is clipped
    reward: float | None = None  # mean of the replies', where they earn one
    learning: Learning
    tokens: Range
    image_tokens: Range
    taught: Range | None
    validated: int
    device: str
    seconds: float
    memory: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Data:
    """Folders of examples, or files of conversations, of a dry run."""

    train: tuple[str, ...]
    val: tuple[str, ...]
    missing: tuple[str, ...]


def rehearse(
    told: Sft | Grpo, base: str | None = None, track: Track = SILENT, tell: Tell = lambda _: None
) -> Rehearsed:
    """One step of a training; see the head of this file. Raises what the training raises."""
    ranks.alone("--dry-run")
    seen, began = FirstStep(), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        data = at_hand(told.train, told.val, Path(folder))
        there = tuple(each for each in told.tests if Path(each).exists())
        short = msgspec.structs.replace(
            told, base=place_of(base), train=data.train, val=data.val, tests=there,
            out=str(Path(folder) / "out"), steps=1, warmup=0, save_every=1, val_limit=VAL,
            recompute=told.recompute is not False, select=_compared(told, data.val),
            **(_round(told) if isinstance(told, Grpo) else _step(told)),
        )  # fmt: skip
        done = (
            tuning.learn(short, track, tell, seen) if isinstance(short, Grpo)
            else tuning.train(short, track, tell, seen)
        )  # fmt: skip
    return report(told.base, base or BASE, data, seen, Came(done, time.monotonic() - began))


def _compared(told: Sft | Grpo, val: Sequence[str]) -> str | None:
    """The usual: in so few replies there may be nothing of what the recipe compares by.

    Raises `Usage` where there is nothing of it in all that it validates on.
    """
    if val:
        shown = [example for example, _ in work.rows_of(val).head(told.val_limit)]
        if isinstance(told, Grpo):
            grpo.selected(told.select, shown)
        else:
            selector(told.select, shown)
    return grpo.MEAN if isinstance(told, Grpo) else None


def _step(told: Sft) -> dict[str, Any]:
    return {"budget": BUDGET, "workers": min(told.workers, 1)}


def _round(told: Grpo) -> dict[str, Any]:
    """A few prompts, as many replies to each as the recipe has.

    They are written by transformers, and shorter than the recipe lets them be.
    """
    return {
        "prompts": ASKED, "batch": told.replies, "updates": 1, "budget": min(told.budget, SAID),
        "vllm": False, "mix": msgspec.structs.replace(told.mix, size=None),
    }  # fmt: skip


def rehearse_rows(
    opened: ablation.Opened, base: str | None = None, tell: Tell = lambda _: None
) -> dict[str, Rehearsed]:
    """Of each row of an ablation that trains, once.

    Rows that differ in nothing but examples that are not at hand are one run.
    """
    done, alike = dict[str, Rehearsed](), dict[bytes, Rehearsed]()
    for name, row in opened.ablation.rows.items():
        if not row.train:
            continue
        make = opened.tuning if row.grpo is None else opened.learning
        told = make(row, opened.ablation.seed, Path("out"), row.after)
        drawn = any(not Path(each).exists() for each in (*told.train, *told.val))
        plain = msgspec.structs.replace(told, base="", train=("drawn",)) if drawn else told
        key = msgspec.json.encode([type(told).__name__, plain])
        if key not in alike:
            tell(f"{name}: begun")
            alike[key] = rehearse(told, base)
        done[name] = alike[key]
    return done


class Came(NamedTuple):
    """What a run came to, and the seconds it took."""

    done: sft.Trained | grpo.Trained
    seconds: float


def report(named: str, base: str, data: Data, seen: FirstStep, came: Came) -> Rehearsed:
    """What was seen, as a record."""
    done = came.done
    learning, tokens, photos = seen.learning, seen.tokens, seen.image_tokens
    if learning is None or tokens is None or photos is None:
        raise AssertionError("a step was done and nobody saw it")
    (first, *_), (device, memory) = done.history, _memory()
    return Rehearsed(
        recipe_base=named, base=base, data="drawn" if data.missing else "recipe",
        missing=data.missing, examples=len(seen), loss=first["loss"],
        grad_norm=first["grad_norm"], reward=first.get("reward"), learning=learning,
        tokens=tokens, image_tokens=photos, taught=seen.taught, validated=done.val_examples,
        device=device, seconds=round(came.seconds, 1), memory=memory, notes=done.notes,
    )  # fmt: skip


def place_of(base: str | None) -> str:
    """The folder or hub name of the base that stands in."""
    if base is not None and base != BASE:
        return base
    tiny.verify(tiny.WEIGHTS)
    return str(tiny.WEIGHTS)


def at_hand(train: Sequence[str], val: Sequence[str], folder: Path) -> Data:
    """The recipe's examples, or leaves drawn in `folder` where one of them is missing."""
    missing = tuple(each for each in (*train, *val) if not Path(each).exists())
    if not missing:
        return Data(tuple(train), tuple(val), ())
    made = _drawn(folder / "drawn")
    if any(Path(each).suffix for each in train):
        return Data((str(_talks(made["train"])),), (), missing)
    return Data((str(made["train"]),), (str(made["val"]),) if val else (), missing)


def _drawn(out: Path) -> Mapping[str, Path]:
    """Mixtures of drawn leaves by split: both ways of asking, of all that a mix may ask for."""
    small = recipe.Recipe(
        name="stand-in", out=str(out), draw=recipe.Draw(leaves=LEAVES, size=SIDE),
        ingest=recipe.Ingest(source="drawn"),
        compose={
            "train": recipe.Compose(healthy=0.16, wrong_target=0.12),
            "val": recipe.Compose(split="val", healthy=0.16, wrong_target=0.12),
        },
    )  # fmt: skip
    execute.execute(recipe.Opened(small, out.parent), out, quiet=True)
    return {name: out / "training" / name for name in small.compose}


def _talks(folder: Path) -> Path:
    """The examples of a folder as conversations, beside their photos."""
    examples = store.open_examples(folder)
    (root,) = {examples.root(example.source) for example in examples}
    path = root / TALKS
    path.write_bytes(b"".join(map(_talk, examples)))
    return path


def _talk(example: Example) -> bytes:
    said = (("human", f"<image>\n{example.prompt}"), ("gpt", example.answer))
    row = {
        "id": example.id, "image": example.image,
        "conversations": [{"from": who, "value": what} for who, what in said],
    }  # fmt: skip
    return msgspec.json.encode(row) + b"\n"


def no_base(said: str | None) -> None:
    """Raise `Usage` for a base beside a run that is none of rehearsing."""
    if said is not None:
        raise Usage("--base: expected it with --dry-run; for the run itself set the recipe's base")


def _memory() -> tuple[str, int]:
    torch = pretrained.load_torch()
    if torch.cuda.is_available() and torch.cuda.max_memory_allocated():
        return "cuda", int(torch.cuda.max_memory_allocated())
    import resource  # not on Windows

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return "cpu", most * (1 if sys.platform == "darwin" else 1024)


def check(done: Rehearsed) -> None:
    """Raise `Usage` where the recipe would not train what it is to."""
    learning = done.learning
    wrong = []
    if not isfinite(done.loss) or not isfinite(done.grad_norm):
        wrong.append(f"a loss of {done.loss} and gradients of norm {done.grad_norm}")
    if not learning.learning:
        wrong.append("no weight with a gradient")
    if learning.resting:
        wrong.append(f"{len(learning.resting)} that learn without one ({learning.resting[0]})")
    if learning.leaked:
        wrong.append(f"{len(learning.leaked)} frozen with one ({learning.leaked[0]})")
    if wrong:
        raise Usage(
            "dry run: expected a finite loss, and gradients on the weights that are to learn and "
            f"no others, got {', '.join(wrong)}"
        )


def check_all(done: Mapping[str, Rehearsed]) -> None:
    """`check` of each row."""
    for name, each in done.items():
        try:
            check(each)
        except Usage as fault:
            raise Usage(f"rows.{name}: {fault}") from None


def lines(done: Mapping[str, Rehearsed]) -> str:
    """What a person reads of rows."""
    return "\n\n".join(f"{name}: {line(each)}" for name, each in done.items())


def line(done: Rehearsed) -> str:
    """What a person reads."""
    learning, eyes = done.learning, done.learning.eyes
    lacking = f" (not at hand: {', '.join(done.missing)})" if done.missing else ""
    parts = [
        f"dry run: {done.base} in place of {done.recipe_base}, on "
        f"{'drawn leaves' if done.missing else 'the examples of the recipe'}{lacking}",
        f"one step of {done.examples} examples: loss {done.loss:.3g}, gradients of norm "
        f"{done.grad_norm:.3g}"
        + (f", a reward of {done.reward:.3f}" if done.reward is not None else ""),
        f"{learning.weights:,} weights learn, {f'{eyes:,} of them' if eyes else 'none'} in the "
        f"eyes: {learning.learning} tensors have a gradient"
        + (f", {learning.waiting} of LoRA wait for their partners" if learning.waiting else ""),
        f"tokens an example {_told(done.tokens)}, of the photo {_told(done.image_tokens)}"
        + (f", of the reply {_told(done.taught)}" if done.taught else ""),
        f"{done.validated} validated; {done.memory / 1e9:.2f} GB on {done.device}, "
        f"{done.seconds:.0f} s",
    ]
    return ".\n".join(parts) + "."


def _told(some: Range) -> str:
    return f"{some.least} to {some.most} (mean {some.mean:.0f})"
