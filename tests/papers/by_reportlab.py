"""Tricky papers of the engine reportlab, on A4 (595 x 842 points)."""

from io import BytesIO
from typing import Any

from pypdf import PdfReader, PdfWriter
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas
from tests.papers.answers import Answer, Box, Made, photo, png, prose, wrapped

W, H = 595.0, 842.0


class Sheet:
    """A canvas that is written from the top down, as answers are."""

    def __init__(self, width: float = W, height: float = H) -> None:
        self.stream = BytesIO()
        self.width, self.height = width, height
        self.canvas: Any = Canvas(self.stream, pagesize=(width, height), invariant=1)

    def line(self, x: float, y: float, text: str, size: float = 10, bold: str = "") -> None:
        """One line whose baseline is at `y`; `bold` is set before it."""
        canvas = self.canvas
        if bold:
            canvas.setFont("Helvetica-Bold", size)
            canvas.drawString(x, self.height - y, bold)
            x += pdfmetrics.stringWidth(bold + " ", "Helvetica-Bold", size)
        canvas.setFont("Helvetica", size)
        canvas.drawString(x, self.height - y, text)

    def text(self, x: float, y: float, width: float, words: str, size: float = 10) -> float:
        """A paragraph; where the next line would be."""
        for each in wrapped(words, width, lambda t: pdfmetrics.stringWidth(t, "Helvetica", size)):
            self.line(x, y, each, size)
            y += size * 1.2
        return y

    def photo(self, box: Box, seed: int = 0) -> None:
        """A photo that fills the box."""
        x1, y1, x2, y2 = box
        made = ImageReader(png(photo(int(x2 - x1), int(y2 - y1), seed)))
        self.canvas.drawImage(made, x1, self.height - y2, x2 - x1, y2 - y1)

    def rect(self, box: Box, fill: int = 0) -> None:
        """A rectangle, its edge or all of it."""
        x1, y1, x2, y2 = box
        self.canvas.rect(x1, self.height - y2, x2 - x1, y2 - y1, stroke=1 - fill, fill=fill)

    def rule(self, x1: float, x2: float, y: float) -> None:
        """A thin line from left to right."""
        self.canvas.line(x1, self.height - y, x2, self.height - y)

    def page(self, seed: int = 90) -> None:
        """The end of a page, with what stands on each: a logo, a running head, a number."""
        self.photo((self.width - 90, 20, self.width - 50, 40), seed)
        self.line(50, 35, "Journal of Made Trials", 8)
        self.rule(50, self.width - 50, 45)
        self.line(self.width / 2, self.height - 25, str(self.canvas.getPageNumber()), 8)
        self.canvas.showPage()

    def table(self, x1: float, x2: float, y: float, number: str) -> float:
        """A table of five rows with three rules and a shaded row, its caption above."""
        self.line(x1, y, "Yield by cultivar, tonnes a hectare.", 9, bold=f"Table {number}.")
        top = y + 8
        self.canvas.setFillGray(0.85)
        self.rect((x1, top + 44, x2, top + 58), fill=1)
        self.canvas.setFillGray(0)
        for at in (0, 16, 86):
            self.rule(x1, x2, top + at)
        for row in range(6):
            for column in range(4):
                left = x1 + 4 + column * (x2 - x1) / 4
                self.line(left, top + 11 + row * 14, f"{row}.{column}7", 8)
        return top + 86

    def done(self) -> bytes:
        """The bytes of the whole."""
        self.canvas.save()
        return self.stream.getvalue()


def one_column() -> bytes:
    """A photo and its caption; a paragraph begins with "Figure 1 shows"; a line with "Fig. 3"."""
    sheet = Sheet()
    sheet.line(70, 80, "Rust of faba bean in three seasons", 18)
    y = sheet.text(70, 110, 455, prose(12))
    sheet.photo((120, 260, 470, 470), 1)
    caption = "Leaves of faba bean with rust, photographed on the first of July."
    sheet.line(120, 486, caption, 9, bold="Figure 1.")
    y = sheet.text(70, 530, 455, "Figure 1 shows that " + prose(6))
    sheet.line(70, y, "Fig. 3. The words before were a sentence that ended with a figure's", 10)
    sheet.text(
        70, y + 12, 455, "number, and this paragraph goes on as if nothing had been. " + prose(3)
    )
    sheet.page()
    sheet.text(70, 80, 455, prose(20, 3))
    sheet.table(70, 525, 400, "1")
    sheet.text(70, 540, 455, prose(12, 1))
    sheet.page()
    return sheet.done()


