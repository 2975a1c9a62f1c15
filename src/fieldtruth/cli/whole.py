"""The whole road at once: demo, run."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fieldtruth.cli.group import Json, Quiet, app, say, stop

if TYPE_CHECKING:
    from fieldtruth.run.execute import Done


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

    _tell(str(running.demo(out, photos, _tell, quiet=quiet)))


@app.command()
def run(
    recipe: Annotated[Path, typer.Argument(help="A recipe in TOML, as recipes/demo.toml.")],
    *,
    since: Annotated[
        str | None,
        typer.Option("--from", metavar="STAGE", help="Do this stage and all after it anew."),
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="STAGE", help="Stop after this stage.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Replace a setting: draw.leaves=24. Repeatable."
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Every stage of a recipe, leaving out what is done and unchanged."""
    from fieldtruth.run import execute
    from fieldtruth.run.recipe import read

    opened = read(recipe, settings or [])
    part = execute.Part(since=since, until=until)
    try:
        ran = execute.execute(opened, part=part, each=_silent if as_json else _told, quiet=quiet)
    except KeyboardInterrupt:
        # Without --from: what it asked for is noted as not done, and the rest may be kept.
        words = [word for each in settings or [] for word in ("--set", each)]
        stop(["run", str(recipe), *(["--until", until] if until else []), *words])
    say(ran, execute.line(ran), as_json=as_json)


def _tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _told(done: "Done") -> None:
    if done.did == "done":
        apart = "\n" if "\n" in done.said else " "  # a table has lines of its own
        _tell(f"{done.step} ({done.why}):{apart}{done.said}")
    elif done.did == "skipped":
        _tell(f"{done.step}: skipped, {done.why}")
    else:
        _tell(f"{done.step}: unchanged")


def _silent(done: "Done") -> None:
    """Nothing but the result may stand on stdout with --json."""
