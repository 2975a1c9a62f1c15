"""A step of `train sft` against a bare PyTorch loop over the same model and the same batches.

    python bench/train.py [--full]

Both train LoRA (or, with --full, all weights) of a Qwen3-VL of 1.5 million parameters from the
same base on one thread, in blocks of steps that take turns in one process; the bare loop gets the
rows that the trainer's block before had, prepares their photos alike, and does what has to be done
and no more: forward, backward, clip, step. CPU time of the process, so that neighbours do not
count; the ratio of each pair of blocks, their median and its 95 % interval (by ranks). Exits 1
where the median is over the target.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is loaded

import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
BLOCKS, STEPS, BATCH, EXAMPLES = 20, 6, 8, 64
TARGET = 1.05
RANKS = (5, 14)  # of 20 in order, from 0: the median lies between them 95 times of 100


class Recorded:
    """The trainer's batches, and which rows they were of."""

    def __init__(self, teach: Any) -> None:
        self.teach, self.rows = teach, list[list[Mapping[str, int]]]()

    def __call__(self, some: Iterable[Mapping[str, int]]) -> Any:
        self.rows.append(list(some))
        return self.teach(self.rows[-1])


class Bare:
    """The loop that anyone would write."""

    def __init__(self, model: Any, settings: Any) -> None:
        import torch

        self._torch, self._model, self._clip = torch, model.train(), settings.clip
        self._learnt = [each for each in model.parameters() if each.requires_grad]
        self._optimizer = torch.optim.AdamW(
            self._learnt, lr=settings.rate, weight_decay=settings.decay, fused=True
        )

    def step(self, batch: Mapping[str, Any]) -> float:
        """One step; the loss is read, as the trainer reads it."""
        loss = self._model(**batch, use_cache=False).loss
        loss.backward()
        self._torch.nn.utils.clip_grad_norm_(self._learnt, self._clip)
        self._optimizer.step()
        self._optimizer.zero_grad()
        return float(loss.detach())


def main(arguments: list[str]) -> int:
    """The ratio; 1 when the target is missed."""
    sys.path.insert(0, str(ROOT))
    from fieldtruth import pretrained

    pretrained.load_trl()
    with tempfile.TemporaryDirectory() as folder, pretrained.hushed():
        ours, bare = measured(Path(folder), rank=0 if "--full" in arguments else 16)
    ratios = np.sort(np.array(ours) / np.array(bare))
    median = float(np.median(ratios))
    print(f"a step of ours: {1000 * np.median(ours) / STEPS:,.1f} ms of CPU time")
    print(f"a bare step:    {1000 * np.median(bare) / STEPS:,.1f} ms")
    low, high = ratios[list(RANKS)]
    told = "" if median <= TARGET else ", MISSED"
    print(f"ratio: {median:.3f} [{low:.3f}, {high:.3f}] (target {TARGET}{told})")
    return int(median > TARGET)


def measured(folder: Path, rank: int) -> tuple[list[float], list[float]]:
    """Seconds of each block of the trainer and of the bare loop."""
    from tests.models import tiny
    from tests.stages import tuned
    from transformers import TrainerCallback

    from fieldtruth import store
    from fieldtruth.models.transformers import loading
    from fieldtruth.models.transformers.card import Card
    from fieldtruth.models.transformers.processor import open_processor
    from fieldtruth.stages.sft import trainer
    from fieldtruth.tuning.checkpoints import Checkpoints
    from fieldtruth.tuning.rows import Rows

    tiny.qwen3_vl(folder / "base", hidden=160, layers=3, eyes=96)
    rows = Rows([store.open_examples(tuned.examples(folder / "train", EXAMPLES))])
    total = (BLOCKS + 1) * STEPS  # the first block warms up
    settings = tuned.settings(
        folder, rank=rank, batch=BATCH, accumulate=1, steps=total, save_every=total, rate=1e-4,
        schedule="constant", warmup=0.0, dropout=0.0,
    )  # fmt: skip
    models = []
    for _ in range(2):
        weights = loading.load(settings.base, "cpu", "float32", attn_implementation="eager")
        loading.quicken(weights, "cpu", "on")
        models.append(weights)
    card = Card(
        method="lora", base=settings.base, base_weights="", space="norm1000", min_pixels=None,
        max_pixels=None, step=0,
    )  # fmt: skip
    rest = trainer.Rest(Checkpoints(folder / "out", card, ""), None)
    made = [
        trainer.open_tuner(settings, each, "cpu", open_processor(settings.base), rows, rest)
        for each in models
    ]
    count = sum(each.numel() for each in models[0].model.parameters())
    print(f"{count / 1e6:.2f} million parameters, {BATCH} examples a step, rank {rank}")
    tuner, bare = made[0], Bare(made[1].model, settings)
    batches = Recorded(tuner.data_collator)
    tuner.data_collator = batches
    ours, theirs = list[float](), list[float]()

    class Turns(TrainerCallback):  # type: ignore[misc]
        begun = 0.0

        def on_step_end(self, _: Any, state: Any, *__: Any, **___: Any) -> None:
            if state.global_step % STEPS:
                return
            ours.append(time.process_time() - self.begun)
            begun = time.process_time()
            for some in batches.rows[state.global_step - STEPS : state.global_step]:
                bare.step(batches.teach(some))
            theirs.append(time.process_time() - begun)
            self.begun = time.process_time()

    tuner.add_callback(Turns())
    trainer.run(tuner, iter(()), None)
    return ours[1:], theirs[1:]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
