"""Many requests at a time, for a caller that knows nothing of event loops.

An event loop in a thread of its own asks `concurrency` requests at a time; replies are handed
over as they come. A call is begun only while fewer than `concurrency` replies are under way or
not yet dealt with (the caller came back for the next), so one who stops taking stops the
spending, and one who is killed loses no more replies than that. The first Ctrl-C ends the calls
under way and still hands over all that came before it is raised; the second is raised at once.
"""

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Any, Self

from fieldtruth.faults import Fault
from fieldtruth.models.contract import Replies, Request, Spent, Words, in_order
from fieldtruth.models.openai.budget import Budget, NoRoom
from fieldtruth.models.openai.calls import Caller
from fieldtruth.models.openai.settings import Secret, Settings
from fieldtruth.records import Space

_LOOK = 0.5  # seconds: a wait that no signal can end is kept short (Windows)


class Client:
    """A `Model` that is `Eager` and `Metered`; what it spends is counted over its life."""

    def __init__(self, settings: Settings, secret: Secret) -> None:
        self._settings = settings
        self._budget = Budget(settings)
        self._caller = Caller(settings, secret, self._budget)
        self.space: Space = settings.space
        self.version = settings.version

    def reply(self, requests: Sequence[Request]) -> Iterator[Words]:
        """One `Words` per request, in order."""
        return in_order(self.replies(requests))

    def replies(self, requests: Sequence[Request]) -> Replies:
        """Each as it comes. Raises `Fault` once going on is senseless, after all that came."""
        if not requests:
            return
        with (
            _Work(self._caller, requests, self._settings.concurrency) as work,
            _Patience(work.stop) as patience,
        ):
            yield from work.received()
            if patience.tried:
                raise KeyboardInterrupt

    def estimate(self, requests: Sequence[Request]) -> str | None:
        """See `Budget.estimate`."""
        return self._budget.estimate(requests)

    @property
    def spent(self) -> Spent:
        """See `Budget.spent`."""
        return self._budget.spent


class _Work:
    """The thread with its loop; entered and left by the caller's thread."""

    def __init__(self, caller: Caller, requests: Sequence[Request], concurrency: int) -> None:
        self._caller = caller
        self._requests = requests
        self._crew = min(concurrency, len(requests))
        self._todo = iter(range(len(requests)))
        self._window = asyncio.Semaphore(concurrency)
        self._stopping = asyncio.Event()
        self._came: SimpleQueue[tuple[int, Words] | None] = SimpleQueue()
        self._over: Fault | None = None  # why no more are asked
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._done = asyncio.run_coroutine_threadsafe(self._serve(), self._loop)
        self._done.add_done_callback(lambda _: self._came.put(None))
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._done.exception()  # waits for the end; `received` has told of it
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()

    def stop(self) -> None:
        """Let go of the calls under way; what came is still to be had from `received`."""
        self._loop.call_soon_threadsafe(self._stopping.set)

    def received(self) -> Replies:
        """What comes, as it comes, until all is done or stopped; then raises what ended it."""
        while True:
            try:
                got = self._came.get(timeout=_LOOK)
            except Empty:
                continue
            if got is None:
                break
            yield got
            self._loop.call_soon_threadsafe(self._window.release)
        self._done.result()
        if self._over is not None:
            raise self._over

    async def _serve(self) -> None:
        async with self._caller.session() as session:
            crew = [asyncio.create_task(self._ask(session)) for _ in range(self._crew)]
            stop = asyncio.create_task(self._stopping.wait())
            try:
                left: set[asyncio.Task[Any]] = set(crew)
                while left and not self._stopping.is_set():
                    ended, _ = await asyncio.wait({*left, stop}, return_when="FIRST_COMPLETED")
                    for task in ended & left:
                        task.result()  # a bug in one ends all
                    left -= ended
            finally:
                for task in (*crew, stop):
                    task.cancel()
                await asyncio.gather(*crew, stop, return_exceptions=True)

    async def _ask(self, session: Any) -> None:
        """One of the crew: takes the next request until there is none, or no point."""
        while self._over is None:
            await self._window.acquire()
            place = next(self._todo, None)
            if place is None or self._over is not None:
                return
            try:
                words = await self._caller.ask(session, self._requests[place])
            except Fault as fault:
                self._end(fault)
                return
            self._came.put((place, words))

    def _end(self, fault: Fault) -> None:
        if self._over is None:  # the first tells most
            self._over = fault
        if not isinstance(fault, NoRoom):  # calls that are paid for may come home
            self._stopping.set()


class _Patience:
    """The first Ctrl-C calls `stop` and is remembered; the second is as ever.

    Only in the main thread, and only where nobody else has taken the signal.
    """

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        self._mine = False
        self.tried = False

    def __enter__(self) -> Self:
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._first)
            self._mine = True
        return self

    def __exit__(self, *_: object) -> None:
        if self._mine and threading.current_thread() is threading.main_thread():
            self._mine = False
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _first(self, _number: int, _frame: FrameType | None) -> None:
        self.tried = True
        self.__exit__()
        self._stop()
