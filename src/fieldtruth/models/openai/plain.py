"""The same calls with nothing but Python's own library: what a judge is asked through.

`score --judge` has to work in the core install, so it cannot lean on aiohttp. A few threads ask,
each over a connection of its own. Retries are those of `calls`, less one: a call that got no
answer in time is not made again in this run. Where call after call gets no answer, or the key is
refused, the rest are errors at once, and nothing is raised: an answer without a grade is
unscored, and a later run asks for it.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.client import HTTPConnection, HTTPException, HTTPSConnection, IncompleteRead
from os import environ
from queue import SimpleQueue
from time import monotonic
from urllib.parse import urlsplit

from fieldtruth.faults import Fault, Unreadable
from fieldtruth.models.contract import Replies, Request, Spent, Words, failed, in_order
from fieldtruth.models.openai import body as bodies
from fieldtruth.models.openai.answer import SHOWN, Failed, Reply, read_reply, refused
from fieldtruth.models.openai.budget import LETTERS, Budget
from fieldtruth.models.openai.photos import anew, glance
from fieldtruth.models.openai.settings import Secret, Settings, read_settings
from fieldtruth.models.openai.waiting import MOST_BYTES, NEVER, pause
from fieldtruth.records import Space

_CHUNK = 65536


class Plain:
    """A `Model` that is `Eager` and `Metered`."""

    def __init__(self, settings: Settings, secret: Secret) -> None:
        self._settings = settings
        self._secret = secret
        self._budget = Budget(settings)
        self._lock = threading.Lock()  # around the budget and what is counted here
        self._silent = 0  # calls in a row without an answer
        self._over: str | None = None  # why no more are made
        self.space: Space = settings.space
        self.version = settings.version

    def reply(self, requests: Sequence[Request]) -> Iterator[Words]:
        """One `Words` per request, in order."""
        return in_order(self.replies(requests))

    def replies(self, requests: Sequence[Request]) -> Replies:
        """Each as it comes. Closed early, no more calls are begun."""
        came: SimpleQueue[tuple[int, Words]] = SimpleQueue()
        todo, gone = iter(range(len(requests))), threading.Event()

        def work() -> None:
            while not gone.is_set():
                with self._lock:
                    place = next(todo, None)
                if place is None:
                    return
                came.put((place, self._ask(requests[place], gone)))

        self._silent, self._over = 0, None
        for _ in range(min(self._settings.concurrency, len(requests))):
            threading.Thread(target=work, daemon=True).start()
        try:
            for _ in requests:
                yield came.get()
        finally:
            gone.set()

    def estimate(self, requests: Sequence[Request]) -> str | None:
        """See `Budget.estimate`; without prices, how many calls and tokens."""
        if self._budget.priced or not requests:
            return self._budget.estimate(requests)
        tokens = sum(-(-len(request.prompt) // LETTERS) for request in requests)
        return (
            f"{len(requests)} calls, about {tokens:,} tokens in (no prices were given: "
            "price_in, price_out)"
        )

    @property
    def spent(self) -> Spent:
        """See `Budget.spent`."""
        return self._budget.spent

    def _ask(self, request: Request, gone: threading.Event) -> Words:
        if self._over is not None:
            return failed(self._over)
        try:
            photos = [anew(photo) if odd else photo for photo, odd in map(glance, request.images)]
            body = bodies.parts(self._settings, request.prompt, photos)
            with self._lock:
                held = self._budget.hold(request)
        except Unreadable as fault:
            return failed(str(fault))
        except Fault as fault:  # the money is spent
            self._over = str(fault)
            return failed(self._over)
        reply: Reply | None = None
        try:
            reply = self._tries(request.id, body, gone)
        except Failed as why:
            return self._given_up(why)
        except Unreadable as fault:
            return failed(str(fault))
        finally:
            with self._lock:
                self._budget.settle(request, held, reply)
        with self._lock:
            self._silent = 0
            self._budget.named(reply.model and self._shown(reply.model))
        return Words(text=self._secret.redact(reply.words.text), finish=reply.words.finish)

    def _tries(self, name: str, body: Sequence[bodies.Part], gone: threading.Event) -> Reply:
        for number in range(self._settings.retries):
            try:
                return self._once(body, number)
            except Failed as why:
                late = isinstance(why.__cause__, TimeoutError)
                if not why.again or late or self._over is not None:
                    raise
                wait = pause(name, number, self._settings.backoff, why.after)
                if gone.wait(wait):
                    raise
        return self._once(body, self._settings.retries)

    def _once(self, body: Sequence[bodies.Part], number: int) -> Reply:
        with self._lock:
            self._budget.begun(again=number > 0)
        parts = urlsplit(self._settings.url)
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=self._settings.timeout)
        try:
            status, headers, raw = self._exchange(connection, parts.path, body)
        except TimeoutError as error:
            why = f"no answer within {self._settings.timeout:g} seconds"
            raise Failed(why, again=True) from error
        except (HTTPException, OSError) as error:
            why = f"no connection to {self._settings.base_url}: {type(error).__name__}"
            raise Failed(why, again=True) from error
        finally:
            connection.close()
        if status == 200:
            return read_reply(raw)
        raise refused(status, headers, raw)

    def _exchange(
        self, connection: HTTPConnection, path: str, body: Sequence[bodies.Part]
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Send and read, in the time that one call has in all."""
        left = _clock(self._settings.timeout)
        head = {
            "Content-Type": "application/json",
            "Content-Length": str(bodies.length(body)),
            "Accept-Encoding": "identity",  # so that `MOST_BYTES` bounds what is unpacked
            "User-Agent": "fieldtruth",
            **self._secret.header,
        }
        connection.request("POST", path, body=bodies.chunks(body), headers=head)
        response = connection.getresponse()
        raw = bytearray()
        while True:
            if connection.sock is not None:
                connection.sock.settimeout(left())
            part = response.read1(_CHUNK)
            raw += part
            if not part and response.length:
                raise IncompleteRead(bytes(raw), response.length)
            if not part:
                return response.status, dict(response.headers.items()), bytes(raw)
            if len(raw) > MOST_BYTES:
                why = f"expected a reply, got more than {MOST_BYTES // 2**20} MiB"
                raise Failed(why, again=False, status=response.status)

    def _given_up(self, why: Failed) -> Words:
        told = self._shown(str(why))
        with self._lock:
            self._silent = self._silent + 1 if why.status is None else 0
            if why.hopeless:
                self._over = f"no more calls after: {told}"
            if self._silent >= NEVER:
                self._over = (
                    f"no more calls after {self._silent} in a row without an answer: {told}"
                )
        return failed(told)

    def _shown(self, text: str) -> str:
        """A server's words, fit for a message: without the key, and short."""
        text = self._secret.redact(text)
        return text if len(text) <= SHOWN else text[:SHOWN] + " ..."


def _clock(seconds: float) -> Callable[[], float]:
    """How long is left of that time; `TimeoutError` once nothing is."""
    end = monotonic() + seconds

    def left() -> float:
        rest = end - monotonic()
        if rest <= 0:
            raise TimeoutError
        return rest

    return left


def open_plain(options: Mapping[str, str]) -> Plain:
    """The backend with the options of `openai`; `Usage` says which cannot be used."""
    return Plain(read_settings(options, environ), Secret.of(environ))
