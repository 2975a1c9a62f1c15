"""Batches of requests in, words out.

Requests whose photos are prepared to one size share a batch, with the words padded on the left;
so a batch says what each would say alone. A batch that the memory does not hold is halved and
tried again; a single request that it does not hold is an error, never an empty answer.

The likeliest token is taken. With a temperature a token is drawn by adding Gumbel noise to the
scores, keyed by the request and the place in the reply: so what is drawn does not depend on who
shares the batch.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fieldtruth import draws, pretrained
from fieldtruth.faults import Unreadable, Usage
from fieldtruth.images import open_upright
from fieldtruth.models.contract import Replies, Request, Words, failed, in_order
from fieldtruth.models.transformers import loading, templates
from fieldtruth.models.transformers.card import read_card
from fieldtruth.models.transformers.encoding import Encoder, Prepared, Shape, batch
from fieldtruth.models.transformers.processor import open_processor
from fieldtruth.models.transformers.settings import Settings, space_of
from fieldtruth.records import Box, Space
from fieldtruth.replies import write_boxes

RULE = 1  # add one when the same request may be answered otherwise
WAITING = 4  # batches of prepared requests that are held until others of their size come
ROOM = 30  # boxes that a reply must have room for: a dense photo has 12 on average
_LONG = "northern corn leaf blight"  # a label that takes more tokens than most


@dataclass(frozen=True, slots=True)
class Drawn:
    """How the next token is chosen: the likeliest, or drawn at a temperature over 0."""

    temperature: float = 0.0
    seed: int = 0


class Speaker:
    """A model that is ready, and everything it needs to answer in batches."""

    def __init__(self, model: Any, processor: Any, device: str, most: int) -> None:
        """`most` is how many tokens a reply may take."""
        self.model, self.processor, self.device, self.most = model, processor, device, most
        self.pad, self.ends = _tokens(model, processor)
        self.encoder = Encoder(processor, self.ends)
        config = pretrained.load_transformers().GenerationConfig
        # Only this: what the weights' makers like for chatting is no part of a measurement.
        self._config = config(
            eos_token_id=list(self.ends), pad_token_id=self.pad, do_sample=False,
            max_new_tokens=most,
        )  # fmt: skip

    def answers(self, ready: Sequence[Prepared], drawn: Sequence[str], how: Drawn) -> list[Words]:
        """The reply to each of a batch of one shape; `drawn` are the keys of what is drawn.

        Where the memory does not hold the batch, its halves are asked; a single request that it
        does not hold is an error.
        """
        torch = pretrained.load_torch()
        try:
            return self._generated(ready, drawn, how)
        except (MemoryError, RuntimeError) as error:
            if not pretrained.no_memory(error):
                raise
            why = (str(error).strip() or type(error).__name__).splitlines()[0]
        if self.device.startswith("cuda"):
            torch.cuda.empty_cache()
        if len(ready) == 1:
            return [failed(f"out of memory on {self.device} for this photo alone: {why}")]
        half = len(ready) // 2
        return [
            *self.answers(ready[:half], drawn[:half], how),
            *self.answers(ready[half:], drawn[half:], how),
        ]

    def _generated(
        self, ready: Sequence[Prepared], drawn: Sequence[str], how: Drawn
    ) -> list[Words]:
        torch = pretrained.load_torch()
        given = batch(ready, self.pad, "left", self.device)
        noise = [_Noise(how, drawn)] if how.temperature else []
        with torch.inference_mode(), self._plainly():
            said = self.model.generate(**given, logits_processor=noise)
        begin = given["input_ids"].shape[1]
        return [self.words(row) for row in said[:, begin:].tolist()]

    @contextmanager
    def _plainly(self) -> Iterator[None]:
        """With our settings in place of the model's own, which fill whatever is left out."""
        holder = getattr(self.model, "get_base_model", lambda: self.model)()
        own, holder.generation_config = holder.generation_config, self._config
        try:
            yield
        finally:
            holder.generation_config = own

    def words(self, ids: Sequence[int]) -> Words:
        """Up to the first end; a reply without one was cut off."""
        end = next((place for place, each in enumerate(ids) if each in self.ends), None)
        text = self.processor.tokenizer.decode(
            ids[:end], skip_special_tokens=False, clean_up_tokenization_spaces=False
        )
        return Words(text=text, finish="length" if end is None else "stop")


class _Noise:
    """Scores -> scores over the temperature, plus Gumbel noise: the greatest is a fair draw."""

    def __init__(self, how: Drawn, names: Sequence[str]) -> None:
        self._temperature = how.temperature
        self._draws = [draws.rng(how.seed, "transformers", name) for name in names]

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        torch = pretrained.load_torch()
        noise = [each.gumbel(size=scores.shape[1]).astype("float32") for each in self._draws]
        rows = torch.stack([torch.from_numpy(each) for each in noise]).to(scores.device)
        return scores.float() / self._temperature + rows


