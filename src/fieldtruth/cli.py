"""The command line: one short command a stage, in pipeline order.

Each command parses, calls one function and prints what came back. Knobs that belong together live
in the function's own settings. Exit codes: 0 done; 1 failed; 2 usage or configuration; 3
finished, but more items failed than allowed; 4 integrity refused; 130 interrupted, state saved.
"""

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any, cast

import msgspec
import typer
from typer.core import TyperGroup

from fieldtruth.faults import Fault, TooManyFailed, Usage

ORDER = (
    "demo", "draw", "ingest", "label", "annotate", "compose", "freeze", "verify", "diff", "train",
    "predict", "read", "score", "report", "export",
)  # fmt: skip


class _Pipeline(TyperGroup):
    """Commands in pipeline order; a `Fault` is one line on stderr, a bug keeps its traceback."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(super().list_commands(ctx), key=ORDER.index)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except Fault as fault:
            sys.stderr.write(f"fieldtruth: {fault}\n")
            raise typer.Exit(fault.exit_code) from None
        except KeyboardInterrupt:
            again = shlex.join(sys.argv[1:])
            sys.stderr.write(
                f"fieldtruth: interrupted; what was done is kept. Go on with: fieldtruth {again}\n"
            )
            raise typer.Exit(130) from None


app = typer.Typer(
    name="fieldtruth",
    cls=_Pipeline, no_args_is_help=True, add_completion=False, rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="From labelled plant photos to frozen benchmarks, model replies, and numbers that hold.",
)  # fmt: skip
train = typer.Typer(no_args_is_help=True, help="Fit or train a model on a training benchmark.")

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress bar.")]
Seed = Annotated[int, typer.Option(help="The recipe's seed: every draw is keyed by it.")]
Out = Annotated[Path, typer.Option("--out", help="Where the result goes.")]


def _say(result: Any, line: str, *, as_json: bool) -> None:
    """One line for people, or the whole result for machines."""
    if as_json:
        sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n")
    else:
        sys.stdout.write(line.rstrip() + "\n")
    sys.stdout.flush()


def _note(text: str, *, quiet: bool) -> None:
    if not quiet:
        sys.stderr.write(f"fieldtruth: {text}\n")


@app.command()
def demo(
    *,
    out: Annotated[Path, typer.Option(help="Folder for everything the demo makes.")] = Path(
        "out/demo"
    ),
    photos: Annotated[
        Path | None, typer.Option(help="Your own leaf photos, in class folders or not.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """The whole loop on a small set, on a CPU, without a network, to a report."""
    from fieldtruth.run import demo as running

    def tell(text: str) -> None:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()

    tell(str(running.demo(out, photos, tell, quiet=quiet)))


@app.command()
def draw(
    folder: Annotated[Path, typer.Argument(help="A new folder for the drawn leaves.")],
    *,
    leaves: Annotated[int, typer.Option(help="How many leaves.")] = 240,
    seed: Seed = 0,
) -> None:
    """Draw leaves with exact lesions: a stand-in where there are no photos."""
    from fieldtruth.sources import drawn

    count = drawn.draw(folder, leaves=leaves, seed=seed)
    _say(None, f"{count} photos of {leaves} leaves drawn. In {folder}", as_json=False)


@app.command()
def ingest(
    source: Annotated[str, typer.Argument(help="drawn, coffee, folder: a file of sources/.")],
    path: Annotated[Path, typer.Argument(help="The raw release.")],
    *,
    out: Out,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """A raw release to samples, with the accounting."""
    from fieldtruth.run import workspace
    from fieldtruth.run.progress import Track

    books = workspace.ingest(source, path, out, Track("ingest", quiet=quiet))
    _say(books, workspace.line(books, out), as_json=as_json)


@app.command()
def label(
    folder: Annotated[Path, typer.Argument(help="What ingest made.")],
    *,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Samples to targets, healthy photos and drops."""
    from fieldtruth.run import workspace
    from fieldtruth.run.progress import Track

    books = workspace.label(folder, Track("label", quiet=quiet))
    _say(books, workspace.line(books, folder), as_json=as_json)


