"""The manifest of a frozen benchmark: what it holds, what it was made from, and every hash."""

from hashlib import sha256 as sha256_of
from pathlib import Path
from typing import Literal

import msgspec

from fieldtruth.faults import BadRecord, Refused
from fieldtruth.records import SCHEMA, Record, Split
from fieldtruth.store.explain import explain
from fieldtruth.store.lines import open_existing
from fieldtruth.store.paths import unsafe

MANIFEST = "manifest.json"


class Audit(Record, frozen=True, kw_only=True):
    """What the audit given to `freeze` covered and saw; `reason` where it was overruled."""

    coverage: float
    findings: dict[str, int]
    reason: str | None = None


class Reference(Record, frozen=True, kw_only=True):
    """A photo that may not be copied: its hash, and where it lay in the original release."""

    sha256: str
    original: str


class Manifest(Record, frozen=True, kw_only=True):
    """`manifest.json`. No dates and no absolute paths: two freezes of one set are byte-equal.

    Paths are relative to the benchmark, with forward slashes. `inputs` are hashes of what it was
    made from, `config` the settings, `code` this tool's version, `digest` the hash of all the
    rest of this record: it names the benchmark's content.
    """

    schema: int = SCHEMA
    name: str
    version: str
    split: Split
    items: int
    questions: int
    images: int
    counts: dict[str, dict[str, int]]  # by level, kind, source, licence, crop; photos by metadata
    files: dict[str, str]  # path -> sha256, of every file but this one
    references: dict[str, Reference]
    audit: Audit | Literal["not audited"] = "not audited"
    config: dict[str, str]
    inputs: dict[str, str]
    code: str
    digest: str = ""

    def __post_init__(self) -> None:
        for path in (*self.files, *self.references):
            if reason := unsafe(path):
                raise ValueError(f"expected paths inside the benchmark, got {path!r}: {reason}")

    def sealed(self) -> "Manifest":
        """The same with its digest filled in."""
        plain = msgspec.structs.replace(self, digest="")
        return msgspec.structs.replace(self, digest=sha256_of(plain.rendered()).hexdigest())

    def rendered(self) -> bytes:
        """The bytes of `manifest.json`: one rendering for one content."""
        flat = msgspec.json.encode(self, order="deterministic")
        return msgspec.json.format(flat, indent=2) + b"\n"

    def hash_of(self, path: str) -> str | None:
        """The hash of a file, or of a photo kept as a reference; None when it knows no such."""
        reference = self.references.get(path)
        return reference.sha256 if reference else self.files.get(path)


class _Made(msgspec.Struct):
    """The one field every schema has; absent means the present one."""

    schema: int = SCHEMA


def read_manifest(folder: Path) -> tuple[Manifest, bool]:
    """The manifest, and whether it is byte for byte as it was sealed.

    Raises `Usage` when there is none, `BadRecord` when it is not a manifest, and `Refused` when
    a newer version of this tool made it.
    """
    path = folder / MANIFEST
    with open_existing(path) as file:
        raw = file.read()
    try:
        made = msgspec.json.decode(raw, type=_Made)
        if made.schema > SCHEMA:
            raise Refused(
                f"{path}: expected a schema of at most {SCHEMA}, got {made.schema}; a newer "
                "fieldtruth made it: update yours"
            )
        manifest = msgspec.json.decode(raw, type=Manifest)
    except (ValueError, RecursionError) as error:
        raise BadRecord(f"{path}{explain(raw, Manifest, error)}") from None
    return manifest, manifest.sealed().rendered() == raw


def root_beside(folder: Path) -> Path | None:
    """Where the photos of a folder's records lie, if a manifest beside them says so.

    Raises `BadRecord` where the manifest is no JSON object.
    """
    path = folder / MANIFEST
    if not path.is_file():
        return None
    try:
        said = msgspec.json.decode(path.read_bytes(), type=dict).get("root")
    except (ValueError, RecursionError) as error:
        raise BadRecord(f"{path}: expected a JSON object, got: {error}; make it again") from None
    return folder / said if isinstance(said, str) else None
