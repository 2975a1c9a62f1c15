"""A run of LLaMA-Factory over an exported folder, as its YAML: PlantXpert's settings.

The values are the paper's (implementation; agroground.md, section 19): LoRA of rank 16, alpha 32,
dropout 0.05; AdamW, cosine, warm-up 0.03, 1e-4; 1 x 4 rows a step; 3 epochs; 4,096 tokens. The
names are those of LLaMA-Factory's own arguments (its `hparams`) and of transformers'
`TrainingArguments`; it refuses a name that it does not know. Looked up in LLaMA-Factory 0.9.5 and
in transformers 5.6.0, the newest that it takes (`warmup_ratio` is gone from later ones).
"""

import json
from dataclasses import dataclass
from pathlib import Path

from fieldtruth.faults import Usage
from fieldtruth.formats.llama_factory import dataset
from fieldtruth.records import Split

NAME = "lora.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """`model`: a folder or hub name; `template`: what LLaMA-Factory calls its way to chat
    (`qwen3_vl_nothink`); `length`: tokens of a row at most (the paper: 16384 for Granite)."""

    model: str
    template: str
    length: int = 4096

    def __post_init__(self) -> None:
        for name in ("model", "template"):
            if not getattr(self, name).strip():
                raise Usage(f"--{name}: expected a name, got a blank one")
        if self.length < 1:
            raise Usage(f"--length: expected at least 1 token, got {self.length}")


def config(tuned: Tuned, split: Split) -> dict[str, str | int | float | bool]:
    """The arguments of `llamafactory-cli train`, run within the folder."""
    return {
        "model_name_or_path": tuned.model,
        "stage": "sft",
        "do_train": True,
        "finetuning_type": "lora",
        "lora_rank": 16,
        "lora_alpha": 32,
        "lora_dropout": 0.05,
        "lora_target": "all",
        "dataset_dir": ".",
        "dataset": dataset(split),
        "template": tuned.template,
        "cutoff_len": tuned.length,
        "output_dir": "tuned",
        "save_strategy": "epoch",
        "logging_steps": 10,
        "report_to": "none",
        "per_device_train_batch_size": 1,
        "gradient_accumulation_steps": 4,
        "learning_rate": 1e-4,
        "num_train_epochs": 3.0,
        "optim": "adamw_torch",
        "lr_scheduler_type": "cosine",
        "warmup_ratio": 0.03,
        "bf16": True,
        "seed": 42,
    }


def write(tuned: Tuned, split: Split, folder: Path) -> None:
    """Write `lora.yaml`: words and numbers as JSON has them, which YAML reads as they are."""
    lines = [f"{name}: {json.dumps(value)}\n" for name, value in config(tuned, split).items()]
    head = "# llamafactory-cli train lora.yaml, in this folder\n"
    (folder / NAME).write_text(head + "".join(lines), encoding="utf-8")
