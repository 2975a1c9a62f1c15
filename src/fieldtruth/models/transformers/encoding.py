"""Photos and words -> tensors. The one way in, for answering and for training alike.

What depends on words (ids, masks) is told from what depends on photos by its shape, so that any
processor will do. Requests whose photo tensors are of one shape can share a batch: their words
are padded, their photos are not.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from fieldtruth.faults import Unreadable, Usage
from fieldtruth.pretrained import load_torch

if TYPE_CHECKING:
    from PIL.Image import Image

IGNORED = -100  # as a label: no loss on this token

Shape = tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(slots=True)
class Prepared:
    """One request: `words` of shape (1, tokens) each, `photos` as the processor made them.

    `answer` is how many tokens at the end are the right reply; 0 where there is none.
    """

    words: dict[str, Any]
    photos: dict[str, Any] = field(default_factory=dict)
    answer: int = 0

    @property
    def shape(self) -> Shape:
        """What requests of one batch have in common."""
        return tuple(sorted((name, tuple(each.shape)) for name, each in self.photos.items()))

    @property
    def tokens(self) -> int:
        """How long it is."""
        return int(self.words["input_ids"].shape[1])


class Encoder:
    """A processor, and what stands for a turn of a talk in its template."""

    def __init__(self, processor: Any, ends: Sequence[int]) -> None:
        """`ends` are the ids of tokens that end a turn."""
        self._processor = processor
        self._ends = frozenset(ends)
        known = processor.tokenizer.added_tokens_decoder.values()
        self._special = sorted(str(token) for token in known if token.special)

    def ask(self, prompt: str, photos: Sequence["Image"]) -> Prepared:
        """A prompt after its photos, up to where the reply begins.

        Raises `Unreadable` for words that hold one of the model's own signs, and for a photo that
        the processor does not take.
        """
        self._plain(prompt)
        return self._encoded(self._text(prompt, len(photos)), photos)

    def teach(self, prompt: str, photos: Sequence["Image"], reply: str) -> Prepared:
        """The same, and then the right reply to the end of its turn.

        The reply's tokens follow those of the prompt as they would be generated: no token holds
        the end of one and the beginning of the other. Raises `Usage` where the model's chat
        template does not let a turn follow what it begins one with, or does not end it.
        """
        self._plain(prompt)
        self._plain(reply)
        begun = self._text(prompt, len(photos))
        whole = self._text(prompt, len(photos), reply)
        if not whole.startswith(begun):
            raise Usage(
                "the model's chat template begins a reply otherwise than it writes one: expected "
                f"{begun[-40:]!r} before the reply, got {whole[: len(begun)][-40:]!r}"
            )
        made = self._encoded(begun, photos)
        ids = self._processor.tokenizer(whole[len(begun) :], add_special_tokens=False)["input_ids"]
        ends = [place for place, each in enumerate(ids) if each in self._ends]
        if not ends:
            raise Usage(f"the model's chat template ends a reply with none of {sorted(self._ends)}")
        return _followed(made, ids[: ends[-1] + 1])

    def _plain(self, text: str) -> None:
        for sign in self._special:
            if sign in text:
                raise Unreadable(f"expected plain words, got the model's own sign {sign!r} in them")

    def _text(self, prompt: str, photos: int, reply: str | None = None) -> str:
        parts: list[dict[str, str]] = [{"type": "image"}] * photos
        talk = [{"role": "user", "content": [*parts, {"type": "text", "text": prompt}]}]
        if reply is not None:
            talk.append({"role": "assistant", "content": [{"type": "text", "text": reply}]})
        written: str = self._processor.apply_chat_template(
            talk, tokenize=False, add_generation_prompt=reply is None
        )
        return written

    def _encoded(self, text: str, photos: Sequence["Image"]) -> Prepared:
        given = {"images": [list(photos)]} if photos else {}
        try:
            made = self._processor(text=[text], return_tensors="pt", **given)
        except ValueError as error:
            raise Unreadable(f"the model's processor does not take it: {error}") from error
        shape = made["input_ids"].shape
        prepared = Prepared({})
        for name, each in made.items():
            part = prepared.words if each.shape == shape else prepared.photos
            part[name] = each
        return prepared


def _followed(made: Prepared, ids: Sequence[int]) -> Prepared:
    """A request with these tokens after it, which count as plain words."""
    torch = load_torch()
    for name, each in made.words.items():
        plain = {"input_ids": ids, "attention_mask": [1] * len(ids)}.get(name, [0] * len(ids))
        made.words[name] = torch.cat([each, torch.tensor([plain], dtype=each.dtype)], dim=1)
    made.answer = len(ids)
    return made


def batch(
    some: Sequence[Prepared], pad: int, side: Literal["left", "right"], device: str
) -> dict[str, Any]:
    """Requests of one shape, or of any where photos are only put one after another.

    Words are padded to the longest: on the left to generate, on the right to train. Where there
    are right replies, `labels` are their tokens and `IGNORED` elsewhere.
    """
    torch = load_torch()
    longest = max(each.tokens for each in some)
    made = {
        name: torch.cat([_padded(each.words[name], longest, pad if name == "input_ids" else 0, side)
                         for each in some])
        for name in some[0].words
    }  # fmt: skip
    for name in some[0].photos:
        made[name] = torch.cat([each.photos[name] for each in some])
    if some[0].answer:
        labels = [
            torch.where(torch.arange(each.tokens) < each.tokens - each.answer, IGNORED, ids)
            for each in some
            for ids in (each.words["input_ids"],)
        ]
        made["labels"] = torch.cat([_padded(each, longest, IGNORED, side) for each in labels])
    return {name: each.to(device) for name, each in made.items()}


def _padded(ids: Any, longest: int, pad: int, side: str) -> Any:
    short = longest - ids.shape[1]
    return load_torch().nn.functional.pad(
        ids, (short, 0) if side == "left" else (0, short), value=pad
    )
