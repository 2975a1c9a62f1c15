"""Tricky papers of the engine weasyprint: what style sheets make of a page of 600 x 800 points."""

import logging
import warnings
from base64 import b64encode
from typing import Any

from tests.papers.answers import Answer, Made, photo, png, prose

STYLE = """
@page { size: 600pt 800pt; margin: 0 }
body { margin: 0; font: 10pt/13pt serif; hyphens: auto }
.at { position: absolute } .cap { font: 8pt/10pt sans-serif } p { margin: 0; text-align: justify }
"""


def _pdf(body: str, lang: str = "en") -> bytes:
    import weasyprint

    logging.getLogger("weasyprint").setLevel(logging.ERROR)
    logging.getLogger("fontTools").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        page: Any = weasyprint.HTML(
            string=f'<html lang="{lang}"><style>{STYLE}</style><body>{body}'
        )
        return bytes(page.write_pdf())


def _at(x: float, y: float, w: float, h: float, inside: str, more: str = "") -> str:
    spot = f"left:{x}pt;top:{y}pt;width:{w}pt;height:{h}pt"
    return f'<div class="at {more}" style="{spot}">{inside}</div>'


def _image(x: float, y: float, w: float, h: float, seed: int) -> str:
    raw = b64encode(png(photo(int(w), int(h), seed)).getvalue()).decode()
    size = f"width:{w}pt;height:{h}pt;display:block"
    return _at(x, y, w, h, f'<img src="data:image/png;base64,{raw}" style="{size}">')


def drawing() -> bytes:
    """An SVG in the left of two columns, hyphenated words around, a ligature in the caption."""
    svg = (
        '<svg viewBox="0 0 240 160" width="240pt" height="160pt">'
        '<rect width="240" height="160" fill="#efe"/><circle cx="70" cy="80" r="50" fill="#6a4"/>'
        '<path d="M150 140 L190 20 L230 140 Z" fill="none" stroke="#a33" stroke-width="3"/></svg>'
    )
    return _pdf(
        _at(40, 60, 240, 160, svg)
        + _at(
            40,
            228,
            240,
            30,
            "<b>Figure 1:</b> The first field and an efficient flow of water.",
            "cap",
        )
        + _at(40, 290, 240, 450, f"<p>{prose(16)}</p>")
        + _at(320, 60, 240, 680, f"<p>{prose(24, 3)}</p>")
    )


def boxed() -> bytes:
    """A figure on a tinted panel that holds its caption as well; a quotation on the same tint."""
    tint = "background:#dfe9f3"
    return _pdf(
        _at(50, 50, 500, 120, f"<p>{prose(8)}</p>")
        + f'<div class="at" style="left:80pt;top:200pt;width:440pt;height:260pt;{tint}"></div>'
        + _image(120, 215, 360, 190, 21)
        + _at(120, 415, 360, 30, "<b>FIGURE 4.</b> Bees on the flowers of a field of rape.", "cap")
        + f'<div class="at" style="left:80pt;top:500pt;width:440pt;height:90pt;{tint}"></div>'
        + _at(95, 510, 410, 70, f"<p>{prose(5, 2)}</p>")
        + _at(50, 620, 500, 140, f"<p>{prose(8, 4)}</p>")
    )


def stacked() -> bytes:
    """Two figures in one column, one caption above the other's picture: nearest is not enough."""
    return _pdf(
        _at(50, 40, 500, 80, f"<p>{prose(5)}</p>")
        + _image(150, 140, 300, 150, 22)
        + _at(150, 296, 300, 20, "<b>Fig. 1.</b> Onions that were dried in the field.", "cap")
        + _image(150, 322, 300, 150, 23)
        + _at(150, 478, 300, 20, "<b>Fig. 2.</b> Onions that were dried in a barn.", "cap")
        + _at(50, 520, 500, 240, f"<p>{prose(14, 4)}</p>")
    )


def french() -> bytes:
    """A dash after the number, and a table that is called Tableau."""
    words = (
        "Les plantes ont été semées au mois de mai et notées deux fois par semaine pendant "
        "la saison. "
        "Les dégâts étaient plus forts sur les sols légers que sur les sols lourds. "
    )
    rows = "".join(f"<tr><td>{at}</td><td>{at}.5</td><td>{at}.7</td></tr>" for at in range(5))
    table = f'<table border="1" style="border-collapse:collapse;width:300pt">{rows}</table>'
    return _pdf(
        _at(60, 50, 480, 120, f"<p>{words * 3}</p>")
        + _image(150, 180, 300, 180, 24)
        + _at(150, 368, 300, 30, "Figure 1 – Grappes de raisin touchées par le mildiou.", "cap")
        + _at(150, 420, 300, 12, "Tableau 1 – Notes par parcelle.", "cap")
        + _at(150, 436, 300, 80, table)
        + _at(60, 560, 480, 200, f"<p>{words * 4}</p>"),
        "fr",
    )


PAPERS = (
    Made("drawing", drawing, (
        Answer("1", 1, (40, 60, 280, 220), "Figure 1: The first field", "flow of water.",
            "two columns"),
    )),
    Made("boxed", boxed, (
        Answer("4", 1, (120, 215, 480, 405), "FIGURE 4. Bees", "field of rape.", "framed"),
    )),
    Made("stacked", stacked, (
        Answer("1", 1, (150, 140, 450, 290), "Fig. 1. Onions", "in the field.", "stacked"),
        Answer("2", 1, (150, 322, 450, 472), "Fig. 2. Onions", "in a barn.", "stacked"),
    )),
    Made("french", french, (
        Answer("1", 1, (150, 180, 450, 360), "Figure 1 – Grappes", "le mildiou.",
            "another language"),
    )),
)  # fmt: skip
