"""The position probe: whether it matters where on the list a name stands.

A protocol with a list of four is asked as it is and with the list rotated by one, two and three
(`+rotate1` to `+rotate3`), so that every name stands once at each place. Over all four orders a
model that ignores position gives a quarter of its listed answers at each place, is as often right
wherever the truth stands, and names the same thing each time.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fieldtruth.grading.evidence import Graded
from fieldtruth.taxonomy import label_id

ORDERS = ("", "+rotate1", "+rotate2", "+rotate3")
PLACES = 4

Place = tuple[int | None, int | None]  # of the answer and of the truth on the list, from 0


def position(graded: Iterable[Graded]) -> dict[str, dict[str, Any]]:
    """model -> protocol -> what its orders say together; nothing where no order but one was asked.

    Over the positives that were measured in every order at hand and have the truth on their list:
    `orders` the protocols' names, `complete` whether all four are there, `items` how many
    positives; `answers` {"n", "counts", "shares"} of the listed answers by place; `accuracy` for
    each place the truth stood at {"value", "n"}; `same_answer` {"value", "n"} the share of items
    with one and the same listed answer in every order. A value is None where its n is 0.
    """
    families: dict[str, dict[str, dict[str, Graded]]] = {}
    for one in graded:
        base, plus, control = one.protocol.partition("+")
        if plus + control in ORDERS:
            families.setdefault(one.model, {}).setdefault(base, {})[plus + control] = one
    return {
        model: probed
        for model, bases in families.items()
        if (probed := {base: _probe(base, f) for base, f in bases.items() if len(f) > 1})
    }


def _probe(base: str, family: Mapping[str, Graded]) -> dict[str, Any]:
    orders = [order for order in ORDERS if order in family]
    seen = [_places(family[order]) for order in orders]
    shared = sorted(set.intersection(*map(set, seen)))
    rows = [places[name][1] for places in seen for name in shared]
    counts = [sum(said == place for said, _ in rows) for place in range(PLACES)]
    n = sum(counts)
    answers = [{places[name][0] for places in seen} for name in shared]
    same = [len(names) == 1 and None not in names for names in answers]
    return {
        "orders": [base + order for order in orders],
        "complete": len(orders) == len(ORDERS),
        "items": len(shared),
        "answers": {
            "n": n,
            "counts": counts,
            "shares": [count / n if n else None for count in counts],
        },
        "accuracy": [
            _share([said == true for said, true in rows if true == place])
            for place in range(PLACES)
        ],
        "same_answer": _share(same),
    }


def _places(graded: Graded) -> dict[str, tuple[str | None, Place]]:
    """item -> (its listed answer, where that and the truth stand), of positives with a list."""
    found: dict[str, tuple[str | None, Place]] = {}
    for row, item in enumerate(graded.items):
        if not item.positive or not graded.evidence.listed[row]:
            continue
        names = [label_id(name) for name in item.candidates or ()]
        places = {name: place for place, name in enumerate(names)}
        truth = places.get(label_id(item.label or ""))
        answer = graded.answers[row]
        said = places.get(answer) if answer is not None else None
        if truth is not None:
            found[item.id] = (answer if said is not None else None, (said, truth))
    return found


def _share(hits: Sequence[bool]) -> dict[str, Any]:
    return {"value": sum(hits) / len(hits) if hits else None, "n": len(hits)}