def two_columns() -> bytes:
    """Left below, right above, one across both, as journals set them."""
    sheet = Sheet()
    sheet.photo((50, 80, 285, 240), 2)
    y = sheet.text(
        50,
        256,
        235,
        "Fig. 1 Stems of sorghum with galls at the second node, late in "
        "the season of the second year",
        8,
    )
    sheet.text(50, y + 16, 235, prose(14), 9)
    sheet.text(310, 80, 235, prose(9, 2), 9)
    sheet.text(
        310,
        260,
        235,
        "Fig. 2 Roots washed free of soil, with nodules that were cut open to show their colour",
        8,
    )
    sheet.photo((310, 284, 545, 420), 3)
    sheet.text(310, 446, 235, prose(5, 4), 9)
    sheet.photo((50, 560, 545, 740), 4)
    sheet.text(
        50,
        756,
        495,
        "Fig. 3 The whole field from above, rows running from the left to the "
        "right, on the day of sowing and sixty days after",
        8,
    )
    sheet.page()
    return sheet.done()


def tiled() -> bytes:
    """One picture in 4 x 3 tiles that touch, as some programs write large ones."""
    sheet = Sheet()
    sheet.text(70, 80, 455, prose(10))
    for row in range(3):
        for column in range(4):
            x, y = 100 + column * 100, 220 + row * 80
            sheet.photo((x, y, x + 100, y + 80), row * 4 + column)
    sheet.line(100, 478, "A mosaic of the trial, flown at forty metres.", 9, bold="FIGURE 1 |")
    sheet.text(70, 520, 455, prose(14, 2))
    sheet.page()
    return sheet.done()


def overleaf() -> bytes:
    """A picture that fills its page; its caption is the first thing on the next."""
    sheet = Sheet()
    sheet.text(70, 80, 455, prose(40))
    sheet.page()
    sheet.photo((60, 70, 535, 790), 5)
    sheet.page()
    sheet.line(
        70, 80, "A glasshouse of lettuce with tip burn, seen from its door.", 9, bold="Figure 1."
    )
    sheet.text(70, 130, 455, prose(40, 3))
    sheet.page()
    return sheet.done()


def listed(labelled: bool) -> bytes:  # noqa: FBT001
    """A manuscript: the legends in a list, then a picture a page, with its number or without."""
    sheet = Sheet()
    sheet.text(70, 80, 455, prose(40))
    sheet.page()
    sheet.line(70, 80, "Figure legends", 14)
    for at in (1, 2, 3):
        sheet.line(
            70,
            60 + 60 * at,
            f"Leaf number {at} of the series, after {at * 7} days.",
            10,
            bold=f"Figure {at}.",
        )
    sheet.page()
    for at in (1, 2, 3):
        sheet.photo((90, 120, 505, 400 + 60 * at), at)
        if labelled:
            sheet.line(90, 80, f"Figure {at}", 12)
        sheet.page()
    return sheet.done()


def rotated() -> bytes:
    """A page that is shown turned by a quarter: 842 wide, 595 high."""
    sheet = Sheet(H, W)
    sheet.photo((150, 90, 690, 400), 6)
    sheet.line(
        150, 420, "A transect of soil pits, from the river to the hill.", 10, bold="Figure 7."
    )
    sheet.text(100, 470, 640, prose(4))
    sheet.page()
    flat = PdfReader(BytesIO(sheet.done()))
    writer = PdfWriter()
    page = writer.add_page(flat.pages[0])
    # What is drawn is turned one way, and the page is shown turned the other way.
    page.add_transformation((0, 1, -1, 0, W, 0))
    page.mediabox = page.cropbox = type(page.mediabox)((0, 0, W, H))
    page.rotate(90)
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


def cropped() -> bytes:
    """A page whose box does not begin at nought: 60 to the right and 30 up of what is drawn."""
    sheet = Sheet()
    sheet.text(70, 80, 455, prose(10))
    sheet.photo((150, 300, 450, 500), 7)
    sheet.line(150, 516, "A hedge of hawthorn with fire blight.", 9, bold="Figure 2.")
    sheet.text(70, 560, 455, prose(10))
    sheet.canvas.showPage()
    reader = PdfReader(BytesIO(sheet.done()))
    writer = PdfWriter()
    page = writer.add_page(reader.pages[0])
    page.cropbox = type(page.mediabox)((60, 30, W - 10, H - 20))
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


def panels() -> bytes:
    """Four photos with letters over them are one figure; a frame goes round them and "
    "the caption."""
    sheet = Sheet()
    sheet.rect((60, 70, 535, 450))
    for at, (x, y) in enumerate(((100, 100), (310, 100), (100, 250), (310, 250))):
        sheet.photo((x, y, x + 185, y + 120), at)
        sheet.line(x, y - 5, f"({'abcd'[at]})", 10)
    sheet.text(
        75,
        400,
        445,
        "FIGURE 1 | Four stages of late blight. (a) First spots. (b) Spots with "
        "a halo. (c) Half of the leaf. (d) A dead leaf with what is left of the stem.",
        8,
    )
    sheet.text(60, 490, 475, prose(20))
    sheet.page()
    return sheet.done()


