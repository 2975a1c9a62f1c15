"""The reference sheet that lies beside the photos: what each label is called and looks like.

HTML without a script or an address; all that comes from outside is escaped.
"""

from collections.abc import Mapping
from html import escape

from fieldtruth.records import Item, Kind, Record
from fieldtruth.taxonomy import label
from fieldtruth.taxonomy.cues import Cue
from fieldtruth.taxonomy.prompts import grounding_prompt

_HEAD = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>What to look for</title>
<style>body{font:16px/1.5 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
td,th{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid #ccc}</style>
<h1>What to look for</h1>
<ul>
<li>Box every visible instance of what is asked for, tight to what can be seen.</li>
<li>Lesions that have run together may share one box over the whole patch.</li>
<li>Pests: a box for each animal. Fruit: a box for each spot. A condition of the whole plant:
a box for each affected plant, tree or fruit, and the level <b>object</b>.</li>
<li>Not there: choose that it is not on the photo. Not certain: remove or flag it, and say why.</li>
<li>Boxes that are there already are a machine's: move, delete or keep them as the photo says.</li>
</ul>
<table><tr><th>asked for</th><th>kind</th><th>what it looks like</th><th>other names</th>
<th>cause</th></tr>
"""
_ASKED: dict[Kind, str] = {"pest": "insect or mite", "object": "plant or thing"}


class Asked(Record, frozen=True, kw_only=True):
    """What an annotator is asked about, in words. Equal for all photos of one label and crop."""

    ask: str
    kind: str
    cue: str
    names: tuple[str, ...] = ()
    cause: tuple[str, ...] = ()


def asked_of(item: Item, cues: Mapping[str, Cue]) -> Asked:
    """The question about an item: of its query, so that a healthy photo is asked as an ill one."""
    return asked(item.query or item.label or "", item.asked_kind, item.crop, cues)


def asked(name: str, kind: Kind, crop: str | None, cues: Mapping[str, Cue]) -> Asked:
    """The question about a label, in words."""
    if not name:
        return Asked(ask="anything that is wrong with the plant", kind="any", cue="")
    texts = {at: cue.cue for at, cue in cues.items()}
    prompt = grounding_prompt(name, kind=kind, crop=crop, cues=texts)
    known = label(prompt.label)
    return Asked(
        ask=f"{name} ({crop})" if crop else name,
        kind=_ASKED.get(kind, kind),
        cue=prompt.look,
        names=known.synonyms if known else (),
        cause=known.on(crop) if known else (),
    )


def page(rows: Mapping[str, Asked]) -> str:
    """The sheet: one row for each thing asked, in alphabetical order."""
    lines = []
    for ask in sorted(rows):
        row = rows[ask]
        cells = (row.ask, row.kind, row.cue, ", ".join(row.names), ", ".join(row.cause))
        lines.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    return _HEAD + "\n".join(lines) + "\n</table></html>\n"
