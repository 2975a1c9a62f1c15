"""MIRAGE as talks: what growers and experts of extension services said, turn by turn.

PATH holds the published files anywhere below it, as for `mirage`: `mmmt_direct*.json` and
`mmmt_decomp*.json` (talks in one text, `user: ... expert: ...`, one a line), `mmst_standard*.json`
and `mmst_contextual*.json` (a question and its answer: a talk of two turns), each a JSON list or
one object a line. The two `mmmt` files hold the same talks, and a talk more than once as it grew:
the longest is the dialogue, the others are drops `same_conversation`.

Every row ends with a reply that the release gives (`utterance`, `answer`), in its makers' words
and not always the expert's: it is the last turn, and a note says so. `--source-args replies=none`
leaves the replies out and drops what then has no expert. Of the place only the state is kept.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from fieldtruth import detections, dialogues, rows
from fieldtruth.dialogues import mirage
from fieldtruth.dialogues.mirage import Row
from fieldtruth.records import Dialogue, Drop, Record, Turn
from fieldtruth.rows import Bad, dropped
from fieldtruth.sources.contract import DialogueSource

REPLY = "the last turn is the reply as the release words it"
_SPEAKER = re.compile(r"(?m)^(user|expert):[ \t]*")
# The standard questions stand in the benchmark's prompt, the contextual name county and time.
_PROMPT = re.compile(r"\APlease answer the following user question\.[\s\S]*?\nUser: ")
_ASKED = re.compile(r"\s*\(asked at [^()]*\)\s*\Z")


class Settings(Record, frozen=True, kw_only=True):
    """`--source-args` of this source."""

    licence: str = "CC BY-SA 4.0"
    replies: Literal["given", "none"] = "given"


class _Read(NamedTuple):
    """A row, the id it would have, and what is said in it but for the reply."""

    name: str
    row: Row
    beside: str
    words: str


class MirageDialogues:
    """250 rows a file at hand; 240 talks are in them, twice each, and eight as they grew."""

    paper = "Dongre et al. 2025, MIRAGE, https://arxiv.org/abs/2506.20100"
    reasons = ("same_conversation", "no_answer", "no_words", "too_long", "unsafe_path", "bad_row")

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.licence = settings.licence

    def dialogues(self, root: Path) -> Iterator[Dialogue | Drop]:
        """The talks in the order in which they first come, each after the drops of its other rows.

        Raises `Usage` where no file is there, `BadRecord` for a field that MIRAGE has not.
        """
        talks: dict[str, list[_Read]] = {}
        for path in mirage.files(root):
            beside = path.parent.relative_to(root).as_posix().strip(".")
            within = path.relative_to(root).with_suffix("").as_posix()
            for number, row in mirage.read(path):
                name = f"mirage_dialogues:{within}:row {number}"
                if isinstance(row, Bad):
                    yield dropped(name, "ingest", "bad_row", row.why)
                else:
                    read = _Read(name, row, beside, row.dialog_context or row.question or "")
                    talks.setdefault(str(row.id).lstrip("#"), []).append(read)
        photos = rows.Photos(root)
        for native, told in talks.items():
            whole = max(told, key=lambda read: len(read.words))  # the first of the longest
            name = f"mirage_dialogues:{native}"
            for other in told:
                if other is not whole:
                    yield dropped(
                        other.name, "ingest", "same_conversation", _detail(name, other, whole)
                    )
            yield self._dialogue(name, native, whole, photos)

    def _dialogue(
        self, name: str, native: str, read: _Read, photos: rows.Photos
    ) -> Dialogue | Drop:
        row = read.row
        places = tuple(
            dict.fromkeys(mirage.place(each, read.beside, photos) for each in row.images or ())
        )
        missing = tuple(place for place in places if place not in photos.there)
        unsafe = next((why for why in map(photos.unsafe, missing) if why), None)
        if unsafe is not None:
            return dropped(name, "ingest", "unsafe_path", unsafe)
        told = list(_turns(row, places, self._settings.replies == "given"))
        if any(len(turn.text) > dialogues.LONGEST for turn in told):
            return dropped(name, "ingest", "too_long", f"over {dialogues.LONGEST} characters")
        turns, notes = dialogues.settled(told)
        if not turns:
            return dropped(name, "ingest", "no_words")
        if all(turn.speaker != "expert" for turn in turns):
            return dropped(name, "ingest", "no_answer", f"{len(turns)} turns of the grower")
        reply = _reply(row) if self._settings.replies == "given" else ""
        return Dialogue(
            id=name, source="mirage_dialogues", turns=turns,
            place=dialogues.state_of(row.meta_data_state),
            time=dialogues.moment(row.meta_data_asked_time),
            tags=(row.category,) if row.category else (),
            group=f"ask_extension:{native}",  # AgMMU's talks are of the same service
            licence=self.licence, missing=missing,
            notes=(*notes, REPLY) if reply else notes,
        )  # fmt: skip


def _detail(name: str, other: _Read, whole: _Read) -> str:
    if other.words == whole.words:
        return f"{name}: the same words"
    start = whole.words.startswith(other.words)
    return f"{name}: {'its beginning' if start else 'another wording, shorter'}"


def _turns(row: Row, places: tuple[str, ...], replies: bool) -> Iterable[Turn]:  # noqa: FBT001
    """Who said what; the photos came with the first words, since the release does not say when."""
    asked = dialogues.moment(row.meta_data_asked_time)
    if row.dialog_context is None:
        question = _ASKED.sub("", _PROMPT.sub("", row.question or ""))
        yield Turn(speaker="grower", text=question, time=asked, images=places)
    else:
        parts = _SPEAKER.split(row.dialog_context)
        for at in range(1, len(parts), 2):
            yield Turn(
                speaker="grower" if parts[at] == "user" else "expert", text=parts[at + 1],
                images=places if at == 1 else (),
            )  # fmt: skip
    if replies and _reply(row):
        yield Turn(speaker="expert", text=_reply(row))


def _reply(row: Row) -> str:
    return (row.answer if row.dialog_context is None else row.utterance) or ""


def open_source(options: Mapping[str, str]) -> DialogueSource:
    """The source with these `--source-args`; `Usage` for one that it does not have."""
    return MirageDialogues(detections.settings_of(options, Settings))


SOURCE: DialogueSource = MirageDialogues(Settings())
