"""From a raw release to items: draw, ingest, label, annotate, compose."""

from pathlib import Path
from typing import Annotated

import typer

from fieldtruth import rooms, sources
from fieldtruth.cli.group import Engine, Json, Out, Quiet, Seed, Workers, app, say


@app.command()
def draw(
    folder: Annotated[Path, typer.Argument(help="A new folder for the drawn leaves.")],
    *,
    leaves: Annotated[int, typer.Option(help="How many leaves.")] = 240,
    size: Annotated[
        int | None, typer.Option(help="Square photos of that side, for a model that sees little.")
    ] = None,
    seed: Seed = 0,
) -> None:
    """Draw leaves with exact lesions: a stand-in where there are no photos."""
    from fieldtruth.sources import drawn

    count = drawn.draw(folder, leaves=leaves, seed=seed, look=drawn.Look(size=size))
    say(None, f"{count} photos of {leaves} leaves drawn. In {folder}", as_json=False)


@app.command()
def ingest(
    source: Annotated[
        str,
        typer.Argument(help=f"{', '.join(rooms.names(sources))}: a file of sources/."),
    ],
    path: Annotated[Path, typer.Argument(help="The raw release: a folder, a zip or a tar.")],
    *,
    out: Out,
    source_args: Annotated[
        str, typer.Option(help="Options of the source: key=value,key=value (licence=CC0).")
    ] = "",
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """A raw release to samples, or to dialogues, with the accounting."""
    from fieldtruth.run import workspace
    from fieldtruth.run.asking import parse_options
    from fieldtruth.run.progress import Track

    options = parse_options(source_args, "--source-args")
    books = workspace.ingest(source, path, out, Track("ingest", quiet=quiet), options)
    say(books, workspace.line(books, out), as_json=as_json)


@app.command()
def label(
    folder: Annotated[Path, typer.Argument(help="What ingest made.")],
    *,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Samples to targets, healthy photos and drops, with the funnel."""
    from fieldtruth.run import funnel, workspace
    from fieldtruth.run.progress import Track

    books = workspace.label(folder, Track("label", quiet=quiet))
    said = f"{funnel.table(books)}\n{workspace.line(books, folder)}"
    say(books, said, as_json=as_json)


@app.command()
def annotate(
    folder: Annotated[Path, typer.Argument(help="What label made.")],
    *,
    model: Annotated[
        str,
        typer.Option(help="Who draws the boxes: `source` (the release's own masks) or a model."),
    ] = "source",
    model_args: Annotated[
        str, typer.Option(help="Options of the model: key=value,key=value.")
    ] = "",
    rules: Annotated[
        str, typer.Option(help="published or ours: which boxes are kept, and at which level.")
    ] = "published",
    prompts: Annotated[
        Path | None, typer.Option(help="TOML with [prompts] and [cues] of your own, by label.")
    ] = None,
    cache: Annotated[
        Path | None, typer.Option(help="A folder of replies; FOLDER/replies if not given.")
    ] = None,
    allow_errors: Annotated[
        float, typer.Option(help="The share of failed targets that still ends with 0.")
    ] = 0.0,
    engine: Engine = "local",
    workers: Workers = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Targets to boxes."""
    from fieldtruth.run import annotating, spread
    from fieldtruth.run.asking import parse_options, share
    from fieldtruth.run.progress import Track

    job = annotating.Job(
        model=model,
        options=parse_options(model_args),
        rules=annotating.rules_of(rules),
        prompts=prompts,
        cache=cache,
        allow_errors=share("--allow-errors", allow_errors),
        engine=spread.engine_of(engine),
        workers=workers,
    )
    books = annotating.annotate(folder, job, Track("annotate", quiet=quiet))
    say(books, annotating.line(books, folder), as_json=as_json)
    annotating.check(books, folder, job)


@app.command()
def compose(
    folders: Annotated[
        list[Path], typer.Argument(help="What annotate made; with --training of several sources.")
    ],
    *,
    out: Out,
    training: Annotated[
        bool, typer.Option("--training", help="A folder of training examples instead of items.")
    ] = False,
    split: Annotated[
        str | None,
        typer.Option(help="train, val, test, or all (as if not given); training: train or val."),
    ] = None,
    candidates: Annotated[
        float | None, typer.Option(help="Training: share of prompts with a list; 0.5 if not given.")
    ] = None,
    healthy: Annotated[
        float | None,
        typer.Option(
            help="Training: share of healthy photos; 0.12 if not given, 0.06 in the paper too."
        ),
    ] = None,
    wrong_target: Annotated[
        float | None,
        typer.Option(help="Training: share of diseased photos asked for what is not on them."),
    ] = None,
    assume_absent: Annotated[
        bool | None,
        typer.Option(
            "--assume-absent", help="Wrong targets on photos that may show more than is named, too."
        ),
    ] = None,
    space: Annotated[
        str | None, typer.Option(help="Training: the answers' box space; norm1000 if not given.")
    ] = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Boxes and healthy photos to items, or to a training mixture, with queries and lists."""
    from fieldtruth.run import composing
    from fieldtruth.run.progress import Track

    bar = Track("compose", quiet=quiet)
    told = {
        "candidates": candidates, "healthy": healthy, "wrong_target": wrong_target,
        "assume_absent": assume_absent, "space": space,
    }  # fmt: skip
    if training:
        mix = composing.mixture(split or "train", seed, told)
        examples = composing.compose_training(folders, out, mix, bar)
        say(examples, composing.training_line(examples, out), as_json=as_json)
    else:
        folder = composing.only(folders, told)
        made = composing.compose_items(folder, out, split or "all", seed, bar)
        say(made, composing.composed_line(made, out), as_json=as_json)
