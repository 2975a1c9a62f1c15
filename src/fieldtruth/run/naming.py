"""What a name means, laid out for a person and for a machine."""

from collections.abc import Mapping, Sequence

from fieldtruth import taxonomy
from fieldtruth.records import Record
from fieldtruth.taxonomy.collisions import Collision
from fieldtruth.taxonomy.collisions import collisions as found_collisions
from fieldtruth.taxonomy.data import book
from fieldtruth.taxonomy.prompts import grounding_prompt
from fieldtruth.taxonomy.resolve import crops_in

_SHOWN = 12  # hosts of one label on a terminal


class Meaning(Record, frozen=True, kw_only=True):
    """A name, the label it means, how it was come by, and everything known about that label.

    `known` is false where the data have no such label; `collision` lists the labels of a name with
    several; `on_its_crop` says what the name is on each crop that it holds itself, where that is
    another label; `sources` give the licence by source.
    """

    name: str
    label: str
    known: bool
    how: tuple[str, ...]
    crop: str | None = None
    kind: str | None = None
    hosts: Mapping[str, tuple[str, ...]] = {}
    organisms: tuple[str, ...] = ()
    synonyms: tuple[str, ...] = ()
    sources: Mapping[str, str] = {}
    collision: tuple[str, ...] = ()
    on_its_crop: Mapping[str, str] = {}
    prompt: str = ""


def look_up(name: str, crop: str | None = None) -> Meaning:
    """What `taxonomy.resolve` says, with the label's facts and the prompt a detector would get."""
    found = taxonomy.resolve(name, crop)
    what = found.label
    licences = book().licences
    held = () if crop else crops_in(name)
    there = {each: taxonomy.label_id(name, each) for each in held}
    return Meaning(
        name=name,
        label=found.id,
        known=what is not None,
        how=found.how,
        crop=found.crop,
        kind=what.kind if what else None,
        hosts=what.hosts if what else {},
        organisms=what.organisms if what else (),
        synonyms=what.synonyms if what else (),
        sources={source: licences[source] for source in what.sources} if what else {},
        collision=found.collision,
        on_its_crop={each: one for each, one in there.items() if one != found.id},
        prompt=grounding_prompt(found.id, crop=found.crop).text if found.id else "",
    )


def lines(meaning: Meaning) -> str:
    """For a terminal."""
    on = f" on {meaning.crop}" if meaning.crop else ""
    out = [f"{meaning.name!r} is {meaning.label!r}{on} ({', then '.join(meaning.how)})"]
    if meaning.collision:
        out.append(f"  it may mean any of: {', '.join(meaning.collision)}; --crop may tell")
    elif not meaning.known and not meaning.on_its_crop:
        out.append("  not in the data: it stays as it is written")
    out += [f"  with --crop {each}: {one!r}" for each, one in meaning.on_its_crop.items()]
    out += [f"  kind: {meaning.kind}"] if meaning.kind else []
    for host, organisms in list(meaning.hosts.items())[:_SHOWN]:
        out.append(f"  on {host}: {', '.join(organisms) or 'organism not stated'}")
    if len(meaning.hosts) > _SHOWN:
        out.append(f"  and on {len(meaning.hosts) - _SHOWN} more hosts (--json has all)")
    if meaning.organisms and not meaning.hosts:
        out.append(f"  organism: {', '.join(meaning.organisms)}")
    out += [f"  also called: {', '.join(meaning.synonyms)}"] if meaning.synonyms else []
    out += [f"  from {source} ({licence})" for source, licence in meaning.sources.items()]
    out += [f"  a detector is asked: {meaning.prompt}"] if meaning.prompt else []
    return "\n".join(out)


def collisions() -> list[Collision]:
    """See `taxonomy.collisions`."""
    return found_collisions()


def collision_lines(found: Sequence[Collision]) -> str:
    """A line for each, and the counts."""
    out = []
    for each in found:
        on = f" on {each.host}" if each.host else ""
        said = "; ".join(
            f"{one.label} ({', '.join(one.organisms[:3]) or one.kind})" for one in each.meanings
        )
        out.append(f"{each.why}: {each.name}{on}: {said}")
    return "\n".join([*out, f"{len(found)} collisions; none of them merges anything"])
