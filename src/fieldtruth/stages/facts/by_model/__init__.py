"""Facts from any model that is asked: first what a talk is about, then its knowledge.

    prompts   the words that are asked, one file for each kind of talk, and the replies' schemas

A reply that is not what was asked for (blank, prose, HTML, half a JSON, another shape, cut off) is
an error and never "no facts": it is asked for once more, then counted; it is not kept, so that a
later run asks again.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing

import msgspec

from fieldtruth.models.contract import (
    Metered,
    Model,
    Replies,
    Request,
    Spent,
    Words,
    as_known,
    failed,
    in_order,
)
from fieldtruth.records import Dialogue, Space
from fieldtruth.replies import visible
from fieldtruth.stages.facts.by_model.prompts import (
    CategoryReply,
    KnowledgeReply,
    Step,
    knowledge_prompts,
    prompt,
    version,
)
from fieldtruth.stages.facts.quoting import span
from fieldtruth.stages.facts.shapes import LEFT_OUT, Failure, Stated, Understood

UNREADABLE = "unreadable reply"
_NONE = ("", "none", "null", "unknown", "unclear", "n/a")
_SHOWN = 120
MOST = 100  # facts of one talk: more is a model that repeats itself


class ByModel:
    """An extractor that asks: `category` and `knowledge` are one model, told to keep to the two
    shapes of reply. Both check what they hand over (`Checked`)."""

    def __init__(self, name: str, category: Model, knowledge: Model) -> None:
        self._category, self._knowledge = category, knowledge
        self.by = f"{name}: {knowledge.version}, {version()}"

    def read(self, dialogues: Sequence[Dialogue]) -> Iterator[Understood | Failure]:
        """What each dialogue says, in order; all are sorted before the first is asked again."""
        first = prompt("category")
        asks = [_request(each, "category", first.text(each)) for each in dialogues]
        sorted_ = [_sorted(words) for words in self._category.reply(asks)]
        more = [
            _request(each, "knowledge", knowledge_prompts()[said.category].text(each))
            for each, said in zip(dialogues, sorted_, strict=True)
            if isinstance(said, CategoryReply) and said.category not in LEFT_OUT
        ]
        replies = self._knowledge.reply(more)
        for dialogue, said in zip(dialogues, sorted_, strict=True):
            if isinstance(said, Failure):
                yield said
            elif said.category in LEFT_OUT:
                yield Understood(category=said.category)
            else:
                yield _understood(dialogue, said, next(replies))


def _request(dialogue: Dialogue, step: Step, text: str) -> Request:
    return Request(id=f"{dialogue.id}/{step}", prompt=text, images=())


def _sorted(words: Words) -> CategoryReply | Failure:
    if words.error is not None or words.finish == "error":
        return _failure(words)
    return read_category(words.text)


def _understood(dialogue: Dialogue, said: CategoryReply, words: Words) -> Understood | Failure:
    if words.error is not None or words.finish == "error":
        return _failure(words)
    stated = tuple(
        Stated(
            knowledge=each.knowledge, statement=" ".join(each.statement.split()), turn=each.turn,
            words=each.words, certain=each.certain,
        )
        for each in read_knowledge(words.text).facts
    )  # fmt: skip
    entity = _entity(said.entity, dialogue)
    return Understood(category=said.category, species=entity, stated=stated)


def _failure(words: Words) -> Failure:
    why = words.error or "the model gave no words"
    if why.startswith(f"{UNREADABLE}: "):
        return Failure(reason="unreadable reply", why=why.removeprefix(f"{UNREADABLE}: "))
    return Failure(reason="model failed", why=why)


def _entity(said: str | None, dialogue: Dialogue) -> str | None:
    """The living thing, as the dialogue writes it; None where its words do not hold the name."""
    if said is None or said.strip().casefold() in _NONE:
        return None
    for text in (dialogue.title, *(turn.text for turn in dialogue.turns)):
        place = span(said.casefold(), text.casefold())
        if place is not None and len(text.casefold()) == len(text):
            return text[place[0] : place[1]]
    return None


def read_category(text: str) -> CategoryReply:
    """The reply to the first prompt. `ValueError` for what is none."""
    return msgspec.json.decode(_json(text), type=CategoryReply)


def read_knowledge(text: str) -> KnowledgeReply:
    """The reply to the second prompt. `ValueError` for what is none."""
    reply = msgspec.json.decode(_json(text), type=KnowledgeReply)
    if len(reply.facts) > MOST:
        raise ValueError(f"expected at most {MOST} facts, got {len(reply.facts)}")
    return reply


def _json(text: str) -> str:
    return visible.without_fences(visible.without_thinking(text))


class Checked:
    """A model whose replies are read before they are handed on; unreadable ones are asked for
    once more and are errors then. It stands before the cache, which keeps no errors."""

    def __init__(self, model: Model, step: Step) -> None:
        self._model, self._step = model, step
        self.space: Space = model.space
        self.version = model.version

    def reply(self, requests: Sequence[Request]) -> Iterator[Words]:
        """One `Words` per request, in order."""
        return in_order(self.replies(requests))

    def replies(self, requests: Sequence[Request]) -> Replies:
        """As the model answers; those that could not be read come last."""
        again: list[int] = []
        with closing(as_known(self._model, requests)) as replies:
            for place, words in replies:
                if words.error is None and self._trouble(words) is not None:
                    again.append(place)
                else:
                    yield place, words
        again.sort()
        if not again:
            return
        with closing(as_known(self._model, [requests[place] for place in again])) as replies:
            for number, words in replies:
                trouble = self._trouble(words) if words.error is None else None
                yield again[number], failed(f"{UNREADABLE}: {trouble}") if trouble else words

    def _trouble(self, words: Words) -> str | None:
        """What is wrong with a reply, or None."""
        if words.finish == "length":
            return "it was cut off; raise --model-args max_tokens"
        try:
            _READ[self._step](words.text)
        except (ValueError, RecursionError) as error:
            shown = " ".join(words.text[:_SHOWN].split())
            return f"expected JSON of the schema, got {shown!r} ({error})"
        return None

    def estimate(self, requests: Sequence[Request]) -> str | None:
        """The model's estimate."""
        return self._model.estimate(requests) if isinstance(self._model, Metered) else None

    @property
    def spent(self) -> Spent:
        """What the model took."""
        return self._model.spent if isinstance(self._model, Metered) else Spent()


_READ = {"category": read_category, "knowledge": read_knowledge}
