"""A model behind a cache of replies: what was answered once is not asked again.

Replies are kept by (name they are filed under, the model's version, prompt, photos' bytes, what
else the request says), so every stage that asks through the same folder shares them, and a second
run (`NAME@run2`) of a model that is sampled gets replies of its own. Requests of one run that are
the same in all of this are asked once.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from fieldtruth.faults import Fault
from fieldtruth.models.contract import (
    Metered,
    Model,
    Replies,
    Request,
    Spent,
    Words,
    as_known,
    in_order,
)
from fieldtruth.store import Cache, Key, sha256


class Cached:
    """A `Model` that answers from `cache` what it can, and asks `model` for the rest."""

    def __init__(self, name: str, model: Model, cache: Cache) -> None:
        self._name = name
        self._model = model
        self._cache = cache
        self._hashes: dict[Path, str] = {}
        self.hits = 0  # requests answered from what was kept
        self.space = model.space
        self.version = model.version

    def reply(self, requests: Sequence[Request]) -> Iterator[Words]:
        """One `Words` per request, in order."""
        return in_order(self.replies(requests))

    def replies(self, requests: Sequence[Request]) -> Replies:
        """What is kept, then the model's as they come; each is kept before it is handed on."""
        keys: dict[str, Key | None] = {}  # of what has to be asked, in order
        places: dict[str, list[int]] = {}
        for place, request in enumerate(requests):
            key = self._key(request)
            kept = self._cache.get(key) if key else None
            if kept is not None:
                self.hits += 1
                yield place, Words(text=kept.text, finish=kept.finish)
                continue
            name = _name(place, key)
            keys[name] = key
            places.setdefault(name, []).append(place)
        names = list(keys)
        first = [requests[places[name][0]] for name in names]
        with closing(as_known(self._model, first)) as replies:
            for number, words in replies:
                trouble = self._keep(keys[names[number]], words)
                for place in places[names[number]]:
                    yield place, words
                if trouble is not None:
                    raise trouble

    def estimate(self, requests: Sequence[Request]) -> str | None:
        """The model's estimate for what is not kept."""
        if not isinstance(self._model, Metered):
            return None
        left: dict[str, Request] = {}
        for place, request in enumerate(requests):
            key = self._key(request)
            if key is None or self._cache.get(key) is None:
                left.setdefault(_name(place, key), request)
        return self._model.estimate(list(left.values()))

    @property
    def spent(self) -> Spent:
        """What the model took; replies from the cache take nothing."""
        return self._model.spent if isinstance(self._model, Metered) else Spent()

    def _keep(self, key: Key | None, words: Words) -> Fault | None:
        """Put a reply away; a cache that cannot be written ends the run, but loses no reply."""
        if key is None or words.error is not None:
            return None
        try:
            self._cache.put(key, words.text, words.finish)
        except Fault as trouble:
            return trouble
        return None

    def _key(self, request: Request) -> Key | None:
        """None where a photo cannot be read: the model will say so itself."""
        try:
            images = tuple(self._hash(path) for path in request.images)
        except OSError:
            return None
        return Key(
            model=self._name,
            version=self._model.version,
            prompt=request.prompt,
            images=images,
            parameters={
                "names": msgspec.json.encode(request.names).decode(),
                "level": request.level,
                **_phrases(request),
            },
        )

    def _hash(self, path: Path) -> str:
        if path not in self._hashes:
            self._hashes[path] = sha256(path)
        return self._hashes[path]


def _phrases(request: Request) -> Mapping[str, str]:
    """Only where there are some, so that what was kept before there were any is still found."""
    if not request.phrases:
        return {}
    return {"phrases": msgspec.json.encode(request.phrases).decode()}


def _name(place: int, key: Key | None) -> str:
    """What equal requests have in common; a request without a key is like no other."""
    return f"#{place}" if key is None else key.digest
