"""CARD.md: what a stranger must know to use a frozen benchmark, from its real counts.

Only what the records and the manifest say is stated; what they do not say is called unknown. The
commands on the card are run by a test. The text is `card.md.j2`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any, get_args

from fieldtruth.faults import Usage
from fieldtruth.formats.markdown import dataset, header, inline, legible
from fieldtruth.grading.few_groups import FEW_GROUPS
from fieldtruth.records import Item, Prediction, Question, Space
from fieldtruth.stages.freeze.fields import meanings
from fieldtruth.store import ITEMS, QUESTIONS, Manifest, licences

CARD = "CARD.md"
ROWS = 50  # of a table of counts; the rest is counted in its last row
METADATA = "metadata"  # among the counts: photos that tell a place or a person
FEW = 10  # records; a number over fewer says little, and the card says so

_BRACES = str.maketrans("{}", "()")


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What no record can tell: who gives the benchmark out, since when, where, and how to cite it.

    Each may be left out, and is then nowhere on the card or in croissant.json.
    """

    published: str | None = None  # YYYY-MM-DD
    url: str | None = None
    creator: str | None = None
    cite: str | None = None

    def given(self) -> dict[str, str]:
        """What was given, as it goes into the manifest; `Usage` for what cannot be used."""
        named = {each.name: getattr(self, each.name) for each in fields(self)}
        if self.published is not None:
            try:
                date.fromisoformat(self.published)
            except ValueError:
                raise Usage(
                    f"--published: expected a date like 2026-01-31, got {self.published!r}"
                ) from None
        if self.url is not None and not self.url.startswith(("https://", "http://")):
            raise Usage(f"--url: expected an address that begins with https://, got {self.url!r}")
        return {name: value for name, value in named.items() if value is not None}


def render(
    manifest: Manifest,
    made: Sequence[Item | Question],
    about: About,
    papers: Mapping[str, str],
) -> bytes:
    """The bytes of CARD.md. `manifest` lacks only the card and croissant.json among its files.

    `papers` says where a source is described, for those that are known for certain.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    pages = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=False,  # not HTML: every text from outside passes `inline`, which is stricter
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_counted,
    )
    pages.filters["inline"] = inline
    items = [each for each in made if isinstance(each, Item)]
    questions = [each for each in made if isinstance(each, Question)]
    name = ITEMS if items else QUESTIONS
    body = pages.get_template("card.md.j2").render(
        manifest=manifest,
        about=about,
        records=name,
        noun="item" if items else "question",
        total=len(made),
        meanings=meanings(Item if items else Question),
        own_hash=manifest.files[name],
        tables=_tables(_counts(manifest, items)),
        settings=sorted(manifest.config.items() - about.given().items()),
        seen=_seen(items, questions),
        audit=audit(manifest),
        uncounted=[name for name, rows in manifest.counts.items() if not set(rows) - {"none"}],
        rights=_rights(made, papers),
        cite=[_line(each) for each in (about.cite or citation(manifest, about)).splitlines()],
        reply=_reply(items),
        spaces=get_args(Space),
        limits=limits(manifest, made),
    )
    return f"{header(dataset(manifest, name))}\n\n{body}".encode()


def audit(manifest: Manifest) -> str:
    """Who looked for what, in one sentence."""
    if isinstance(manifest.audit, str):
        return (
            "Not audited: nobody has looked for near-duplicates within it or between it and "
            "training sets, for contradicting labels, or for poor photos."
        )
    found = ", ".join(f"{name} {count}" for name, count in sorted(manifest.audit.findings.items()))
    reason = f" Frozen all the same, because: {manifest.audit.reason}." * bool(
        manifest.audit.reason
    )
    return (
        f"An audit covered {manifest.audit.coverage:.1%} of the photos; findings: "
        f"{found or 'none'}.{reason}"
    )


def limits(manifest: Manifest, made: Sequence[Item | Question]) -> list[str]:
    """What must be known before a number is believed; each a sentence, nothing escaped."""
    told = []
    if manifest.split == "test":
        told.append(
            "It is a test split: train on none of it and choose no threshold, prompt or "
            "checkpoint on it."
        )
    else:
        told.append(f"It is the split '{manifest.split}': no final numbers are measured on it.")
    told.append(_groups(Counter(each.group for each in made)))
    items = [each for each in made if isinstance(each, Item)]
    if few := _few(_counts(manifest, items)):
        named = ", ".join(f"{stratum} ({count})" for stratum, count in few[:ROWS])
        more = f" and {len(few) - ROWS} more" if len(few) > ROWS else ""
        told.append(f"Strata of fewer than {FEW} records say little: {named}{more}.")
    if items and all(item.positive for item in items):
        told.append("It holds no healthy photo, so abstention cannot be measured on it.")
    if items and not any(item.positive for item in items):
        told.append("It holds healthy photos only: no box and no name can be measured on it.")
    if any("-NC" in (licences.spdx(each.licence) or "") for each in made):
        told.append("Some photos may not be used commercially (NC in their licence).")
    if {"drawn"} & manifest.counts.get("source", {}).keys():
        told.append(
            "Photos of the source 'drawn' are drawn by a program: no evidence of the field."
        )
    if private := manifest.counts.get(METADATA):
        told.append(
            "Photos are as they were taken, and so is what their files tell beside the picture: "
            f"of {said(private)}. Look at them before this folder is given out."
        )
    told.append("It measures agreement with its labels and is no basis for treating a crop.")
    return told


def said(private: Mapping[str, int]) -> str:
    """How many photos tell where or by whom they were taken.

    >>> said({"place": 2})
    'a place (photos: 2)'
    """
    return " and ".join(f"a {kind} (photos: {count})" for kind, count in private.items())


def _groups(sizes: Mapping[str, int]) -> str:
    """What an interval can say over these groups; `score` marks such numbers (see `few_groups`)."""
    records, groups = sum(sizes.values()), len(sizes)
    if groups == 1:
        return (
            f"All {records} records are of one group: no number on them has an interval, and a "
            "split must not cut it."
        )
    few = " (of so few it is too narrow to rely on)" if groups < FEW_GROUPS else ""
    return (
        f"{records} records fall into {groups} groups that belong together, the largest of "
        f"{max(sizes.values())}; intervals resample groups{few}, and a split must not cut one."
    )


def citation(manifest: Manifest, about: About) -> str:
    """BibTeX made of what is known; the hash says which content is meant."""
    name = ITEMS if manifest.items else QUESTIONS
    known = {
        "author": about.creator and f"{{{_bare(about.creator)}}}",
        "title": f"{{{_bare(manifest.name)}}}",  # a second pair keeps its capitals
        "version": _bare(manifest.version),
        "year": about.published and about.published[:4],
        "url": about.url and _bare(about.url),
        "note": f"SHA-256 of {name}: {manifest.files[name]}",
    }
    key = "".join(letter for letter in manifest.name.lower() if letter.isalnum())
    rows = [f"  {field} = {{{value}}},\n" for field, value in known.items() if value]
    return f"@misc{{{key or 'benchmark'},\n{''.join(rows)}}}"


def _bare(text: str) -> str:
    """Without braces: one of a name's own would end its BibTeX field."""
    return legible(text).translate(_BRACES)


