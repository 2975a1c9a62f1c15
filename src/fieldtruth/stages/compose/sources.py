"""What a source's folder holds for `compose`, and where each of its photos belongs.

A photo's group and split are those of the source's `splits.jsonl` where there is one, else those
the release states itself, else the split is drawn by the group, and the group is the photo's
pixels (design, section 2, rule 10; the published split went by sample, so that photos lay in
several).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from fieldtruth import draws, images
from fieldtruth.faults import Refused, Unreadable
from fieldtruth.records import Annotation, Healthy, Place, Sample, Target
from fieldtruth.store import inside, sha256

SHARES = {"train": 0.6, "val": 0.1, "test": 0.3}  # used where the release has no split of its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """One source after `label` and `annotate`; `exhaustive` as the source says."""

    samples: Mapping[str, Sample]
    targets: Sequence[Target]
    healthy: Sequence[Healthy]
    annotations: Mapping[str, Annotation]  # by id; a target has none, one, or one of each level
    exhaustive: bool
    root: Path
    name: str = ""
    places: Mapping[str, Place] | None = None  # by photo; None where there is no splits.jsonl

    def marks(self) -> dict[str, list[Annotation]]:
        """The annotations of each target, by its id, the lesions before the whole objects."""
        found: dict[str, list[Annotation]] = defaultdict(list)
        for mark in sorted(self.annotations.values(), key=lambda one: (one.level, one.id)):
            found[mark.target].append(mark)
        return dict(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Photo:
    """A photo that was looked at. `content` is the same for the same picture in two files."""

    image: str
    sha256: str
    width: int
    height: int
    group: str
    content: str


def slim(sample: Sample) -> Sample:
    """A sample without the words of its row: a corpus of them fits into memory."""
    native = {name: sample.native[name] for name in ("split", "group") if name in sample.native}
    return replace(sample, question="", options=(), answer="", native=native)


def keyed_split(group: str, seed: int) -> str:
    """The split of a group of photos, drawn by its name with the shares of `SHARES`."""
    spot = draws.rng(seed, "split", group).random()
    for name, share in SHARES.items():
        if spot < share:
            return name
        spot -= share
    return "test"


@dataclass(frozen=True, slots=True)
class Album:
    """The photos of one source, each opened once however many rows it has.

    With `decode` every photo is decoded. Without, one that `splits.jsonl` places is not: `split`
    has read it and knows its near copies, so its group stands for its content.
    """

    source: Labelled
    seed: int
    decode: bool
    _seen: dict[str, images.Facts | Unreadable] = field(default_factory=dict)

    def split(self, sample: Sample, image: str) -> str:
        """The split of a photo, which is opened only where nothing else tells its group.

        May raise `Unreadable` or `Refused`, as `photo` does.
        """
        place = (self.source.places or {}).get(image)
        if place is not None:
            return place.split
        native = sample.native
        if self.source.places is None and native.get("split"):
            return native["split"]
        if self.source.places is None and native.get("group"):
            return keyed_split(native["group"], self.seed)
        return keyed_split(self.photo(sample, image).group, self.seed)

    def photo(self, sample: Sample, image: str) -> Photo:
        """A photo of a sample. Raises `Unreadable`.

        Raises `Refused` for a path that leaves the release, and for a photo that `splits.jsonl`
        does not have or has with other bytes.
        """
        if image not in self._seen:
            try:
                self._seen[image] = self._look(sample, image)
            except Unreadable as fault:
                self._seen[image] = fault
        facts = self._seen[image]
        if isinstance(facts, Unreadable):
            raise facts
        place = (self.source.places or {}).get(image)
        group = place.group if place else sample.native.get("group") or facts.pixels
        return Photo(
            image=image, sha256=facts.sha256, width=facts.width, height=facts.height,
            group=group, content=place.group if place else facts.pixels,
        )  # fmt: skip

    def _look(self, sample: Sample, image: str) -> images.Facts:
        path, places = inside(self.source.root, image), self.source.places
        if places is None:
            return images.facts(path)
        place = places.get(image)
        if self.decode or place is None:
            facts = images.facts(path)
        else:
            width, height = images.size(path)
            facts = images.Facts(width=width, height=height, sha256=sha256(path), pixels="")
        if place is None or place.image_sha256 != facts.sha256:
            got = "no line for it" if place is None else "a line for other bytes than it has now"
            raise Refused(
                f"{sample.id}: expected splits.jsonl to say where {image!r} belongs, got {got}; "
                "run `split` again"
            )
        return facts
