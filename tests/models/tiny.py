"""Tiny random models of the real classes, saved as their makers save them."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

VOCABULARY = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", ",", "on", "leaf", "rust", "blight", "early",
    "late", "tomato", "coffee", "spot", "brown", "the",
    *"abcdefghijklmnopqrstuvwxyz", *(f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"),
]  # fmt: skip


def noise(folder: Path, sizes: Sequence[tuple[int, int]]) -> list[Path]:
    """Photos of noise, `N.png`, each of (rows, columns): no two alike, whatever their size."""
    paths = [folder / f"{number}.png" for number in range(len(sizes))]
    for number, (path, size) in enumerate(zip(paths, sizes, strict=True)):
        pixels = np.random.default_rng(number).integers(0, 255, (*size, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(path)
    return paths


def grounding_dino(folder: Path) -> Path:
    """Grounding DINO of 0.4 million parameters for photos of 64 pixels a side, in `folder`."""
    import torch
    from transformers import (
        BertConfig,
        BertTokenizerFast,
        GroundingDinoConfig,
        GroundingDinoForObjectDetection,
        GroundingDinoProcessor,
        SwinConfig,
    )
    from transformers.models.grounding_dino.image_processing_pil_grounding_dino import (
        GroundingDinoImageProcessorPil,
    )

    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY))
    eyes = SwinConfig(
        image_size=64, embed_dim=16, depths=[1, 1, 1, 1], num_heads=[1, 2, 2, 4], window_size=4,
        out_indices=[2, 3, 4],
    )  # fmt: skip
    reader = BertConfig(
        vocab_size=len(VOCABULARY), hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=256,
    )  # fmt: skip
    config = GroundingDinoConfig(
        backbone_config=eyes.to_dict(), text_config=reader.to_dict(), num_queries=20, d_model=32,
        encoder_layers=1, decoder_layers=2, encoder_ffn_dim=32, decoder_ffn_dim=32,
        encoder_attention_heads=2, decoder_attention_heads=2, max_text_len=64, fusion_droppath=0.0,
        dropout=0.0,
    )  # fmt: skip
    torch.manual_seed(0)
    model = GroundingDinoForObjectDetection(config)
    with torch.no_grad():  # so that scores lie between 0 and 1, and not at them
        model.model.decoder.layer_norm.weight.mul_(0.1)
    model.save_pretrained(folder)
    photos = GroundingDinoImageProcessorPil(size={"shortest_edge": 64, "longest_edge": 96})
    words = BertTokenizerFast(str(folder / "vocab.txt"))
    GroundingDinoProcessor(photos, words).save_pretrained(folder)
    return folder


def sam2(folder: Path) -> Path:
    """SAM 2 of 0.3 million parameters for photos of 64 x 64 pixels, in `folder`."""
    import torch
    from transformers import Sam2Config, Sam2Model
    from transformers.models.sam2.configuration_sam2 import (
        Sam2HieraDetConfig,
        Sam2MaskDecoderConfig,
        Sam2PromptEncoderConfig,
        Sam2VisionConfig,
    )

    trunk = Sam2HieraDetConfig(
        hidden_size=16, num_attention_heads=1, image_size=[64, 64], blocks_per_stage=[1, 1, 2, 1],
        embed_dim_per_stage=[16, 32, 64, 128], num_attention_heads_per_stage=[1, 1, 2, 4],
        window_size_per_stage=[4, 2, 4, 2], global_attention_blocks=[3],
        window_positional_embedding_background_size=[2, 2],
    )  # fmt: skip
    eyes = Sam2VisionConfig(
        backbone_config=trunk.to_dict(), backbone_channel_list=[128, 64, 32, 16],
        backbone_feature_sizes=[[16, 16], [8, 8], [4, 4]], fpn_hidden_size=32,
    )  # fmt: skip
    config = Sam2Config(
        vision_config=eyes.to_dict(),
        prompt_encoder_config=Sam2PromptEncoderConfig(
            hidden_size=32, image_size=64, patch_size=16
        ).to_dict(),
        mask_decoder_config=Sam2MaskDecoderConfig(
            hidden_size=32, mlp_dim=32, num_attention_heads=2, iou_head_hidden_dim=32
        ).to_dict(),
    )
    torch.manual_seed(0)
    Sam2Model(config).save_pretrained(folder)
    prepared = {
        "size": {"height": 64, "width": 64}, "image_mean": [0.485, 0.456, 0.406],
        "image_std": [0.229, 0.224, 0.225],
    }  # fmt: skip
    (folder / "preprocessor_config.json").write_text(json.dumps(prepared))
    return folder


SPECIAL = (
    "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>",
    "<|image_pad|>", "<|video_pad|>",
)  # fmt: skip
CHAT = (
    "{% for turn in messages %}<|im_start|>{{ turn.role }}\n"
    "{% if turn.content is string %}{{ turn.content }}{% else %}"
    "{% for part in turn.content %}"
    "{% if part.type == 'image' %}<|vision_start|><|image_pad|><|vision_end|>"
    "{% else %}{{ part.text }}{% endif %}{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def qwen3_vl(
    folder: Path, seed: int = 0, hidden: int = 64, layers: int = 2, eyes: int = 32
) -> Path:
    """Qwen3-VL of 0.2 million parameters for photos up to 96 x 96 pixels, in `folder`.

    Words are bytes and a few pairs of them. The folder is as the stock processor leaves it.
    """
    import torch
    from transformers import Qwen3VLConfig, Qwen3VLForConditionalGeneration

    _words(folder)
    config = Qwen3VLConfig(
        text_config={
            "vocab_size": 300, "hidden_size": hidden, "intermediate_size": 2 * hidden,
            "num_hidden_layers": layers, "num_attention_heads": 2, "num_key_value_heads": 2,
            "head_dim": 32, "max_position_embeddings": 2048, "tie_word_embeddings": True,
            "eos_token_id": 2, "pad_token_id": 0, "rope_parameters": {
                "rope_type": "default", "rope_theta": 10000.0, "mrope_section": [6, 5, 5],
                "mrope_interleaved": True,
            },
        },
        vision_config={
            "depth": 2, "hidden_size": eyes, "intermediate_size": 2 * eyes, "num_heads": 2,
            "patch_size": 16, "spatial_merge_size": 2, "temporal_patch_size": 2,
            "out_hidden_size": hidden, "num_position_embeddings": 36,
            "deepstack_visual_indexes": [0],
        },
        image_token_id=5, video_token_id=6, vision_start_token_id=3, vision_end_token_id=4,
        tie_word_embeddings=True,
    )  # fmt: skip
    config.text_config.initializer_range = config.vision_config.initializer_range = 0.2
    torch.manual_seed(seed)
    model = Qwen3VLForConditionalGeneration(config)
    model.generation_config.eos_token_id, model.generation_config.pad_token_id = 2, 0
    model.save_pretrained(folder)
    seen = {
        "do_convert_rgb": True, "do_normalize": True, "do_rescale": True, "do_resize": True,
        "image_mean": [0.5] * 3, "image_std": [0.5] * 3, "merge_size": 2, "patch_size": 16,
        "temporal_patch_size": 2, "resample": 3, "rescale_factor": 1 / 255,
        "size": {"shortest_edge": 32 * 32, "longest_edge": 96 * 96},
    }  # fmt: skip
    whole = {
        "processor_class": "Qwen3VLProcessor",
        "image_processor": {**seen, "image_processor_type": "Qwen2VLImageProcessor"},
        "video_processor": {**seen, "video_processor_type": "Qwen3VLVideoProcessor"},
    }
    (folder / "processor_config.json").write_text(json.dumps(whole, indent=1))
    (folder / "chat_template.jinja").write_text(CHAT)
    return folder


def _words(folder: Path) -> None:
    """A tokenizer made here: bytes, and the pairs that an answer is made of."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    words = Tokenizer(models.BPE())
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=list(SPECIAL), show_progress=False,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
    )  # fmt: skip
    said = '[{"bbox_2d": [10, 20, 300, 400], "label": "leaf rust"}] early late blight spot mold'
    words.train_from_iterator([said] * 3, trainer)
    PreTrainedTokenizerFast(
        tokenizer_object=words, eos_token="<|im_end|>", pad_token="<|endoftext|>",
        model_max_length=2048, padding_side="left", processor_class="Qwen3VLProcessor",
        extra_special_tokens={"image_token": "<|image_pad|>", "video_token": "<|video_pad|>"},
    ).save_pretrained(folder)  # fmt: skip


