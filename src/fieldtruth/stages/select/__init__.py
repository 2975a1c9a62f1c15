"""Select: composed items to candidates of a benchmark, for people to look at (section 10.1).

    settings  how many of which stratum; floors and caps of sources
    drawing   who is drawn

Strata are filled one after the other: floors of all first, then the sources in turn. No two chosen
items show one photo or two of one group, none shows what a model was trained on, none what an
earlier round had. What a stratum lacks is told and never filled with something else. An item's id
is made of its photo's content, so that a photo has one id in every selection; its name tells
neither label nor level to whoever draws boxes on it.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from fieldtruth.faults import Refused, TooManyFailed
from fieldtruth.records import Drop, Item, Record
from fieldtruth.stages.select.drawing import Drawing, pools
from fieldtruth.stages.select.settings import EVERY, STRATA, Settings, Stratum, stratum_of

__all__ = [
    "EVERY",
    "REASONS",
    "STRATA",
    "Photos",
    "Selection",
    "Settings",
    "check",
    "line",
    "select",
]

REASONS = (
    "not_wanted",  # of a stratum that nobody asked for
    "incomplete",  # healthy, and its crop is not known or there is nothing to ask it about
    "in_training",  # its photo or group is in a training split
    "earlier_round",  # its photo or group was chosen before
    "same_photo",  # another item of its photo is chosen
    "same_group",  # another photo of its group is chosen
    "over_cap",  # its source has given all that it may
    "enough",  # its stratum is full
)
_DIGITS = 12  # of a SHA-256 in an id


@dataclass(frozen=True, slots=True)
class Photos:
    """Photos that may not be chosen: by the SHA-256 of their bytes, and by their groups."""

    contents: set[str] = field(default_factory=set)
    groups: set[str] = field(default_factory=set)

    def hold(self, item: Item) -> bool:
        """Whether an item's photo, or one of its group, is among them."""
        return item.image_sha256 in self.contents or item.group in self.groups


class Row(Record, frozen=True, kw_only=True):
    """A source's part of a stratum. `available` counts items, `eligible` the groups of those that
    may be chosen; `cap` is null where there is none; `lifted` of the chosen are beyond it."""

    stratum: Stratum
    source: str
    available: int
    eligible: int
    chosen: int
    floor: int
    cap: int | None
    lifted: int


class Filled(Record, frozen=True, kw_only=True):
    """A stratum: what was wanted, what was chosen, and what is lacking."""

    wanted: int
    chosen: int
    short: int


class Selection(Record, frozen=True, kw_only=True):
    """`select.json`. `parents` gives the id that each chosen item came in with."""

    items: int
    chosen: int
    strata: dict[Stratum, Filled]
    rows: tuple[Row, ...]
    drops: dict[str, int]
    seed: int
    parents: dict[str, str]


def select(
    items: Sequence[Item], settings: Settings, trained: Photos, earlier: Photos
) -> tuple[list[Item], list[Drop], Selection]:
    """The chosen items with their new ids, the others as drops, both ascending, and the table.

    Raises `Usage` and `Refused` as `Drawing.draw` does, and `Refused` where two photos would have
    one id.
    """
    fates = {item.id: _unfit(item, settings, trained, earlier) for item in items}
    drawing = Drawing(pools((each for each in items if not fates[each.id]), settings), settings)
    given = Counter((stratum_of(item), item.source) for item in items)
    drawing.draw(given)
    chosen: dict[str, Item] = {}
    for mine in drawing.chosen.values():
        for item in mine:
            name = _name(item)
            if name in chosen:
                raise Refused(
                    f"{item.id!r} and {chosen[name].id!r}: expected photos that differ in the "
                    f"first {_DIGITS} digits of their SHA-256, got two {name!r}; leave one out"
                )
            chosen[name] = item
    ids = {item.id for item in chosen.values()}
    drops = [
        _drop(item, fates[item.id] or _left_out(item, drawing))
        for item in sorted(items, key=lambda item: item.id)
        if item.id not in ids
    ]
    report = Selection(
        items=len(items),
        chosen=len(chosen),
        strata={each: _filled(each, drawing) for each in settings.wanted},
        rows=tuple(_row(at, given[at], drawing) for at in _places(given, settings)),
        drops=dict(sorted(Counter(drop.reason for drop in drops).items())),
        seed=settings.seed,
        parents={name: chosen[name].id for name in sorted(chosen)},
    )
    return [replace(chosen[name], id=name) for name in sorted(chosen)], drops, report


