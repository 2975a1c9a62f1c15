"""What a job asks about: items under a protocol and its control, or questions."""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from fieldtruth import store
from fieldtruth.faults import Usage
from fieldtruth.grading import asks_questions, open_protocol, open_questions
from fieldtruth.models.contract import Model, Request
from fieldtruth.records import Item, Question, Space
from fieldtruth.stages.control import show
from fieldtruth.stages.predict import question_request, request


@dataclass(frozen=True, slots=True)
class Ready:
    """Requests as they go to the model; `broken` says by id why something cannot be asked."""

    requests: list[Request]
    broken: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asks:
    """`ids` ascend; `space` is what a reply's boxes are in, None where there are none.

    `seal` is what replies depend on beside the benchmark, the protocol and the model. `ready` turns
    some of the ids into requests, with `out` as the place beside which changed photos may lie.
    """

    ids: Sequence[str]
    unsuited: int
    space: Space | None
    seal: Mapping[str, str]
    ready: Callable[[Sequence[str], Path], AbstractContextManager[Ready]]
    capped: int = 0  # questions with more photos than were sent


def known(protocol: str) -> None:
    """Raise `Usage` for a protocol, or a control, that there is not."""
    if asks_questions(protocol):
        open_questions(protocol)
    else:
        open_protocol(protocol)


def asks(bench: store.Bench, protocol: str, model: Model, seed: int, most: int | None) -> Asks:
    """Everything the protocol can ask of a benchmark; `Usage` where that is nothing.

    `most` bounds the photos of one question, the first ones of it.
    """
    if asks_questions(protocol):
        return _of_questions(bench, protocol, most)
    if most is not None:
        raise Usage("--max-photos: expected it with a protocol of questions, got one of items")
    return _of_items(bench, protocol, model, seed)


def _of_items(bench: store.Bench, protocol: str, model: Model, seed: int) -> Asks:
    instruction = open_protocol(protocol)
    suited = {item.id: item for item in bench.items if instruction.suits(item)}
    if not suited:
        raise Usage(f"{bench.folder}: expected items for {protocol}, got none it can ask")

    @contextmanager
    def ready(ids: Sequence[str], out: Path) -> Iterator[Ready]:
        """Changed photos lie beside `out` until the work ends.

        They are made anew by a run that goes on after a kill: what is drawn is keyed.
        """
        photos = out.with_name(f".{out.name}.photos")
        items: list[Item] = [suited[name] for name in ids]
        changes = instruction.changes_photo
        if changes:
            shutil.rmtree(photos, ignore_errors=True)
        try:
            key = (seed, protocol.partition("+")[2])
            shown = show(items, instruction, bench.folder, photos, key)
            spoken, folder = instruction.protocol, shown.folder
            made = [request(each, spoken, model, folder) for each in shown.items]
            yield Ready(made, shown.broken)
        finally:
            if changes:
                shutil.rmtree(photos, ignore_errors=True)

    drawn = {"seed": str(seed)} if instruction.control is not None else {}
    return Asks(
        ids=list(suited),
        unsuited=len(bench.items) - len(suited),
        space=model.space,
        seal={"space": model.space, **drawn},
        ready=ready,
    )


def _of_questions(bench: store.Bench, protocol: str, most: int | None) -> Asks:
    spoken = open_questions(protocol)
    suited: dict[str, Question] = {each.id: each for each in bench.questions if spoken.suits(each)}
    if not suited:
        raise Usage(f"{bench.folder}: expected questions for {protocol}, got none it can ask")

    @contextmanager
    def ready(ids: Sequence[str], _: Path) -> Iterator[Ready]:
        yield Ready([question_request(suited[name], spoken, bench.folder, most) for name in ids])

    return Asks(
        ids=list(suited),
        unsuited=len(bench.questions) - len(suited),
        space=None,
        seal={"max_photos": "all" if most is None else str(most)},
        ready=ready,
        capped=sum(most is not None and len(each.images) > most for each in suited.values()),
    )
