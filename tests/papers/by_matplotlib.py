"""Tricky papers of the engine matplotlib: charts with all their words, lines and markers."""

import warnings
from io import BytesIO
from typing import Any

import numpy as np
from tests.papers.answers import Answer, Made, prose, wrapped

W, H = 612.0, 792.0


def _page(draw: Any) -> bytes:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        figure = Figure(figsize=(W / 72, H / 72))
        draw(figure)
        stream = BytesIO()
        figure.savefig(stream, format="pdf", metadata={"CreationDate": None})
    return stream.getvalue()


def _axes(figure: Any, x1: float, y1: float, x2: float, y2: float, seed: int) -> Any:
    """A line chart whose frame is at these points from the top, its labels outside of it."""
    axes = figure.add_axes((x1 / W, 1 - y2 / H, (x2 - x1) / W, (y2 - y1) / H))
    rng = np.random.default_rng(seed)
    for name in ("loam", "sand"):
        axes.plot(np.arange(12), rng.random(12).cumsum(), "o-", label=name)
    axes.legend(fontsize=7)
    axes.tick_params(labelsize=7)
    axes.set_xlabel("Weeks", fontsize=8)
    axes.set_ylabel("Lesions a leaf", fontsize=8)
    return axes


def _say(figure: Any, x: float, y: float, width: float, words: str, size: float = 9) -> None:
    for each in wrapped(words, width, lambda text: len(text) * size * 0.52):
        figure.text(x / W, 1 - y / H, each, fontsize=size, va="baseline")
        y += size * 1.25


def line_chart() -> bytes:
    """One chart, its caption above it, words below."""

    def draw(figure: Any) -> None:
        _say(figure, 70, 80, 470, prose(6))
        _say(
            figure,
            120,
            230,
            380,
            "Figure 1. Lesions a leaf on two soils, by week of the season.",
            8,
        )
        _axes(figure, 150, 250, 480, 450, 1)
        _say(figure, 70, 530, 470, prose(10))

    return _page(draw)


def four_charts() -> bytes:
    """Four charts with the letters a to d are one figure."""

    def draw(figure: Any) -> None:
        for at, (x, y) in enumerate(((110, 90), (360, 90), (110, 280), (360, 280))):
            _axes(figure, x, y, x + 180, y + 130, at)
            figure.text((x - 40) / W, 1 - (y - 8) / H, "abcd"[at], fontsize=11, weight="bold")
        _say(
            figure,
            70,
            480,
            470,
            "Fig. 2 | Lesions in four years. a, The first. b, The second. c, The "
            "third. d, The fourth year, which was dry.",
            8,
        )
        _say(figure, 70, 540, 470, prose(12))

    return _page(draw)


def scatter() -> bytes:
    """Markers without a frame, and a colour map beside them."""

    def draw(figure: Any) -> None:
        _say(figure, 70, 80, 470, prose(8))
        axes = figure.add_axes((150 / W, 1 - 470 / H, 250 / W, 200 / H))
        rng = np.random.default_rng(5)
        dots = axes.scatter(rng.random(60), rng.random(60), c=rng.random(60), s=14)
        axes.set_frame_on(False)
        axes.set_xticks([])
        axes.set_yticks([])
        bar = figure.add_axes((420 / W, 1 - 470 / H, 15 / W, 200 / H))
        figure.colorbar(dots, cax=bar).ax.tick_params(labelsize=7)
        _say(figure, 150, 500, 300, "Figure 3. Plants by height and girth.", 8)
        _say(figure, 70, 550, 470, prose(12))

    return _page(draw)


PAPERS = (
    Made("line_chart", line_chart, (
        Answer("1", 1, (120, 250, 480, 480), "Figure 1. Lesions", "the season.", "vector only",
            "above"),
    )),
    Made("four_charts", four_charts, (
        Answer("2", 1, (70, 70, 540, 440), "Fig. 2 | Lesions", "which was dry.", "panels",
            panels=4),
    )),
    Made("scatter", scatter, (
        Answer("3", 1, (155, 270, 455, 470), "Figure 3. Plants", "and girth.", "vector only"),
    )),
)  # fmt: skip
