"""Which figures a sentence speaks of, and whether words stand in a paper."""

import json
from typing import get_args

import msgspec
import pytest

from fieldtruth.papers.evidence import FigureType
from fieldtruth.papers.records import Figure
from fieldtruth.stages import evidence
from fieldtruth.stages.evidence import Part, Text
from fieldtruth.stages.evidence.kinds import kind_of
from fieldtruth.stages.evidence.mentions import mentioned, of_figure
from fieldtruth.stages.evidence.proposed import SCHEMA, Proposal, read
from fieldtruth.stages.evidence.text import paragraphs, sentences

KNOWN = frozenset(("1", "2", "3", "4", "5", "S1", "S2", "E1", "A1", "3A"))
BOX = (50.0, 100.0, 280.0, 200.0)


def figure(number: str, caption: str = "Fig. 1. Leaves.", label: str = "Fig. 1") -> Figure:
    return Figure(
        id=f"p:fig-{number}", paper="p", number=number, label=label, caption=caption, page=1,
        box=BOX, page_width=600, page_height=800, caption_page=1, caption_box=BOX, where="below",
        image=f"images/{number}.png", image_sha256="0" * 64, width=10, height=10, dpi=200,
        group="p",
    )  # fmt: skip


def part(text: str, page: int = 1, x: float = 50, y: float = 100, kind: str = "body") -> Part:
    box = (x, y, x + 230, y + 50)
    return Part(text=text, page=page, box=box, width=600, kind=kind)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Wilting was seen (Fig. 3).", "3"),
        ("Wilting was seen (Figure 4a, b).", "4"),
        ("As FIGURE 2 shows", "2"),
        ("Figs 2-4 show it", "2 3 4"),
        ("Figs. 2–4 and 1", "2 3 4 1"),
        ("Figures 1, 2 and 5", "1 2 5"),
        ("Fig. 1a–c", "1"),
        ("Fig. 3a", "3 3A"),
        ("Fig. S1", "S1"),
        ("Supplementary Fig. 1", "S1"),
        ("Supplementary Figs S1 and S2", "S1 S2"),
        ("Figs 2 and S1", "2 S1"),
        ("Extended Data Fig. 1", "E1"),
        ("Appendix Figure 1", "A1"),
        ("Fig. 2, 3 plants died", "2"),
        ("(Fig. 2, 3)", "2 3"),
        ("Fig. 9", ""),
        ("Fig. 33", ""),
        ("figs and 3 olives", ""),
        ("config 3", ""),
        ("Table 3", ""),
        ("Fig. 3 of Smith et al. (2016)", ""),
        ("Fig. 2 in ref. 14", ""),
        ("Fig. 2 in Iowa", "2"),
        ("siehe Abb. 2 und 3", "2 3"),
        ("如图3所示", ""),
        ("见图 3。", "3"),
        ("Figs 1-4000", "1"),
    ],
)
def test_the_figures_that_a_text_speaks_of(text: str, names: str) -> None:
    assert sorted(mentioned(text, KNOWN)) == sorted(names.split())


def test_figures_of_the_supplement_are_kept_apart() -> None:
    assert of_figure("2", "Supplementary Figure 2") == of_figure("S2", "Fig. S2") == "S2"
    assert of_figure("2", "Figure 2") == "2"


def test_a_passage_is_the_sentence_and_the_next_where_that_goes_on() -> None:
    text = Text([part(
        "Plots were sown in May. Lesions grew (Fig. 1). They were brown. Roots rotted. "
        "Yield fell (Fig. 2). Pods were few (Fig. 1)."
    )])  # fmt: skip
    made = evidence.passages([figure("1"), figure("2")], text)
    assert [each.text for each in made["p:fig-1"]] == [
        "Lesions grew (Fig. 1). They were brown.", "Pods were few (Fig. 1).",
    ]  # fmt: skip
    assert [each.text for each in made["p:fig-2"]] == ["Yield fell (Fig. 2)."]


def test_columns_are_read_one_after_the_other_and_joined() -> None:
    parts = [
        part("was dis-", x=50, y=500), part("eased in spring.", x=320, y=90),
        part("The crop", x=50, y=90), part("Next page begins.", page=2),
    ]  # fmt: skip
    joined = [(each.text, each.page) for each in paragraphs(parts)]
    assert joined == [("The crop was diseased in spring.", 1), ("Next page begins.", 2)]


