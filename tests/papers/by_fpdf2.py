"""Tricky papers of the engine fpdf2, on A4 (595 x 842 points)."""

from fpdf import FPDF
from tests.papers.answers import Answer, Made, photo, prose, wrapped


class Sheet(FPDF):
    """A page in points, written from the top down."""

    def __init__(self) -> None:
        super().__init__(unit="pt", format="A4")
        self.set_auto_page_break(auto=False)
        self.add_page()

    def say(self, x: float, y: float, width: float, words: str, size: float = 10) -> float:
        """A paragraph whose first baseline is at `y`; where the next would be."""
        self.set_font("Times", size=size)
        for each in wrapped(words, width, self.get_string_width):
            self.text(x, y, each)
            y += size * 1.2
        return y

    def bars(self, x: float, y: float, heights: tuple[int, ...], ticks: bool = True) -> None:  # noqa: FBT001, FBT002
        """A bar chart of nothing but lines: 250 wide, 150 high from `y`, its labels around it."""
        self.line(x, y, x, y + 150)
        self.line(x, y + 150, x + 250, y + 150)
        self.set_fill_color(90, 140, 90)
        for at, height in enumerate(heights):
            self.rect(x + 15 + at * 46, y + 150 - height, 30, height, style="F")
        self.set_font("Helvetica", size=7)
        for at in range(len(heights)):
            self.text(x + 22 + at * 46, y + 160, f"C{at}")
        if ticks:
            for at in range(4):
                self.text(x - 14, y + 150 - at * 45, str(at * 10))
            self.text(x + 100, y + 172, "Cultivar")


def vector_only() -> bytes:
    """Two charts of lines and rectangles: no picture is in the file."""
    sheet = Sheet()
    sheet.say(70, 70, 455, prose(10))
    sheet.bars(170, 200, (40, 90, 130, 60, 20))
    sheet.say(150, 395, 300, "Fig. 1: Severity of rust by cultivar, mean of three seasons.", 9)
    sheet.say(70, 440, 455, prose(8, 3))
    sheet.bars(170, 560, (120, 30, 60, 140, 90))
    sheet.say(150, 755, 300, "Fig. 2: Yield by cultivar in the same trials.", 9)
    return bytes(sheet.output())


def beside() -> bytes:
    """The caption stands to the right of its figure, then to the left of another."""
    sheet = Sheet()
    sheet.say(60, 70, 475, prose(10))
    sheet.image(photo(300, 200, 11), 60, 200, 300, 200)
    sheet.say(
        375,
        215,
        160,
        "Figure 1. Pods of cocoa with black pod. The one on the left was sprayed "
        "with copper every two weeks, the one on the right was never sprayed.",
        9,
    )
    sheet.say(60, 440, 475, prose(8, 2))
    sheet.image(photo(300, 180, 12), 235, 540, 300, 180)
    sheet.say(
        60,
        560,
        160,
        "Figure 2. A nursery of cocoa under shade nets, with seedlings that are "
        "four months old and stand in bags.",
        9,
    )
    return bytes(sheet.output())


def german() -> bytes:
    """Abbildungen, and an Abb. in the running text."""
    sheet = Sheet()
    words = (
        "Die Pflanzen wurden im Mai gesät und zweimal in der Woche bonitiert, wie in Abb. "
        "1 gezeigt "
        "wird. Der Befall war auf dem leichten Boden höher als auf dem schweren. "
    )
    sheet.say(70, 70, 455, words * 4)
    sheet.image(photo(320, 180, 13), 140, 220, 320, 180)
    sheet.say(140, 416, 320, "Abb. 1: Gerstenblätter mit Netzflecken im Juni des ersten Jahres.", 9)
    sheet.say(70, 460, 455, words * 3)
    sheet.image(photo(320, 160, 14), 140, 570, 320, 160)
    sheet.say(140, 746, 320, "Abbildung 2. Dieselben Blätter nach vierzehn Tagen.", 9)
    return bytes(sheet.output())


def spanish() -> bytes:
    """Figura and Cuadro: a figure and a table."""
    sheet = Sheet()
    words = (
        "Las plantas se sembraron en mayo y se evaluaron dos veces por semana durante la "
        "temporada. "
        "La incidencia fue mayor en los suelos arenosos que en los suelos arcillosos. "
    )
    sheet.say(70, 70, 455, words * 4)
    sheet.image(photo(300, 180, 15), 150, 220, 300, 180)
    sheet.say(150, 416, 300, "Figura 1. Hojas de café con roya en la segunda semana de agosto.", 9)
    sheet.say(70, 460, 455, words * 2)
    sheet.say(120, 560, 355, "Cuadro 1. Rendimiento por variedad.", 9)
    for row in range(5):
        sheet.line(120, 566 + row * 16, 475, 566 + row * 16)
        for column in range(4):
            if row < 4:
                sheet.say(130 + column * 90, 578 + row * 16, 80, f"{row}.{column}", 8)
    sheet.say(70, 680, 455, words * 2)
    return bytes(sheet.output())


def supplement() -> bytes:
    """Numbers with an S; two charts of one figure above each other, lettered A and B."""
    sheet = Sheet()
    sheet.set_font("Helvetica", "B", 11)
    sheet.text(150, 70, "A")
    sheet.bars(170, 80, (40, 90, 130, 60, 20))
    sheet.set_font("Helvetica", "B", 11)
    sheet.text(150, 290, "B")
    sheet.bars(170, 300, (120, 30, 60, 140, 90))
    sheet.say(
        130,
        500,
        340,
        "Supplementary Figure S1. Germination of two seed lots. (A) In the dark. "
        "(B) In the light of a lamp.",
        9,
    )
    sheet.say(70, 560, 455, prose(12))
    return bytes(sheet.output())


PAPERS = (
    Made("vector_only", vector_only, (
        Answer("1", 1, (155, 200, 420, 373), "Fig. 1: Severity", "three seasons.", "vector only"),
        Answer("2", 1, (155, 560, 420, 733), "Fig. 2: Yield", "same trials.", "vector only"),
    )),
    Made("beside", beside, (
        Answer("1", 1, (60, 200, 360, 400), "Figure 1. Pods", "never sprayed.", "beside", "beside"),
        Answer("2", 1, (235, 540, 535, 720), "Figure 2. A nursery", "stand in bags.", "beside",
            "beside"),
    )),
    Made("german", german, (
        Answer("1", 1, (140, 220, 460, 400), "Abb. 1: Gersten", "ersten Jahres.",
            "another language"),
        Answer("2", 1, (140, 570, 460, 730), "Abbildung 2. Die", "vierzehn Tagen.",
            "another language"),
    )),
    Made("spanish", spanish, (
        Answer("1", 1, (150, 220, 450, 400), "Figura 1. Hojas", "de agosto.", "another language"),
    )),
    Made("supplement", supplement, (
        Answer("S1", 1, (150, 60, 420, 473), "Supplementary Figure S1.", "of a lamp.", "panels",
            panels=2),
    )),
)  # fmt: skip
