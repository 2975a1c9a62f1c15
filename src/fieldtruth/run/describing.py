"""Ask a model how labels look, and leave what it says in a file for a person to edit.

A label is asked about once: what stands in the file stays, whoever wrote it. Replies go through
the cache of `predict` where one is given, and each cue says which model wrote it, on which prompt.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from fieldtruth import models, store, taxonomy
from fieldtruth.faults import TooManyFailed, Usage
from fieldtruth.models.contract import Model, Request, Words
from fieldtruth.records import Record
from fieldtruth.replies import visible
from fieldtruth.rooms import open_room
from fieldtruth.run.cached import Cached
from fieldtruth.taxonomy import cues
from fieldtruth.taxonomy.prompts import organ_of

_LONGEST = 160  # characters of a cue; detectors read some tens of words at most


class Writer(Record, frozen=True, kw_only=True):
    """Whom to ask: a backend with its options, what it is filed under, and a cache of replies."""

    model: str
    options: Mapping[str, str] = {}
    name: str | None = None
    cache: Path | None = None


class Described(Record, frozen=True, kw_only=True):
    """What was done: labels asked about now, kept as they stood, and without a usable reply."""

    asked: int
    kept: int
    cached: int
    failed: tuple[str, ...] = ()


def describe(names: Sequence[str], crop: str | None, writer: Writer, out: Path) -> Described:
    """Write a cue for each name that `out` has none for. `Usage` where there is no name.

    The prompt shows no photo and asks for what can be seen, not for causes.
    """
    keys = list(dict.fromkeys(key_of(name, crop) for name in names))
    if not keys or "" in keys:
        raise Usage("expected the names of labels to describe, got none, or an empty one")
    with store.lock(out):
        known = cues.read(out)
        todo = [key for key in keys if key not in known]
        model: Model = open_room(models, writer.model).OPEN(writer.options)
        filed = writer.name or writer.model
        if writer.cache is not None:
            model = Cached(filed, model, store.Cache(writer.cache))
        requests = [Request(id=key, prompt=prompt_for(key), images=()) for key in todo]
        failed = []
        for request, words in zip(requests, model.reply(requests), strict=True):
            cue = read_cue(words)
            if cue is None:
                failed.append(request.id)
                continue
            digest = sha256(request.prompt.encode()).hexdigest()
            known[request.id] = cues.Cue(cue=cue, by=f"{filed}: {model.version}", prompt=digest)
            _save(known, out)  # now: a call that was paid for is not made again after a kill
        if not out.exists():
            _save(known, out)
    cached = model.hits if isinstance(model, Cached) else 0
    return Described(
        asked=len(todo) - cached, kept=len(keys) - len(todo), cached=cached, failed=tuple(failed)
    )


def _save(known: Mapping[str, cues.Cue], out: Path) -> None:
    with store.replacing(out) as file:
        file.write(cues.text_of(known).encode())


def key_of(name: str, crop: str | None) -> str:
    """The cue's key: the label id, with the crop's behind `@` where one is given."""
    plain = taxonomy.label_id(name, crop)
    return f"{plain}@{taxonomy.crop_id(crop)}" if plain and crop else plain


def prompt_for(key: str) -> str:
    """The words that are asked, without a photo."""
    plain, _, crop = key.partition("@")
    what = taxonomy.label(plain)
    thing = what.kind if what else "disease"
    if thing in ("pest", "weed"):
        where = f" on {crop}" if crop and thing == "pest" else ""
    else:
        place = " ".join(filter(None, (crop, organ_of(plain))))
        where = f" on {place}" if place else ""
    return (
        f"Describe in at most twelve words how the {thing} {plain!r} looks{where} in a photo: "
        "colour, shape and texture of what can be seen.\n"
        "Name no cause, no organism and no treatment. Answer with these words alone."
    )


def read_cue(words: Words) -> str | None:
    """The first line that says something, without marks around it; None where none does."""
    if words.error is not None or words.finish == "error":
        return None
    for line in visible.without_thinking(words.text).splitlines():
        text = " ".join("".join(c if c.isprintable() else " " for c in line).split())
        text = text.strip(" .\"'`*-#").removesuffix(".")
        if text and len(text) <= _LONGEST and any(letter.isalpha() for letter in text):
            return text
    return None


def check(done: Described) -> None:
    """Raise `TooManyFailed` where a label got no cue; the others are written."""
    if done.failed:
        raise TooManyFailed(
            f"{len(done.failed)} labels got no usable reply ({', '.join(done.failed[:5])}); "
            "the same command asks only those again"
        )
