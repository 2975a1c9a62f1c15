"""Verification: questions, figures and passages to people, and back.

    sent      which rows there are, who judges each; what has to hold of it
    page      one offline HTML page with photos and conversations
    workbook  an XLSX for each person, and what they ticked in it
    verdicts  what is kept, why the rest is not, how far people agree

(AgMMU, section 3.2 step 4, appendix B.4.)
"""

from fieldtruth.stages.verification.page import render
from fieldtruth.stages.verification.sent import CONDITIONS, SENT, SHEETS, Kind, Row, Sent, rows
from fieldtruth.stages.verification.verdicts import REASONS, Verified, line, settle
from fieldtruth.stages.verification.workbook import Ticks, read, write

__all__ = [
    "CONDITIONS", "REASONS", "SENT", "SHEETS", "Kind", "Row", "Sent", "Ticks", "Verified", "line",
    "read", "render", "rows", "settle", "write",
]  # fmt: skip
