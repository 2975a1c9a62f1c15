"""Workbooks as people fill them."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import openpyxl

from fieldtruth.stages.verification.workbook import CLEARED, READ, TICKED


def fill(path: Path, clear: Collection[tuple[int, str]] = ()) -> Path:
    """Every row read; the boxes `(row, name)` of `clear` cleared, rows counting from 1."""
    book = openpyxl.load_workbook(path)
    sheet: Any = book.worksheets[0]
    place = {cell.value: cell.column for cell in sheet[1]}
    for row in range(2, sheet.max_row + 1):
        sheet.cell(row, place[READ]).value = TICKED
    for at, name in clear:
        sheet.cell(at + 1, place[name]).value = CLEARED
    book.save(path)
    return path


def heads(path: Path) -> list[str]:
    """The columns of a workbook."""
    return [str(cell.value) for cell in openpyxl.load_workbook(path).worksheets[0][1]]


def numbers(path: Path) -> list[str]:
    """The rows that a workbook asks about."""
    sheet: Any = openpyxl.load_workbook(path).worksheets[0]
    return [str(sheet.cell(row, 1).value) for row in range(2, sheet.max_row + 1)]
