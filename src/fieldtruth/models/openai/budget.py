"""Tokens and money: what calls would cost, what they did cost, and the line they may not cross.

Before a run: the prompt counts a token for every 3 letters, a photo one for every 28 x 28 pixels
(Qwen's grid; `image_tokens` for servers that count otherwise), a reply from nothing to its bound.
In a run: what the server counted. A call is begun only when everything begun before, each at its
most, leaves room for it at its most. Calls that failed are taken to be free.
"""

from collections.abc import Sequence
from pathlib import Path

from fieldtruth.faults import Fault, Unreadable
from fieldtruth.faults import Usage as WrongUse
from fieldtruth.images import size
from fieldtruth.models.contract import Request, Spent
from fieldtruth.models.openai.answer import Reply, Usage
from fieldtruth.models.openai.settings import Settings

LETTERS = 3  # of a prompt for one token: English needs 4, so this errs to the dear side
PATCH = 28  # pixels
MOST_PATCHES = 16384  # Qwen2.5-VL's bound on the tokens of one photo
_SAMPLE = 200  # requests looked at for an estimate; the rest are taken to be like them
_NAMES = 3  # of the server's model that are noted


class NoRoom(Fault):
    """The money is spent, or could be by the next call."""


class Budget:
    """Counts what is spent; nothing here waits, so it needs no lock within one event loop."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._held = 0.0  # by calls under way, each at its most
        self._cost = 0.0
        self._calls = self._tries = 0
        self._input = self._output = self._thought = self._uncounted = 0
        self._names: list[str] = []

    @property
    def priced(self) -> bool:
        """Whether money can be told at all."""
        return self._settings.price_in is not None

    def estimate(self, requests: Sequence[Request]) -> str | None:
        """What these would cost, in words; `Usage` where even blank replies would cost too much."""
        if not self.priced or not requests:
            return None
        step = -(-len(requests) // _SAMPLE)
        looked = requests[::step]
        into = sum(self._tokens_in(request) for request in looked) / len(looked) * len(requests)
        out = (self._settings.most_out or 0) * len(requests)
        low, high = self._price(into, 0), self._price(into, out)
        most = self._settings.max_cost
        told = f"{len(requests)} calls, about {into:,.0f} tokens in: {low:.4g} to {high:.4g}"
        if most is not None and low > most:
            raise WrongUse(
                f"expected to cost at least {low:.4g} ({told}), more than --max-cost {most:g}; "
                "raise it, or ask fewer with --limit"
            )
        if most is not None and high > most:
            told += f"; stops before {most:g}"
        return told if self._settings.most_out else f"{told} and the replies, which have no bound"

    def hold(self, request: Request) -> float:
        """Set a call's most aside, and return it; `NoRoom` where there is no room for it."""
        if not self.priced:
            return 0.0
        most, limit = self._most(request), self._settings.max_cost
        if limit is not None and self._cost + self._held + most > limit:
            raise NoRoom(
                f"stopped before --max-cost {limit:g}: {self._cost:.4g} is spent, and the next "
                "call could take it beyond; all replies are kept, the same command with a higher "
                "--max-cost goes on"
            )
        self._held += most
        return most

    def begun(self, *, again: bool) -> None:
        """A call goes out."""
        self._calls += 1
        self._tries += again

    def settle(self, request: Request, held: float, reply: Reply | None) -> None:
        """A call is over: what was set aside comes free, what it took is counted."""
        self._held -= held
        if reply is None:
            return
        usage = reply.usage
        if usage is None:
            self._uncounted += 1
            usage = Usage(self._tokens_in(request), self._settings.most_out or 0, 0)
            self._cost += self._price(usage.input, usage.output)
            return
        self._input += usage.input
        self._output += usage.output
        self._thought += usage.reasoning
        self._cost += self._price(usage.input, usage.output)

    def named(self, model: str | None) -> None:
        """What the server calls the model that replied; noted where it is another name."""
        if model and model != self._settings.model and model not in self._names:
            self._names.append(model)

    @property
    def spent(self) -> Spent:
        """All of it so far."""
        notes = [f"the server says it is {name!r}" for name in self._names[:_NAMES]]
        if len(self._names) > _NAMES:
            notes.append(f"and {len(self._names) - _NAMES} other names")
        if self._uncounted:
            notes.append(f"{self._uncounted} replies came without a count of tokens")
        return Spent(
            calls=self._calls,
            retries=self._tries,
            input_tokens=self._input,
            output_tokens=self._output,
            reasoning_tokens=self._thought,
            cost=self._cost if self.priced else None,
            notes=tuple(notes),
        )

    def _price(self, into: float, out: float) -> float:
        settings = self._settings
        return (into * (settings.price_in or 0) + out * (settings.price_out or 0)) / 1e6

    def _most(self, request: Request) -> float:
        return self._price(self._tokens_in(request), self._settings.most_out or 0)

    def _tokens_in(self, request: Request) -> int:
        tokens = -(-len(request.prompt) // LETTERS)
        for path in request.images if self.priced else ():
            tokens += self._settings.image_tokens or _patches(path)
        return tokens


def _patches(path: Path) -> int:
    try:
        width, height = size(path)
    except Unreadable:
        return 0  # it will not be sent
    return min(-(-width // PATCH) * -(-height // PATCH), MOST_PATCHES)
