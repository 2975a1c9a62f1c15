"""What a step of a recipe is, and where everything of a run lies.

OUT/leaves/  source/ or sources/NAME/  items/  training/NAME/  questions/  bench/NAME/
OUT/papers/  figures/  evidence/
OUT/models/NAME.json
OUT/replies/MODEL.PROTOCOL.jsonl  results/score.json  report.html
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fieldtruth.run.progress import Track

STAGES = (
    "draw", "ingest", "label", "annotate", "split", "compose", "facts", "screen", "figures",
    "evidence", "questions", "freeze", "train", "predict", "guessable",
    "score", "report",
)  # fmt: skip

Bar = Callable[[str], Track]
Work = Callable[[Bar], str]  # does a step; what a person reads when it ends


@dataclass(frozen=True, slots=True)
class Step:
    """One piece of work. It is done anew when `config`, an input's content or the code changes.

    `outputs` may stay away only where `optional`. What is in `clears`, and `outputs`, is removed
    before the work begins, unless the same work was cut short and `resumes`. With `skipped`, which
    says why, nothing is done.
    """

    stage: str
    name: str
    config: Mapping[str, object]
    inputs: Mapping[str, Path]
    outputs: tuple[Path, ...]
    work: Work
    clears: tuple[Path, ...] = ()
    optional: bool = False
    resumes: bool = False
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class Places:
    """Where everything of a run lies."""

    out: Path
    leaves: Path = field(init=False)
    results: Path = field(init=False)
    questions: Path = field(init=False)
    page: Path = field(init=False)

    def __post_init__(self) -> None:
        for name in ("leaves", "results", "questions"):
            object.__setattr__(self, name, self.out / name)
        object.__setattr__(self, "page", self.out / "report.html")

    def source(self, name: str) -> Path:
        """The folder of one of several sources; of the only one where `name` is empty."""
        return self.out / "sources" / name if name else self.out / "source"

    def made(self, what: str) -> Path:
        """What a step leaves of papers: papers, figures, evidence, replies."""
        return self.out / what

    def items(self, name: str) -> Path:
        """The composed items of a benchmark."""
        return self.out / "items" / f"{name}.jsonl"

    def training(self, name: str) -> Path:
        """The folder of a training mixture."""
        return self.out / "training" / name

    def bench(self, name: str) -> Path:
        """The folder of a frozen benchmark."""
        return self.out / "bench" / name

    def fitted(self, name: str) -> Path:
        """What training a model leaves behind."""
        return self.out / "models" / f"{name}.json"

    def replies(self, model: str, protocol: str) -> Path:
        """The predictions file of a model under a protocol."""
        return self.out / "replies" / f"{model}.{protocol}.jsonl"


def text(value: object) -> str:
    """A setting as it is typed on a command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)
