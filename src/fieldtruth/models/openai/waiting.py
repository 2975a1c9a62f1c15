"""How patient a run is with a server, whoever carries the calls."""

from fieldtruth import draws

LONGEST = 60.0  # seconds between two tries, whatever the server asks for
MOST_BYTES = 16 * 2**20  # of an answer; no reply is that long
NEVER = 8  # calls without any answer after which a server that never gave one is given up


def pause(name: str, number: int, first: float, asked: float) -> float:
    """Seconds after try `number` (from 0): `first` doubled each time, less up to half, keyed.

    `asked` is what Retry-After says: the longer of both counts, up to `LONGEST`.
    """
    share = 1 - float(draws.rng(0, "openai-retry", f"{name}:{number}").random()) / 2
    return min(max(first * 2.0**number * share, asked), LONGEST)
