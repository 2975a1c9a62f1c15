"""Sources for training mixtures, made of photos of four pixels that take no time to write."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fieldtruth.records import Annotation, AskLevel, Example, Healthy, Kind, Sample, Target
from fieldtruth.stages.compose import Labelled, Mix, Mixed, mix

TOMATO = ("early blight", "late blight", "leaf mold", "septoria leaf spot", "target spot")
APPLE = ("scab", "black rot", "cedar rust", "powdery mildew", "bitter rot")


def picture(path: Path, shade: int, note: str = "") -> str:
    """2 x 2 pixels of one colour, a PPM; a note changes its bytes and not the picture."""
    path.parent.mkdir(parents=True, exist_ok=True)
    comment = f"#{note}\n" if note else ""
    path.write_bytes(f"P6\n{comment}2 2 255\n".encode() + shade.to_bytes(3, "big") * 4)
    return path.name


@dataclass
class Field:
    """A source that grows row by row. Every row has a photo of its own, unless one is given."""

    root: Path
    name: str = "s"
    exhaustive: bool = True
    samples: dict[str, Sample] = field(default_factory=dict)
    targets: list[Target] = field(default_factory=list)
    well: list[Healthy] = field(default_factory=list)
    marks: dict[str, Annotation] = field(default_factory=dict)

    def row(self, image: str | Sequence[str] | None = None, **native: str) -> Sample:
        """A sample of the split `train`."""
        number = len(self.samples)
        if image is None:
            shade = int.from_bytes(self.name.encode()[:1], "big") * 2**16 + number
            image = picture(self.root / f"{self.name}{number}.ppm", shade)
        images = (image,) if isinstance(image, str) else tuple(image)
        made = Sample(
            id=f"{self.name}:{number}", source=self.name, images=images, licence="CC0",
            native={"split": "train"} | native,
        )  # fmt: skip
        self.samples[made.id] = made
        return made

    def ill(
        self,
        label: str,
        crop: str | None = "tomato",
        kind: Kind = "disease",
        level: AskLevel | None = "lesion",
        sample: Sample | None = None,
    ) -> Target:
        """A row that shows something, boxed unless `level` is None."""
        of = sample or self.row()
        name = f"{of.id}:{label}"
        made = Target(id=name, sample=of.id, kind=kind, label=label, crop=crop)
        self.targets.append(made)
        if level:
            self.mark(made, of.images[0], level)
        return made

    def mark(self, target: Target, image: str, level: AskLevel) -> Annotation:
        """One box of a pixel."""
        made = Annotation(
            id=f"{target.id}:{level}", target=target.id, image=image, width=2, height=2,
            level=level, boxes=((0, 0, 1, 1),), rule="hand",
        )  # fmt: skip
        self.marks[made.id] = made
        return made

    def healthy(self, crop: str | None = "tomato", sample: Sample | None = None) -> Healthy:
        """A row that shows a healthy plant."""
        of = sample or self.row()
        made = Healthy(id=f"{of.id}:healthy", sample=of.id, crop=crop)
        self.well.append(made)
        return made

    def grow(
        self, crop: str, labels: Sequence[str], ill: int, well: int = 0, level: AskLevel = "lesion"
    ) -> "Field":
        """So many rows of a crop, its labels in turn."""
        for number in range(ill):
            self.ill(labels[number % len(labels)], crop, level=level)
        for _ in range(well):
            self.healthy(crop)
        return self

    def labelled(self) -> Labelled:
        """The source, as `compose` takes it."""
        return Labelled(
            samples=dict(self.samples), targets=tuple(self.targets), healthy=tuple(self.well),
            annotations=dict(self.marks), exhaustive=self.exhaustive, root=self.root,
            name=self.name,
        )  # fmt: skip


def mixed(*fields: Field, settings: Mix | None = None) -> Mixed:
    """Their mixture."""
    return mix(
        [each.labelled() for each in fields], settings or Mix(), lambda records, _=None: records
    )


def examples(*fields: Field, settings: Mix | None = None) -> dict[str, Example]:
    """The examples of their mixture by id, in order."""
    made = list(mixed(*fields, settings=settings))
    found = {each.id: each for each in made}
    assert len(found) == len(made)
    return found


def roles(made: Mapping[str, Example] | Iterable[Example], role: str) -> list[Example]:
    """Those of one role."""
    every = made.values() if isinstance(made, Mapping) else made
    return [each for each in every if each.role == role]
