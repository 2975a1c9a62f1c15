"""What is made of all rows that are done: for programs, in Markdown, and as one offline page."""

from pathlib import Path

import msgspec

from fieldtruth import store
from fieldtruth.run.ablation import table as tables
from fieldtruth.run.ablation.markdown import markdown
from fieldtruth.run.ablation.settings import Opened
from fieldtruth.run.ablation.table import Table
from fieldtruth.run.ablation.view import context
from fieldtruth.stages.report.frame import render

TABLE, PAGE, REPORT = "table.json", "table.md", "report.html"


def summarise(opened: Opened) -> Table:
    """The table of all rows that are kept, written as JSON, as Markdown and as a page.

    Raises `Usage` where no row is done, `BadRecord` for a row that is broken.
    """
    here = tables.held(opened)
    table = tables.tabulate(opened, here)
    told = msgspec.json.format(msgspec.json.encode(table), indent=1).decode()
    page = render("ablation.html.j2", context(opened, table, here))
    for name, text in (
        (TABLE, told + "\n"),
        (PAGE, "\n".join(markdown(opened, table, here.done)) + "\n"),
        (REPORT, page),
    ):
        with store.replacing(opened.out / name) as file:
            file.write(text.encode())
    return table


def line(table: Table, out: Path) -> str:
    """What a person reads when the table is made."""
    done, planned = (sum(map(len, each.values())) for each in (table.rows, table.planned))
    count = f"{done} of {planned} runs" if table.left else f"{done} runs"
    rows = f"{len(table.planned)} rows"
    return f"{count} of {rows} in the table: {out / PAGE}. The report:\n{out / REPORT}"
