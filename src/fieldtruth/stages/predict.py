"""Predict: every item a protocol can ask becomes a model's words, verbatim, or its error."""

from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path

from fieldtruth.models.contract import Model, Request, as_known
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
) -> Generator[Prediction, None, None]:
    """One prediction per item; `protocol` and `model` come with their names.

    Requests are handed over together, so that a backend may batch them; each reply is passed
    on as soon as it is known, so an `Eager` backend's come in any order. Closing the generator
    ends the backend's work.
    """
    called, ask = protocol
    name, backend = model
    requests = [request(item, ask, backend, folder) for item in items]
    with closing(as_known(backend, requests)) as replies:
        for place, words in replies:
            yield Prediction(
                item=items[place].id,
                protocol=called,
                model=name,
                text=words.text,
                space=backend.space,
                finish=words.finish,
                error=words.error,
            )
