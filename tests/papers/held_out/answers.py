"""What stands in the held-out papers: stated by hand from pages rendered by poppler.

They were made and answered before the figure finder had seen them, by engines that its tricky
papers were not made by: Typst 0.15, Chromium's print, groff with Ghostscript, cairo, poppler, and a
scan with invisible words. What `HELD` showed was mended; `UNSEEN` was made after that and nothing
was changed for it, so its numbers are those of papers that nobody tuned to. All that is on them was
made for this: photos are painted by `tests.papers.answers.photo`, plots and maps drawn from made
numbers, and the words are those of `tests.papers.answers.prose` or written for them.
"""

from pathlib import Path

from tests.papers.answers import Answer

FOLDER = Path(__file__).parent
_OPEN = (
    Answer("1", 1, (125, 326, 461, 527), "Figure 1 Yield of six", "line is the median.",
           "white picture"),
    Answer("2", 3, (196, 63, 412, 174), "Figure 2 Ground cover", "and unsprayed.", "vector only"),
)  # fmt: skip
HELD: dict[str, tuple[Answer, ...]] = {
    "typst_journal": (
        Answer("2", 1, (59, 98, 537, 195), "Fig. 2. Leaves of sorghum", "for the plots.",
               "panels", panels=4),
        Answer("1", 1, (57, 535, 275, 680), "Fig. 1. Heads of sorghum", "with a phone.",
               "two columns"),
        Answer("3", 2, (334, 61, 529, 205), "Fig. 3. Severity", "of the leaf.", "vector only"),
    ),
    "typst_manuscript": (
        Answer("1", 4, (90, 252, 522, 540), "Figure 1. Barley in spring", "under snow.",
               "list", "list", 3),
        Answer("2", 5, (88, 266, 507, 537), "Figure 2. Share of dead", "on the ground.",
               "list", "list", 3),
        Answer("3", 6, (126, 276, 486, 516), "Figure 3. The drone", "two cameras.",
               "list", "list", 3),
    ),
    "typst_margin": (
        Answer("1", 1, (60, 195, 370, 401), "Figure 1: Adult whiteflies", "of a millimetre.",
               "beside", "beside"),
        Answer("2", 1, (79, 487, 360, 604), "Figure 2: Counts", "by week.", "beside", "beside"),
    ),
    "chromium_open": _OPEN,
    "chromium_wide": (
        Answer("1", 1, (126, 315, 486, 555), "Fig 1. Maize with weeds", "in S1 Data.",
               "one column"),
        Answer("2", 2, (166, 242, 525, 421), "Fig 2. Seedlings of two", "thirteen per cent.",
               "panels"),
    ),
    "chromium_abnt": (
        Answer("1", 1, (162, 291, 462, 490), "Figura 1 – Folhas", "de bacteriose",
               "another language", "above"),
        Answer("2", 2, (201, 203, 417, 313), "Figura 2 – Produção", "em quilos",
               "another language", "above"),
    ),
    "chromium_sideways": (
        # Of the page turned by a quarter, as its words stand upright.
        Answer("1", 2, (122, 87, 722, 477), "Figure 1. Rows of lettuce", "for the picture.",
               "sideways"),
    ),
    "chromium_none": (),
    "ghostscript_columns": (
        Answer("1", 1, (96, 541, 252, 649), "Figure 1: The way", "to the count.", "vector only"),
        Answer("2", 2, (69, 84, 278, 223), "Figure 2: Pears", "second room.", "two columns"),
    ),
    "ghostscript_old": (
        Answer("1", 1, (158, 220, 446, 412), "FIG. 1. — Sorghum", "of the trial.", "one column"),
        Answer("2", 2, (138, 149, 454, 320), "FIG. 2. — Heads", "by row.", "vector only"),
    ),
    "cairo_specimens": (
        Answer("1", 1, (80, 300, 516, 480), "Figure 1. Seeds of", "were collected.", "scattered"),
        Answer("2", 2, (310, 50, 550, 230), "Figure 2. Flowers", "of that day.", "inset"),
        Answer("3", 2, (55, 450, 285, 606), "Figure 3. Pods", "after flowering.", "vector only"),
    ),
    "scan_with_words": _OPEN,
}  # fmt: skip
UNSEEN: dict[str, tuple[Answer, ...]] = {
    "ghostscript_three": (
        Answer("2", 1, (400, 103, 549, 203), "Figure 2 | A vole.", "A vole.", "three columns"),
        Answer("1", 1, (81, 641, 510, 789), "Figure 1 | Burrows and", "years before.",
               "three columns"),
    ),
    "chromium_paper": (
        Answer("2", 1, (309, 313, 544, 472), "Fig. 2. The same", "are storks.", "tinted paper",
               "above"),
        Answer("1", 1, (51, 322, 286, 481), "Fig. 1. Paddies", "storks came.", "tinted paper",
               "above"),
    ),
    "chromium_supplement": (
        # Its label stands above the picture and its words below: the words are not found.
        Answer("S1", 2, (43, 79, 496, 385), "Figure S1", "nearest to them.", "label apart",
               "above"),
        Answer("S2", 3, (43, 43, 525, 205), "Figure S2. Beetles", "generation (right).", "panels"),
        Answer("S3", 4, (59, 57, 388, 256), "Figure S3. Beetles", "by week.", "vector only"),
    ),
    "poppler_pairs": (
        Answer("1", 1, (68, 398, 233, 497), "Figure 1. Flies", "the orchard.", "side by side"),
        Answer("2", 1, (316, 398, 481, 497), "Figure 2. Flies", "other side.", "side by side"),
        Answer("3", 3, (58, 123, 555, 458), "Figure 3 The", "The hedge.", "one column"),
    ),
    "cairo_turned": (
        Answer("1", 1, (40, 80, 420, 346), "Fig 1: Hives", "lids of straw.", "turned"),
        Answer("2", 1, (468, 419, 781, 552), "Fig 2: Weight", "by week.", "turned",
               "above"),
    ),
}  # fmt: skip
