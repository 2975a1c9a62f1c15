"""Ask Extension: growers' questions and experts' answers, as AgMMU gathered them (section 3.1).

PATH holds JSON files of nested rows anywhere below it (reference, section 15.1): `faq-id`, `title`,
`created`, `updated`, `state`, `county`, `tags`, `attachments` (`{"-1": address}`), `question`, and
`answer`, a list or an object of parts: photos that came later (`attachments`), or what somebody
wrote (`response` in HTML, `author`). What the grower writes back is by `The Question Asker`; all
others are experts, and nobody's name is kept. Of the place only the state is kept.

Photos lie anywhere below PATH as `FAQ-ID-1.jpg` and so on, in the order in which they were sent;
the addresses in the rows are signed for one person and are never kept. Broken JSON is mended where
its meaning is plain, with a note. What AgMMU made of a row (`qa_information` ...) is not read.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from fieldtruth import detections, dialogues, rows
from fieldtruth.dialogues import mending
from fieldtruth.faults import BadRecord, Usage
from fieldtruth.records import Dialogue, Drop, Record, Turn
from fieldtruth.rows import dropped
from fieldtruth.sources.contract import DialogueSource

ASKER = "the question asker"
KNOWN = frozenset(
    (
        "faq-id", "title", "created", "updated", "state", "county", "tags", "attachments",
        "question", "answer", "species", "category", "qa_information", "agmmu_question", "qtype",
        "llm_answers",
    )
)  # fmt: skip
_NUMBER = re.compile(r"\s*#\d+\s*$")  # titles end with the number of the talk


class Settings(Record, frozen=True, kw_only=True):
    """`--source-args` of this source."""

    licence: str = "not stated"


class AskExtension:
    """116,231 talks, says the paper; some in two of its files."""

    paper = "Gauba et al. 2025, AgMMU, https://arxiv.org/abs/2504.10568"
    reasons = (
        "same_conversation", "no_answer", "no_words", "too_long", "bad_row",
    )  # fmt: skip

    def __init__(self, settings: Settings) -> None:
        self.licence = settings.licence

    def dialogues(self, root: Path) -> Iterator[Dialogue | Drop]:
        """The talks of each file in its order, the files by path; the longest where one is there
        several times.

        Raises `Usage` where there is no file, `BadRecord` for a field that AgMMU has not.
        """
        files = sorted(path for path in root.rglob("*.json*") if path.is_file())
        if not files:
            raise Usage(f"{root}: expected JSON files of talks below it, got none")
        photos = _Photos(root)
        talks: dict[str, list[tuple[str, Dialogue | Drop]]] = {}
        for path in files:
            within = path.relative_to(root).with_suffix("").as_posix()
            for read in mending.rows(path, "faq-id"):
                name = f"ask_extension:{within}:row {read.number}"
                native = _native(read.row)
                if read.row is None or native is None:
                    yield dropped(name, "ingest", "bad_row", read.why or "no faq-id")
                    continue
                _known(read.row, f"{path}: row {read.number}")
                made = self._dialogue(native, read, photos)
                talks.setdefault(native, []).append((name, made))
        for told in talks.values():
            lengths = [_length(made) for _, made in told]
            longest = lengths.index(max(lengths))
            whole = told[longest][1]
            for at, (name, _) in enumerate(told):
                if at != longest:
                    yield dropped(name, "ingest", "same_conversation", whole.id)
            yield whole

    def _dialogue(self, native: str, read: mending.Read, photos: "_Photos") -> Dialogue | Drop:
        name, row = f"ask_extension:{native}", read.row or {}
        notes = [f"mended: {read.note}"] if read.note else []
        try:
            told = list(_turns(row, native, photos, notes))
        except ValueError as error:
            return dropped(name, "ingest", "bad_row", str(error))
        if any(len(turn.text) > dialogues.LONGEST for turn in told):
            return dropped(name, "ingest", "too_long", f"over {dialogues.LONGEST} characters")
        turns, took = dialogues.settled(told)
        if not turns:
            return dropped(name, "ingest", "no_words")
        if all(turn.speaker != "expert" for turn in turns):
            return dropped(name, "ingest", "no_answer", f"{len(turns)} turns of the grower")
        images = [image for turn in turns for image in turn.images]
        return Dialogue(
            id=name, source="ask_extension", turns=turns,
            title=_NUMBER.sub("", dialogues.clean(_text(row.get("title")))[0]),
            place=dialogues.state_of(_text(row.get("state"))),
            time=dialogues.moment(row.get("created")),
            tags=tuple(_text(tag) for tag in _parts(row.get("tags"), notes) if _text(tag)),
            group=name, licence=self.licence,
            missing=tuple(image for image in dict.fromkeys(images) if image not in photos.there),
            notes=(*dict.fromkeys(notes), *took),
        )  # fmt: skip


class _Photos:
    """The photos of each talk by their number, wherever they lie below the root."""

    def __init__(self, root: Path) -> None:
        self.there = rows.Photos(root).there
        self._of: dict[str, str] = {}
        for place in sorted(self.there):
            self._of.setdefault(PurePosixPath(place).stem, place)

    def of(self, native: str, first: int, count: int) -> tuple[str, ...]:
        """The places of photos from number `first` on; where they would be, if not there."""
        stems = (f"{native}-{number}" for number in range(first, first + count))
        return tuple(self._of.get(stem, f"images/{stem}.jpg") for stem in stems)


def _native(row: dict[str, Any] | None) -> str | None:
    """The number of a talk; None where there is none that can be in an id and a path."""
    text = str((row or {}).get("faq-id", "")).strip()
    return text if re.fullmatch(r"\w[\w-]{0,63}", text) else None


def _known(row: Mapping[str, Any], where: str) -> None:
    if unknown := sorted(set(row) - KNOWN):
        raise BadRecord(
            f"{where}: expected only the fields {', '.join(sorted(KNOWN))}, got {unknown[0]!r}; it "
            "is another release than this source reads"
        )


def _length(made: Dialogue | Drop) -> int:
    return 0 if isinstance(made, Drop) else sum(len(turn.text) for turn in made.turns)


def _turns(
    row: Mapping[str, Any], native: str, photos: _Photos, notes: list[str]
) -> Iterator[Turn]:
    """The question, and the parts of the answer in their order; photos by their number."""
    sent = len(_parts(row.get("attachments"), notes))
    yield Turn(
        speaker="grower", text=_text(row.get("question")), images=photos.of(native, 1, sent),
        time=dialogues.moment(row.get("created")),
    )  # fmt: skip
    for part in _parts(row.get("answer"), notes):
        if isinstance(part, str):
            yield Turn(speaker="expert", text=part)
            continue
        if not isinstance(part, Mapping):
            raise ValueError(f"expected answers as objects or texts, got a {type(part).__name__}")
        more = len(_parts(part.get("attachments"), notes))
        by_asker = _text(part.get("author")).casefold() == ASKER or "response" not in part
        yield Turn(
            speaker="grower" if by_asker else "expert", text=_text(part.get("response")),
            images=photos.of(native, sent + 1, more),
        )  # fmt: skip
        sent += more


def _parts(value: Any, notes: list[str]) -> Sequence[Any]:
    """A list as it is, an object's values in the order of their keys' numbers, JSON in a text."""
    if isinstance(value, str) and value.strip()[:1] in ("[", "{"):
        value, note = mending.mended(value)
        notes.append(f"mended: {note or 'JSON in a text'}")
    if isinstance(value, Mapping):
        return [value[key] for key in sorted(value, key=_place)]
    if isinstance(value, list | tuple):
        return value
    return [value] if value else []


def _place(key: Any) -> tuple[int, str]:
    text = str(key)
    return (int(text), text) if re.fullmatch(r"-?\d{1,9}", text) else (10**9, text)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def open_source(options: Mapping[str, str]) -> DialogueSource:
    """The source with these `--source-args`; `Usage` for one that it does not have."""
    return AskExtension(detections.settings_of(options, Settings))


SOURCE: DialogueSource = AskExtension(Settings())
