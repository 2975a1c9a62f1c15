"""errors: wrong answers sorted by what went wrong, with a second pass that reasons.

AgMMU's four kinds (the paper, section 4.4): `corrected` where the answer is right once reasons are
asked for, `refusal` where there is no answer then either, and of the others `perception` or
`knowledge`, as a judge reads the reasons or people do. An error that nobody sorted is `unsorted`,
and one whose second reply failed or is missing is `unasked`; both are counted and stand in the
denominator of every share.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, get_args

import msgspec
import numpy as np

from fieldtruth.agreement import cohen
from fieldtruth.faults import Usage
from fieldtruth.grading.judge import told_with
from fieldtruth.grading.questions import Answered
from fieldtruth.models.contract import Metered, Model, Request, as_known, in_order
from fieldtruth.records import LETTERS, Question, Record
from fieldtruth.replies import said
from fieldtruth.resampling import estimate, ratio
from fieldtruth.store import Bench

PROMPT = "errors-1"
Read = Literal["perception", "knowledge"]  # what somebody has to read the reasons for
Kind = Literal["perception", "knowledge", "corrected", "refusal", "unsorted", "unasked"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_SHOWN = 6000  # characters of the reasons that are read


class Sorted(Record, frozen=True, kw_only=True, omit_defaults=False):
    """One error, fit for a person to read: fill in `kind` where it is `unsorted`."""

    id: str
    kind: Kind
    group: str
    question: str
    options: tuple[str, ...]
    images: tuple[str, ...]
    right: str
    first: str
    reasons: str


class ByHand(msgspec.Struct, frozen=True, kw_only=True):
    """What a person sorted one error as; further fields (those of `Sorted`) are passed over."""

    id: str
    kind: Read


class _Verdict(msgspec.Struct):
    kind: Read


@dataclass(frozen=True, slots=True, kw_only=True)
class Sorters:
    """Who reads the reasons: a judge, which sees the photos if `photos`, and people by name.

    The judge's word counts where there is one, else that of the first person.
    """

    judge: Model | None = None
    photos: bool = False
    hands: Mapping[str, Mapping[str, Read]] | None = None


def sort_errors(
    bench: Bench,
    first: Answered,
    second: Answered,
    sorters: Sorters,
    tell: Callable[[str], None] = lambda _: None,
) -> tuple[dict[str, Any], list[Sorted]]:
    """Counts and shares of each kind, how far the sorters agree, and every error.

    `first` and `second` are one model's answers under `choice` and `reasoned_choice`. Raises
    `Usage` where they are of two models.
    """
    if first.model != second.model:
        raise Usage(
            f"expected two passes of one model, got {first.model} and {second.model}; "
            "give predictions of one"
        )
    wrong = _wrong(first)
    rows = [_sorted(first, second, at) for at in wrong]
    read = [row.id for row in rows if row.kind == "unsorted"]
    told = _told(bench, rows, read, sorters, tell)
    rows = [_filled(row, told) for row in rows]
    return {
        "model": first.model,
        "first": first.protocol,
        "second": second.protocol,
        "answered": len(first.questions),
        "errors": len(rows),
        "kinds": _shares(rows),
        "sorted_by": list(told),
        "agreement": _agreements(told, {row.id: row.group for row in rows}),
    }, rows


def is_kind(_: Request, text: str) -> bool:
    """Whether a judge's words are of the schema it was given."""
    return _kind(text) is not None


def _wrong(first: Answered) -> list[int]:
    return [
        at
        for at, verdict in enumerate(first.verdicts)
        if verdict is not None and set(verdict.grades) != {"correct"}
    ]


def _sorted(first: Answered, second: Answered, at: int) -> Sorted:
    question = first.questions[at]
    place = {each.id: row for row, each in enumerate(second.questions)}.get(question.id)
    kind: Kind = "unasked"
    if place is not None:
        verdict = second.verdicts[place]
        right = verdict is not None and set(verdict.grades) == {"correct"}
        silent = second.readings[place].outcome in ("prose", "unreadable")
        kind = "corrected" if right else "refusal" if silent else "unsorted"
    letter = first.readings[at].letter
    return Sorted(
        id=question.id,
        kind=kind,
        group=question.group,
        question=question.question,
        options=question.options or (),
        images=question.images,
        right=_option(question, question.answer),
        first=_option(question, letter) if letter else first.texts[at][:_SHOWN],
        reasons="" if place is None else said(second.texts[place])[:_SHOWN],
    )


