"""A Qwen3-VL of a few million weights, drawn at random, with its processor: a folder to train from.

Numbers and places begin as sines and cosines, so that near ones are alike before anything is
learned (tiny-vlm.md, sections 2 and 3). The processor is named as the stock one, with its part for
videos, so that the ordinary Auto classes open the folder where torchvision is installed.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldtruth import pretrained
from fieldtruth.stages.scratch.settings import MERGE, PATCH, Scratch
from fieldtruth.stages.scratch.words import SPECIAL, numbers

Floats = NDArray[np.float32]

ROOM = 1.125  # over side * side: a photo of 4:3 keeps as many tokens as a square one
ENLARGED = 0.75  # of side * side: a smaller photo is enlarged
SPREAD = 0.05  # of weights
FASTEST = 32  # waves of a number from 0 to 1000: what is nearer than about 5 looks alike
NUMBER, APART = 0.1, 0.05  # amplitude of a number's waves; spread of what tells the two kinds apart
FAINT = 1e-4  # a component whose spread is less is no louder than one of this
PLACE = 0.5  # amplitude of a place's waves
_LENGTH = 4096  # tokens of a prompt, photos and answer


def draw(settings: Scratch, tokenizer: Any) -> Any:
    """The model with its first weights."""
    torch = pretrained.load_torch()
    library = pretrained.load_transformers()
    torch.manual_seed(settings.seed)
    # Written out: the fused attention is slow to go back through on a CPU.
    model = library.Qwen3VLForConditionalGeneration._from_config(
        _config(settings, len(tokenizer)), attn_implementation="eager"
    )
    with torch.no_grad():
        table = model.get_input_embeddings().weight
        for after in ("", ", "):
            ids = number_ids(tokenizer, after)
            apart = torch.randn(settings.width) * APART
            table[ids] = torch.from_numpy(NUMBER * _line(len(ids), settings.width)) + apart
        places = PLACE * _plane(settings.grid, settings.eyes)
        model.model.visual.pos_embed.weight.copy_(torch.from_numpy(places))
    end, pad = SPECIAL.index("<|im_end|>"), SPECIAL.index("<|endoftext|>")
    model.generation_config.eos_token_id, model.generation_config.pad_token_id = end, pad
    return model


def whiten(model: Any, patches: NDArray[np.float64]) -> None:
    """Let the first layer tell apart what tells patches (n, numbers of one) apart.

    Its weights become their principal components, each made to spread by one: what differs little
    but often, as the grain of a spot does, is then as loud as the brightness of the whole patch.
    """
    torch = pretrained.load_torch()
    embed = model.model.visual.patch_embed.proj
    middle = patches.mean(axis=0)
    spread, ways = np.linalg.eigh(np.cov(patches, rowvar=False))
    width = min(embed.weight.shape[0], len(spread))
    best = ways[:, ::-1][:, :width].T / np.sqrt(np.maximum(spread[::-1][:width], FAINT))[:, None]
    with torch.no_grad():
        embed.weight.flatten(1)[:width] = torch.from_numpy(best).float()
        embed.bias[:width] = torch.from_numpy(-best @ middle).float()


def number_ids(tokenizer: Any, after: str = "") -> list[int]:
    """The tokens of the numbers from 0 up, alone or with what follows them."""
    backend = tokenizer.backend_tokenizer
    as_bytes = [backend.pre_tokenizer.pre_tokenize_str(f"{each}1")[0][0] if after else each
                for each in numbers(after)]  # fmt: skip
    ids: list[int] = tokenizer.convert_tokens_to_ids(as_bytes)
    return ids


def write_processor(settings: Scratch, folder: Path) -> None:
    """What prepares photos, and names the stock classes; the tokenizer is there already."""
    area = settings.side**2
    seen = {
        "do_convert_rgb": True, "do_normalize": True, "do_rescale": True, "do_resize": True,
        "image_mean": [0.5] * 3, "image_std": [0.5] * 3, "merge_size": MERGE, "patch_size": PATCH,
        "temporal_patch_size": 2, "resample": 3, "rescale_factor": 1 / 255,
        "size": {"shortest_edge": int(ENLARGED * area), "longest_edge": int(ROOM * area)},
    }  # fmt: skip
    whole = {
        "processor_class": "Qwen3VLProcessor",
        "image_processor": {**seen, "image_processor_type": "Qwen2VLImageProcessor"},
        "video_processor": {**seen, "video_processor_type": "Qwen3VLVideoProcessor"},
    }
    text = json.dumps(whole, indent=1) + "\n"
    (folder / "processor_config.json").write_text(text, encoding="utf-8")


def _config(settings: Scratch, vocabulary: int) -> Any:
    half = settings.width // settings.heads // 2  # pairs of numbers that a head turns
    sections = [half - 2 * (half // 3), half // 3, half // 3]
    ids = {each: SPECIAL.index(f"<|{each}|>") for each in (
        "image_pad", "video_pad", "vision_start", "vision_end", "im_end", "endoftext",
    )}  # fmt: skip
    return pretrained.load_transformers().Qwen3VLConfig(
        text_config={
            "vocab_size": vocabulary, "hidden_size": settings.width,
            "intermediate_size": 2 * settings.width, "num_hidden_layers": settings.layers,
            "num_attention_heads": settings.heads, "num_key_value_heads": settings.heads,
            "head_dim": 2 * half, "max_position_embeddings": _LENGTH,
            "tie_word_embeddings": True, "initializer_range": SPREAD,
            "eos_token_id": ids["im_end"], "pad_token_id": ids["endoftext"],
            "rope_parameters": {
                "rope_type": "default", "rope_theta": 10000.0, "mrope_section": sections,
                "mrope_interleaved": True,
            },
        },
        vision_config={
            "depth": settings.eye_layers, "hidden_size": settings.eyes,
            "intermediate_size": 3 * settings.eyes, "num_heads": settings.eye_heads,
            "patch_size": PATCH, "spatial_merge_size": MERGE, "temporal_patch_size": 2,
            "out_hidden_size": settings.width, "num_position_embeddings": settings.grid**2,
            "deepstack_visual_indexes": [settings.eye_layers // 2], "initializer_range": SPREAD,
        },
        image_token_id=ids["image_pad"], video_token_id=ids["video_pad"],
        vision_start_token_id=ids["vision_start"], vision_end_token_id=ids["vision_end"],
        tie_word_embeddings=True,
    )  # fmt: skip


def _line(count: int, width: int) -> Floats:
    """Waves over `count` places, (count, width): from a quarter of a wave to `FASTEST` in all."""
    waves = np.geomspace(0.25, FASTEST, width // 2)
    turns = 2 * np.pi * np.outer(np.arange(count) / (count - 1), waves)
    return np.concatenate([np.sin(turns), np.cos(turns)], axis=1).astype(np.float32)


def _plane(side: int, width: int) -> Floats:
    """Waves over a square of places, row by row: (side * side, width), half of them a side."""
    waves = np.geomspace(0.25, side / 2, width // 4)
    turns = 2 * np.pi * np.outer(np.arange(side) / max(side - 1, 1), waves)
    line = np.concatenate([np.sin(turns), np.cos(turns)], axis=1)
    down, across = np.repeat(line, side, axis=0), np.tile(line, (side, 1))
    return np.concatenate([down, across], axis=1).astype(np.float32)
