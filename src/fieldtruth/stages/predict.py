"""Predict: every item a protocol can ask becomes a model's words, verbatim, or its error."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from fieldtruth.models.contract import Model, Request
from fieldtruth.protocols.contract import Protocol
from fieldtruth.records import Item, Prediction
from fieldtruth.store import inside


def request(item: Item, protocol: Protocol, model: Model, folder: Path) -> Request:
    """What is asked about one item, in the box space the model declares."""
    return Request(
        id=item.id,
        prompt=protocol.ask(item, model.space),
        images=(inside(folder, item.image),),
        names=protocol.names(item),
        level=item.wording,
    )


def predict(
    items: Sequence[Item], protocol: tuple[str, Protocol], model: tuple[str, Model], folder: Path
) -> Iterator[Prediction]:
    """One prediction per item, in order; `protocol` and `model` come with their names.

    Requests are handed over together, so that a backend may batch them; each reply is passed
    on as soon as it is known.
    """
    called, ask = protocol
    name, backend = model
    requests = [request(item, ask, backend, folder) for item in items]
    for item, words in zip(items, backend.reply(requests), strict=True):
        yield Prediction(
            item=item.id,
            protocol=called,
            model=name,
            text=words.text,
            space=backend.space,
            finish=words.finish,
            error=words.error,
        )
