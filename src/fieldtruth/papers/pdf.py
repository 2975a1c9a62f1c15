"""The one road into a PDF: pdfium, which Chrome shows PDFs with (pypdfium2; BSD and Apache).

Nothing in the file is run: pdfium is built without JavaScript here, forms are not initialised, and
annotations (a reader's yellow marks) are not drawn. To be called in a process of its own
(`worker`): a broken file may take the process with it.
"""

import ctypes
import math
import re
from collections import Counter
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldtruth.faults import Usage
from fieldtruth.papers.ink import patches
from fieldtruth.papers.layout import (
    SCAN,
    Broken,
    Crop,
    Failed,
    Ink,
    Layout,
    Limits,
    Line,
    Page,
)
from fieldtruth.papers.lines import Letter, clean, lines
from fieldtruth.records import Box

LOOK = 1_000_000  # pixels that a page is looked at with, at most; an A4 page has half of them
PAPER_DPI = 72.0
LONGEST = 100_000.0  # points of a page's side; PDF readers stop at 14,400 (ISO 32000-1, annex C)
_OFF = 0.25  # of a line's height that words which were read from a scan lie off by
_NO_PAGES = re.compile(rb"/Kids\s*\[\s*\]")
_PICTURES = 2000  # of a page that are looked at
_SAMPLED, _FEWEST, _TURNED = 300, 20, 0.6  # letters asked; letters, and share, that turn a page
_PASSWORD, _SECURITY = 4, 5  # FPDF_ERR_*: fpdfview.h


def load() -> Any:
    """pypdfium2; `Usage` where it is not installed."""
    try:
        import pypdfium2
    except ImportError:
        raise Usage(
            "PDFs need pypdfium2; install it with `pip install 'fieldtruth[papers]'`"
        ) from None
    return pypdfium2


def look(path: Path, limits: Limits, ink: bool = True) -> Layout | Failed:  # noqa: FBT001, FBT002
    """All pages of a PDF, without their ink where only words are wanted.

    What cannot be read is `Failed`; never raises for what a file holds.
    """
    opened = _opened(path, limits)
    if isinstance(opened, Failed):
        return opened
    try:
        about = opened.get_metadata_dict()
        pages = tuple(_page(opened, at, limits, ink) for at in range(len(opened)))
    finally:
        opened.close()
    if not any(page.shown for page in pages):
        first = pages[0]
        if first.width > 1:
            told = f"page 1 is {first.width:,.0f} x {first.height:,.0f} points"
            return Failed(reason="page size", detail=told)
        return Failed(reason="broken", detail="none of its pages can be shown")
    return Layout(
        pages=pages, title=_told(about, "Title"), about=_told(about, "Subject", "Keywords"),
        made=_told(about, "CreationDate"),
    )  # fmt: skip


def crop(path: Path, page: int, box: Box, dpi: float, limits: Limits) -> Crop | Failed:
    """One region as a PNG, as the page shows it, at `dpi` or less where it would be too large."""
    opened = _opened(path, limits)
    if isinstance(opened, Failed):
        return opened
    try:
        sheet = opened[page - 1]
        _upright(sheet)
        width, height = sheet.get_size()
        x1, y1, x2, y2 = box
        area = max((x2 - x1) * (y2 - y1), 1.0)
        scale = min(dpi / PAPER_DPI, (limits.pixels / area) ** 0.5)
        cut = (x1, height - y2, width - x2, y1)
        picture = sheet.render(
            scale=scale, crop=tuple(max(each, 0) for each in cut), draw_annots=False,
            may_draw_forms=False,
        ).to_pil()  # fmt: skip
    finally:
        opened.close()
    stream = BytesIO()
    picture.convert("RGB").save(stream, "PNG")
    return Crop(
        png=stream.getvalue(), width=picture.width, height=picture.height,
        dpi=round(scale * PAPER_DPI, 2),
    )  # fmt: skip


def _opened(path: Path, limits: Limits) -> Any:
    pdfium = load()
    size = path.stat().st_size
    if size > limits.bytes:
        return Failed(reason="too large", detail=f"{size:,} bytes")
    try:
        opened = pdfium.PdfDocument(path)
    except pdfium.PdfiumError as error:
        return Failed(reason=_why(path, getattr(error, "err_code", None)), detail=str(error)[:200])
    count = len(opened)
    if 0 < count <= limits.pages:
        return opened
    opened.close()
    return Failed(reason="too many pages" if count else "no pages", detail=f"{count} pages")


def _why(path: Path, code: int | None) -> Broken:
    """Why pdfium does not open a file. Its code may be that of a file before, so it is checked."""
    raw = path.read_bytes()
    if code in (_PASSWORD, _SECURITY) and b"/Encrypt" in raw:
        return "encrypted"
    return "no pages" if _NO_PAGES.search(raw) else "broken"


def _told(about: dict[str, str], *names: str) -> str:
    words = " ".join(about.get(name, "") for name in names)
    return " ".join("".join(map(clean, map(ord, words))).split())[:1000]


