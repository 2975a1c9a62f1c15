"""What older versions of this tool wrote, brought to what today's readers expect.

A document (`manifest.json` of a source's folder, of replies; `score.json`) names its `schema`.
Where a change of shape adds one to `records.SCHEMA`, it adds a function here as well:

    def m002_licence_per_photo(document: Document) -> Document: ...

which gets what schema 1 wrote and returns what schema 2 would have written. Once released it is
never edited, since files of its time are still about; `tests/museum` keeps one of each. A frozen
benchmark is never brought anywhere: it is read as it was frozen, or refused (`store.manifest`).
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from fieldtruth.faults import BadRecord, Refused
from fieldtruth.records import SCHEMA

Document = dict[str, Any]
Migration = Callable[[Document], Document]

_NAME = re.compile(r"m(\d{3})_\w+")

# In order: the first leads from schema 1 to 2, and each on from the one before it.
MIGRATIONS: Sequence[Migration] = ()


def document(
    raw: bytes, where: Path, maker: str, migrations: Sequence[Migration] = MIGRATIONS
) -> Document:
    """The JSON object of a file, as the present schema has it, without the `schema` itself.

    `maker` is the command that writes such a file, for messages.

    None stated means the present one. Raises `Refused` for a newer one, and `BadRecord` for what
    is no object, or states a schema that never was.
    """
    try:
        found = msgspec.json.decode(raw, type=Document)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRecord(f"{where}: expected what `{maker}` writes, got: {error}") from None
    present = 1 + len(migrations)
    schema = found.pop("schema", present)
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise BadRecord(f"{where}: expected a schema from 1 to {present}, got {schema!r}")
    if schema > present:
        raise Refused(f"{where}: schema {schema} is newer than {present}; update fieldtruth")
    for migration in migrations[schema - 1 :]:
        found = migration(found)
    return found


def numbered(migrations: Sequence[Migration]) -> bool:
    """Whether they are named m002_, m003_ ... in order, and lead to the present schema."""
    names = [_NAME.fullmatch(each.__name__) for each in migrations]
    numbers = [int(name[1]) for name in names if name]
    return numbers == list(range(2, SCHEMA + 1)) and len(numbers) == len(names)
