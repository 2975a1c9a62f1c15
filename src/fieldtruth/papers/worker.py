"""Reading PDFs in a process of its own, which may die, hang or eat memory without harm.

One process reads many papers, one after another; a paper that kills or outlasts it is `Failed`,
and a new process goes on with the next. The two speak in frames of msgpack: nothing that comes
back from there can be more than data.
"""

import os
import select
import struct
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import msgspec

from fieldtruth.papers import pdf
from fieldtruth.papers.layout import Crop, Failed, Layout, Limits
from fieldtruth.records import Box, Record

_HEAD = struct.Struct(">I")
_MOST = 1 << 30  # bytes of one answer


class Request(Record, frozen=True, kw_only=True):
    """What is asked of the other process: all of a PDF, or one region of a page."""

    path: str
    limits: Limits
    ink: bool = True
    page: int = 0  # 0: all
    box: Box = (0, 0, 0, 0)
    dpi: float = 72.0


class Answer(Record, frozen=True, kw_only=True):
    """What came back: one of the three."""

    layout: Layout | None = None
    crop: Crop | None = None
    failed: Failed | None = None


class Reader:
    """Opens PDFs in another process; to be used in a `with` block."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        pdf.load()  # here too, so that a missing package is said in plain words
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._stop()

    def look(self, path: Path, *, ink: bool = True) -> Layout | Failed:
        """All pages of a PDF, or why not; without their ink where only words are wanted."""
        got = self._ask(Request(path=str(path.absolute()), limits=self.limits, ink=ink))
        return got.layout or got.failed or Failed(reason="crashed")

    def crop(self, path: Path, page: int, box: Box, dpi: float) -> Crop | Failed:
        """One region of a page as a PNG, or why not."""
        asked = Request(path=str(path.absolute()), limits=self.limits, page=page, box=box, dpi=dpi)
        got = self._ask(asked)
        return got.crop or got.failed or Failed(reason="crashed")

    def _ask(self, asked: Request) -> Answer:
        process = self._started()
        assert process.stdin is not None  # both are pipes
        assert process.stdout is not None
        try:
            _send(process.stdin, asked)
            raw = _receive(process.stdout, time.monotonic() + self.limits.seconds)
        except TimeoutError:
            self._stop()
            late = Failed(reason="timed out", detail=f"after {self.limits.seconds:g} s")
            return Answer(failed=late)
        except (EOFError, OSError):
            code = self._stop()
            return Answer(failed=Failed(reason="crashed", detail=f"the reader ended with {code}"))
        return msgspec.msgpack.decode(raw, type=Answer)

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._stop()
            self._process = subprocess.Popen(
                [sys.executable, "-m", "fieldtruth.papers.worker"], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            )  # fmt: skip
        return self._process

    def _stop(self) -> int | None:
        process, self._process = self._process, None
        if process is None:
            return None
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.2 if process.poll() is None and self._dying(process) else 0.01)
        process.kill()
        code = process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        return code

    @staticmethod
    def _dying(process: subprocess.Popen[bytes]) -> bool:
        """Whether its end of the pipe is closed, so that its exit code is about to be known."""
        stream = process.stdout
        return stream is not None and bool(select.select([stream], [], [], 0)[0])


def _send(stream: IO[bytes], record: Record) -> None:
    raw = msgspec.msgpack.encode(record)
    stream.write(_HEAD.pack(len(raw)) + raw)
    stream.flush()


def _receive(stream: IO[bytes], until: float) -> bytes:
    (size,) = _HEAD.unpack(_exactly(stream, _HEAD.size, until))
    if size > _MOST:
        raise EOFError(f"an answer of {size} bytes")
    return _exactly(stream, size, until)


def _exactly(stream: IO[bytes], size: int, until: float) -> bytes:
    whole = bytearray()
    while len(whole) < size:
        left = until - time.monotonic()
        if left <= 0 or not select.select([stream], [], [], left)[0]:
            raise TimeoutError
        part = os.read(stream.fileno(), min(size - len(whole), 1 << 20))
        if not part:
            raise EOFError
        whole += part
    return bytes(whole)


def main() -> None:
    """The other process: answers until nobody asks any more."""
    read, write = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is no answer
    bound = False
    while head := read.read(_HEAD.size):
        raw = read.read(_HEAD.unpack(head)[0])
        asked = msgspec.msgpack.decode(raw, type=Request)
        if not bound:
            _bound(asked.limits)
            bound = True
        _send(write, _answer(asked))


def _answer(asked: Request) -> Answer:
    path, limits = Path(asked.path), asked.limits
    made: Any
    try:
        if asked.page:
            made = pdf.crop(path, asked.page, asked.box, asked.dpi, limits)
        else:
            made = pdf.look(path, limits, asked.ink)
    except MemoryError:
        made = Failed(reason="too large", detail="more memory than is allowed")
    except (pdf.load().PdfiumError, OSError, ValueError) as error:
        made = Failed(reason="broken", detail=str(error)[:200])
    if isinstance(made, Layout):
        return Answer(layout=made)
    return Answer(crop=made) if isinstance(made, Crop) else Answer(failed=made)


def _bound(limits: Limits) -> None:
    """Memory is capped where the system can do so; a crash leaves no core behind."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (limits.memory, limits.memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()
