"""CDDM's files, row by row: what is asked about which photo, and what the sample is called."""

import re
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import cast

import msgspec

from fieldtruth import rows
from fieldtruth.records import Drop, Sample
from fieldtruth.unique import Unique

PHOTOS, QUESTIONS = "dataset/images", "dataset/VQA"
# Where the authors kept the photos; some files still say so.
OLD_PLACE = "/home/jovyan/liuxiang/LLaVA/Qwen-VL/image_en_eccv/"
_IMG = re.compile(r"(?:Picture\s+\d+\s*:\s*)?<img>(?P<place>.*?)</img>\s*|<image>\s*")
_ASKERS = {"human": "gpt", "user": "assistant"}


class _Turn(msgspec.Struct, forbid_unknown_fields=True, gc=False, rename={"who": "from"}):
    who: str
    value: str


class _Named(msgspec.Struct, gc=False):
    """Of a row only what its id is made of."""

    question_id: str | int = ""
    id: str | int = ""
    conversations: tuple[msgspec.Raw, ...] = ()


class _Row(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A row of any of the four files."""

    question_id: str | int = ""
    question: str = ""
    image: str = ""
    answer: str = ""
    id: str | int = ""
    conversations: tuple[_Turn, ...] = ()


# A question with its answer: its id in the release, its photos, the question, the answer.
_Asked = tuple[str, tuple[str, ...], str, str]


class Reader:
    """The samples of a release, file by file. An id is one row's over all files.

    The ids are read beforehand: to know which come twice costs less than to keep all of them.
    """

    def __init__(self, root: Path, files: Iterable[Path], settings: rows.Settings) -> None:
        self._questions, self._settings = root / QUESTIONS, settings
        self._photos, ids = rows.Photos(root, PHOTOS), Unique()
        for path in files:
            file = self._name_of(path)
            for first, some in rows.read_lists(path, _Named):
                ids.add(_all_natives(some, (file, first)))
        self._names = rows.Names("cddm", ids.doubled())

    def _name_of(self, path: Path) -> str:
        return path.relative_to(self._questions).as_posix()

    def samples(self, path: Path) -> Iterator[Iterable[Sample | Drop]]:
        """The samples and drops of a file in its order, some hundred at a time."""
        file = self._name_of(path)
        native = _split(file)
        for first, some in rows.read_lists(path, _Row):
            made = self._at_once(some, native)
            yield self._one_by_one(some, (file, first), native) if made is None else made

    def _at_once(
        self, some: Sequence[_Row | rows.Bad], native: dict[str, str]
    ) -> list[Sample | Drop] | None:
        """`_one_by_one` without a call for each row; None where a row is not the common one.

        That has a question, a photo that is there and an id that comes once, and no conversation.
        """
        if set(map(type, some)) != {_Row}:
            return None
        common = cast("Sequence[_Row]", some)
        own = cast("list[str]", [row.question_id for row in common])
        if set(map(type, own)) != {str} or not all(own) or not self._names.once(own):
            return None
        if any(map(_conversations_of, common)) or not all(map(_question_of, common)):
            return None
        images = [row.image for row in common]
        places = [image[1:] for image in images]  # what `place_of` makes of most
        if {image[:1] for image in images} != {"/"} or not self._photos.all_there(places):
            places = list(map(place_of, images))
            if not self._photos.all_there(places):
                return None
        licence = self._settings.licence
        return [
            Sample(
                id=f"cddm:{row.question_id}", source="cddm", images=(place,),
                question=row.question, answer=row.answer, native=native, licence=licence,
            )
            for row, place in zip(common, places, strict=True)
        ]  # fmt: skip

    def _one_by_one(
        self, some: Sequence[_Row | rows.Bad], place: tuple[str, int], native: dict[str, str]
    ) -> Iterator[Sample | Drop]:
        file, first = place
        for number, row in enumerate(some, first):
            for one in _asked(row):
                if isinstance(one, rows.Bad):
                    yield rows.dropped(f"cddm:{file}:{number}", "ingest", "bad_row", one.why)
                    continue
                own, images, question, answer = one
                name, again = self._names.of(own, (file, number), (images, question, answer))
                if again:
                    yield rows.dropped(name, "ingest", "listed_twice")
                elif lost := self._photos.lost(images, self._settings):
                    yield rows.dropped(name, "ingest", *lost)
                else:
                    yield Sample(
                        id=name, source="cddm", images=images, question=question, answer=answer,
                        native=native, licence=self._settings.licence,
                    )  # fmt: skip


_conversations_of, _question_of = attrgetter("conversations"), attrgetter("question")


def place_of(image: str) -> str:
    """A photo's path relative to the release, as rows of any age name it.

    >>> place_of("/dataset/images/Apple,Scab/p.jpg"), place_of(OLD_PLACE + "Apple,Scab/p.jpg")
    ('dataset/images/Apple,Scab/p.jpg', 'dataset/images/Apple,Scab/p.jpg')
    """
    if image.startswith("/dataset/"):
        return image[1:]
    if image.startswith(OLD_PLACE):
        return f"{PHOTOS}/{image.removeprefix(OLD_PLACE)}"
    return image.removeprefix("./")


def _split(file: str) -> dict[str, str]:
    """The split that a file's name tells: those of the release do."""
    name = file.lower()
    if "train" in name:
        return {"split": "train"}
    return {"split": "test"} if "test" in name or "disease_" in name else {}


def _natives(row: _Named | _Row) -> list[str]:
    """The ids in the release of all that a row asks; "" where it has none."""
    said = row.id if row.question_id == "" else row.question_id  # 0 is an id
    native = said if isinstance(said, str) else str(said)
    turns = len(row.conversations) // 2
    if turns > 1 and native:
        return [f"{native}:{number}" for number in range(1, turns + 1)]
    return [native] * max(1, turns)


def _all_natives(some: Sequence[_Named | rows.Bad], place: tuple[str, int]) -> list[str]:
    """The ids of rows of a file one after another; `place` is the first row's."""
    if set(map(type, some)) == {_Named} and not any(map(_conversations_of, some)):
        own = cast("list[str]", [each.question_id for each in cast("Sequence[_Named]", some)])
        if set(map(type, own)) == {str} and all(own):
            return own
    file, first = place
    return [
        native or rows.place_name(file, number)
        for number, row in enumerate(some, first)
        if isinstance(row, _Named)
        for native in _natives(row)
    ]


def _asked(row: _Row | rows.Bad) -> Sequence[_Asked | rows.Bad]:
    """What a row asks: one question, or as many as its conversation has turns."""
    if isinstance(row, rows.Bad):
        return (row,)
    natives = _natives(row)
    if not row.conversations:
        image, question = row.image, row.question
        if not image or not question:
            return (rows.Bad("expected an image and a question with its answer"),)
        return ((natives[0], (place_of(image),), question, row.answer),)
    turns = row.conversations
    pairs = list(zip(turns[::2], turns[1::2], strict=False))
    places = [row.image] if row.image else []
    places += [found["place"] for turn in turns for found in _IMG.finditer(turn.value)
               if found["place"]]  # fmt: skip
    if (
        not places
        or len(turns) % 2
        or any(_ASKERS.get(ask.who) != reply.who for ask, reply in pairs)
    ):
        return (rows.Bad("expected an image, and turns of question and answer"),)
    images = tuple(dict.fromkeys(map(place_of, places)))
    return [
        (native, images, _IMG.sub("", ask.value).strip(), reply.value)
        for native, (ask, reply) in zip(natives, pairs, strict=True)
    ]
