"""The backend `openai` beside the openai client library: CPU, calls a second, memory.

    python bench/replies.py [--quick]

A server in a process of its own answers every call after 50 ms; 64 calls at a time, each with one
of 64 photos of 1 MB from the disk. Each client runs in a process of its own, so that its CPU and
its peak memory are its own: CPU is user and system time of the process from the first call to the
last; memory is the growth of its peak over what it had when everything was imported and one call
was made. The clients take turns, and the medians of the rounds count. Exits 1 when a stated
target is missed.
"""

import asyncio
import base64
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

AT_A_TIME, LATENCY, PHOTO, PHOTOS = 64, 0.05, 1_000_000, 64
CALLS, QUICK, ROUNDS = 2000, 1000, 3
PROMPT = "Look for rust in this photo. " * 20
Seen = dict[str, float]


def main(arguments: list[str]) -> int:
    """Measure, print the table, and say whether the targets hold."""
    quick = "--quick" in arguments
    calls, rounds = (QUICK, 1) if quick else (CALLS, ROUNDS)
    names = ("ours", "openai")
    with tempfile.TemporaryDirectory() as folder:
        for number in range(PHOTOS):
            path = Path(folder, f"{number}.jpg")
            path.write_bytes(b"\xff\xd8\xff\xe0" + os.urandom(PHOTO - 4))
        with subprocess.Popen(
            [sys.executable, __file__, "server"], stdout=subprocess.PIPE
        ) as server:
            try:
                assert server.stdout is not None
                url = server.stdout.readline().decode().strip()
                seen = [
                    {name: run(name, url, folder, calls) for name in names} for _ in range(rounds)
                ]
            finally:
                server.kill()
    print(f"{calls} calls, {AT_A_TIME} at a time, {PHOTO / 1e6:g} MB each, medians of {rounds}")
    for name in names:
        row = {key: middle([each[name][key] for each in seen]) for key in seen[0][name]}
        print(f"  {name:<8} {row['cpu'] / calls * 1e3:6.2f} ms CPU a call  "
              f"{calls / row['wall']:6.0f} calls/s  +{row['grown']:.1f} MB")  # fmt: skip
    cpu = middle([each["openai"]["cpu"] / each["ours"]["cpu"] for each in seen])
    speed = middle([each["openai"]["wall"] / each["ours"]["wall"] for each in seen])
    grown = max(each["ours"]["grown"] for each in seen)
    lines = (
        ("client CPU, openai / ours", cpu, cpu >= 6, ">= 6"),
        ("calls a second, ours / openai", speed, speed >= 4, ">= 4"),
        ("memory growth, MB", grown, grown <= 20, "<= 20"),
    )
    for name, value, good, target in lines:
        print(f"{name:<32} {value:8.1f}  {target:<6} {'ok' if good else 'MISSED'}")
    return 0 if all(good for *_, good, _ in lines) else 1


def middle(values: list[float]) -> float:
    """The median."""
    return statistics.median(values)


def run(name: str, url: str, folder: str, calls: int) -> Seen:
    """One client in a process of its own."""
    arguments = [sys.executable, __file__, name, url, folder, str(calls)]
    said = subprocess.run(arguments, capture_output=True, check=True).stdout
    seen: Seen = json.loads(said)
    return seen


def measured(calls: int, ask: Callable[[int], int]) -> Seen:
    """CPU and wall seconds and MB of peak growth of `ask(calls)`, after one call to warm up."""
    assert ask(1) == 1
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wall, cpu = time.perf_counter(), time.process_time()
    assert ask(calls) == calls
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak
    return {"wall": wall, "cpu": cpu, "grown": grown / 1024}


# --- the clients -------------------------------------------------------------------------------


def ours(url: str, folder: str, calls: int) -> Seen:
    """The backend, as `predict` uses it."""
    from fieldtruth.models.contract import Request
    from fieldtruth.models.openai import OPEN

    model: Any = OPEN({"model": "m", "base_url": url, "concurrency": str(AT_A_TIME)})

    def ask(count: int) -> int:
        requests = [
            Request(id=f"{n}", prompt=PROMPT, images=(Path(folder, f"{n % PHOTOS}.jpg"),))
            for n in range(count)
        ]
        return sum(words.text == "[]" for _, words in model.replies(requests))

    return measured(calls, ask)


def openai(url: str, folder: str, calls: int) -> Seen:
    """The client library, as its own documentation sends a photo."""
    from openai import AsyncOpenAI

    async def all_of(count: int) -> int:
        gate = asyncio.Semaphore(AT_A_TIME)
        async with AsyncOpenAI(api_key="k", base_url=url, max_retries=0) as client:

            async def one(number: int) -> bool:
                async with gate:
                    raw = Path(folder, f"{number % PHOTOS}.jpg").read_bytes()
                    data = f"data:image/jpeg;base64,{base64.b64encode(raw).decode()}"
                    photo = {"type": "image_url", "image_url": {"url": data}}
                    content: Any = [photo, {"type": "text", "text": PROMPT}]
                    reply = await client.chat.completions.create(
                        model="m", temperature=0, max_tokens=1024,
                        messages=[{"role": "user", "content": content}],
                    )  # fmt: skip
                    return bool(reply.choices[0].message.content == "[]")

            return sum(await asyncio.gather(*(one(number) for number in range(count))))

    return measured(calls, lambda count: asyncio.run(all_of(count)))


# --- the server --------------------------------------------------------------------------------

REPLY = json.dumps({
    "id": "c", "object": "chat.completion", "created": 1, "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop",
                 "message": {"role": "assistant", "content": "[]"}}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}).encode()  # fmt: skip
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
    len(REPLY),
    REPLY,
)


class Stub(asyncio.BufferedProtocol):
    """Counts the bytes of a call and throws them away; answers `LATENCY` after the last."""

    def __init__(self) -> None:
        self._buffer = bytearray(2**18)
        self._head = b""
        self._left = 0

    def connection_made(self, transport: Any) -> None:
        """Keep where to answer."""
        self._transport = transport

    def get_buffer(self, _sizehint: int) -> bytearray:
        """One buffer for everything."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """So many more bytes lie in it."""
        if not self._left:
            self._head += bytes(self._buffer[:nbytes])
            end = self._head.find(b"\r\n\r\n")
            if end < 0:
                return
            length = self._head.lower().partition(b"content-length:")[2].split(None, 1)[0]
            self._left = end + 4 + int(length) - len(self._head)
            self._head = b""
        else:
            self._left -= nbytes
        if not self._left:
            asyncio.get_running_loop().call_later(LATENCY, self._transport.write, ANSWER)


async def serve() -> None:
    """Print the address, then answer for ever."""
    server = await asyncio.get_running_loop().create_server(Stub, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["server"]:
            asyncio.run(serve())
        case ["ours" | "openai" as name, url, folder, calls]:
            print(json.dumps({"ours": ours, "openai": openai}[name](url, folder, int(calls))))
        case arguments:
            sys.exit(main(arguments))
