"""A request -> the bytes of its call, in pieces, so that no photo is ever in memory whole.

The JSON around the photos is encoded once; the photos are read, turned into base64 and sent piece
by piece between its parts. The length is known beforehand, so nothing is sent in chunked encoding
(which llama.cpp and some proxies do not take).
"""

from collections.abc import AsyncIterator, Iterator, Sequence

import msgspec

from fieldtruth.faults import Unreadable
from fieldtruth.models.openai.photos import Photo
from fieldtruth.models.openai.settings import Settings

CHUNK = 96 * 1024  # bytes of a photo in one piece; a multiple of 3, so pieces join unpadded

Part = bytes | Photo


def parts(settings: Settings, prompt: str, photos: Sequence[Photo]) -> list[Part]:
    """The body's parts in order: JSON as bytes, photos where their base64 belongs.

    The photos come before the prompt, as vision models were trained to read them.
    """
    made: list[Part] = []
    open_json = b'{"model":%s,"messages":[{"role":"user","content":[' % _json(settings.model)
    for photo in photos:
        opened = b'{"type":"image_url","image_url":{"url":"data:%s;base64,' % photo.kind.encode()
        made += [open_json + opened, photo]
        open_json = b'"}},'
    text = b'{"type":"text","text":%s}]}]' % _json(prompt)
    rest = b"".join(b",%s:%s" % (_json(name), _json(sent)) for name, sent in settings.sent.items())
    made.append(open_json + text + rest + b"}")
    return made


def length(body: Sequence[Part]) -> int:
    """Bytes that `pieces` will give in all."""
    return sum(-(-part.size // 3) * 4 if isinstance(part, Photo) else len(part) for part in body)


async def pieces(body: Sequence[Part]) -> AsyncIterator[bytes]:
    """The body, piece by piece. Raises `Unreadable` where a photo changed while it was sent."""
    for piece in chunks(body):
        yield piece


def chunks(body: Sequence[Part]) -> Iterator[bytes]:
    """The same, for whoever has no event loop."""
    for part in body:
        if isinstance(part, Photo):
            yield from map(_base64, _raw(part))
        else:
            yield part


def _base64(raw: bytes) -> bytes:
    try:
        from pybase64 import b64encode as encoded  # three times as fast
    except ModuleNotFoundError:  # the core install has a judge too
        import base64

        return base64.b64encode(raw)
    return encoded(raw)


def _raw(photo: Photo) -> Iterator[bytes]:
    if photo.data is not None:
        yield from (photo.data[at : at + CHUNK] for at in range(0, photo.size, CHUNK))
        return
    left = photo.size
    with photo.path.open("rb") as file:
        while left:
            raw = file.read(min(CHUNK, left))
            left -= len(raw)
            if not raw or (left and len(raw) < CHUNK):
                raise Unreadable(f"{photo.path}: expected {photo.size} bytes, but it was cut short")
            yield raw


def _json(value: object) -> bytes:
    return msgspec.json.encode(value)
