"""The bytes that came back -> words, or why there are none and whether to try again.

Finish reasons: `stop` and what servers call the same is `stop`; `length` is `length`. A content
filter is an error with its reason, and no refusal: nobody said those words, so the item stays
unmeasured (design, section 2, rule 1). A model's own `refusal` is its words. An empty content is
blank words, not an error. What a model thinks aloud in a field of its own is not its reply; its
tokens are counted.
"""

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from time import time
from typing import Any

import msgspec

from fieldtruth.models.contract import Words
from fieldtruth.records import Finish

SHOWN = 200  # letters of a server's own words in an error

_STOP = (None, "", "stop", "eos", "eos_token", "end_turn", "stop_sequence", "tool_calls",
         "function_call")  # fmt: skip
_LENGTH = ("length", "max_tokens", "model_length")
_AGAIN = (408, 409, 425, 429)
_USED_UP = ("insufficient_quota", "billing_hard_limit_reached")  # a 429 that no waiting mends


class Failed(Exception):
    """A call without an answer. `again`: another try may mend it; `after`: seconds to wait first.

    `hopeless`: every other call would fail too. `status` is None where no HTTP answer came.
    """

    def __init__(
        self,
        why: str,
        *,
        again: bool,
        after: float = 0.0,
        status: int | None = None,
        hopeless: bool = False,
    ) -> None:
        super().__init__(why)
        self.again = again
        self.after = after
        self.status = status
        self.hopeless = hopeless


class Usage(msgspec.Struct, frozen=True, gc=False):
    """Tokens as the server counted them; `output` includes those of the `reasoning`."""

    input: int
    output: int
    reasoning: int


class _Message(msgspec.Struct, gc=False):
    content: str | list[Any] | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct, gc=False):
    message: _Message
    finish_reason: str | None = None


class _Completion(msgspec.Struct, gc=False):
    choices: list[_Choice]
    model: Any = None  # an odd name or count costs nobody a reply
    usage: Any = None


class Reply(msgspec.Struct, frozen=True, gc=False):
    """What a call brought: the words, the tokens, and the name the server gives its model."""

    words: Words
    usage: Usage | None
    model: str | None


_decode = msgspec.json.Decoder(_Completion).decode


def read_reply(body: bytes) -> Reply:
    """The reply in the body of a 200; `Failed` where there is none."""
    try:
        said = _decode(body)
    except (ValueError, RecursionError) as error:
        raise Failed(_not_a_reply(body, error), again=True, status=200) from None
    if not said.choices:
        raise Failed("expected a choice in the reply, got none", again=True, status=200)
    choice = said.choices[0]
    return Reply(
        Words(text=_text(choice.message), finish=_finish(choice.finish_reason)),
        _usage(said.usage),
        said.model if isinstance(said.model, str) else None,
    )


def refused(status: int, headers: Mapping[str, str], body: bytes) -> Failed:
    """Why there is no reply in an answer that is no 200."""
    if 300 <= status < 400:
        where = headers.get("Location", "").partition("?")[0]
        return Failed(
            f"HTTP {status}: redirects to {where!r}, which is not followed with the key; "
            "give that address as base_url", again=False, status=status,
        )  # fmt: skip
    code, said = _told(body)
    used_up = code in _USED_UP
    return Failed(
        f"HTTP {status}: {said}" if said else f"HTTP {status}",
        again=(status in _AGAIN or status >= 500) and not used_up,
        after=_wait(headers),
        status=status,
        hopeless=status == 401 or used_up,
    )


def _finish(reason: str | None) -> Finish:
    if reason in _STOP:
        return "stop"
    if reason in _LENGTH:
        return "length"
    if reason == "content_filter":
        raise Failed("the server's content filter held the reply back", again=False, status=200)
    raise Failed(f"the server ended the reply with {reason!r}", again=True, status=200)


def _usage(said: Any) -> Usage | None:
    """The counts, or None where the server gave none that can be read."""
    try:
        details = said.get("completion_tokens_details") or {}
        counts = (said["prompt_tokens"], said["completion_tokens"])
        thought = details.get("reasoning_tokens") or 0
        made = Usage(int(counts[0]), int(counts[1]), int(thought))
    except (AttributeError, LookupError, TypeError, ValueError, OverflowError):
        return None
    return made if min(made.input, made.output, made.reasoning) >= 0 else None


def _text(message: _Message) -> str:
    content = message.content
    if isinstance(content, list):  # some servers send parts
        told = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(text for text in told if isinstance(text, str))
    return content or message.refusal or ""


def _not_a_reply(body: bytes, error: Exception) -> str:
    if not body.strip():
        return "expected a reply, got an empty body"
    if body.lstrip()[:1] == b"<":
        return "expected JSON, got an HTML page: " + _plain(body)
    told = _told(body)[1] if b'"error"' in body else ""
    return f"expected a reply, got an error: {told}" if told else f"expected a reply, got: {error}"


def _told(body: bytes) -> tuple[str, str]:
    """The code and the message of an error's body, in the shapes servers use."""
    try:
        said = msgspec.json.decode(body)
    except (ValueError, RecursionError):
        return "", _plain(body)
    if isinstance(said, dict):
        inner = said.get("error", said)
        inner = inner if isinstance(inner, dict) else {"message": inner}
        code, message = inner.get("code"), inner.get("message") or inner.get("detail")
        return str(code or inner.get("type") or ""), _plain(str(message or said).encode())
    return "", _plain(body)


def _plain(body: bytes) -> str:
    text = re.sub(r"<[^>]*>", " ", body[:20000].decode(errors="replace"))
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _wait(headers: Mapping[str, str]) -> float:
    """Seconds that Retry-After asks for (RFC 9110, 10.2.3); 0 where it says nothing readable."""
    said = headers.get("Retry-After", "").strip()
    try:
        return max(0.0, float(said)) if said[:1].isdigit() else _until(said)
    except (ValueError, TypeError, OverflowError):
        return 0.0


def _until(date: str) -> float:
    return max(0.0, parsedate_to_datetime(date).timestamp() - time())
