"""The backend's options, the version they add up to, and the key.

`KNOWN` says what each option means. `version` is a hash of all that may change a reply: the
model's name, what is sent with each call, and the server's address; `revision=` stands in place
of the address, so that a run can go on against another host that serves the same weights.
"""

import json
import re
from collections.abc import Mapping
from hashlib import sha256
from math import inf, isfinite
from pathlib import Path
from typing import Any, Self, get_args
from urllib.parse import urlsplit

import msgspec

from fieldtruth.faults import Usage
from fieldtruth.models.contract import known_options
from fieldtruth.records import Record, Space
from fieldtruth.replies import write_boxes

RULE = 1  # add one when the same request would be sent otherwise
HOSTED = "https://api.openai.com/v1"

KNOWN = {
    "model": "the name the server knows it by",
    "base_url": "OPENAI_BASE_URL if not given; most servers want it to end in /v1",
    "space": "the box space it writes in; norm1000 if not given",
    "temperature": "0 if not given; `none` sends none (reasoning models refuse it)",
    "max_tokens": "of a reply; 1024 if not given; `none` sends none",
    "max_completion_tokens": "in place of max_tokens, where the server wants that name",
    "seed": "sent as it is",
    "schema": "`boxes`, or a JSON schema's file: asks the server for that shape",
    "body.NAME": "any further field of the call, as JSON: body.top_p=0.9",
    "revision": "which weights these are: stands in place of base_url in the version",
    "concurrency": "calls at a time; 16 if not given",
    "timeout": "seconds for one call; 300 if not given",
    "retries": "further tries of a call that failed; 5 if not given",
    "backoff": "seconds before the first of them, doubled each time; 0.5 if not given",
    "price_in": "of a million tokens in, in your currency",
    "price_out": "of a million tokens out",
    "image_tokens": "tokens a photo counts for in the estimate; by its size if not given, or 0",
    "max_cost": "no call is begun that could take the run beyond this",
}

_PLACEHOLDER = 8  # letters: servers without keys are given `EMPTY`, `none`, `x`


class Settings(Record, frozen=True, kw_only=True):
    """What was asked for on the command line; the key is not among it."""

    model: str
    base_url: str
    space: Space
    sent: Mapping[str, Any]  # fields of every call beside model and messages
    revision: str | None = None
    concurrency: int = 16
    timeout: float = 300.0
    retries: int = 5
    backoff: float = 0.5
    price_in: float | None = None
    price_out: float | None = None
    image_tokens: int | None = None
    max_cost: float | None = None

    @property
    def url(self) -> str:
        """Where calls go."""
        return f"{self.base_url}/chat/completions"

    @property
    def version(self) -> str:
        """Changes with whatever may change a reply; not with how fast or how often it is asked."""
        made = [RULE, self.model, self.revision or self.base_url, self.revision is None, self.sent]
        raw = msgspec.json.encode(made, order="deterministic")
        return f"openai-{sha256(raw).hexdigest()[:16]}"

    @property
    def most_out(self) -> int | None:
        """Tokens that one reply may have, where it was bounded."""
        most = self.sent.get("max_tokens", self.sent.get("max_completion_tokens"))
        return most if isinstance(most, int) else None


class Secret:
    """The key, which shows itself to `header` and to nobody else."""

    def __init__(self, value: str) -> None:
        self.__value = value

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Self:
        """The one in OPENAI_API_KEY, or none."""
        value = environment.get("OPENAI_API_KEY", "").strip()
        if not (value.isascii() and value.isprintable()):
            raise Usage("OPENAI_API_KEY: expected printable ASCII letters, got others")
        return cls(value)

    def __repr__(self) -> str:
        return "[key]"

    def __bool__(self) -> bool:
        return bool(self.__value)

    def __reduce__(self) -> str | tuple[Any, ...]:
        raise TypeError("a key is not written anywhere")

    @property
    def header(self) -> dict[str, str]:
        """What authorises a call."""
        return {"Authorization": f"Bearer {self.__value}"} if self.__value else {}

    def redact(self, text: str) -> str:
        """The text without the key; placeholders are no secret and stay."""
        if len(self.__value) < _PLACEHOLDER:
            return text
        return text.replace(self.__value, "[key]")


