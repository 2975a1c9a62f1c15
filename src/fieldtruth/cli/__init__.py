"""The command line: one short command a stage, in pipeline order.

Each command parses, calls one function and prints what came back. Knobs that belong together live
in the function's own settings. Exit codes: 0 done; 1 failed; 2 usage or configuration; 3
finished, but more items failed than allowed; 4 integrity refused; 130 interrupted, state saved.
"""

from fieldtruth.cli import (
    ablation,
    audit,
    benchmark,
    check,
    data,
    facts,
    knowledge,
    models,
    papers,
    questions,
    results,
    review,
    scrub,
    select,
    split,
    taxonomy,
    whole,
)
from fieldtruth.cli.group import ORDER, app

__all__ = [
    "ORDER",
    "ablation",
    "app",
    "audit",
    "benchmark",
    "check",
    "data",
    "facts",
    "knowledge",
    "main",
    "models",
    "papers",
    "questions",
    "results",
    "review",
    "scrub",
    "select",
    "split",
    "taxonomy",
    "whole",
]


def main() -> None:
    """Run the command line; ends the process with the exit code the design gives."""
    app()
