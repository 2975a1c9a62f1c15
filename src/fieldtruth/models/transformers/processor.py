"""The processor that belongs to a model, also where torchvision is not installed.

Only videos need torchvision, but the stock Qwen processors ask for the part that reads them. So
where the stock one cannot be loaded, one of the same class without that part is; it prepares
photos with PIL (tiny-vlm.md, section 1).
"""

from functools import partial
from typing import Any

from fieldtruth.faults import Usage
from fieldtruth.pretrained import load_transformers, opened

_TOKENS = {
    "image": "<|image_pad|>", "video": "<|video_pad|>", "vision_start": "<|vision_start|>",
    "vision_end": "<|vision_end|>",
}  # fmt: skip


def open_processor(place: str) -> Any:
    """The processor in a folder or under a hub name; `Usage` where it takes no photos."""
    library = load_transformers()

    def how(there: str) -> Any:
        try:
            return library.AutoProcessor.from_pretrained(there, trust_remote_code=False)
        except ImportError:
            return _without_video(place).from_pretrained(there)

    made = opened(place, how)
    if not hasattr(made, "image_processor") or not hasattr(made, "tokenizer"):
        raise Usage(
            f"{place}: expected a processor of photos and words, got a {type(made).__name__}; "
            "its preprocessor_config.json is missing, or names a class that is not transformers' "
            "own"
        )
    return made


def _without_video(place: str) -> Any:
    """The stock class of the model's kind, loaded from its photo processor and tokenizer alone."""
    library = load_transformers()
    config = opened(place, partial(library.AutoConfig.from_pretrained, trust_remote_code=False))
    from transformers.models.auto.processing_auto import PROCESSOR_MAPPING_NAMES

    name = PROCESSOR_MAPPING_NAMES.get(config.model_type)
    if name is None:
        raise Usage(f"{place}: expected a model of photos and words, got a {config.model_type}")
    stock, whole = getattr(library, name), library.ProcessorMixin

    def begin(self: Any, image_processor: Any, tokenizer: Any, chat_template: Any = None) -> None:
        whole.__init__(self, image_processor, tokenizer, chat_template=chat_template)
        for token, usual in _TOKENS.items():
            text = getattr(tokenizer, f"{token}_token", None) or usual
            setattr(self, f"{token}_token", text)
            setattr(self, f"{token}_token_id", tokenizer.convert_tokens_to_ids(text))

    # The stock name, so that what is saved names a class that others can load.
    return type(name, (stock,), {"__init__": begin})