def _line(text: str) -> str:
    """A line of an indented block: its own indent, then what can be read."""
    return " " * (len(text) - len(text.lstrip(" "))) + legible(text)


def _counted(value: object) -> object:
    """Whole numbers of five digits and more get a blank every three, as they are read."""
    if type(value) is int and value >= 10_000:
        return f"{value:,}".replace(",", " ")
    return value


def _counts(manifest: Manifest, items: Sequence[Item]) -> dict[str, Mapping[str, int]]:
    """The manifest's counts, and how many items show each label."""
    counts: dict[str, Mapping[str, int]] = dict(manifest.counts)
    counts.pop(METADATA, None)  # of photos, not of records
    if items:
        counts["label"] = Counter(item.label for item in items if item.label)
    return counts


def _tables(counts: Mapping[str, Mapping[str, int]]) -> list[tuple[str, list[tuple[str, int]]]]:
    """(heading, rows) for each way the records are counted, commonest first."""
    return [(name, _top(rows)) for name, rows in counts.items() if set(rows) - {"none"}]


def _top(rows: Mapping[str, int]) -> list[tuple[str, int]]:
    ordered = sorted(rows.items(), key=lambda row: (-row[1], row[0]))
    kept, left = ordered[:ROWS], ordered[ROWS:]
    if left:
        kept.append((f"({len(left)} more)", sum(count for _, count in left)))
    return kept


def _few(counts: Mapping[str, Mapping[str, int]]) -> list[tuple[str, int]]:
    """Strata of under `FEW` records, as `level lesion`, the smallest first."""
    return sorted(
        (
            (f"{group} {name}", count)
            for group, rows in counts.items()
            for name, count in rows.items()
            if count < FEW and group != "licence" and name != "none"
        ),
        key=lambda row: (row[1], row[0]),
    )


def _seen(items: Sequence[Item], questions: Sequence[Question]) -> dict[str, Any]:
    """What the counts of the manifest do not say."""
    positive = [item for item in items if item.positive]
    boxes = [len(item.boxes) for item in positive]
    return {
        "positive": len(positive),
        "healthy": len(items) - len(positive),
        "boxes": sum(boxes),
        "median_boxes": f"{median(boxes):g}" if boxes else "0",
        "most_boxes": max(boxes, default=0),
        "sizes": _sizes(items),
        "groups": len({item.group for item in items}),
        "asked": {
            "known_target": sum(bool(item.query) for item in items),
            "candidates": sum(item.candidates is not None for item in items),
        },
        "absent": sum(item.absent_query is not None for item in items),
        "without_photo": sum(not each.images for each in questions),
    }


def _sizes(items: Sequence[Item]) -> str:
    if not items:
        return ""
    small = min(items, key=lambda item: (item.width * item.height, item.width))
    large = max(items, key=lambda item: (item.width * item.height, item.width))
    least, most = f"{small.width}x{small.height}", f"{large.width}x{large.height}"
    return f"{least} pixels" if least == most else f"{least} to {most} pixels"


def _rights(
    made: Iterable[Item | Question], papers: Mapping[str, str]
) -> list[tuple[str, str, int, str]]:
    """(source, licence, records, where it is described) for each pair of source and licence."""
    pairs: dict[tuple[str, str], int] = defaultdict(int)
    for each in made:
        pairs[each.source, each.licence] += 1
    return [
        (source, licence, count, papers.get(source, "not recorded"))
        for (source, licence), count in sorted(pairs.items())
    ]


def _reply(items: Sequence[Item]) -> str | None:
    """One line of a predictions file for an item that is really there; the box is not the truth."""
    import msgspec

    asked = next((item for item in items if item.query and item.positive), None)
    if asked is None:
        return None
    boxes = [{"bbox_2d": [0.0, 0.0, asked.width / 2, asked.height / 2], "label": asked.query}]
    words = msgspec.json.encode(boxes).decode()
    line = Prediction(
        item=asked.id, protocol="known_target", model="mine", text=words, space="pixel"
    )
    return msgspec.json.encode(line).decode()