def qwen2_5_vl(folder: Path) -> Path:
    """Qwen2.5-VL, with the files that its makers gave it: a processor of older days."""
    import torch
    from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration

    _words(folder)
    config = Qwen2_5_VLConfig(
        text_config={
            "vocab_size": 300, "hidden_size": 64, "intermediate_size": 128,
            "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2,
            "max_position_embeddings": 2048, "bos_token_id": 1, "eos_token_id": 2,
            "pad_token_id": 0, "initializer_range": 0.2, "rope_parameters": {
                "rope_type": "default", "rope_theta": 10000.0, "mrope_section": [6, 5, 5],
            },
        },
        vision_config={
            "depth": 2, "hidden_size": 32, "intermediate_size": 64, "num_heads": 2,
            "patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2,
            "out_hidden_size": 64, "fullatt_block_indexes": [1], "window_size": 56,
        },
        image_token_id=5, video_token_id=6, vision_start_token_id=3, vision_end_token_id=4,
    )  # fmt: skip
    torch.manual_seed(0)
    model = Qwen2_5_VLForConditionalGeneration(config)
    model.generation_config.eos_token_id, model.generation_config.pad_token_id = 2, 0
    model.save_pretrained(folder)
    seen = {
        "image_mean": [0.5] * 3, "image_std": [0.5] * 3, "merge_size": 2, "patch_size": 14,
        "temporal_patch_size": 2, "min_pixels": 3136, "max_pixels": 12845056,
        "image_processor_type": "Qwen2VLImageProcessor", "processor_class": "Qwen2_5_VLProcessor",
    }  # fmt: skip
    (folder / "preprocessor_config.json").write_text(json.dumps(seen))
    (folder / "chat_template.jinja").write_text(CHAT)
    return folder


