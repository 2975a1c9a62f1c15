"""Facts from any model that is asked: first what a talk is about, then its knowledge.

    prompts   the words that are asked, one file for each kind of talk, and the replies' schemas

A reply that is not what was asked for (blank, prose, HTML, half a JSON, another shape, cut off) is
an error and never "no facts": it is asked for once more, then counted; it is not kept, so that a
later run asks again.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from fieldtruth.models.contract import UNREADABLE, Model, Request, Words
from fieldtruth.records import Dialogue
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

_NONE = ("", "none", "null", "unknown", "unclear", "n/a")
MOST = 100  # facts of one talk: more is a model that repeats itself


class ByModel:
    """An extractor that asks: `category` and `knowledge` are one model, told to keep to the two
    shapes of reply. Both hand over only what could be read, by `READ` (`run.checked`)."""

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


READ: Mapping[Step, Callable[[str], object]] = {
    "category": read_category,
    "knowledge": read_knowledge,
}