@app.command()
def annotate(
    folder: Annotated[Path, typer.Argument(help="What label made.")],
    *,
    model: Annotated[
        str, typer.Option(help="Who draws the boxes; `source`: the release's own masks.")
    ] = "source",
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Targets to boxes."""
    from fieldtruth.run import workspace
    from fieldtruth.run.progress import Track

    books = workspace.annotate(folder, model, Track("annotate", quiet=quiet))
    _say(books, workspace.line(books, folder), as_json=as_json)


@app.command()
def compose(
    folder: Annotated[Path, typer.Argument(help="What annotate made.")],
    *,
    out: Out,
    split: Annotated[str, typer.Option(help="train, val, test, or all.")] = "all",
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Boxes and healthy photos to items, with their queries and candidate lists."""
    from fieldtruth.run import workspace
    from fieldtruth.run.progress import Track

    made = workspace.compose_items(folder, out, split, seed, Track("compose", quiet=quiet))
    _say(made, workspace.composed_line(made, out), as_json=as_json)


@app.command()
def freeze(
    records: Annotated[Path, typer.Argument(help="Items or questions, one JSON object a line.")],
    *,
    images: Annotated[Path, typer.Option(help="The folder that image paths are relative to.")],
    name: Annotated[str, typer.Option(help="The benchmark's name.")],
    version: Annotated[str, typer.Option(help="Its version.")],
    out: Out,
    split: Annotated[
        str, typer.Option(help="train, val or test; a trainer cannot open a test split.")
    ] = "test",
    published: Annotated[str | None, typer.Option(help="The day it is given out.")] = None,
    creator: Annotated[str | None, typer.Option(help="The lab that gives it out.")] = None,
    url: Annotated[str | None, typer.Option(help="Where it is given out.")] = None,
    cite: Annotated[str | None, typer.Option(help="How to cite it: BibTeX or a line.")] = None,
    as_json: Json = False,
) -> None:
    """Items or questions to a frozen benchmark."""
    from fieldtruth.stages import freeze as freezing

    about = freezing.About(published=published, creator=creator, url=url, cite=cite)
    settings = freezing.Settings(name=name, version=version, split=split, about=about)
    made = freezing.freeze(records, images, out, settings)
    _say(made, freezing.line(made, out), as_json=as_json)


@app.command()
def verify(
    folder: Annotated[Path, typer.Argument(help="A frozen benchmark.")], *, as_json: Json = False
) -> None:
    """Whether a frozen benchmark is what its manifest says; names every file that is not."""
    from fieldtruth import store

    found = store.verify(folder)
    lines = [f"{each.path}: {each.what}" for each in found] or [f"{folder}: verified"]
    _say(found, "\n".join(lines), as_json=as_json)
    raise typer.Exit(4 if found else 0)


@app.command()
def diff(a: Path, b: Path, *, as_json: Json = False) -> None:
    """Items added, removed and changed from one frozen benchmark to another."""
    from fieldtruth.stages import diff as comparing

    found = comparing.diff(a, b)
    _say(found, comparing.line(found), as_json=as_json)


@train.command("colour")
def train_colour(
    benchmark: Annotated[Path, typer.Argument(help="A training benchmark (freeze --split train).")],
    *,
    out: Out,
    as_json: Json = False,
) -> None:
    """Fit the embedded colour model on a training split."""
    from fieldtruth.run import training

    made = training.fit_colour(benchmark, out)
    _say(made, f"colour fitted on {made.items} photos: {out}", as_json=as_json)


app.add_typer(train, name="train")


@app.command()
def predict(
    benchmark: Annotated[Path, typer.Argument(help="A frozen benchmark.")],
    *,
    model: Annotated[str, typer.Option(help="A backend: a file of models/.")],
    protocol: Annotated[
        str, typer.Option(help="known_target, candidates or open_set; +CONTROL, as +blank.")
    ],
    out: Out,
    model_args: Annotated[
        str, typer.Option(help="Options of the backend: key=value,key=value.")
    ] = "",
    name: Annotated[
        str | None,
        typer.Option(help="What the replies are filed under; the backend's name if not given."),
    ] = None,
    allow_errors: Annotated[
        float, typer.Option(help="The share of failed calls that still ends with 0.")
    ] = 0.0,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the first so many items; for a first look.")
    ] = None,
    cache: Annotated[
        Path | None, typer.Option(help="A folder of replies; what is in it is not asked again.")
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option(min=1, help="Calls to a server at a time.")
    ] = None,
    timeout: Annotated[float | None, typer.Option(help="Seconds for one call.")] = None,
    retries: Annotated[
        int | None, typer.Option(min=0, help="Further tries of a call that failed.")
    ] = None,
    max_cost: Annotated[
        float | None,
        typer.Option(help="Begin no call that could cost more in all; needs the model's prices."),
    ] = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Ask a model about every item; resumes where it stopped."""
    from fieldtruth.run import asking
    from fieldtruth.run.progress import Track

    flags = {
        "concurrency": concurrency, "timeout": timeout, "retries": retries, "max_cost": max_cost,
    }  # fmt: skip
    if not 0 <= allow_errors <= 1:  # false for NaN as well
        raise Usage(f"--allow-errors: expected a share from 0 to 1, got {allow_errors}")
    job = asking.Job(
        benchmark=benchmark,
        model=model,
        options=asking.with_flags(asking.parse_options(model_args), flags),
        protocol=protocol,
        name=name,
        limit=limit,
        cache=cache,
        seed=seed,
    )
    track = Track(f"predict {model} {protocol}", quiet=quiet)
    done = asking.predict(job, out, track, lambda told: _note(told, quiet=quiet))
    _say(done, asking.line(done, out), as_json=as_json)
    if done.failed > allow_errors * max(done.items, 1):
        raise TooManyFailed(
            f"{done.failed} of {done.items} calls failed; the same command asks only those again"
        )


@app.command("read")
def read_replies(
    predictions: Annotated[Path, typer.Argument(help="A predictions file.")],
    *,
    bench: Annotated[Path | None, typer.Option(help="The frozen benchmark they answer.")] = None,
    as_json: Json = False,
) -> None:
    """What each saved reply was read as, and why."""
    from fieldtruth.run import results

    rows = results.read(predictions, bench)
    _say(rows, results.reading_lines(rows), as_json=as_json)


@app.command()
def score(
    benchmark: Annotated[Path, typer.Argument(help="A frozen benchmark.")],
    predictions: Annotated[list[Path], typer.Argument(help="Predictions files.")],
    *,
    allow_missing: Annotated[
        float, typer.Option(help="Share of items per model and protocol that may lack a reply.")
    ] = 0.0,
    unit: Annotated[
        str, typer.Option(help="What the bootstrap resamples: group or image.")
    ] = "group",
    matching: Annotated[str, typer.Option(help="greedy, hungarian or maximum.")] = "greedy",
    as_published: Annotated[
        bool, typer.Option("--as-published", help="The published raster, reader and intervals.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for the result, for `report`.")] = None,
    as_json: Json = False,
) -> None:
    """Metrics with intervals, paired differences, outcomes."""
    from fieldtruth.run import results, terminal
    from fieldtruth.stages.score import Options

    options = Options(
        allow_missing=allow_missing,
        unit=cast(Any, unit),
        matching=cast(Any, matching),
        as_published=as_published,
    )
    scores = results.score(benchmark, predictions, options, out)
    _say(scores, terminal.table(scores), as_json=as_json)


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="What `score --out` made.")],
    *,
    out: Annotated[
        Path | None, typer.Option(help="The page; FOLDER/report.html if not given.")
    ] = None,
) -> None:
    """One offline HTML page: tables, intervals, plots, and photos with truth and prediction."""
    from fieldtruth.run import results

    _say(None, f"report: {results.report(folder, out)}", as_json=False)


@app.command()
def export(
    file_format: Annotated[
        str, typer.Argument(metavar="FORMAT", help="parquet, coco, voc: a file of formats/.")
    ],
    benchmark: Annotated[Path, typer.Argument(help="A frozen benchmark.")],
    *,
    out: Out,
    fetched: Annotated[
        bool,
        typer.Option(
            "--fetched", help="With photos that may not be handed on: keep it to yourself."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """A frozen benchmark in a format that other tools read."""
    from fieldtruth.stages import export as exporting

    made = exporting.export(file_format, benchmark, out, fetched=fetched)
    _say(made, exporting.line(made, out), as_json=as_json)


def main() -> None:
    """Run the command line; ends the process with the exit code the design gives."""
    app()


if __name__ == "__main__":
    main()
