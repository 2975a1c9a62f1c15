"""Replies to numbers: read, score, report."""

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from fieldtruth import rewards, rooms
from fieldtruth.cli.group import Json, app, say


@app.command("read")
def read_replies(
    predictions: Annotated[Path, typer.Argument(help="A predictions file.")],
    *,
    bench: Annotated[Path | None, typer.Option(help="The frozen benchmark they answer.")] = None,
    as_json: Json = False,
) -> None:
    """How saved replies are read: counts, and each that was mended or is no answer."""
    from fieldtruth.run import results

    rows = results.read(predictions, bench)
    say(rows, results.reading_lines(rows), as_json=as_json)


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
    say(scores, terminal.table(scores), as_json=as_json)


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

    say(None, f"report: {results.report(folder, out)}", as_json=False)


@app.command()
def reward(
    replies: Annotated[
        Path, typer.Argument(help="Replies with their truth, one JSON object a line.")
    ],
    *,
    kind: Annotated[
        str, typer.Option(help=f"{', '.join(rooms.names(rewards))}: a file of rewards/.")
    ],
    as_json: Json = False,
) -> None:
    """What saved replies earn, and what each term paid of it."""
    from fieldtruth.stages import reward as rewarding

    paid = rewarding.paid_file(replies, kind)
    say(paid, rewarding.line(paid), as_json=as_json)
