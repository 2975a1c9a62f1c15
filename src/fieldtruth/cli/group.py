"""The command line itself: its groups, the flags that commands share, and how it ends.

Each command parses, calls one function and prints what came back. Knobs that belong together live
in the function's own settings. Exit codes: 0 done; 1 failed; 2 usage or configuration; 3
finished, but more items failed than allowed; 4 integrity refused; 130 interrupted, state saved.
"""

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from errno import EACCES, EEXIST, EIO, EISDIR, ENAMETOOLONG, ENOTDIR, EPERM, EROFS
from pathlib import Path
from typing import Annotated, Any, NoReturn

import msgspec
import typer
from typer.core import TyperGroup

from fieldtruth.faults import CannotWrite, Fault
from fieldtruth.store import room

ORDER = (
    "demo", "run", "draw", "ingest", "screen", "figures", "evidence", "scrub", "label",
    "annotate", "facts", "questions", "knowledge", "audit", "split", "compose", "check",
    "select", "review", "adjudicate", "freeze", "verify", "diff", "train", "reward", "predict",
    "read", "score", "errors", "guessable", "report", "export", "taxonomy",
)  # fmt: skip


class _Pipeline(TyperGroup):
    """Commands in pipeline order; a `Fault` is one line on stderr, a bug keeps its traceback."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(super().list_commands(ctx), key=ORDER.index)

    def invoke(self, ctx: Any) -> Any:
        try:
            with _writing():
                return super().invoke(ctx)
        except Fault as fault:
            sys.stderr.write(f"fieldtruth: {fault}\n")
            raise typer.Exit(fault.exit_code) from None
        except KeyboardInterrupt:
            stop(sys.argv[1:])


# What the system answers to a path that it does not let anyone write. A file that is not there is
# none of them: that would be a bug of the command, which should have looked.
_NO_PLACE = (EACCES, EPERM, EROFS, EEXIST, EISDIR, ENAMETOOLONG, ENOTDIR, EIO)


@contextmanager
def _writing() -> Iterator[None]:
    """What the system refuses is `CannotWrite`, whatever the command was doing."""
    try:
        with room("the place for the result"):
            yield
    except OSError as error:
        if error.errno not in _NO_PLACE or error.filename is None:
            raise
        raise CannotWrite(
            f"{error.filename}: expected a place to write, got: {error.strerror}; "
            "mend that, or name another"
        ) from error


def stop(again: Sequence[str]) -> NoReturn:
    """End an interrupted command, saying with which words it goes on."""
    words = shlex.join(again)
    sys.stderr.write(
        f"fieldtruth: interrupted; what was done is kept. Go on with: fieldtruth {words}\n"
    )
    raise typer.Exit(130) from None


app = typer.Typer(
    name="fieldtruth",
    cls=_Pipeline, no_args_is_help=True, add_completion=False, rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="From labelled plant photos to frozen benchmarks, model replies, and numbers that hold.",
)  # fmt: skip
train = typer.Typer(no_args_is_help=True, help="Fit or train a model on a training benchmark.")
app.add_typer(train, name="train")

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress bar.")]
Seed = Annotated[int, typer.Option(help="The recipe's seed: every draw is keyed by it.")]
Engine = Annotated[
    str, typer.Option(help="local, or ray: several processes, or the cluster RAY_ADDRESS names.")
]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Processes of the engine; one a core if not given.")
]
Out = Annotated[Path, typer.Option("--out", help="Where the result goes.")]


def say(result: Any, line: str, *, as_json: bool) -> None:
    """One line for people, or the whole result for machines."""
    with _stdout():
        if as_json:
            whole = msgspec.json.format(msgspec.json.encode(result), indent=1)
            sys.stdout.buffer.write(whole + b"\n")
        else:
            sys.stdout.write(line.rstrip() + "\n")
        sys.stdout.flush()


@contextmanager
def _stdout() -> Iterator[None]:
    """Where stdout takes no more, what is left for it is dropped, so that it fails only once."""
    try:
        with room("standard output"):
            yield
    except CannotWrite:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


def note(text: str, *, quiet: bool) -> None:
    """A line on stderr while work goes on."""
    if not quiet:
        sys.stderr.write(f"fieldtruth: {text}\n")