class Transformers:
    """A model behind `Request` and `Words`; boxes in the space it declares."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._template = templates.words_of(settings)
        device = pretrained.pick_device(settings.device)
        weights, own = loading.load(settings.path, device, settings.dtype), None
        card = read_card(Path(settings.path).expanduser())
        if settings.adapter is not None:
            weights, own = loading.attach(weights, settings.path, settings.adapter)
        loading.quicken(weights, device, settings.patches)
        shown = own or card
        processor = open_processor(settings.path)
        own_caps = loading.cap(processor, None, None, settings.path)
        least, most = settings.min_pixels, settings.max_pixels
        if shown is not None:
            least = shown.min_pixels if least is None else least
            most = shown.max_pixels if most is None else most
        caps = loading.cap(processor, least, most, settings.path)
        self.notes = () if shown is None else loading.noted(caps, shown, own_caps)
        own_space = templates.SPACE if self._template else shown.space if shown else None
        self.space: Space = space_of(weights.kind, settings.space or own_space)
        loading.same_rule(self.space, caps, processor, settings.path)
        if self._template and self.space == templates.SPACE:
            templates.stays(caps, processor, settings.path)
        tokens = settings.max_new_tokens or room_for(processor.tokenizer, self.space)
        if self._template and settings.max_new_tokens is None:
            tokens += templates.THOUGHT
        self._speaker = Speaker(weights.model, processor, device, tokens)
        self._how = Drawn(settings.temperature, settings.seed)
        self.version = "-".join(
            [
                f"transformers-{RULE}",
                pretrained.fingerprint(settings.path, weights.model),
                *([pretrained.fingerprint(settings.adapter, None)] if settings.adapter else []),
                f"{self.space}-{caps}-{tokens}tokens-{weights.dtype}",
                type(processor.image_processor).__name__,
                *([_hash(self._template)] if self._template else []),
                *([f"t{settings.temperature:g}-s{settings.seed}"] if settings.temperature else []),
            ]
        )

    def reply(self, requests: Sequence[Request]) -> Iterator[Words]:
        """One `Words` per request, in order."""
        return in_order(self.replies(requests))

    def replies(self, requests: Sequence[Request]) -> Replies:
        """Each batch as soon as it is full; what is left at the end in batches of what there is."""
        waiting: dict[Shape, list[tuple[int, Prepared]]] = {}
        size = self._settings.batch
        for place, request in enumerate(requests):
            made = self._prepared(request)
            if isinstance(made, Words):
                yield place, made
                continue
            ready = waiting.setdefault(made.shape, [])
            ready.append((place, made))
            if len(ready) == size:
                yield from self._done(waiting.pop(made.shape), requests)
            while sum(map(len, waiting.values())) > WAITING * size:
                yield from self._done(waiting.pop(next(iter(waiting))), requests)
        for ready in waiting.values():
            yield from self._done(ready, requests)

    def _done(self, ready: Sequence[tuple[int, Prepared]], requests: Sequence[Request]) -> Replies:
        keys = [f"{requests[place].id}\x1f{requests[place].prompt}" for place, _ in ready]
        words = self._speaker.answers([made for _, made in ready], keys, self._how)
        for (place, _), each in zip(ready, words, strict=True):
            yield place, each

    def _prepared(self, request: Request) -> Prepared | Words:
        """A request as tensors, or why it cannot be asked."""
        if not request.images:
            return failed("expected a photo, got none")
        prompt = templates.filled(self._template, request) if self._template else request.prompt
        try:
            photos = [open_upright(path) for path in request.images]
            if self._template:
                photos = [templates.stretched(photo) for photo in photos]
            return self._speaker.encoder.ask(prompt, photos)
        except Unreadable as fault:
            return failed(str(fault))


def room_for(tokenizer: Any, space: Space) -> int:
    """Tokens of a reply with `ROOM` boxes under a long name, written in that space."""
    boxes: list[Box] = [(1000.0 + i, 1234.0 + i, 2345.0 + i, 2999.0 + i) for i in range(ROOM)]
    text = write_boxes(boxes, _LONG, space, width=4000, height=3000)
    return len(tokenizer(text, add_special_tokens=False)["input_ids"]) + 1


def _tokens(model: Any, processor: Any) -> tuple[int, tuple[int, ...]]:
    """(the padding token, the tokens that end a reply)."""
    own = model.generation_config.eos_token_id
    ends = [own] if isinstance(own, int) else list(own or ())
    if processor.tokenizer.eos_token_id is not None:
        ends.append(processor.tokenizer.eos_token_id)
    if not ends:
        raise Usage("expected a tokenizer that says which token ends a reply, got none")
    pad = processor.tokenizer.pad_token_id
    return (ends[0] if pad is None else pad), tuple(dict.fromkeys(ends))


def _hash(text: str) -> str:
    return f"{draws.key(0, 'prompt', text):016x}"
