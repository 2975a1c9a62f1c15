"""What a source is: one dataset's raw release turned into samples, then into what they name.

Three small steps, each a function of what lies before it, so that each can be re-run alone:
`samples` reads the release, `label` says what a sample names, `annotate` gives the boxes that
the release itself holds (masks, box files). Nothing may vanish: a row that goes no further is a
`Drop` with a reason from `reasons`. A source's file ends in `SOURCE: Source = ...`; one that can
be told how to read its release also has `open_source(options) -> Source`, which takes the words
after `--source-args` and raises `Usage` for one that it does not know; `SOURCE` is it without any.
Where a hub gives the release out as parquet files with the photos inside, `photo_column` names the
column, and `ingest` unpacks them into `OUT/release` first (`fieldtruth.shards`).

Talks of growers with experts name no single thing: their source ends in `SOURCE: DialogueSource =
...`, `ingest` makes dialogues of it, and `facts` takes them from there.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from fieldtruth.records import Annotation, Dialogue, Drop, Healthy, Sample, Target


class Source(Protocol):
    """One dataset. `licence` is what it is given out under, `paper` where it is described.

    `reasons` is the closed list of drop reasons. Paths in samples are relative to `root` and
    never leave it.
    """

    @property
    def licence(self) -> str: ...

    @property
    def paper(self) -> str: ...

    @property
    def reasons(self) -> tuple[str, ...]: ...

    @property
    def exhaustive(self) -> bool:
        """Whether a photo's targets are all that is on it: other names are certainly absent."""
        ...

    def samples(self, root: Path) -> Iterator[Sample | Drop]:
        """Every row of the release, in a stable order."""
        ...

    def label(self, sample: Sample) -> Iterable[Target | Healthy | Drop]:
        """What a sample names: at least one record, each naming the sample as its parent."""
        ...

    def annotate(self, sample: Sample, target: Target, root: Path) -> Annotation | Drop:
        """The boxes the release itself holds for a target, in pixels of the upright image."""
        ...


@runtime_checkable
class AtOnce(Protocol):
    """What a source of a million rows may have besides: `label` without a call for each sample,
    where it makes one record of each."""

    def label_all(self, samples: Sequence[Sample]) -> Sequence[Target | Healthy | Drop]:
        """What each of some samples names, in their order."""
        ...


@runtime_checkable
class DialogueSource(Protocol):
    """One set of talks. Each row of the release becomes a dialogue, or is dropped for one of
    `reasons`; paths of photos are relative to `root` and never leave it."""

    @property
    def licence(self) -> str: ...

    @property
    def paper(self) -> str: ...

    @property
    def reasons(self) -> tuple[str, ...]: ...

    def dialogues(self, root: Path) -> Iterator[Dialogue | Drop]:
        """Every talk of the release, in a stable order, with the drops of the other rows."""
        ...
