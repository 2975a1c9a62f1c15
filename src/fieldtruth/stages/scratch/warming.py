"""Eyes taught to see before a word is said: what each part of a photo shows, and where its box is.

A small model that is only taught to answer stays with the answer that is right most often; one
whose eyes were warmed up goes on (tiny-vlm.md, section 3). Three heads read the tokens of a photo,
as the language model will get them, and are thrown away afterwards:

    parts    the label of each of the 16 parts of a token
    middles  whether a box has its middle in each of the 4 quarters
    boxes    the four numbers of the box that a quarter belongs to, said in the language model's own
             tokens: so the places that the eyes see are the numbers that it will write
"""

from collections.abc import Iterator
from contextlib import nullcontext
from math import isfinite
from typing import Any

import numpy as np

from fieldtruth import draws, pretrained
from fieldtruth.faults import Fault
from fieldtruth.models.transformers import muon
from fieldtruth.stages.scratch import seen
from fieldtruth.stages.scratch.body import number_ids
from fieldtruth.stages.scratch.settings import CELL, Scratch
from fieldtruth.stages.scratch.words import LARGEST

_BOXED = 1024  # quarters of a batch whose boxes are asked for
_BLUR = 5.0  # thousandths of a side that a number may be off and still be nearly right
_RARE = 3.0  # how much more a part with something on it, or a middle, counts
_WARM = 0.05  # share of the steps in which the learning rate rises
_DECAY = 0.01
_CLIP = 1.0


