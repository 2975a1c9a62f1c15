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
Turn = tuple[str, str]  # (system, user or assistant; what is said)


@dataclass(slots=True)
class Prepared:
    """One request: `words` of shape (1, tokens) each, `photos` as the processor made them.

    `taught` are the right replies, as (first token, token after the last).
    """

    words: dict[str, Any]
    photos: dict[str, Any] = field(default_factory=dict)
    taught: list[tuple[int, int]] = field(default_factory=list)

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
        """`ends` are the ids of tokens that end a turn; `Usage` without a template of turns."""
        template = getattr(processor, "chat_template", None)
        if not template or (isinstance(template, dict) and "default" not in template):
            raise Usage(
                "expected a processor with a chat template, which says how a question is put, got "
                "none; a model that was taught to answer has chat_template.jinja beside it"
            )
        self._processor = processor
        self._ends = frozenset(ends)
        known = processor.tokenizer.added_tokens_decoder.values()
        self._special = sorted(str(token) for token in known if token.special)

    def ask(self, prompt: str, photos: Sequence["Image"]) -> Prepared:
        """A prompt after its photos, up to where the reply begins.

        Raises `Unreadable` for words that hold one of the model's own signs, and for a photo that
        the processor does not take.
        """
        self.plain(prompt)
        return self._encoded(self._text([("user", prompt)], len(photos), asks=True), photos)

    def teach(self, prompt: str, photos: Sequence["Image"], reply: str) -> Prepared:
        """The same, and then the right reply to the end of its turn; see `teach_talk`."""
        return self.teach_talk([("user", prompt), ("assistant", reply)], photos)

    def teach_talk(self, turns: Sequence[Turn], photos: Sequence["Image"]) -> Prepared:
        """A whole talk, its photos before the user's first words; every reply in it is taught.

        A reply's tokens follow those before it as they would be generated: no token holds the end
        of one and the beginning of the other. Raises `Usage` where the model's chat template does
        not let a turn follow what it begins one with, or does not end it.
        """
        for _, words in turns:
            self.plain(words)
        made: Prepared | None = None
        written = ""  # as far as `made` holds it
        for place, (role, _) in enumerate(turns):
            if role != "assistant":
                continue
            begun = self._text(turns[:place], len(photos), asks=True)
            whole = self._text(turns[: place + 1], len(photos))
            if not whole.startswith(begun) or not begun.startswith(written):
                raise Usage(
                    "the model's chat template begins a reply otherwise than it writes one: "
                    f"expected {begun[-40:]!r} before the reply, got {whole[: len(begun)][-40:]!r}"
                )
            if made is None:
                made = self._encoded(begun, photos)
            else:
                _follow(made, self._ids(begun[len(written) :]))
            ids = self._ids(whole[len(begun) :])
            ends = [at for at, each in enumerate(ids) if each in self._ends]
            if not ends:
                told = sorted(self._ends)
                raise Usage(f"the model's chat template ends a reply with none of {told}")
            _follow(made, ids[: ends[-1] + 1])
            made.taught.append((made.tokens - ends[-1] - 1, made.tokens))
            if any(later == "assistant" for later, _ in turns[place + 1 :]):
                _follow(made, ids[ends[-1] + 1 :])
            written = whole
        if made is None:
            raise Usage("expected a talk with a reply of the assistant, got none")
        return made

    def _ids(self, text: str) -> list[int]:
        made: list[int] = self._processor.tokenizer(text, add_special_tokens=False)["input_ids"]
        return made

    def plain(self, text: str) -> None:
        for sign in self._special:
            if sign in text:
                raise Unreadable(f"expected plain words, got the model's own sign {sign!r} in them")

    def _text(self, turns: Sequence[Turn], photos: int, *, asks: bool = False) -> str:
        talk, left = [], photos
        for role, words in turns:
            shown = left if role == "user" else 0
            left -= shown
            parts: list[dict[str, str]] = [{"type": "image"}] * shown
            talk.append({"role": role, "content": [*parts, {"type": "text", "text": words}]})
        written: str = self._processor.apply_chat_template(
            talk, tokenize=False, add_generation_prompt=asks
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


def _follow(made: Prepared, ids: Sequence[int]) -> None:
    """Put these tokens after a request's; they count as plain words."""
    torch = load_torch()
    for name, each in made.words.items():
        plain = {"input_ids": ids, "attention_mask": [1] * len(ids)}.get(name, [0] * len(ids))
        made.words[name] = torch.cat([each, torch.tensor([plain], dtype=each.dtype)], dim=1)


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
    for name in dict.fromkeys(name for each in some for name in each.photos):
        made[name] = torch.cat([each.photos[name] for each in some if name in each.photos])
    if some[0].taught:
        labels = [_padded(_labels(each), longest, IGNORED, side) for each in some]
        made["labels"] = torch.cat(labels)
    return {name: each.to(device) for name, each in made.items()}


def _labels(one: Prepared) -> Any:
    ids = one.words["input_ids"]
    made = load_torch().full_like(ids, IGNORED)
    for first, after in one.taught:
        made[:, first:after] = ids[:, first:after]
    return made


def _padded(ids: Any, longest: int, pad: int, side: str) -> Any:
    short = longest - ids.shape[1]
    return load_torch().nn.functional.pad(
        ids, (short, 0) if side == "left" else (0, short), value=pad
    )
