"""The same work on several processes or machines, through Ray.

A cluster that is up is joined (RAY_ADDRESS, as Ray's own tools read it); otherwise one is made on
this machine for the time of the run, without a dashboard. The photos have to lie under the same
path on every machine. What comes out is what one process writes, byte for byte: results are
put in order, and a worker that dies is an error for what it held, never an empty answer.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from types import ModuleType
from typing import Any, Literal, TypeVar, get_args

from fieldtruth import models
from fieldtruth.duplicates import Over, attempt, in_threads
from fieldtruth.faults import Fault, Usage
from fieldtruth.models.contract import Model, Replies, Request, Words, as_known, failed, in_order
from fieldtruth.records import Space
from fieldtruth.rooms import open_room

Engine = Literal["local", "ray"]

BATCH = 32  # requests that a worker is given at a time
CHUNK = 64  # items of `mapped` that a worker is given at a time
AHEAD = 2  # of them that wait at each worker, so that none stands idle
STORE = 128 << 20  # bytes of a local cluster's object store: results are small

A = TypeVar("A")
B = TypeVar("B")


class Spread:
    """A backend opened in every worker; replies come in whatever order they are ready."""

    def __init__(self, backend: str, options: Mapping[str, str], workers: int | None) -> None:
        self._ray = load_ray()
        room = open_room(models, backend)
        self._workers = workers or _workers(self._ray)
        heavy = getattr(room, "ACCELERATED", False) and self._ray.cluster_resources().get("GPU", 0)
        actor = self._ray.remote(num_cpus=1, num_gpus=int(bool(heavy)), max_restarts=3)(_Worker)
        self._actors = [actor.remote(backend, dict(options)) for _ in range(self._workers)]
        try:
            about = self._ray.get(self._actors[0].about.remote())
        except self._ray.exceptions.RayError as error:
            raise Usage(
                f"{backend}: expected a worker that can open it, got: {_last(error)}"
            ) from None
        if isinstance(about, str):
            raise Usage(about)
        self.space: Space = about[0]
        self.version: str = about[1]

    def reply(self, requests: Sequence[Request]) -> Iterator[Words]:
        """One `Words` per request, in order."""
        return in_order(self.replies(requests))

    def replies(self, requests: Sequence[Request]) -> Replies:
        """Batches of requests go to whichever worker has the fewest waiting."""
        batches = deque(range(0, len(requests), BATCH))
        flying: dict[Any, tuple[int, int]] = {}  # by future: its worker and the batch's start
        for worker in [*range(self._workers)] * AHEAD:
            self._send(worker, batches, requests, flying)
        while flying:
            (ready, *_), _ = self._ray.wait(list(flying), num_returns=1)
            worker, start = flying.pop(ready)
            self._send(worker, batches, requests, flying)
            batch = requests[start : start + BATCH]
            yield from enumerate(self._words(ready, batch), start)

    def _send(
        self,
        worker: int,
        batches: deque[int],
        requests: Sequence[Request],
        flying: dict[Any, tuple[int, int]],
    ) -> None:
        if batches:
            start = batches.popleft()
            sent = self._actors[worker].answer.remote(list(requests[start : start + BATCH]))
            flying[sent] = worker, start

    def _words(self, ready: Any, batch: Sequence[Request]) -> Sequence[Words]:
        try:
            words: list[Words] = self._ray.get(ready)
        except self._ray.exceptions.RayError as error:
            return [failed(f"worker lost: {_last(error)}")] * len(batch)
        return words


def open_model(
    backend: str, options: Mapping[str, str], engine: Engine = "local", workers: int | None = None
) -> Model:
    """A backend here, or in workers; `Usage` where what it was told cannot hold over several."""
    if engine == "local":
        if workers is not None:
            raise Usage("--workers: expected it with --engine ray, got it alone")
        model: Model = open_room(models, backend).OPEN(options)
        return model
    if "max_cost" in options:
        raise Usage("--engine ray: expected no --max-cost: nobody adds up what the workers spend")
    return Spread(backend, options, workers)


def engine_of(said: str) -> Engine:
    """`--engine` as it was typed."""
    if said not in get_args(Engine):
        raise Usage(f"--engine: expected {' or '.join(get_args(Engine))}, got {said!r}")
    return "ray" if said == "ray" else "local"


class _Worker:
    """Lives in a process of its own."""

    def __init__(self, backend: str, options: Mapping[str, str]) -> None:
        self._model: Model | None = None
        self._trouble = ""
        try:
            self._model = open_room(models, backend).OPEN(options)
        except Fault as fault:  # told by `about`, in the words it would have here
            self._trouble = str(fault)

    def about(self) -> tuple[Space, str] | str:
        """Box space and version, or why the backend cannot be opened."""
        return (self._model.space, self._model.version) if self._model else self._trouble

    def answer(self, requests: Sequence[Request]) -> list[Words]:
        """One `Words` per request, in order."""
        if self._model is None:
            return [failed(self._trouble)] * len(requests)
        return list(in_order(as_known(self._model, requests)))


@contextmanager
def mapped(engine: Engine, workers: int | None) -> Iterator[Callable[..., Iterator[Any]]]:
    """`map`, here or over a cluster: results come in the order of the items.

    An exception of the function comes out of the iteration as it would here.
    """
    if engine == "local":
        yield map
        return
    ray = load_ray()
    count = workers or _workers(ray)
    task = ray.remote(num_cpus=1)(_apply)

    def spread(function: Callable[[A], B], items: Iterable[A]) -> Iterator[B]:
        flying: deque[Any] = deque()
        for chunk in chunks(items, CHUNK):
            flying.append(task.remote(function, chunk))
            if len(flying) >= AHEAD * count:
                yield from _got(ray, flying.popleft())
        while flying:
            yield from _got(ray, flying.popleft())

    yield spread


@contextmanager
def over_files(engine: Engine, workers: int | None) -> Iterator[Over]:
    """How an audit goes over its files: in this process's threads, or over a cluster."""
    if engine == "local":
        if workers is not None:
            raise Usage("--workers: expected it with --engine ray, got it alone")
        yield in_threads
        return
    with mapped(engine, workers) as there:
        yield lambda work, files: there(partial(attempt, work), files)


def chunks(items: Iterable[A], size: int) -> Iterator[list[A]]:
    """Lists of `size` items, the last of what is left."""
    held: list[A] = []
    for item in items:
        held.append(item)
        if len(held) == size:
            yield held
            held = []
    if held:
        yield held


def _apply(function: Callable[[A], B], items: Sequence[A]) -> list[B]:
    return [function(item) for item in items]


def _got(ray: ModuleType, future: Any) -> list[Any]:
    try:
        made: list[Any] = ray.get(future)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    return made


def _workers(ray: ModuleType) -> int:
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def _last(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[-1]


def load_ray() -> ModuleType:
    """Ray, with a cluster; `Usage` where it is not installed or no cluster can be had."""
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError:
        raise Usage(
            "--engine ray needs Ray; install it with `pip install 'fieldtruth[ray]'`"
        ) from None
    if not ray.is_initialized():
        here = {} if os.environ.get("RAY_ADDRESS") else {"object_store_memory": STORE}
        try:
            ray.init(
                include_dashboard=False, log_to_driver=False, logging_level="error",
                configure_logging=True, **here,
            )  # fmt: skip
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise Usage(f"--engine ray: expected a cluster, got: {_last(error)}") from None
    module: ModuleType = ray
    return module
