"""Photos before they are trusted: audit."""

from pathlib import Path
from typing import Annotated

import typer

from fieldtruth.cli.group import Engine, Json, Quiet, Workers, app, say


@app.command()
def audit(
    sets: Annotated[
        list[str],
        typer.Argument(help="Folders of photos, files of items (JSONL), or frozen benchmarks."),
    ],
    *,
    radius: Annotated[
        int, typer.Option(help="Bits of 64 that the hashes of a near pair may differ in.")
    ] = 6,
    flips: Annotated[
        bool, typer.Option("--flips", help="Look for flipped and quarter-turned copies as well.")
    ] = False,
    max_pairs: Annotated[int, typer.Option(help="List no more pairs: the worst ones.")] = 100_000,
    images: Annotated[
        Path | None,
        typer.Option(help="The folder that paths in files of items are relative to; else theirs."),
    ] = None,
    gate: Annotated[
        bool, typer.Option("--gate", help="End with 4 on a leak between sets or a photo unread.")
    ] = False,
    engine: Engine = "local",
    workers: Workers = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Near-duplicates within and across sets, label conflicts, image quality, coverage."""
    from fieldtruth.run import spread
    from fieldtruth.run.progress import Track
    from fieldtruth.stages import audit as auditing

    settings = auditing.Settings(radius=radius, max_pairs=max_pairs, flips=flips, images=images)
    with spread.over_files(spread.engine_of(engine), workers) as over:
        report = auditing.audit(sets, settings, Track("audit", quiet=quiet), over)
    say(report, auditing.line(report), as_json=as_json)
    if gate:
        auditing.refuse(report)
