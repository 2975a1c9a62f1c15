"""Personal data out of dialogues."""

from pathlib import Path
from typing import Annotated

import typer

from fieldtruth.cli.group import Json, Quiet, app, say


@app.command()
def scrub(
    folder: Annotated[Path, typer.Argument(help="What ingest made of a source of talks.")],
    *,
    names: Annotated[
        str,
        typer.Option(
            help="Who looks for names: presidio, rules (no names in running text), or auto."
        ),
    ] = "auto",
    faces: Annotated[
        bool, typer.Option("--faces", help="Flag photos that may show a face; needs opencv.")
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Hide names, telephones, mails, addresses in talks, before anything is made of them."""
    from fieldtruth.run import scrubbing
    from fieldtruth.run.progress import Track

    books = scrubbing.scrub(folder, names, Track("scrub", quiet=quiet), look=faces)
    say(books, scrubbing.line(books, folder), as_json=as_json)
