"""Models trained alike but for one thing, set side by side: train ablation."""

from pathlib import Path
from typing import Annotated

import typer

from fieldtruth.cli.group import Json, Quiet, note, say, train
from fieldtruth.cli.models import DryBase, DryRun


@train.command("ablation")
def train_ablation(
    recipe: Annotated[Path, typer.Argument(help="A TOML file with [rows.NAME] and [benchmarks].")],
    *,
    most: Annotated[
        int | None, typer.Option(min=0, help="At most so many rows now; 0 for the table alone.")
    ] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="Replace a setting: base=../mine.")
    ] = None,
    dry_run: DryRun = False,
    base: DryBase = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train, ask and score the rows that are not done; then a table of all that are."""
    from fieldtruth.run import ablation, rehearsing
    from fieldtruth.run.progress import Track

    opened = ablation.read(recipe, setting or ())
    if dry_run:
        tried = rehearsing.rehearse_rows(opened, base, lambda told: note(told, quiet=quiet))
        say(tried, rehearsing.lines(tried), as_json=as_json)
        rehearsing.check_all(tried)
        return
    rehearsing.no_base(base)
    if most != 0:
        track = Track("train ablation", quiet=quiet)
        done = ablation.do(opened, most, track, lambda told: note(told, quiet=quiet))
        for told in ablation.told_of(done):
            note(told, quiet=quiet)
    table = ablation.summarise(opened)
    say(table, ablation.line(table, opened.out), as_json=as_json)
