"""Kisan Call Centre: what Indian farmers asked on the telephone, and what they were told.

PATH holds tables as data.gov.in gives them out, anywhere below it: CSV, a JSON list, an object a
line, or `{"records": [...]}`. A row is one call: `QueryText` and `KccAns` with `StateName`,
`DistrictName`, `BlockName`, `Season`, `Sector`, `Category`, `Crop`, `QueryType`, `CreatedOn`; some
copies add `KCCCallID` or the parts of the date. There are no photos. Of the place only the state is
kept. Answers hold telephone numbers of offices and nurseries: `scrub` before giving anything out.

The same answer was read out to many callers: of calls with the same question and the same answer
the first is kept. Answers in a script that the table lost (`???? 250 ???`) are drops `garbled`.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from fieldtruth import detections, dialogues, rows, store
from fieldtruth.faults import BadRecord, Usage
from fieldtruth.records import Dialogue, Drop, Record, Turn
from fieldtruth.rows import Bad, dropped
from fieldtruth.sources.contract import DialogueSource

NEEDED = ("StateName", "QueryText", "KccAns")
KNOWN = (
    *NEEDED, "DistrictName", "BlockName", "Season", "Sector", "Category", "Crop", "QueryType",
    "CreatedOn", "KCCCallID", "year", "month", "day", "Year", "Month", "Day", "KccAns_eng", "",
    "Unnamed: 0", "_StateCD", "_DistrictCd", "_Year", "_Month",
)  # fmt: skip
SAID = ("Season", "Sector", "Category", "Crop", "QueryType")
NOTHING = ("", "na", "n/a", "0", "null", "none", "others", "other", "99", "nil", "-", ".")
LARGEST = 2**28  # bytes of a file with `records`, which is read whole


class Settings(Record, frozen=True, kw_only=True):
    """`--source-args` of this source."""

    licence: str = "GODL-India"


class Row(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, gc=False):
    """A call; numbers and nulls where a table was turned into JSON by a script."""

    StateName: Any = None
    DistrictName: Any = None
    BlockName: Any = None
    Season: Any = None
    Sector: Any = None
    Category: Any = None
    Crop: Any = None
    QueryType: Any = None
    QueryText: Any = None
    KccAns: Any = None
    CreatedOn: Any = None
    KCCCallID: Any = None
    year: Any = None
    month: Any = None
    day: Any = None
    Year: Any = None
    Month: Any = None
    Day: Any = None
    KccAns_eng: Any = None
    unnamed: Any = msgspec.field(name="Unnamed: 0", default=None)
    state_code: Any = msgspec.field(name="_StateCD", default=None)
    district_code: Any = msgspec.field(name="_DistrictCd", default=None)
    year_code: Any = msgspec.field(name="_Year", default=None)
    month_code: Any = msgspec.field(name="_Month", default=None)


class _Records(msgspec.Struct):
    """What the open-data interface answers; of its other fields nothing is needed."""

    records: list[Row]


class Kcc:
    """Many million calls since 2009."""

    paper = "Kisan Call Centre transcripts, https://data.gov.in"
    reasons = ("same_words", "no_answer", "no_words", "garbled", "too_long", "bad_row")

    def __init__(self, settings: Settings) -> None:
        self.licence = settings.licence

    def dialogues(self, root: Path) -> Iterator[Dialogue | Drop]:
        """The calls of each file in its order, the files by path.

        Raises `Usage` where there is no file, `BadRecord` for a column that is not KCC's.
        """
        files = sorted(
            path
            for path in root.rglob("*")
            if path.is_file() and path.suffix.lower() in (".csv", ".json", ".jsonl")
        )
        if not files:
            raise Usage(f"{root}: expected CSV or JSON files of calls below it, got none")
        heard: dict[int, str] = {}
        for path in files:
            within = path.relative_to(root).with_suffix("").as_posix()
            for number, row in _read(path):
                name = f"kcc:{within}:row {number}"
                if isinstance(row, Bad):
                    yield dropped(name, "ingest", "bad_row", row.why)
                    continue
                made = self._dialogue(name, row)
                if isinstance(made, Dialogue):
                    words = hash(tuple(turn.text.casefold() for turn in made.turns))
                    first = heard.setdefault(words, name)
                    if first != name:
                        made = dropped(name, "ingest", "same_words", first)
                yield made

    def _dialogue(self, name: str, row: Mapping[str, str]) -> Dialogue | Drop:
        asked, told = row.get("QueryText", ""), row.get("KccAns", "")
        if max(len(asked), len(told)) > dialogues.LONGEST:
            return dropped(name, "ingest", "too_long", f"over {dialogues.LONGEST} characters")
        if _garbled(told):
            return dropped(name, "ingest", "garbled", told[:60])
        time = dialogues.moment(row.get("CreatedOn"))
        turns, notes = dialogues.settled(
            (
                Turn(speaker="grower", text=asked, time=time),
                Turn(speaker="expert", text="" if _nothing(told) else told, time=time),
            )
        )
        if not turns:
            return dropped(name, "ingest", "no_words")
        if turns[-1].speaker != "expert":
            return dropped(name, "ingest", "no_answer")
        return Dialogue(
            id=name, source="kcc", turns=turns, time=time, notes=notes,
            place=dialogues.state_of(row.get("StateName")),
            tags=tuple(said for key in SAID if not _nothing(said := row.get(key, "").strip())),
            group=name, licence=self.licence,
        )  # fmt: skip


def _read(path: Path) -> Iterator[tuple[int, dict[str, str] | Bad]]:
    if path.suffix.lower() == ".csv":
        yield from rows.read_table(path, NEEDED, KNOWN)
        return
    with path.open("rb") as file:
        head = file.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(b"["):
        found = rows.read_list(path, Row)
    elif b'"records"' in head or b'"index_name"' in head:
        found = _records(path)
    else:
        found = rows.read_lines(path, Row)
    for number, row in found:
        yield number, row if isinstance(row, Bad) else _texts(row)


def _records(path: Path) -> Iterator[tuple[int, Row | Bad]]:
    with store.open_existing(path) as file:
        raw = file.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise BadRecord(f"{path}: expected at most {LARGEST} bytes, got more; give it out as CSV")
    try:
        yield from enumerate(msgspec.json.decode(raw, type=_Records).records, start=1)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadRecord(
            f"{path}: expected {{'records': [...]}} with KCC's columns: {error}"
        ) from None


def _texts(row: Row) -> dict[str, str]:
    """The columns that are read, as texts."""
    names = (*NEEDED, *SAID, "CreatedOn")
    values = {name: getattr(row, name) for name in names}
    return {name: str(value) for name, value in values.items() if isinstance(value, str | int)}


def _nothing(text: str) -> bool:
    return text.strip().casefold() in NOTHING


def _garbled(text: str) -> bool:
    """Whether most of the letters were lost to question marks."""
    marks, letters = text.count("?"), sum(letter.isalpha() for letter in text)
    return marks >= 5 and marks > letters


def open_source(options: Mapping[str, str]) -> DialogueSource:
    """The source with these `--source-args`; `Usage` for one that it does not have."""
    return Kcc(detections.settings_of(options, Settings))


SOURCE: DialogueSource = Kcc(Settings())