def read_settings(options: Mapping[str, str], environment: Mapping[str, str]) -> Settings:
    """The options as settings; `Usage` says which cannot be used, and why."""
    if any(re.search(r"key|token$|secret|password", name) for name in options):
        raise Usage("openai takes its key from OPENAI_API_KEY, never from the command line")
    plain = [name for name in options if not name.startswith("body.")]
    known_options("openai", dict.fromkeys(plain, ""), tuple(KNOWN))
    if not options.get("model"):
        raise Usage("openai needs --model-args model=NAME, the name the server knows it by")
    said = options.get("space", "norm1000")
    space = next((known for known in get_args(Space) if known == said), None)
    if space is None:
        raise Usage(f"space: expected one of {', '.join(get_args(Space))}, got {said!r}")
    settings = Settings(
        model=options["model"],
        base_url=_address(options, environment),
        space=space,
        sent=_sent(options, space),
        revision=options.get("revision"),
        concurrency=_whole(options, "concurrency", 16, least=1),
        timeout=_number(options, "timeout", above=0) or 300.0,
        retries=_whole(options, "retries", 5, least=0),
        backoff=_number(options, "backoff", above=0) or 0.5,
        price_in=_number(options, "price_in"),
        price_out=_number(options, "price_out"),
        image_tokens=_whole(options, "image_tokens", 0, least=0) or None,
        max_cost=_number(options, "max_cost"),
    )
    _priced(settings)
    return settings


def _priced(settings: Settings) -> None:
    if (settings.price_in is None) != (settings.price_out is None):
        raise Usage("price_in and price_out: expected both or neither, got one")
    if settings.max_cost is None:
        return
    if settings.price_in is None:
        raise Usage("max_cost needs prices: --model-args price_in=...,price_out=... a million")
    if settings.most_out is None:
        raise Usage("max_cost needs a bound on each reply: --model-args max_tokens=N")


def _address(options: Mapping[str, str], environment: Mapping[str, str]) -> str:
    said = options.get("base_url") or environment.get("OPENAI_BASE_URL", "").strip()
    if not said and not environment.get("OPENAI_API_KEY", "").strip():
        raise Usage(
            "openai needs a server: --model-args base_url=http://127.0.0.1:8000/v1, or "
            "OPENAI_BASE_URL, or OPENAI_API_KEY for the hosted one"
        )
    url = (said or HOSTED).rstrip("/").removesuffix("/chat/completions")
    if any(mark in url for mark in "@?#"):  # a key would end in messages
        raise Usage("base_url: expected no user, query or fragment; keys go into OPENAI_API_KEY")
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good or not url.isprintable() or " " in url:
        raise Usage("base_url: expected http://HOST:PORT/v1 or https://HOST/v1, got neither")
    return url


def _sent(options: Mapping[str, str], space: Space) -> dict[str, Any]:
    sent: dict[str, Any] = {}
    if options.get("temperature") != "none":
        sent["temperature"] = _number(options, "temperature") or 0
    if "max_completion_tokens" in options:
        sent["max_completion_tokens"] = _whole(options, "max_completion_tokens", 0, least=1)
    elif options.get("max_tokens") != "none":
        sent["max_tokens"] = _whole(options, "max_tokens", 1024, least=1)
    if "seed" in options:
        sent["seed"] = _whole(options, "seed", 0, least=0)
    if "schema" in options:
        sent["response_format"] = _shape(options["schema"], space)
    for name, value in options.items():
        if name.startswith("body."):
            sent[name.removeprefix("body.")] = _json(value)
    fixed = {"model", "messages", "stream", "n"} & sent.keys()
    if fixed:
        raise Usage(f"body.{min(fixed)}: expected a field that is not set here, got one that is")
    return sent


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _shape(said: str, space: Space) -> dict[str, Any]:
    """`response_format` for a list of boxes in the words that prompts ask for, or for a file's.

    The list stands at the root, as prompts want it; vLLM, SGLang, llama.cpp and Ollama take
    that, OpenAI's own strict mode takes only an object: leave `schema` out there.
    """
    if said == "boxes":
        (example,) = json.loads(write_boxes([(0, 0, 1, 1)], "", space, width=10, height=10))
        corners, label = example
        number = "number" if space == "norm1" else "integer"
        four = {"type": "array", "items": {"type": number}, "minItems": 4, "maxItems": 4}
        schema: Any = {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {corners: four, label: {"type": "string"}},
                "required": [corners, label],
                "additionalProperties": False,
            },
        }
    else:
        try:
            schema = json.loads(Path(said).read_bytes())
        except (OSError, ValueError) as error:
            raise Usage(f"schema={said}: expected `boxes` or a JSON file, got {error}") from None
    name = re.sub(r"[^A-Za-z0-9_-]", "_", Path(said).stem)[:64] or "reply"
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "strict": True, "schema": schema},
    }


def _number(options: Mapping[str, str], name: str, *, above: float = -inf) -> float | None:
    if name not in options:
        return None
    try:
        value = float(options[name])
    except ValueError:
        value = inf
    if not (isfinite(value) and value >= 0 and value > above):
        least = "0 or more" if above < 0 else f"above {above:g}"
        raise Usage(f"{name}: expected a number, {least}, got {options[name]!r}")
    return value


def _whole(options: Mapping[str, str], name: str, default: int, *, least: int) -> int:
    text = options.get(name, str(default))
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) >= least):
        raise Usage(f"{name}: expected a whole number, {least} or more, got {text!r}")
    return int(text)