def llava(folder: Path) -> Path:
    """LLaVA for photos of 56 pixels a side: no Qwen, and eyes of one size."""
    import torch
    from transformers import (
        AutoTokenizer,
        CLIPVisionConfig,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
    )
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    _words(folder)
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(
            hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
            image_size=56, patch_size=14,
        ),
        text_config=LlamaConfig(
            vocab_size=300, hidden_size=64, intermediate_size=128, num_hidden_layers=2,
            num_attention_heads=2, eos_token_id=2, pad_token_id=0, initializer_range=0.2,
        ),
        image_token_index=5,
    )  # fmt: skip
    torch.manual_seed(0)
    model = LlavaForConditionalGeneration(config)
    model.generation_config.eos_token_id, model.generation_config.pad_token_id = 2, 0
    model.save_pretrained(folder)
    LlavaProcessor(
        CLIPImageProcessorPil(
            size={"shortest_edge": 56}, crop_size={"height": 56, "width": 56}
        ),
        AutoTokenizer.from_pretrained(folder), patch_size=14, num_additional_image_tokens=1,
        vision_feature_select_strategy="default", image_token="<|image_pad|>",
        chat_template=CHAT.replace("<|vision_start|>", "").replace("<|vision_end|>", ""),
    ).save_pretrained(folder)  # fmt: skip
    return folder