@pytest.mark.parametrize(
    ("words", "stands"),
    [
        ("The ﬁrst leaf was efficient at 1.5 %", True),
        ("the first leaf was effi- cient at 1.5%", True),
        ("The first leaf was “efficient” at 1.5 %", False),
        ("The first leaf was efficient at 15 %", False),
        ("The first leaf was not efficient at 1.5 %", False),
        ("The first leaf", False),  # too short to tell
        ("", False),
    ],
)
def test_words_stand_in_the_paper_or_do_not(words: str, stands: bool) -> None:  # noqa: FBT001
    text = Text([part("The ﬁrst leaf was effi-\ncient at 1.5 % of all.", page=4)])
    found = text.find(words)
    assert (found is not None) == stands
    if found is not None:
        assert found.page == 4


def test_what_a_model_proposes_stands_in_the_paper_or_is_dropped() -> None:
    text = Text([
        part("Lesions were brown with a yellow halo (Fig. 1). Unrelated words about the weather."),
        part("Fig. 1. Leaves of soybean with rust.", kind="caption"),
        part("A short heading of the paper", kind="words"),
    ])  # fmt: skip
    one = figure("1", "Fig. 1. Leaves of soybean with rust.")
    said = Proposal(figure_type="chart", passages=[
        "Unrelated words about the weather.", "Lesions were green with a yellow halo (Fig. 1).",
        "Leaves of soybean with rust.", "Lesions were brown with a yellow halo",
        "a short heading of the paper",
    ])  # fmt: skip
    mine = evidence.passages([one], text)[one.id]
    kept, drops = evidence.gather(one, mine[:1], text, said, ("wheat",))
    assert [each.reason for each in drops] == [
        "said already", "not in the paper", "the caption itself", "said already",
    ]  # fmt: skip
    assert [(each.by, each.text) for each in kept.passages][1:] == [
        ("model", "A short heading of the paper")
    ]
    assert (kept.figure_type, kept.type_by, kept.crop) == ("chart", "model", "soybean")


@pytest.mark.parametrize(
    ("caption", "papers", "crop"),
    [
        ("Fig. 1. Plots.", ("cotton",), "cotton"),
        ("Fig. 1. Plots.", ("cotton", "wheat"), None),
        ("Fig. 1. (a) Wheat (b) cotton.", ("cotton",), None),
    ],
)
def test_the_crop_is_told_or_is_not(
    caption: str, papers: tuple[str, ...], crop: str | None
) -> None:
    made, _ = evidence.gather(figure("1", caption), [], Text([]), None, papers)
    assert made.crop == crop


@pytest.mark.parametrize(
    ("caption", "kind"),
    [
        ("Rust pustules and lesions on leaves", "disease symptoms"),
        ("Bollworm larvae on cotton", "pest damage"),
        ("Palmer amaranth and other weeds", "weeds"),
        ("Grain yield of six cultivars", "crop yield"),
        ("UAV orthomosaic of the field", "field imagery"),
        ("Box plots of yield", "chart"),
        ("Workflow of the study", "diagram"),
        ("Seedling height", "plant traits"),
        ("A photo", "other"),
    ],
)
def test_the_type_of_a_figure(caption: str, kind: str) -> None:
    assert kind_of(caption) == kind


@pytest.mark.parametrize(
    "text",
    ["", "Sure!", "[]", '{"figure_type": "poem", "passages": []}', '{"figure_type": "chart"}',
     '{"figure_type": "chart", "passages": ["a"], "more": 1}'],
)  # fmt: skip
def test_a_reply_that_is_none_is_an_error(text: str) -> None:
    with pytest.raises(msgspec.DecodeError):
        read(text)


def test_the_schema_names_the_types_of_the_record() -> None:
    told = json.loads(SCHEMA.read_text())["properties"]["figure_type"]["enum"]
    assert tuple(told) == get_args(FigureType)


def test_abbreviations_end_no_sentence() -> None:
    text = "Rust (P. pachyrhizi) et al. spread. See Fig. 3. Then it stopped."
    assert sentences(text) == [
        "Rust (P. pachyrhizi) et al. spread.", "See Fig. 3.", "Then it stopped.",
    ]  # fmt: skip
