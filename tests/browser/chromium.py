"""Chromium, headless, driven by the DevTools protocol over a pipe: nothing to install but itself.

Messages are JSON with a zero byte after each, to file descriptor 3 and from 4 (Chromium's
`--remote-debugging-pipe`). https://chromedevtools.github.io/devtools-protocol/
"""

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 60.0  # seconds for one answer
_MOVE = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
os.dup2(ends[0], 3)
os.dup2(ends[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


def found() -> str | None:
    """Where Chromium is, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


@dataclass
class Tab:
    """One page, and all that it did since it was opened."""

    browser: "Browser"
    session: str
    events: list[dict[str, Any]] = field(default_factory=list)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command of the protocol to this page."""
        return self.browser.call(method, params, self.session)

    def open(self, url: str) -> None:
        """Load a page, and give whatever it would do of itself a moment to happen."""
        self.call("Page.navigate", url=url)
        self.browser.until(lambda: self.named("Page.loadEventFired"))
        self.run("new Promise(done => setTimeout(() => done(true), 300))")

    def run(self, script: str) -> Any:
        """The value of an expression in the page; a promise is waited for."""
        got = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                        awaitPromise=True)  # fmt: skip
        assert "exceptionDetails" not in got, got["exceptionDetails"]
        return got["result"].get("value")

    def size(self, width: int, height: int = 844, *, phone: bool = False) -> None:
        """The window, in CSS pixels."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=phone)  # fmt: skip

    def scheme(self, name: str) -> None:
        """What the reader's system prefers: light or dark."""
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": name}])  # fmt: skip

    def shot(self, path: Path) -> Path:
        """A screenshot of the whole page as PNG."""
        got = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(got["data"]))
        return path

    def pdf(self) -> bytes:
        """The page as it is printed."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])

    def named(self, *methods: str) -> list[dict[str, Any]]:
        """What happened of these kinds."""
        return [each["params"] for each in self.events if each["method"] in methods]

    def troubles(self) -> list[str]:
        """Dialogs, errors and warnings of the console, and whatever the page's policy stopped."""
        return [
            json.dumps(each)
            for each in self.named(
                "Page.javascriptDialogOpening", "Runtime.exceptionThrown",
                "Runtime.consoleAPICalled", "Log.entryAdded", "Audits.issueAdded",
            )
        ]  # fmt: skip

    def requests(self) -> list[str]:
        """Every address the page asked for, itself first; what lies in the page is none."""
        asked = [each["request"]["url"] for each in self.named("Network.requestWillBeSent")]
        return [url for url in asked if not url.startswith("data:")]


class Browser:
    """The process, and its pipe."""

    def __init__(self, to: int, back: int) -> None:
        self._to, self._back = to, back
        self._left = b""
        self._number = 0
        self._answers: dict[int, dict[str, Any]] = {}
        self._tabs: dict[str, Tab] = {}

    def call(self, method: str, params: Any = None, session: str | None = None) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": params or {}}
        whole = json.dumps(message | ({"sessionId": session} if session else {})).encode() + b"\0"
        while whole:
            whole = whole[os.write(self._to, whole) :]
        self.until(lambda: number in self._answers)
        answer = self._answers.pop(number)
        assert "error" not in answer, (method, answer["error"])
        return dict(answer["result"])

    def until(self, holds: Any) -> None:
        """Listen until something holds."""
        limit = time.monotonic() + PATIENCE
        while not holds():
            assert select.select([self._back], [], [], max(0, limit - time.monotonic()))[0]
            chunk = os.read(self._back, 1 << 20)
            assert chunk, "chromium is gone"
            *messages, self._left = (self._left + chunk).split(b"\0")
            for message in map(json.loads, messages):
                self._take(message)

    def _take(self, message: dict[str, Any]) -> None:
        if "id" in message:
            self._answers[message["id"]] = message
            return
        tab = self._tabs.get(message.get("sessionId", ""))
        if tab is None:
            return
        tab.events.append(message)
        if message["method"] == "Page.javascriptDialogOpening":  # or nothing else would go on
            told = {"id": 0, "method": "Page.handleJavaScriptDialog", "params": {"accept": True}}
            os.write(self._to, json.dumps(told | {"sessionId": tab.session}).encode() + b"\0")

    def tab(self) -> Tab:
        """A new empty page, listened to from its beginning."""
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        attach = {"targetId": target, "flatten": True}
        session = self.call("Target.attachToTarget", attach)["sessionId"]
        tab = self._tabs[session] = Tab(self, session)
        for domain in ("Page", "Runtime", "Log", "Network", "Audits"):
            tab.call(f"{domain}.enable")
        return tab


@contextmanager
def browsing(program: str) -> Iterator[Browser]:
    """A browser with a profile of its own, gone when the block ends."""
    mine, to = os.pipe()
    back, theirs = os.pipe()
    with TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [
                sys.executable, "-c", _MOVE, str(mine), str(theirs), program, "--headless",
                "--remote-debugging-pipe", f"--user-data-dir={profile}", "--no-first-run",
                "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--disable-background-networking", "--hide-scrollbars=false",
            ],
            pass_fds=(mine, theirs), stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(mine)
        os.close(theirs)
        try:
            yield Browser(to, back)
        finally:
            process.kill()
            process.wait()
            os.close(to)
            os.close(back)


def opened(browser: Browser, page: Path, width: int, scheme: str) -> Tab:
    """A page, all of it unfolded: it is quiet, asks for nothing, fits, and holds words alone."""
    tab = browser.tab()
    tab.scheme(scheme)
    tab.size(width, phone=width < 500)
    tab.open(page.as_uri())
    tab.run("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert tab.troubles() == [], tab.troubles()
    assert tab.requests() == [page.as_uri()], tab.requests()
    assert tab.run("document.documentElement.scrollWidth") <= width
    assert tab.run("document.querySelectorAll('img, script, iframe, object, embed').length") == 0
    return tab