def _page(opened: Any, at: int, limits: Limits, ink: bool) -> Page:  # noqa: FBT001
    """A page; one without content, as pdfium gives up on it, has neither words nor ink."""
    pdfium = load()
    try:
        sheet = opened[at]
    except pdfium.PdfiumError:
        return Page(number=at + 1, width=1.0, height=1.0, shown=False)
    width, height = sheet.get_size()
    if not (1 <= width <= LONGEST and 1 <= height <= LONGEST):
        return Page(
            number=at + 1, width=max(width, 1.0), height=max(height, 1.0), shown=False
        )  # fmt: skip
    turned = _upright(sheet)
    width, height = sheet.get_size()
    found = lines(_letters(sheet, limits))
    covered = _covered(sheet, width * height)
    marks = _patches(sheet, found, covered > SCAN) if ink else []
    return Page(
        number=at + 1, width=round(width, 2), height=round(height, 2), lines=tuple(found),
        inks=tuple(marks), covered=covered, turned=turned,
    )  # fmt: skip


def _upright(sheet: Any) -> int:
    """Turn a page so that most of its words stand upright; by how many degrees clockwise.

    Journals print a wide figure on its side, its caption with it, on a page that is not turned.
    """
    raw = load().raw
    text = sheet.get_textpage()
    count = text.count_chars()
    told: Counter[int] = Counter()
    for at in range(0, count, max(count // _SAMPLED, 1)):
        angle = raw.FPDFText_GetCharAngle(text, at)
        if clean(raw.FPDFText_GetUnicode(text, at)).isalnum() and math.isfinite(angle):
            turn = round(math.degrees(angle) / 90) * 90
            told[-(turn + sheet.get_rotation()) % 360] += 1
    most = max(told, key=lambda turn: (told[turn], -turn)) if told else 0
    if most == 0 or told[most] < max(_TURNED * told.total(), _FEWEST):
        return 0
    sheet.set_rotation((sheet.get_rotation() + most) % 360)
    return most


def _patches(sheet: Any, found: list[Line], scanned: bool) -> list[Ink]:  # noqa: FBT001
    """What is left of a page without its words: of a scan, whose words lie off, some more."""
    width, height = sheet.get_size()
    scale = min(1.0, (LOOK / (width * height)) ** 0.5)
    picture: NDArray[np.uint8] = sheet.render(
        scale=scale, draw_annots=False, may_draw_forms=False, rev_byteorder=True
    ).to_numpy()[..., :3]
    return patches(picture, found, scale, _OFF if scanned else 0.0)


def _covered(sheet: Any, area: float) -> float:
    """The share of a page that pictures cover, those under others counted as well."""
    raw, total = load().raw, 0.0
    for at, each in enumerate(sheet.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=2)):
        if at > _PICTURES:
            break
        left, bottom, right, top = each.get_bounds()
        total += max(right - left, 0) * max(top - bottom, 0)
    return round(min(total / area, 1.0), 3)


def _letters(sheet: Any, limits: Limits) -> list[Letter]:
    """The letters of a page in the order of the file, at their places on the page as shown."""
    raw = load().raw
    text = sheet.get_textpage()
    count = min(text.count_chars(), limits.characters)
    place = raw.FS_RECTF()
    codes, boxes = [], np.zeros((count, 4))
    for at in range(count):
        codes.append(raw.FPDFText_GetUnicode(text, at))
        if raw.FPDFText_GetLooseCharBox(text, at, place):
            boxes[at] = place.left, place.bottom, place.right, place.top
    turned = _turned(boxes, sheet.get_bbox(), sheet.get_rotation())
    made, bold, fresh = [], False, True
    for at, (code, box) in enumerate(zip(codes, turned.tolist(), strict=True)):
        if not (word := clean(code)):
            continue
        if fresh and word not in " \n":
            bold, fresh = _bold(raw, text, at), False
        fresh = fresh or word == "\n"
        made.append(Letter((word, *box, bold)))
    return made


def _bold(raw: Any, text: Any, at: int) -> bool:
    flags, name = ctypes.c_int(), ctypes.create_string_buffer(128)
    raw.FPDFText_GetFontInfo(text, at, name, 128, flags)
    told = name.value.decode("utf-8", "replace").casefold()
    return any(word in told for word in ("bold", "black", "heavy", "semib", "demi", "-bd"))


def _turned(boxes: NDArray[np.float64], page: Box, turn: int) -> NDArray[np.float64]:
    """Boxes (x1, y1, x2, y2) of the PDF, y upwards, to the page as it is shown, y downwards."""
    left, bottom, right, top = page
    x1, y1, x2, y2 = boxes.T
    sides = {
        0: (x1 - left, top - y2, x2 - left, top - y1),
        90: (y1 - bottom, x1 - left, y2 - bottom, x2 - left),
        180: (right - x2, y1 - bottom, right - x1, y2 - bottom),
        270: (top - y2, right - x2, top - y1, right - x1),
    }[turn % 360]
    return np.stack(sides, -1)
