"""The whole road at once."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from fieldtruth.cli.group import Quiet, app


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
