"""A real Label Studio server on this machine, for the length of a test session, and its API.

It lives in its own virtual environment (`make test-labelstudio` makes it), keeps its data in a
folder of its own, and speaks to nobody else.
"""

import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAM = "LABEL_STUDIO"  # the environment variable that says where the program is
TOKEN = "0123456789abcdef0123456789abcdef01234567"
MAIL = "first@example.org"
PATIENCE = 240  # seconds to start: it makes its database first


@dataclass(frozen=True, slots=True)
class Server:
    """A running server; `call` speaks to it as its first user."""

    url: str
    files: Path  # served under /data/local-files/

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """One request; what came back, from JSON. An error holds the server's words."""
        raw = self.fetch(method, path, body)
        return json.loads(raw) if raw else None

    def fetch(self, method: str, path: str, body: Any = None) -> bytes:
        """One request; the bytes that came back."""
        request = urllib.request.Request(
            self.url + path, method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Token {TOKEN}", "Content-Type": "application/json"},
        )  # fmt: skip
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return bytes(answer.read())
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.code} {error.read()[:2000]!r}") from None


@contextmanager
def running(folder: Path) -> Iterator[Server]:
    """A server with its data and its photos below `folder`."""
    files = folder / "files"
    files.mkdir()
    port = _free()
    settings = {
        "LABEL_STUDIO_LOCAL_FILES_SERVING_ENABLED": "true",
        "LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT": str(files),
        "COLLECT_ANALYTICS": "false", "LATEST_VERSION_CHECK": "false", "SENTRY_DSN": "",
        "FRONTEND_SENTRY_DSN": "", "SENTRY_RATE": "0", "HOME": str(folder),
    }  # fmt: skip
    words = [
        os.environ[PROGRAM], "start", "--no-browser", "--data-dir", str(folder / "data"),
        "--internal-host", "127.0.0.1", "--port", str(port), "--username", MAIL,
        "--password", "a-pass-word-1", "--user-token", TOKEN, "--enable-legacy-api-token",
        "--log-level", "WARNING",
    ]  # fmt: skip
    log = folder / "server.log"
    with log.open("wb") as told:
        process = subprocess.Popen(
            words, stdout=told, stderr=subprocess.STDOUT, env=os.environ | settings
        )
        try:
            server = Server(f"http://127.0.0.1:{port}", files)
            _wait(server, process, log)
            yield server
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _free() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])


def _wait(server: Server, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if process.poll() is not None:
            break
        try:
            if server.call("GET", "/health")["status"] == "UP":
                return
        except (OSError, AssertionError):
            time.sleep(0.5)
    raise AssertionError(f"the server did not start:\n{log.read_text(errors='replace')[-4000:]}")
