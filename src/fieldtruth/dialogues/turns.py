"""The turns of a talk, and where and when it was, as coarse as it may be kept."""

import re
from collections import Counter
from collections.abc import Iterable
from datetime import datetime

import msgspec

from fieldtruth.dialogues.mail import clean
from fieldtruth.records import Turn

# How releases write a moment, besides ISO 8601; the day first in India's.
_MOMENTS = ("%m/%d/%Y", "%m/%d/%Y %H:%M", "%d-%m-%Y", "%d-%m-%Y %H:%M", "%b %d, %Y", "%B %d, %Y")
_PLACE = re.compile(r"[^\W\d_][^\d@<>]{1,39}")


def settled(turns: Iterable[Turn]) -> tuple[tuple[Turn, ...], tuple[str, ...]]:
    """The turns with their words cleaned, and notes of what was taken out of how many.

    A turn of nothing but quotes goes, and one that says what the same speaker's last turn said
    (sent twice, forwarded); its photos go to the turn before it, or wait for the next.
    """
    kept: list[Turn] = []
    took: Counter[str] = Counter()
    waiting: tuple[str, ...] = ()
    for turn in turns:
        text, kinds = clean(turn.text)
        took.update(f"{kind} taken out" for kind in kinds)
        again = bool(kept) and kept[-1].speaker == turn.speaker and kept[-1].text == text
        if text and not again:
            images = _once(waiting, turn.images)
            kept.append(msgspec.structs.replace(turn, text=text, images=images))
            waiting = ()
            continue
        took["said twice" if again else "nothing said"] += 1
        if kept:
            images = _once(kept[-1].images, turn.images)
            kept[-1] = msgspec.structs.replace(kept[-1], images=images)
        else:
            waiting = _once(waiting, turn.images)
    notes = (f"{what}: {count} turn{'s'[: count > 1]}" for what, count in sorted(took.items()))
    return tuple(kept), tuple(notes)


def _once(first: tuple[str, ...], then: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *then)))


def state_of(place: str | None) -> str | None:
    """The state of a place: what follows its last comma; None for what is no name.

    >>> state_of("Guilford County, North Carolina"), state_of("MADHYA PRADESH"), state_of("27403")
    ('North Carolina', 'Madhya Pradesh', None)
    """
    name = " ".join((place or "").rpartition(",")[2].split())
    if not _PLACE.fullmatch(name) or "county" in name.casefold():
        return None
    return name.title() if name.isupper() and len(name) > 3 else name


def moment(text: object) -> str | None:
    """A moment as ISO 8601, None where it is not one that can be read.

    >>> moment("2022-09-01 07:17:00"), moment("2017-01-30T12:00:04.09Z"), moment("soon")
    ('2022-09-01T07:17:00', '2017-01-30T12:00:04+00:00', None)
    """
    if not isinstance(text, str) or len(text) > 40:
        return None
    plain = text.strip()
    try:
        return datetime.fromisoformat(plain).replace(microsecond=0).isoformat()
    except ValueError:
        pass
    for form in _MOMENTS:
        try:
            return datetime.strptime(plain, form).isoformat()  # noqa: DTZ007 (no zone is given)
        except ValueError:
            continue
    return None
