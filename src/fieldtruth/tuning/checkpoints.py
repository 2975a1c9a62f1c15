"""Checkpoints: whole or not there, the best and the last of them kept, and what is made of them.

OUT/checkpoints/checkpoint-N/    weights, optimizer, schedule, random states; `fieldtruth.json`
                                 is written last, so that one without it is no checkpoint
OUT/checkpoints/validation-N.json    how it did, once that is known; stays when it goes
OUT/best/  OUT/last/             the weights alone, when the run is done
"""

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from fieldtruth import store
from fieldtruth.faults import CannotWrite
from fieldtruth.models.transformers.card import NAME, Card, write_card
from fieldtruth.models.transformers.saving import copy_weights
from fieldtruth.tuning.validating import Validation

FOLDER = "checkpoints"
VALIDATION = "validation.json"
STATE = "trainer_state.json"  # of transformers' trainer
_NAME = re.compile(r"checkpoint-(\d+)")


class Checkpoints:
    """The checkpoints of a run; `select` is what they are compared by, "" where by nothing."""

    def __init__(self, out: Path, card: Card, select: str) -> None:
        self._out, self._card, self._select = out, card, select

    @property
    def folder(self) -> Path:
        """Where the trainer puts them."""
        return self._out / FOLDER

    def at(self, step: int) -> Path:
        """The folder of the checkpoint of a step."""
        return self.folder / f"checkpoint-{step}"

    def steps(self) -> list[int]:
        """The steps that have a whole checkpoint, ascending."""
        return sorted(step for step, whole in self._all().items() if whole)

    def clear(self) -> None:
        """Remove what is no checkpoint: a process was killed, or had no room, while it saved."""
        for step, whole in self._all().items():
            if not whole:
                shutil.rmtree(self.at(step))

    def _all(self) -> dict[int, bool]:
        found = self.folder.glob("checkpoint-*") if self.folder.is_dir() else ()
        named = {path: _NAME.fullmatch(path.name) for path in found}
        return {int(name[1]): (path / NAME).is_file() for path, name in named.items() if name}

    @contextmanager
    def saving(self, step: int) -> Iterator[None]:
        """The block writes a checkpoint; where it finds no room nothing of it is left.

        Raises `CannotWrite`; the checkpoints before it stay.
        """
        from safetensors import SafetensorError

        place = self.at(step)
        try:
            with store.room(place):
                yield
                for path in place.iterdir():
                    with path.open("rb") as file:
                        os.fsync(file.fileno())
                write_card(place, msgspec.structs.replace(self._card, step=step))
        except CannotWrite:
            shutil.rmtree(place, ignore_errors=True)
            raise
        except (SafetensorError, RuntimeError) as error:
            # Neither library passes the system's own error on.
            torn = any(part in str(error) for part in ("PytorchStreamWriter", "inline_container"))
            if isinstance(error, RuntimeError) and not torn:
                raise
            shutil.rmtree(place, ignore_errors=True)
            raise CannotWrite(
                f"{place}: expected room to write a checkpoint, got: {_line(error)}; make some, "
                "and give the same command again (it goes on from the checkpoint before)"
            ) from error

    def judged(self, found: Validation) -> None:
        """Note how the checkpoint of a step did."""
        with store.replacing(self._validation(found.step)) as file:
            file.write(msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")

    def judgement(self, step: int) -> Validation | None:
        """How it did, or None where nobody looked yet."""
        path = self._validation(step)
        return msgspec.json.decode(path.read_bytes(), type=Validation) if path.is_file() else None

    def _validation(self, step: int) -> Path:
        return self.folder / f"validation-{step}.json"

    def judgements(self) -> list[Validation]:
        """How all checkpoints did, also those that are gone; by step."""
        found = [
            msgspec.json.decode(path.read_bytes(), type=Validation)
            for path in self.folder.glob("validation-*.json")
        ]
        return sorted(found, key=lambda each: each.step)

    def history(self) -> list[dict[str, Any]]:
        """What the trainer logged up to the last checkpoint, in its own words.

        Those hold NaN and Infinity, which are no JSON: in half precision a step that overflows is
        passed over, and its gradient is logged.
        """
        raw = (self.at(self.steps()[-1]) / STATE).read_bytes()
        rows: list[dict[str, Any]] = json.loads(raw)["log_history"]
        return rows

    def best(self) -> int:
        """The step of the best checkpoint: the first of equals; the last where none was judged."""
        steps, found = self.steps(), dict[int, float]()
        for step in steps:
            judged = self.judgement(step) if self._select else None
            value = judged.by(self._select) if judged else None
            if value is not None:
                found[step] = value
        return max(found, key=lambda step: (found[step], -step)) if found else steps[-1]

    def thin(self) -> None:
        """Remove all but the best and the last."""
        steps = self.steps()
        for step in set(steps) - {self.best(), steps[-1]}:
            (self.at(step) / NAME).unlink()  # from here on it is none
            shutil.rmtree(self.at(step))

    def publish(self, base: str) -> dict[str, int]:
        """Make `best` and `last` of them; returns their steps."""
        chosen = {"best": self.best(), "last": self.steps()[-1]}
        for name, step in chosen.items():
            out = self._out / name
            with store.drafting(out) as part:
                copy_weights(self.at(step), part, base)
                write_card(part, msgspec.structs.replace(self._card, step=step))
                if self._validation(step).is_file():
                    shutil.copyfile(self._validation(step), part / VALIDATION)
                shutil.rmtree(out, ignore_errors=True)
                store.publish(part, out)
        return chosen

    def remove(self) -> None:
        """All of them; what was made of them stays."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _line(error: Any) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