class Warmer:
    """A model's eyes and the heads that they are taught with."""

    def __init__(
        self, settings: Scratch, model: Any, album: seen.Album, labels: list[str], tokenizer: Any
    ) -> None:
        torch = pretrained.load_torch()
        self._settings, self._album, self._model = settings, album, model
        self._label = {label: number for number, label in enumerate(labels, start=1)}
        self._device = next(model.parameters()).device
        width, kinds = settings.width, len(labels) + 1
        linear = torch.nn.Linear
        self._heads = torch.nn.ModuleDict({
            "parts": linear(width, seen.PARTS**2 * kinds),
            "middles": linear(width, seen.QUARTERS**2),
            "boxes": linear(width, seen.QUARTERS**2 * 4 * width),
        }).to(self._device)  # fmt: skip
        # The last number of a box has no comma after it.
        told = [number_ids(tokenizer, ", ")] * 3 + [number_ids(tokenizer)]
        self._ids = torch.tensor(told, device=self._device)
        self._places = torch.arange(LARGEST + 1, device=self._device)
        self._weights = torch.tensor([1.0] + [_RARE] * (kinds - 1), device=self._device)

    def run(self, ticks: Iterator[int]) -> list[dict[str, float]]:
        """A step for each tick; returns a row a step: the three parts of the loss.

        Raises `Fault` where one of them is no number any more.
        """
        torch = pretrained.load_torch()
        settings, total = self._settings, self._settings.steps
        eyes = self._model.model.visual
        others = [*self._heads.parameters(), self._model.get_input_embeddings().weight]
        learnt = [*eyes.parameters(), *others]
        optimizer = muon.optimizer(eyes, settings.rate, _DECAY, others)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step, total))
        batches = seen.drawn(
            len(self._album), settings.batch, draws.key(settings.seed, "scratch order", "")
        )
        ways = draws.rng(settings.seed, "scratch ways", "")
        history = []
        self._model.train()
        for _ in ticks:
            parts = self.losses(next(batches), ways)
            loss = sum(parts.values())
            loss.backward()
            torch.nn.utils.clip_grad_norm_(learnt, _CLIP)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            history.append({name: round(float(each.detach()), 4) for name, each in parts.items()})
            if not all(map(isfinite, history[-1].values())):
                raise Fault(
                    f"{settings.out}: expected losses that are numbers, got {history[-1]} at step "
                    f"{len(history)} of the warm-up; lower rate (nothing was written)"
                )
        self._model.eval()
        return history

    def losses(self, numbers: seen.Ints, ways: np.random.Generator) -> dict[str, Any]:
        """Of a batch of photos, each laid down in a way that is drawn."""
        torch = pretrained.load_torch()
        entropy = torch.nn.functional.cross_entropy
        said, truths, corners = self._looked(numbers, ways)
        parts = self._heads["parts"](said).float().reshape(-1, len(self._weights))
        labels = self._tensor(np.concatenate([each.parts for each in truths]).reshape(-1))
        middles = self._heads["middles"](said).float()
        at = self._tensor(np.concatenate([each.middles for each in truths])).float()
        return {
            "parts": entropy(parts, labels, weight=self._weights),
            "middles": torch.nn.functional.binary_cross_entropy_with_logits(
                middles, at, pos_weight=torch.tensor(_RARE, device=self._device)
            ),
            "boxes": self._boxes(said, truths, corners, ways),
        }

    def _looked(self, numbers: seen.Ints, ways: np.random.Generator) -> Any:
        """(tokens, width) of all photos, and per photo its truth and its boxes."""
        shown, truths, corners = [], [], []
        turns = ways.integers(0, 8, len(numbers))
        for number, way in zip(numbers.tolist(), turns.tolist(), strict=True):
            photo, pixels = self._album[number]
            pixels, boxes = seen.turned(pixels, photo.boxes, way)
            down, across = (side // CELL for side in pixels.shape[:2])
            kind = self._label[photo.label] if photo.label else seen.NOTHING
            truths.append(seen.truth(boxes, kind, down, across))
            shown.append(pixels)
            corners.append(boxes)
        given = self._album.tensors(shown).to(self._device)
        with self.quick():
            made = self._model.model.visual(given["pixel_values"], grid_thw=given["image_grid_thw"])
            said = made.pooler_output
            for each in made.deepstack_features:
                said = said + each
        return said.float(), truths, corners

    def _boxes(self, said: Any, truths: Any, corners: Any, ways: np.random.Generator) -> Any:
        """Soft cross entropy of the numbers of some quarters' boxes, in the tied tokens."""
        torch = pretrained.load_torch()
        place, wanted, first = [], [], 0
        for each, boxes in zip(truths, corners, strict=True):
            token, quarter = np.nonzero(each.owners >= 0)
            middle = each.middles[token, quarter]
            place.append(np.stack([token + first, quarter, middle], axis=1))
            wanted.append(boxes[each.owners[token, quarter]])
            first += len(each.owners)
        places, boxes = np.concatenate(place), np.concatenate(wanted)
        if not len(places):
            return said.sum() * 0
        # Those with a middle first: they are what the language model will go by.
        rank = np.argsort(ways.random(len(places)) - places[:, 2])[:_BOXED]
        token, quarter = self._tensor(places[rank, 0]), self._tensor(places[rank, 1])
        head = self._heads["boxes"]
        with self.quick():
            # Only the quarters asked for: the head is wide.
            weight = head.weight.unflatten(0, (seen.QUARTERS**2, -1))
            bias = head.bias.unflatten(0, (seen.QUARTERS**2, -1))
            whole = torch.cat([
                torch.nn.functional.linear(said[token[quarter == q]], weight[q], bias[q])
                for q in range(seen.QUARTERS**2)
            ]).unflatten(1, (4, -1))  # fmt: skip
            table = self._model.get_input_embeddings().weight[self._ids]
            # As the language model's last norm leaves what it will say.
            whole = torch.nn.functional.rms_norm(whole.float(), whole.shape[-1:])
            logits = torch.einsum("bcw,cnw->bcn", whole, table)
        order = torch.argsort(quarter, stable=True)
        goal = self._tensor(boxes[rank] * LARGEST).float()[order]
        near = torch.softmax(-((self._places - goal[..., None]) ** 2) / (2 * _BLUR**2), dim=-1)
        return -(near * logits.float().log_softmax(-1)).sum(-1).mean()

    def quick(self) -> Any:
        """bfloat16 where the machine has it."""
        torch = pretrained.load_torch()
        kind = self._device.type
        able = torch.cuda.is_bf16_supported() if kind == "cuda" else has_bfloat16()
        return torch.autocast(kind, torch.bfloat16) if able else nullcontext()

    def _tensor(self, array: Any) -> Any:
        return pretrained.load_torch().from_numpy(np.ascontiguousarray(array)).to(self._device)


def has_bfloat16() -> bool:
    """Whether this CPU multiplies in bfloat16; one that does not is slower with it."""
    return bool(pretrained.load_torch().cpu._is_avx512_bf16_supported())


def _rate(step: int, total: int) -> float:
    """Up in a line, down in half a cosine."""
    warm = max(1, round(_WARM * total))
    if step < warm:
        return (step + 1) / warm
    return float(0.5 * (1 + np.cos(np.pi * (step - warm) / max(1, total - warm))))
