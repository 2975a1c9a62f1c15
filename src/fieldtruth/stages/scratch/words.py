"""A tokenizer for a model from nothing, made from the words of its examples, without a network.

Bytes, so that any text can be written, and pairs of them; and whole tokens for what is said most:
every whole number from 0 to 1000, alone and with the comma that another number follows, the glue
between the numbers of an answer, and the sentences of the prompts. So a box is seven tokens and a
prompt about thirty (tiny-vlm.md, section 2).
"""

import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fieldtruth.pretrained import load_transformers

SPECIAL = (
    "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>",
    "<|image_pad|>", "<|video_pad|>",
)  # fmt: skip
LARGEST = 1000  # of the numbers that are one token
CHAT = (
    "{% for turn in messages %}<|im_start|>{{ turn.role }}\n"
    "{% if turn.content is string %}{{ turn.content }}{% else %}"
    "{% for part in turn.content %}"
    "{% if part.type == 'image' %}<|vision_start|><|image_pad|><|vision_end|>"
    "{% elif part.type == 'video' %}<|vision_start|><|video_pad|><|vision_end|>"
    "{% else %}{{ part.text }}{% endif %}{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)

_GLUE = ('[{"bbox_2d": [', '], "label": "', '"}, {"bbox_2d": [', '"}]', "[]")
_NUMBER = r"(?<![A-Za-z0-9_])[0-9]+(?:, (?=[0-9])|\. )?"
# What text is cut into: glue, numbers, quotes and ends of lines, and whatever stands between.
PIECES = "|".join([*map(re.escape, _GLUE), _NUMBER, '"', "\\n"])
_PAIRS, _LONGEST = 400, 12  # pairs of bytes, and pairs of pairs; characters of one
_WHOLE, _SELDOM = 600, 0.001  # pieces that are one token; in a smaller share of texts, none is


def build(texts: Iterable[str], folder: Path) -> Any:
    """The tokenizer of these texts, written into a folder too.

    The special ones come first, in the order of `SPECIAL`; then whatever order the texts give.
    """
    library = load_transformers()
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

    said = list(texts)
    as_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    cut = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(PIECES), behavior="isolated"), as_bytes]
    )
    learner = Tokenizer(models.BPE())
    learner.pre_tokenizer = cut
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=len(SPECIAL) + len(alphabet) + _PAIRS, show_progress=False,
        special_tokens=list(SPECIAL), initial_alphabet=alphabet, max_token_length=_LONGEST,
    )  # fmt: skip
    learner.train_from_iterator(said, trainer)
    vocabulary = learner.get_vocab()
    # Only the merges between pairs that the learner made itself lead anywhere.
    merges = _merges(learner)
    for piece in [*numbers(), *numbers(", "), *_frequent(said)]:
        (whole,) = (text for text, _ in as_bytes.pre_tokenize_str(piece))
        vocabulary.setdefault(whole, len(vocabulary))
    words = Tokenizer(models.BPE(vocab=vocabulary, merges=merges, ignore_merges=True))
    words.pre_tokenizer, words.decoder = cut, decoders.ByteLevel()
    words.add_special_tokens([AddedToken(each, special=True) for each in SPECIAL])
    made = library.PreTrainedTokenizerFast(
        tokenizer_object=words, eos_token="<|im_end|>", pad_token="<|endoftext|>",
        model_max_length=4096, padding_side="left", processor_class="Qwen3VLProcessor",
        extra_special_tokens={"image_token": "<|image_pad|>", "video_token": "<|video_pad|>"},
    )  # fmt: skip
    # Written here first: the library below does not say as the system does that there is no room.
    told = made.backend_tokenizer.to_str(pretty=True)
    (folder / "tokenizer.json").write_text(told, encoding="utf-8")
    made.save_pretrained(folder)
    (folder / "chat_template.jinja").write_text(CHAT, encoding="utf-8")
    return made


def numbers(after: str = "") -> list[str]:
    """The pieces that are a number: alone, or with what follows it."""
    return [f"{number}{after}" for number in range(LARGEST + 1)]


def _frequent(texts: list[str]) -> list[str]:
    """The pieces that stand in many of the texts, most frequent first."""
    cut = re.compile(f"({PIECES})")
    counted = Counter(piece for text in texts for piece in set(cut.split(text)) if piece)
    least = max(2, _SELDOM * len(texts))
    ranked = sorted(counted.items(), key=lambda each: (-each[1], each[0]))
    return [piece for piece, count in ranked if count >= least][:_WHOLE]


def _merges(learner: Any) -> list[tuple[str, str]]:
    """The pairs that were learned, in their order."""
    told = json.loads(learner.to_str())["model"]["merges"]
    return [(left, right) for left, right in told]
