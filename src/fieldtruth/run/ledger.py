"""The ledger: every record that came into a stage went out or was dropped with a reason.

Books balance when every input id is the parent of at least one output or of exactly one drop,
never both and never neither (design, section 2, rule 5). Fan-out is counted. Anything else is
a bug of the stage and stops the run with `Unbalanced`.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, Protocol, TypeVar

from fieldtruth.faults import Unbalanced
from fieldtruth.records import Drop, Record


class _Named(Protocol):
    @property
    def id(self) -> str: ...


In = TypeVar("In", bound=_Named)
Out = TypeVar("Out", bound=Record)

_DROPPED = -1


class Books(Record, frozen=True, kw_only=True):
    """What a stage did: `incoming == kept + sum(dropped)`; `outputs - kept` is the fan-out."""

    stage: str
    incoming: int
    kept: int  # inputs with at least one output
    outputs: int
    dropped: dict[str, int]  # by reason, every reason of the closed list, zeros included


class Ledger:
    """The books of one stage. In memory: an id and a small number per input.

    `reasons` is the closed list of drop reasons. Wrap the stage's input in `incoming`, its
    output in `outgoing`, and call `close` when it is drained.
    """

    def __init__(self, stage: str, reasons: Collection[str]) -> None:
        self.stage = stage
        self._fate: dict[str, int] = {}  # input id -> number of outputs, or _DROPPED
        self._settled = 0
        self._outputs = 0
        self._dropped: Counter[str] = Counter(dict.fromkeys(sorted(reasons), 0))

    def incoming(self, records: Iterable[In]) -> Iterator[In]:
        """The records, as they are, each entered as owed."""
        for record in records:
            if record.id in self._fate:
                raise Unbalanced(f"{self.stage}: two input records have the id {record.id!r}")
            self._fate[record.id] = 0
            yield record

    def outgoing(
        self, records: Iterable[Out], parent: Callable[[Out], str] = attrgetter("sample")
    ) -> Iterator[Out]:
        """The records and drops, as they are, each entered as paid; `parent` names its input."""
        for record in records:
            owed = parent(record)
            if owed not in self._fate:
                raise Unbalanced(f"{self.stage}: an output has a parent nobody read, {owed!r}")
            if isinstance(record, Drop):
                self._drop(owed, record.reason)
            elif self._fate[owed] == _DROPPED:
                raise Unbalanced(f"{self.stage}: {owed!r} was dropped and has an output as well")
            else:
                self._fate[owed] += 1
                self._outputs += 1
            yield record

    def settle(self, inputs: Sequence[In], records: Sequence[Any]) -> None:
        """All that became of some inputs: records that name theirs as `sample`, in any order.

        The checks are those of `incoming` and `outgoing` without keeping an id in memory; that no
        two inputs have one id is for the caller to know.
        """
        reasons = Counter([each.reason for each in records if type(each) is Drop])
        known = reasons.keys() <= self._dropped.keys()
        # Where each became one record, as most do, there is nothing to sort out.
        if not known or [each.sample for each in records] != [each.id for each in inputs]:
            self._sort_out(inputs, records)
        self._dropped.update(reasons)
        self._settled += len(inputs)
        self._outputs += len(records) - reasons.total()

    def _sort_out(self, inputs: Sequence[In], records: Sequence[Any]) -> None:
        made: dict[str, list[Any]] = {one.id: [] for one in inputs}
        for record in records:
            if record.sample not in made:
                raise Unbalanced(
                    f"{self.stage}: an output has a parent nobody read, {record.sample!r}"
                )
            if type(record) is Drop:
                self._known(record.sample, record.reason)
            made[record.sample].append(record)
        for owed, some in made.items():
            drops = sum(type(record) is Drop for record in some)
            if drops == 0 < len(some) or drops == 1 == len(some):
                continue
            if not some:
                raise Unbalanced(f"{self.stage}: {owed!r} is neither in the output nor dropped")
            what = "dropped twice" if drops == len(some) else "dropped and has an output as well"
            raise Unbalanced(f"{self.stage}: {owed!r} was {what}")

    def _known(self, owed: str, reason: str) -> None:
        if reason not in self._dropped:
            known = ", ".join(self._dropped) or "none"
            raise Unbalanced(
                f"{self.stage}: {owed!r} was dropped for {reason!r}, which is none of its "
                f"reasons ({known})"
            )

    def _drop(self, owed: str, reason: str) -> None:
        self._known(owed, reason)
        if self._fate[owed]:
            what = "dropped twice" if self._fate[owed] == _DROPPED else "dropped after an output"
            raise Unbalanced(f"{self.stage}: {owed!r} was {what}")
        self._fate[owed] = _DROPPED
        self._dropped[reason] += 1

    def close(self) -> Books:
        """The books, once every input is accounted for; `Unbalanced` names the first that is not.

        To be called when both `incoming` and `outgoing` are drained.
        """
        lost = [name for name, fate in self._fate.items() if fate == 0]
        if lost:
            raise Unbalanced(
                f"{self.stage}: {len(lost)} of {len(self._fate)} input records are neither in "
                f"the output nor dropped, first {lost[0]!r}"
            )
        return Books(
            stage=self.stage,
            incoming=len(self._fate) + self._settled,
            kept=len(self._fate) + self._settled - self._dropped.total(),
            outputs=self._outputs,
            dropped=dict(self._dropped),
        )
