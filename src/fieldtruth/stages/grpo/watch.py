"""Signs that a policy gets its reward for something else than the task.

Looked for in the rows of the history alone, so that a run that was killed sees the same.
"""

from collections.abc import Iterator, Mapping, Sequence

from fieldtruth.records import Record
from fieldtruth.stages.grpo.settings import Watch

Row = Mapping[str, float]
SIGNS: Mapping[str, str] = {
    "empty": "replies to photos that show the target are empty: it is paid for silence",
    "first_option": "choices are the first name of the list: it goes by the place, not the photo",
    "boxes": "boxes said for each that is there: it is paid for numbers",
    "zero_spread": "prompts whose replies all earn the same: there is little left to learn from",
    "truncated": "replies that are cut off: raise budget, or its boxes do not end",
    "unread": "replies that are no answer",
    "kl": "nats a token from the base: lower rate, or raise beta",
}


class Alarm(Record, frozen=True, kw_only=True):
    """A figure that went over its bound, at the step where it did."""

    step: int
    sign: str
    value: float
    most: float

    def __str__(self) -> str:
        what = SIGNS.get(self.sign, "of the validation reward lost since its best")
        return f"step {self.step}: {self.sign} {self.value:.3g} > {self.most:g} ({what})"


def alarms(history: Sequence[Row], judged: Mapping[int, float | None], told: Watch) -> list[Alarm]:
    """By step; each sign once for as long as it stays over its bound.

    `judged` is the validation reward by step.
    """
    found = [each for sign in SIGNS for each in _over(history, sign, told)]
    return sorted([*found, *_fallen(judged, told)], key=lambda each: (each.step, each.sign))


def _over(history: Sequence[Row], sign: str, told: Watch) -> Iterator[Alarm]:
    most = getattr(told, sign)
    rows = [row for row in history if sign in row]
    was = False
    for end in range(told.window, len(rows) + 1):
        mean = sum(row[sign] for row in rows[end - told.window : end]) / told.window
        now = mean > most
        if now and not was:
            yield Alarm(step=int(rows[end - 1]["step"]), sign=sign, value=mean, most=most)
        was = now


def _fallen(judged: Mapping[int, float | None], told: Watch) -> Iterator[Alarm]:
    best, was = float("-inf"), False
    for step, value in sorted(judged.items()):
        if value is None:
            continue
        best = max(best, value)
        now = best - value > told.fall
        if now and not was:
            yield Alarm(step=step, sign="fall", value=best - value, most=told.fall)
        was = now