def line(report: Selection) -> str:
    """A selection in a few lines for people: a table, and what is lacking."""
    rows = [
        f"{row.stratum} {row.source}: {row.chosen} of {row.eligible} photos ({row.available} items)"
        + (f", at least {row.floor}" if row.floor else "")
        + (f", at most {row.cap}" if row.cap is not None else "")
        + (f", {row.lifted} beyond its cap" if row.lifted else "")
        for row in report.rows
    ]
    short = [f"{each.short} {name}" for name, each in report.strata.items() if each.short]
    lost = ", ".join(f"{reason} {count}" for reason, count in report.drops.items()) or "none"
    rows.append(
        f"{report.chosen} of {report.items} items chosen; short of: {', '.join(short) or 'none'}; "
        f"left out: {lost}"
    )
    return "\n".join(rows)


def check(report: Selection, out: Path) -> None:
    """Raise `TooManyFailed` where a stratum is short; what was chosen is right then too."""
    short = [f"{each.short} {name}" for name, each in report.strata.items() if each.short]
    if short:
        wanted = sum(each.wanted for each in report.strata.values())
        raise TooManyFailed(
            f"{out}: expected {wanted} photos, got {report.chosen}, short of {', '.join(short)}; "
            f"{'; '.join(_why_short(report)) or 'there are no such items'}; give more items, or "
            "want fewer"
        )


def _why_short(report: Selection) -> list[str]:
    """What kept items of the strata that are short from being chosen, the most frequent first."""
    kept_out = [
        (count, reason)
        for reason, count in report.drops.items()
        if reason not in ("not_wanted", "enough")
    ]
    return [f"{reason} {count}" for count, reason in sorted(kept_out, reverse=True)]


def _unfit(item: Item, settings: Settings, trained: Photos, earlier: Photos) -> str:
    """Why an item cannot be chosen whatever is drawn; nothing where it can."""
    stratum = stratum_of(item)
    if stratum not in settings.want:
        return "not_wanted"
    if stratum == "healthy" and not (item.crop and item.query):
        return "incomplete"
    if trained.hold(item):
        return "in_training"
    return "earlier_round" if earlier.hold(item) else ""


def _left_out(item: Item, drawing: Drawing) -> str:
    if item.image_sha256 in drawing.photos:
        return "same_photo"
    if item.group in drawing.groups:
        return "same_group"
    stratum = stratum_of(item)
    full = drawing.full(stratum, item.source) and not drawing.settings.lift_cap
    return "over_cap" if full else "enough"


def _name(item: Item) -> str:
    source = re.sub(r"[^a-z0-9]+", "-", item.source.lower()).strip("-")
    return f"{source or 'photo'}-{item.image_sha256[:_DIGITS]}"


def _places(
    given: Mapping[tuple[Stratum, str], int], settings: Settings
) -> list[tuple[Stratum, str]]:
    wanted = [at for at in given if at[0] in settings.want]
    return sorted(wanted, key=lambda at: (STRATA.index(at[0]), at[1]))


def _row(at: tuple[Stratum, str], available: int, drawing: Drawing) -> Row:
    stratum, source = at
    return Row(
        stratum=stratum,
        source=source,
        available=available,
        eligible=drawing.available(stratum, source),
        chosen=len(drawing.chosen[at]),
        floor=drawing.settings.least(source),
        cap=drawing.settings.most(stratum, source),
        lifted=drawing.lifted[at],
    )


def _filled(stratum: Stratum, drawing: Drawing) -> Filled:
    wanted, chosen = drawing.settings.want[stratum], drawing.total(stratum)
    return Filled(wanted=wanted, chosen=chosen, short=wanted - chosen)


def _drop(item: Item, reason: str) -> Drop:
    return Drop(
        id=f"{item.id}#select",
        sample=item.id.partition("#")[0],
        parent=item.id,
        stage="select",
        reason=reason,
    )
