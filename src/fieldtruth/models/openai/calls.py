"""One request, asked until it is answered or given up.

Tried again, with doubling waits and keyed jitter: no connection, a connection lost, no answer in
time, HTTP 408, 409, 425, 429 and 5xx, and a 200 without a reply in it (an empty body, a page,
half a JSON). Retry-After is honoured up to `LONGEST`. Anything else is an error at once. A run is
given up (`Fault`) when the key is refused, when address or model are not there, or when call after
call gets no answer at all. A server that answers with errors is not given up: they may be about
some of the photos only, and a run has to end some time.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import aiohttp

from fieldtruth.faults import Fault, Unreadable, Usage
from fieldtruth.models.contract import Request, Words, failed
from fieldtruth.models.openai import body as bodies
from fieldtruth.models.openai.answer import SHOWN, Failed, Reply, read_reply, refused
from fieldtruth.models.openai.budget import Budget
from fieldtruth.models.openai.photos import Photo, anew, glance
from fieldtruth.models.openai.settings import Secret, Settings
from fieldtruth.models.openai.waiting import MOST_BYTES, NEVER, pause

CONNECT = 30.0  # seconds in which a server that is there takes a connection


class Caller:
    """Asks one server; counts the calls in a row that got no answer."""

    def __init__(self, settings: Settings, secret: Secret, budget: Budget) -> None:
        self._settings = settings
        self._secret = secret
        self._budget = budget
        self._answered = False
        self._in_a_row = 0

    def session(self) -> aiohttp.ClientSession:
        """Connections for as many calls as may be under way, with the key in their headers.

        A run begins: what an earlier one failed at is not held against it.
        """
        self._in_a_row = 0
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._settings.concurrency),
            timeout=aiohttp.ClientTimeout(
                total=self._settings.timeout, sock_connect=min(CONNECT, self._settings.timeout)
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={
                "Content-Type": "application/json",
                "Accept-Encoding": "identity",  # so that `MOST_BYTES` bounds what is unpacked
                "User-Agent": "fieldtruth",
                **self._secret.header,
            },
        )

    async def ask(self, session: aiohttp.ClientSession, request: Request) -> Words:
        """The words, or the error that stands for them. `Fault` where going on is senseless."""
        try:
            photos = [await _photo(path) for path in request.images]
        except Unreadable as fault:
            return failed(str(fault))
        body = bodies.parts(self._settings, request.prompt, photos)
        held = self._budget.hold(request)
        reply: Reply | None = None
        try:
            reply = await self._tries(session, request.id, body)
        except Failed as why:
            return self._given_up(why)
        except Unreadable as fault:
            return failed(str(fault))
        finally:
            self._budget.settle(request, held, reply)
        self._answered, self._in_a_row = True, 0
        self._budget.named(reply.model and self._shown(reply.model))
        words = reply.words
        return Words(text=self._secret.redact(words.text), finish=words.finish)

    async def _tries(
        self, session: aiohttp.ClientSession, name: str, body: Sequence[bodies.Part]
    ) -> Reply:
        for number in range(self._settings.retries):
            try:
                return await self._once(session, body, number)
            except Failed as why:
                if not why.again:
                    raise
                await asyncio.sleep(pause(name, number, self._settings.backoff, why.after))
        return await self._once(session, body, self._settings.retries)

    async def _once(
        self, session: aiohttp.ClientSession, body: Sequence[bodies.Part], number: int
    ) -> Reply:
        self._budget.begun(again=number > 0)
        try:
            async with session.post(
                self._settings.url,
                data=bodies.pieces(body),
                headers={"Content-Length": str(bodies.length(body))},
                allow_redirects=False,
            ) as response:
                raw = await _bounded(response)
        except aiohttp.ConnectionTimeoutError:
            why = f"cannot connect to {self._settings.base_url} in time"
            raise Failed(why, again=True) from None
        except TimeoutError:
            why = f"no answer within {self._settings.timeout:g} seconds"
            raise Failed(why, again=True) from None
        except aiohttp.ClientConnectorError as error:
            why = f"cannot connect to {self._settings.base_url}: {error.strerror or error}"
            raise Failed(why, again=True) from None
        except (aiohttp.ClientError, OSError) as error:
            raise Failed(f"connection lost: {type(error).__name__}", again=True) from None
        if response.status == 200:
            return read_reply(raw)
        raise refused(response.status, response.headers, raw)

    def _given_up(self, why: Failed) -> Words:
        said = self._shown(str(why))
        if why.hopeless or (why.status in (403, 404) and not self._answered):
            raise Usage(f"{self._settings.url}: {said}; {_advice(why.status)}")
        if why.status is not None:
            self._answered, self._in_a_row = self._answered or why.status == 200, 0
            return failed(said)
        self._in_a_row += 1
        most = 2 * max(NEVER, self._settings.concurrency) if self._answered else NEVER
        if self._in_a_row >= most:
            raise Fault(
                f"{self._settings.url}: {self._in_a_row} calls in a row got no answer, the last: "
                f"{said}; replies so far are kept, the same command goes on"
            )
        return failed(said)

    def _shown(self, text: str) -> str:
        """A server's words, fit for a message: without the key, and short."""
        text = self._secret.redact(text)
        return text if len(text) <= SHOWN else text[:SHOWN] + " ..."


def _advice(status: int | None) -> str:
    if status == 404:
        return "check base_url (most servers want it to end in /v1) and model"
    if status == 429:
        return "the account's quota is used up"
    return "check OPENAI_API_KEY, and whether it may use this model"


async def _photo(path: Path) -> Photo:
    photo, odd = glance(path)
    return await asyncio.to_thread(anew, photo) if odd else photo


async def _bounded(response: aiohttp.ClientResponse) -> bytes:
    parts, size = [], 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > MOST_BYTES:
            response.close()
            why = f"expected a reply, got more than {MOST_BYTES // 2**20} MiB"
            raise Failed(why, again=False, status=response.status)
        parts.append(part)
    return b"".join(parts)