def side_by_side() -> bytes:
    """Two figures next to each other, a caption under each."""
    sheet = Sheet()
    sheet.text(60, 80, 475, prose(8))
    sheet.photo((60, 200, 285, 350), 1)
    sheet.photo((310, 200, 535, 350), 2)
    sheet.text(60, 366, 225, "Figure 1. Ears of wheat with bunt, opened with a knife by hand.", 8)
    sheet.text(310, 366, 225, "Figure 2. Ears of wheat without bunt, from a plot nearby.", 8)
    sheet.text(60, 430, 475, prose(20))
    sheet.page()
    return sheet.done()


def chinese() -> bytes:
    """A caption in Chinese."""
    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
    sheet = Sheet()
    canvas = sheet.canvas
    canvas.setFont("STSong-Light", 11)
    for at in range(12):
        canvas.drawString(
            70, H - 80 - at * 16, "水稻叶片病害在田间的分布与天气条件有关并且每周调查两次结果如下"
        )
    sheet.photo((130, 320, 460, 520), 8)
    canvas.setFont("STSong-Light", 9)
    canvas.drawString(200, H - 540, "图1 水稻稻瘟病的叶片症状")
    canvas.setFont("STSong-Light", 11)
    for at in range(8):
        canvas.drawString(
            70, H - 600 - at * 16, "如图1所示病斑呈梭形中央灰白色边缘褐色在潮湿条件下产生霉层"
        )
    sheet.canvas.showPage()
    return sheet.done()


def scanned() -> bytes:
    """Two pages that are nothing but pictures of pages."""
    sheet = Sheet()
    for seed in (1, 2):
        made = photo(595, 842, seed).convert("L").point(lambda v: 250 - v // 3)
        sheet.canvas.drawImage(ImageReader(png(made)), 0, 0, W, H)
        sheet.canvas.showPage()
    return sheet.done()


def no_figures() -> bytes:
    """A logo, a box of text on grey, a table, a badge: nothing of it is a figure."""
    sheet = Sheet()
    sheet.photo((50, 60, 130, 100), 3)
    sheet.line(150, 85, "A paper without a figure", 18)
    sheet.canvas.setFillGray(0.9)
    sheet.rect((60, 130, 535, 240), fill=1)
    sheet.canvas.setFillGray(0)
    sheet.text(70, 150, 455, prose(7))
    sheet.text(60, 270, 475, "Figures 1 and 2 of the supplement show more. " + prose(8))
    sheet.table(60, 535, 400, "1")
    sheet.photo((60, 600, 110, 620), 4)
    sheet.text(60, 660, 475, "Fig. 4 of an earlier paper is repeated there. " + prose(5))
    sheet.page()
    return sheet.done()


def _listed(kind: str) -> tuple[Answer, ...]:
    return tuple(
        Answer(
            str(at), 2 + at, (90, 120, 505, 400 + 60 * at), f"Figure {at}. Leaf number {at}",
            f"after {at * 7} days.", kind, "list", caption_page=2,
        )
        for at in (1, 2, 3)
    )  # fmt: skip


PAPERS = (
    Made("one_column", one_column, (
        Answer("1", 1, (120, 260, 470, 470), "Figure 1. Leaves of faba", "first of July.",
            "one column"),
    )),
    Made("two_columns", two_columns, (
        Answer("1", 1, (50, 80, 285, 240), "Fig. 1 Stems of", "the second year", "two columns"),
        Answer("2", 1, (310, 284, 545, 420), "Fig. 2 Roots", "show their colour", "above", "above"),
        Answer("3", 1, (50, 560, 545, 740), "Fig. 3 The whole", "sixty days after", "two columns"),
    )),
    Made("tiled", tiled, (
        Answer("1", 1, (100, 220, 500, 460), "FIGURE 1 | A mosaic", "forty metres.", "tiled"),
    )),
    Made("overleaf", overleaf, (
        Answer("1", 2, (60, 70, 535, 790), "Figure 1. A glasshouse", "its door.", "overleaf",
               "overleaf", caption_page=3),
    )),
    Made("listed_with_numbers", lambda: listed(labelled=True), _listed("list")),
    Made("listed_without_numbers", lambda: listed(labelled=False), _listed("list")),
    Made("rotated", rotated, (
        Answer("7", 1, (150, 90, 690, 400), "Figure 7. A transect", "the hill.", "rotated"),
    )),
    Made("cropped", cropped, (
        Answer("2", 1, (90, 280, 390, 480), "Figure 2. A hedge", "fire blight.", "cropped"),
    )),
    Made("panels", panels, (
        Answer("1", 1, (100, 85, 495, 370), "FIGURE 1 | Four stages", "of the stem.", "panels",
               panels=4),
    )),
    Made("side_by_side", side_by_side, (
        Answer("1", 1, (60, 200, 285, 350), "Figure 1. Ears", "by hand.", "side by side"),
        Answer("2", 1, (310, 200, 535, 350), "Figure 2. Ears", "a plot nearby.", "side by side"),
    )),
    Made("chinese", chinese, (
        Answer("1", 1, (130, 320, 460, 520), "图1 水稻稻瘟病", "叶片症状", "another language"),
    )),
    Made("scanned", scanned, (), scanned=True),
    Made("no_figures", no_figures, ()),
)  # fmt: skip
