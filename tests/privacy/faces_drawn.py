"""A face as a child draws it, with the light and dark where the cascades look for them."""

from PIL import Image, ImageDraw, ImageFilter

SKIN, HAIR, DARK = (222, 180, 152), (70, 45, 30), (45, 30, 25)
LID, WHITE = (150, 100, 80), (245, 240, 235)
# Ellipses on a sheet of 180 x 200 pixels, the face itself some 100 wide: corners and colour.
PARTS = (
    ((38, 20, 142, 130), HAIR), ((47, 34, 135, 172), SKIN), ((57, 39, 125, 82), (232, 192, 164)),
    ((60, 84, 83, 100), LID), ((61, 88, 82, 100), WHITE), ((67, 88, 77, 100), DARK),
    ((101, 84, 124, 100), LID), ((102, 88, 123, 100), WHITE), ((108, 88, 118, 100), DARK),
    ((86, 81, 98, 123), (232, 194, 166)), ((80, 116, 104, 128), (200, 150, 125)),
    ((84, 121, 90, 127), (120, 75, 60)), ((94, 121, 100, 127), (120, 75, 60)),
    ((73, 137, 111, 151), (170, 80, 80)),
    ((62, 102, 82, 125), (228, 182, 158)), ((102, 102, 122, 125), (228, 182, 158)),
)  # fmt: skip
BROWS = ((59, 83, 72, 78, 85, 83), (99, 83, 112, 78, 125, 83))


def face() -> Image.Image:
    """180 x 200 pixels."""
    sheet = Image.new("RGB", (180, 200), (150, 170, 150))
    brush = ImageDraw.Draw(sheet)
    for box, colour in PARTS:
        brush.ellipse(box, fill=colour)
    for brow in BROWS:
        brush.line(brow, fill=HAIR, width=5)
    brush.line((73, 144, 111, 144), fill=(100, 40, 40), width=2)
    return sheet.filter(ImageFilter.GaussianBlur(2))
