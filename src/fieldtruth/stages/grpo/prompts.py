"""Examples as TRL asks about them, and a look at their tokens before the first step."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fieldtruth.faults import Unreadable, Usage
from fieldtruth.images import open_upright
from fieldtruth.models.transformers.encoding import Encoder
from fieldtruth.records import Example
from fieldtruth.tuning.rows import Rows

if TYPE_CHECKING:
    from PIL.Image import Image

LOOKED = 32  # prompts that are looked at, beside one for each size of photo


class Shown:
    """Rows of `{"row": [number, ...]}` -> prompts with their photos, in the way of TRL.

    A round is handed over once for every batch of it, so its photos are held until the next.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._held: dict[int, tuple[str, Image]] = {}

    def __call__(self, batch: Mapping[str, Sequence[int]]) -> dict[str, list[Any]]:
        """Raises `Unreadable` naming the example whose photo cannot be opened."""
        numbers = list(batch["row"])
        self._held = {
            number: self._held.get(number) or self._opened(number)
            for number in dict.fromkeys(numbers)
        }
        shown = [self._held[number] for number in numbers]
        return {
            "row": numbers,
            "prompt": [[{"role": "user", "content": prompt}] for prompt, _ in shown],
            "image": [photo for _, photo in shown],
        }

    def _opened(self, number: int) -> tuple[str, "Image"]:
        example, path = self._rows[number]
        try:
            return example.prompt, open_upright(path)
        except Unreadable as fault:
            raise Unreadable(f"example {example.id!r}: {fault}", fault.outcome) from None


def check(rows: Rows, asked: Iterable[int], processor: Any, encoder: Encoder, sign: int) -> int:
    """Look at the first prompts and at one for each size of photo; the most tokens of any prompt.

    `sign` is the model's token for a part of a photo. Raises `Unreadable` naming the example whose
    prompt holds one of the model's own signs, or has another number of such tokens than its photo
    has parts; `Usage` where TRL would ask otherwise than `predict` does.
    """
    beside, longest = dict[tuple[int, int], int](), 0  # tokens of the photo and the template
    shown = Shown(rows)
    for place, number in enumerate(dict.fromkeys(asked)):
        example, _ = rows[number]
        try:
            encoder.plain(example.prompt)
        except Unreadable as fault:
            raise Unreadable(f"example {example.id!r}: {fault}", fault.outcome) from None
        size = (example.width, example.height)
        words = processor.tokenizer(example.prompt, add_special_tokens=False)["input_ids"]
        if place < LOOKED or size not in beside:
            made = _tokens(example, shown({"row": [number]}), processor, encoder, sign)
            beside[size] = max(beside.get(size, 0), made - len(words))
        longest = max(longest, beside[size] + len(words))
    return longest


def _tokens(
    example: Example, shown: Mapping[str, Any], processor: Any, encoder: Encoder, sign: int
) -> int:
    (photo,) = shown["image"]
    ours = encoder.ask(example.prompt, [photo])
    ids = ours.words["input_ids"][0].tolist()
    grids = ours.photos.get("image_grid_thw")
    if grids is not None:
        parts = int(grids.prod()) // processor.image_processor.merge_size**2
        if ids.count(sign) != parts:
            raise Unreadable(
                f"example {example.id!r}: expected {parts} image tokens for its photo, got "
                f"{ids.count(sign)}; the processor and the weights do not belong together"
            )
    content = [{"type": "image", "image": photo}, {"type": "text", "text": example.prompt}]
    theirs = processor.apply_chat_template(
        conversation=[[{"role": "user", "content": content}]], add_generation_prompt=True,
        tokenize=True, return_dict=True,
    )["input_ids"][0]  # fmt: skip
    if list(theirs) != ids:
        raise Usage(
            f"example {example.id!r}: expected its prompt to be asked in training as in `predict`, "
            f"got {len(theirs)} tokens for {len(ids)}; the chat template has two readings"
        )
    return len(ids)
