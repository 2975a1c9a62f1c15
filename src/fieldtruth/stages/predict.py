"""Predict: whatever a protocol can ask becomes a model's words, verbatim, or its error."""

from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from fieldtruth.models.contract import Model, Request, as_known
from fieldtruth.protocols.contract import Protocol, QuestionProtocol
from fieldtruth.records import Item, Prediction, Question, Space
from fieldtruth.store import inside

Replied = Generator[Prediction, None, None]

# What is told with a question, and what the replies are filed under then (NAME@ARM). PlantXpert
# says both that models get the grounding context and that they get the image only: so the arm is
# declared. Without one, a background is told wherever a question has one.
CONTEXTS = {"none": "nocontext", "background": "context", "evidence": "evidence"}


def with_context(question: Question, context: str | None) -> Question:
    """The question with that much told before it: nothing, its background, its evidence too."""
    if context == "none":
        return msgspec.structs.replace(question, background="")
    if context == "evidence":
        told = "\n".join(filter(None, (question.background.strip(), *question.evidence)))
        return msgspec.structs.replace(question, background=told)
    return question


def request(item: Item, protocol: Protocol, model: Model, folder: Path) -> Request:
    """What is asked about one item, in the box space the model declares."""
    return Request(
        id=item.id,
        prompt=protocol.ask(item, model.space),
        images=(inside(folder, item.image),),
        names=protocol.names(item),
        level=item.wording,
    )


def question_request(
    question: Question, protocol: QuestionProtocol, folder: Path, most: int | None = None
) -> Request:
    """One question with all of its photos in their order, or the first `most` of them."""
    return Request(
        id=question.id,
        prompt=protocol.ask(question),
        images=tuple(inside(folder, image) for image in question.images[:most]),
        names=question.options or (),
    )


def predict(
    items: Sequence[Item], protocol: tuple[str, Protocol], model: tuple[str, Model], folder: Path
) -> Replied:
    """One prediction per item; `protocol` and `model` come with their names."""
    called, ask = protocol
    requests = [request(item, ask, model[1], folder) for item in items]
    yield from replied(requests, called, model, model[1].space)


def replied(
    requests: Sequence[Request], protocol: str, model: tuple[str, Model], space: Space | None
) -> Replied:
    """One prediction per request, under the protocol's name; `model` comes with its name.

    Requests are handed over together, so that a backend may batch them; each reply is passed
    on as soon as it is known, so an `Eager` backend's come in any order. Closing the generator
    ends the backend's work.
    """
    name, backend = model
    with closing(as_known(backend, requests)) as replies:
        for place, words in replies:
            yield Prediction(
                item=requests[place].id,
                protocol=protocol,
                model=name,
                text=words.text,
                space=space,
                finish=words.finish,
                error=words.error,
            )
