"""A model in training asked about the validation examples, and graded as `score` grades.

Each example becomes the item that it was composed of, its prompt stays as it is, and its reply goes
the one road of `grading`. Examples asked for what their photo does not show are graded under
`known_target+wrong_target`, with a list or without: there only the explicit empty answer counts.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from fieldtruth.faults import Unreadable, Usage
from fieldtruth.grading import Estimate, draw, estimates, grade, open_protocol, panel
from fieldtruth.images import open_upright
from fieldtruth.models.contract import Words, failed
from fieldtruth.models.transformers.answering import Drawn, Speaker
from fieldtruth.models.transformers.encoding import Prepared, Shape
from fieldtruth.records import Example, Item, Prediction, Record

ABSENT = "known_target+wrong_target"
_PREFERRED = ("candidates.joint", "known_target.f1")


class Value(Record, frozen=True, kw_only=True):
    """A metric over n examples with its interval; null and 0 where there was nothing to measure."""

    value: float | None
    low: float | None
    high: float | None
    n: int


Values = Mapping[str, Mapping[str, Value]]  # protocol -> metric -> value


class Validation(Record, frozen=True, kw_only=True):
    """How a checkpoint did. `outcomes` are the counts of how replies were read."""

    step: int
    values: Values
    outcomes: dict[str, dict[str, int]]

    def by(self, select: str) -> float | None:
        """The value that checkpoints are compared by."""
        protocol, _, metric = select.partition(".")
        found = self.values.get(protocol, {}).get(metric)
        return found.value if found else None


def answered(speaker: Speaker, examples: Sequence[tuple[Example, Path]], size: int) -> list[Words]:
    """The replies, in order, in batches of photos of one size."""
    ready: dict[Shape, list[tuple[int, Prepared]]] = defaultdict(list)
    words: dict[int, Words] = {}

    def run(some: list[tuple[int, Prepared]]) -> None:
        keys = [examples[place][0].id for place, _ in some]
        said = speaker.answers([made for _, made in some], keys, Drawn())
        words.update(zip((place for place, _ in some), said, strict=True))

    for place, (example, photo) in enumerate(examples):
        try:
            made = speaker.encoder.ask(example.prompt, [open_upright(photo)])
        except Unreadable as fault:
            words[place] = failed(str(fault))
            continue
        ready[made.shape].append((place, made))
        if len(ready[made.shape]) == size:
            run(ready.pop(made.shape))
    for some in ready.values():
        run(some)
    return [words[place] for place in range(len(examples))]


def graded(step: int, examples: Sequence[Example], words: Sequence[Words]) -> Validation:
    """The headline metrics of every protocol that is among the examples."""
    of: dict[str, list[tuple[Item, Prediction]]] = defaultdict(list)
    for example, each in zip(examples, words, strict=True):
        protocol = ABSENT if example.role == "wrong_target" else example.protocol
        said = Prediction(
            item=example.id, protocol=protocol, model="trained", text=each.text,
            space=example.space, finish=each.finish, error=each.error,
        )  # fmt: skip
        of[protocol].append((_item(example), said))
    values, outcomes = {}, {}
    for protocol, some in sorted(of.items()):
        found = grade([item for item, _ in some], [said for _, said in some], protocol)
        known = estimates(draw([panel(found.items, found.evidence)])[0])
        leads = open_protocol(protocol).headline
        values[protocol] = {name: _value(known[name]) for name in leads}
        outcomes[protocol] = found.outcomes
    return Validation(step=step, values=values, outcomes=outcomes)


def _value(found: Estimate) -> Value:
    return Value(value=found.value, low=found.low, high=found.high, n=found.n)


def selector(select: str | None, examples: Sequence[Example]) -> str:
    """What checkpoints are compared by; `Usage` for what cannot be measured on these examples."""
    asked = {each.protocol for each in examples if each.role != "wrong_target"}
    known = [f"{name}.{lead}" for name in sorted(asked) for lead in open_protocol(name).headline]
    if select is None:
        positive = {each.protocol for each in examples if each.role == "positive"}
        fit = [each for each in _PREFERRED if each.partition(".")[0] in positive]
        return next(iter([*fit, *known]), "")
    if select not in known:
        raise Usage(f"select: expected one of {', '.join(known)}, got {select!r}")
    return select


def _item(example: Example) -> Item:
    """The item of a benchmark that the example would be."""
    absent = example.role == "wrong_target"
    whole = ((0.0, 0.0, float(example.width), float(example.height)),)  # of it nothing is measured
    return Item(
        id=example.id, image=example.image, image_sha256=example.image_sha256,
        width=example.width, height=example.height, source=example.source,
        licence=example.licence, crop=example.crop, kind=example.kind, label=example.label,
        level="healthy" if example.role == "healthy" else example.level,
        boxes=whole if absent else example.boxes, query=example.label if absent else example.query,
        absent_query=(example.query or (example.candidates or ("",))[0]) if absent else None,
        candidates=example.candidates, group=example.group, ask_level=example.level,
        ask_kind=example.kind,
    )  # fmt: skip
