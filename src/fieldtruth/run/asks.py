"""What a job asks about: items under a protocol and its control, or questions."""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from fieldtruth import store
from fieldtruth.faults import Usage
from fieldtruth.grading import (
    asks_questions,
    open_protocol,
    open_questions,
    question_control,
)
from fieldtruth.models.contract import Model, Request
from fieldtruth.records import Item, Question, Space
from fieldtruth.stages.control import show, show_questions
from fieldtruth.stages.predict import question_request, request, with_context


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


@dataclass(frozen=True, slots=True)
class How:
    """How questions are asked: with at most so many photos, the first ones, and which context."""

    most: int | None = None
    context: str | None = None


def asks(bench: store.Bench, protocol: str, model: Model, seed: int, how: How) -> Asks:
    """Everything the protocol can ask of a benchmark; `Usage` where that is nothing."""
    if asks_questions(protocol):
        return _of_questions(bench, protocol, seed, how)
    if how != How():
        raise Usage(
            "--max-photos, --context: expected them with a protocol of questions, got one of items"
        )
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


def _of_questions(bench: store.Bench, protocol: str, seed: int, how: How) -> Asks:
    spoken, control = open_questions(protocol), question_control(protocol)
    suited: dict[str, Question] = {
        each.id: with_context(each, how.context) for each in bench.questions if spoken.suits(each)
    }
    if not suited:
        raise Usage(f"{bench.folder}: expected questions for {protocol}, got none it can ask")

    @contextmanager
    def ready(ids: Sequence[str], out: Path) -> Iterator[Ready]:
        """As of items: photos that a control changed lie beside `out` until the work ends."""
        questions = [
            replace(each, images=each.images[: how.most]) for each in map(suited.__getitem__, ids)
        ]
        if control is None:
            yield Ready([question_request(each, spoken, bench.folder) for each in questions])
            return
        photos = out.with_name(f".{out.name}.photos")
        shutil.rmtree(photos, ignore_errors=True)
        try:
            key = (seed, protocol.partition("+")[2])
            shown = show_questions(questions, control, bench.folder, photos, key)
            made = [question_request(each, spoken, shown.folder) for each in shown.questions]
            yield Ready(made, shown.broken)
        finally:
            shutil.rmtree(photos, ignore_errors=True)

    drawn = {"seed": str(seed)} if control is not None and control.photo is not None else {}
    told = {"context": how.context} if how.context is not None else {}
    return Asks(
        ids=list(suited),
        unsuited=len(bench.questions) - len(suited),
        space=None,
        seal={"max_photos": "all" if how.most is None else str(how.most), **drawn, **told},
        ready=ready,
        capped=sum(
            how.most is not None and len(each.images) > how.most for each in suited.values()
        ),
    )
