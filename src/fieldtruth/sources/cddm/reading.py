"""CDDM's files, row by row: what is asked about which photo, and what the sample is called."""

import re
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from pathlib import Path

import msgspec

from fieldtruth import rows
from fieldtruth.records import Drop, Sample

PHOTOS, QUESTIONS = "dataset/images", "dataset/VQA"
# Where the authors kept the photos; some files still say so.
OLD_PLACE = "/home/jovyan/liuxiang/LLaVA/Qwen-VL/image_en_eccv/"
_IMG = re.compile(r"(?:Picture\s+\d+\s*:\s*)?<img>(?P<place>.*?)</img>\s*|<image>\s*")
_ASKERS = {"human": "gpt", "user": "assistant"}


class _Turn(msgspec.Struct, forbid_unknown_fields=True, gc=False, rename={"who": "from"}):
    who: str
    value: str


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
    """The samples of a release, file by file. An id is one row's over all files."""

    def __init__(self, root: Path, settings: rows.Settings) -> None:
        self._questions, self._settings = root / QUESTIONS, settings
        self._photos, self._names = rows.Photos(root, PHOTOS), rows.Names("cddm")

    def samples(self, path: Path) -> Iterator[Iterable[Sample | Drop]]:
        """The samples and drops of a file in its order, some hundred at a time."""
        file = path.relative_to(self._questions).as_posix()
        native = _split(file)
        for first, some in rows.read_lists(path, _Row):
            made = self._at_once(some, (file, first), native)
            yield self._one_by_one(some, (file, first), native) if made is None else made

    def _at_once(
        self, some: Sequence[_Row | rows.Bad], place: tuple[str, int], native: dict[str, str]
    ) -> list[Sample | Drop] | None:
        """`_one_by_one` without a call for each row; None where a row is not the common one.

        That has an id, a question and a photo that is there, and no conversation.
        """
        if set(map(type, some)) != {_Row} or any(map(_conversations_of, some)):
            return None
        own = list(map(_id_of, some))
        questions, answers = list(map(_question_of, some)), list(map(_answer_of, some))
        places = [
            image[1:] if image.startswith("/dataset/") else place_of(image)
            for image in map(_image_of, some)
        ]
        if set(map(type, own)) != {str} or not (all(own) and all(questions)):
            return None
        if not self._photos.there.issuperset(places):
            return None
        photos: list[tuple[str]] = list(zip(places, strict=True))
        names, again = self._names.of_all(own, place, zip(photos, questions, answers, strict=True))
        licence = self._settings.licence
        made: list[Sample | Drop] = [
            Sample(
                id=name, source="cddm", images=images, question=question, answer=answer,
                native=native, licence=licence,
            )
            for name, images, question, answer in zip(
                names, photos, questions, answers, strict=True
            )
        ]  # fmt: skip
        for at in again:
            made[at] = rows.dropped(names[at], "ingest", "listed_twice")
        return made

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


_id_of, _conversations_of = attrgetter("question_id"), attrgetter("conversations")
_image_of, _question_of, _answer_of = map(attrgetter, ("image", "question", "answer"))


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


def _asked(row: _Row | rows.Bad) -> Sequence[_Asked | rows.Bad]:
    """What a row asks: one question, or as many as its conversation has turns."""
    if isinstance(row, rows.Bad):
        return (row,)
    said = row.id if row.question_id == "" else row.question_id  # 0 is an id
    native = said if isinstance(said, str) else str(said)
    if not row.conversations:
        image, question = row.image, row.question
        if not image or not question:
            return (rows.Bad("expected an image and a question with its answer"),)
        return ((native, (place_of(image),), question, row.answer),)
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
        (
            f"{native}:{number}" if len(pairs) > 1 and native else native,
            images,
            _IMG.sub("", ask.value).strip(),
            reply.value,
        )
        for number, (ask, reply) in enumerate(pairs, start=1)
    ]