def _option(question: Question, letter: str) -> str:
    options = question.options or ()
    at = LETTERS.find(letter) if len(letter) == 1 else -1
    return f"{letter}. {options[at]}" if 0 <= at < len(options) else letter


def _told(
    bench: Bench,
    rows: Sequence[Sorted],
    read: Sequence[str],
    sorters: Sorters,
    tell: Callable[[str], None],
) -> dict[str, dict[str, Read]]:
    """Sorter -> error -> kind, of the errors somebody has to read; the first sorter's counts."""
    told: dict[str, dict[str, Read]] = {}
    if sorters.judge is not None:
        expert = {each.id: (*each.facts, *each.evidence) for each in bench.questions}
        wanted = [row for row in rows if row.id in set(read)]
        requests = [
            _to_judge(row, expert[row.id], row.images if sorters.photos else (), bench)
            for row in wanted
        ]
        told["judge"] = _judged(sorters.judge, requests, tell)
    for name, kinds in (sorters.hands or {}).items():
        told[name] = {each: kinds[each] for each in read if each in kinds}
    return told


def _to_judge(row: Sorted, expert: Sequence[str], shown: Sequence[str], bench: Bench) -> Request:
    case = {
        "question": row.question,
        "options": [f"{a}. {b}" for a, b in zip(LETTERS, row.options, strict=False)],
        "right": row.right,
        "said": row.first,
        "expert": list(expert),
        "reasons": row.reasons,
    }
    images = tuple(bench.photo(image) for image in shown)
    return Request(id=row.id, prompt=told_with(PROMPT, case), images=images)


def _judged(
    judge: Model, requests: Sequence[Request], tell: Callable[[str], None]
) -> dict[str, Read]:
    cost = judge.estimate(requests) if isinstance(judge, Metered) and requests else None
    if cost:
        tell(f"judge: {cost}")
    found: dict[str, Read] = {}
    why: list[str] = []
    for request, words in zip(requests, in_order(as_known(judge, requests)), strict=True):
        kind = None if words.error else _kind(words.text)
        if kind is not None:
            found[request.id] = kind
        else:
            why.append(words.error or "a reply of another shape")
    if why:
        most = max(why, key=why.count)
        tell(
            f"judge: {len(why)} of {len(requests)} errors stay unsorted, most with: {most}; "
            "the same command asks only those again"
        )
    return found


def _kind(text: str) -> Read | None:
    try:
        return msgspec.json.decode(said(text).encode(errors="replace"), type=_Verdict).kind
    except (ValueError, RecursionError):
        return None


def _filled(row: Sorted, told: Mapping[str, Mapping[str, Read]]) -> Sorted:
    if row.kind != "unsorted" or not told:
        return row
    kind = next(iter(told.values())).get(row.id)
    return msgspec.structs.replace(row, kind=kind) if kind else row


def _shares(rows: Sequence[Sorted]) -> dict[str, dict[str, Any]]:
    """Each kind's count, and its share of all errors with an interval over groups."""
    number = {group: at for at, group in enumerate(sorted({row.group for row in rows}))}
    made: dict[str, dict[str, Any]] = {}
    for kind in KINDS:
        sums = np.zeros((len(number), 2))
        for row in rows:
            sums[number[row.group]] += (row.kind == kind, 1)
        share = estimate(sums, ratio)
        n = len(rows) if share.value is not None else 0
        made[kind] = {
            "count": sum(row.kind == kind for row in rows),
            "share": {"value": share.value, "low": share.low, "high": share.high, "n": n},
        }
    return made


def _agreements(
    told: Mapping[str, Mapping[str, Read]], groups: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Cohen's kappa of each pair of sorters, over the errors both of them sorted."""
    made = []
    for a, b in combinations(told, 2):
        both = [each for each in told[a] if each in told[b]]
        ours, theirs = [told[a][each] for each in both], [told[b][each] for each in both]
        kappa = cohen(ours, theirs, [groups[each] for each in both])
        same = sum(x == y for x, y in zip(ours, theirs, strict=True))
        made.append(
            {
                "a": a,
                "b": b,
                "n": len(both),
                "agreement": same / len(both) if both else None,
                "kappa": msgspec.to_builtins(kappa),
            }
        )
    return made
