"""How a number is written: three digits, an en dash where there is nothing to measure."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

NOTHING = "–"
ONE_GROUP = "one group"


def digits(value: float | None) -> str:
    """A value with three digits; None is nothing to measure, and never 0.

    >>> digits(0.12345), digits(None), digits(-0.0001), digits(0)
    ('0.123', '–', '0.000', '0.000')
    """
    if value is None:
        return NOTHING
    text = f"{value:.3f}".replace("-", "−")
    return "0.000" if text == "−0.000" else text


def signed(value: float | None) -> str:
    """A difference with its sign.

    >>> signed(0.5), signed(-0.25), signed(0.0), signed(None)
    ('+0.500', '−0.250', '0.000', '–')
    """
    text = digits(value)
    return f"+{text}" if value is not None and value > 0 and text != "0.000" else text


def percent(value: float | None) -> str:
    """A share in whole percent.

    >>> percent(0.254), percent(None)
    ('25 %', '–')
    """
    return NOTHING if value is None else f"{100 * value:.0f} %"


def plainly(count: float) -> str:
    """A count that may hold shares of questions.

    >>> plainly(3), plainly(2.5), plainly(1 / 3), plainly(20)
    ('3', '2.5', '0.333', '20')
    """
    return f"{count:.3f}".rstrip("0").rstrip(".")


class Measured(NamedTuple):
    """A value with its 95 % interval and the number of items it speaks of."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    groups: int | None = None  # of how few groups it is; None: enough, or not known

    @classmethod
    def of(cls, cell: Mapping[str, Any] | None) -> "Measured":
        """From a metric of the score contract; an absent one is nothing to measure."""
        cell = cell or {}
        bounds = (cell.get("low"), cell.get("high"), cell.get("n", 0))
        return cls(cell.get("value"), *bounds, cell.get("groups"))

    @classmethod
    def difference(cls, row: Mapping[str, Any]) -> "Measured":
        """From a paired row of the score contract."""
        return cls(row["difference"], row["low"], row["high"], row["n"], row.get("groups"))

    @property
    def drawn(self) -> bool:
        """Whether there is an interval: resampling one group gives the same again and again."""
        return self.low is not None and self.high is not None and self.groups != 1

    @property
    def interval(self) -> str:
        """The interval in brackets, `one group`, or a dash where none could be drawn."""
        return self._interval(digits)

    @property
    def signed_interval(self) -> str:
        """The interval of a difference."""
        return self._interval(signed)

    @property
    def few(self) -> str:
        """What stands beside n where there is an interval over a handful of groups."""
        return f"{self.groups} groups" if self.drawn and self.groups is not None else ""

    def _interval(self, written: Callable[[float | None], str]) -> str:
        if self.drawn:
            return f"[{written(self.low)}, {written(self.high)}]"
        return NOTHING if self.value is None or self.groups != 1 else ONE_GROUP


def apart(one: Measured, other: Measured) -> bool:
    """Whether two values differ by 0.01 or more, or only one of them exists."""
    if one.value is None or other.value is None:
        return one.value is not other.value
    return abs(one.value - other.value) >= 0.01
