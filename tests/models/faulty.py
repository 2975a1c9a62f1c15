"""A chat-completions server on loopback that does what a test tells it, written from HTTP/1.1."""

import asyncio
import base64
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Ask:
    """One call as it arrived."""

    number: int  # from 0, in the order of arrival
    path: str
    headers: dict[str, str]  # names in lower case
    body: dict[str, Any]
    at: float

    @property
    def prompt(self) -> str:
        return "".join(part["text"] for part in self.content if part["type"] == "text")

    @property
    def content(self) -> list[dict[str, Any]]:
        (message,) = self.body["messages"]
        assert message["role"] == "user"
        return list(message["content"])

    @property
    def photos(self) -> list[tuple[str, bytes]]:
        """The kind and the bytes of every data URI, in order."""
        found = []
        for part in self.content:
            if part["type"] == "image_url":
                head, _, data = part["image_url"]["url"].partition(";base64,")
                found.append((head.removeprefix("data:"), base64.b64decode(data, validate=True)))
        return found


@dataclass
class Answer:
    """What goes back: `cut` sends only so many bytes and resets; `hang` sends nothing at all."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    after: float = 0.0  # seconds
    cut: int | None = None
    hang: bool = False


def says(text: Any, finish: str | None = "stop", **more: Any) -> Answer:
    """A reply as the chat-completions reference has it."""
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return Answer(json.dumps({"object": "chat.completion", "choices": [choice], **more}).encode())


class Server:
    """Every call goes to `act`, which is called in the order of arrival."""

    def __init__(self, act: Callable[[Ask], Answer]) -> None:
        self.act = act
        self.asks: list[Ask] = []
        self.most = self.now = 0  # calls at one time
        self.url = ""

    async def serve(self, ready: threading.Event) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0, limit=2**26)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        ready.set()
        await self._stop.wait()
        server.close()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)

    async def _connection(self, reader: Any, writer: Any) -> None:
        try:
            while await self._call(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _call(self, reader: Any, writer: Any) -> bool:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:])}
        assert "transfer-encoding" not in headers
        raw = await reader.readexactly(int(headers["content-length"]))
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            path = lines[0].split()[1]
            ask = Ask(len(self.asks), path, headers, json.loads(raw), time.monotonic())
            self.asks.append(ask)
            answer = self.act(ask)
            await asyncio.sleep(3600 if answer.hang else answer.after)
        finally:
            self.now -= 1
        head = {"Content-Type": "application/json", "Content-Length": str(len(answer.body))}
        told = "".join(f"{k}: {v}\r\n" for k, v in {**head, **answer.headers}.items())
        whole = f"HTTP/1.1 {answer.status} X\r\n{told}\r\n".encode() + answer.body
        writer.write(whole[: answer.cut])
        await writer.drain()
        if answer.cut is not None:
            writer.transport.abort()
        return answer.cut is None


@contextmanager
def serving(act: Callable[[Ask], Answer]) -> Iterator[Server]:
    """The server, in a thread with a loop of its own, gone when the block ends."""
    server, ready = Server(act), threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(ready)))
    thread.start()
    try:
        assert ready.wait(5)
        yield server
    finally:
        server.stop()
        thread.join()
