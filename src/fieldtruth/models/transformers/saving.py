"""A folder of weights that any other program opens: with the processor they came with."""

import shutil
from pathlib import Path
from typing import Any

from fieldtruth.faults import CannotWrite
from fieldtruth.pretrained import folder_of

_WEIGHTS = ("adapter_model.safetensors", "adapter_config.json", "model*.safetensors",
            "model.safetensors.index.json", "config.json", "generation_config.json")  # fmt: skip
# Whatever a processor or tokenizer may consist of, old names and new.
_PROCESSOR = ("*processor*.json", "tokenizer*", "chat_template*", "vocab*", "merges.txt",
              "special_tokens_map.json", "added_tokens.json", "*.model")  # fmt: skip


def save(model: Any, folder: Path, out: Path) -> None:
    """The weights of a model in safetensors, in a folder that is to become `out`.

    Raises `CannotWrite` where there is no room, which the library does not say as the system.
    """
    from safetensors import SafetensorError

    try:
        model.save_pretrained(folder)
    except SafetensorError as error:
        raise CannotWrite(
            f"{out}: expected room to write, got none: {error}; make some, and give the same "
            "command again"
        ) from error


def copy_weights(trained: Path, out: Path, base: str) -> None:
    """The weights of a checkpoint; where they are no adapter, with the processor of their base."""
    for path in _matching(trained, _WEIGHTS):
        shutil.copyfile(path, out / path.name)
    if not (trained / "adapter_config.json").is_file():
        copy_processor(base, out)


def copy_processor(base: str, out: Path) -> None:
    """The processor's own files, byte for byte: what is saved anew may lack a part, or a name."""
    for path in _matching(folder_of(base), _PROCESSOR):
        shutil.copyfile(path, out / path.name)


def _matching(folder: Path, patterns: tuple[str, ...]) -> list[Path]:
    found = {path for pattern in patterns for path in folder.glob(pattern) if path.is_file()}
    return sorted(found)
