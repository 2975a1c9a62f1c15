"""From a raw release to items: draw, ingest, label, annotate, compose."""

from pathlib import Path
from typing import Annotated

import typer

from fieldtruth import rooms, sources
from fieldtruth.cli.group import Json, Out, Quiet, Seed, app, say


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
    """A raw release to samples, with the accounting."""
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
    """Samples to targets, healthy photos and drops."""
    from fieldtruth.run import workspace
    from fieldtruth.run.progress import Track

    books = workspace.label(folder, Track("label", quiet=quiet))
    say(books, workspace.line(books, folder), as_json=as_json)


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
    say(books, workspace.line(books, folder), as_json=as_json)


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
    say(made, workspace.composed_line(made, out), as_json=as_json)
