"""What a paper is, told by its words; copies; reference exports."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.papers.answers import prose

from fieldtruth.faults import BadRecord, Usage
from fieldtruth.papers.layout import Failed, Layout, Line, Page
from fieldtruth.papers.records import Paper
from fieldtruth.papers.references import Reference, doi_in, read_references, title_key
from fieldtruth.records import Drop
from fieldtruth.stages.screen import Screen, Settings, words
from fieldtruth.stages.screen.copies import alike, sketch

GERMAN = (
    "Die Pflanzen wurden im Mai mit der Hand gesät und nicht gedüngt. Der Befall ist auf dem "
    "leichten Boden nicht höher als auf dem schweren, und die Ernte wurde durch eine Waage bei "
    "jeder Parzelle nach der Reife bestimmt."
)
TITLE = "Rust of faba bean in three seasons on sand and loam"


def _paper(
    text: str = prose(60),
    title: str = TITLE,
    top: str = "",
    parts: str = "Abstract Methods Results",
) -> Layout:
    said = [top, *parts.split(), *text.split(". ")]
    lines = [Line(text=title, box=(50, 50, 500, 70), size=20)]
    lines += [
        Line(text=each, box=(50, 80 + 8 * at, 500, 86 + 8 * at), size=6)
        for at, each in enumerate(said) if each
    ]  # fmt: skip
    return Layout(pages=(Page(number=1, width=595, height=842, lines=tuple(lines)),))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (prose(8), "en"),
        (GERMAN, "de"),
        (
            "Les plantes ont été semées dans une serre et les dégâts sont notés par semaine. " * 3,
            "fr",
        ),
        (
            "Las plantas se sembraron y los daños fueron más altos entre las parcelas con riego. "
            * 3,
            "es",
        ),
        ("水稻叶片病害在田间的分布与天气条件有关并且每周调查两次结果如下" * 5, "zh"),
        ("いもち病の葉の症状を毎週調査したところ次のとおりであった" * 5, "ja"),
        ("Листья пшеницы осматривали каждую неделю в течение трёх сезонов " * 3, "ru"),
        ("0.1 0.2 0.3", None),
        ("xq zz " * 60, None),
    ],
)
def test_language(text: str, code: str | None) -> None:
    assert words.language(text) == code


@pytest.mark.parametrize(
    ("parts", "top", "whole"),
    [
        ("Abstract Methods Results References", "", True),
        ("Introduction Results Discussion", "", True),
        ("摘要 方法 结果 参考文献", "", True),
        ("Abstract References", "", False),
        ("Abstract Methods Results References", "Editorial", False),
        ("Abstract Methods Results References", "Corrigendum", False),
        ("", "", False),
    ],
)
def test_what_is_a_research_article(*, parts: str, top: str, whole: bool) -> None:
    assert words.article(_paper(parts=parts, top=top))[0] is whole


def test_title_year_crops_tasks() -> None:
    top = "Accepted: 3 May 2019; published 4 June 2020"
    told = Screen(Settings()).judge("a.pdf", "0" * 64, _paper(top=top))
    assert isinstance(told, Paper)
    assert (told.title, told.year, told.language) == (TITLE, 2020, "en")
    assert told.crops == ("bean",)
    assert told.tasks == ("disease assessment", "crop yield")


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (Settings(), None),
        (Settings(languages=("de",)), "language"),
        (Settings(since=2021), "year"),
        (Settings(until=2019), "year"),
        (Settings(crops=("cotton",)), "crop"),
        (Settings(languages=("en", "de"), since=2020, until=2020, crops=("bean",)), None),
    ],
)
def test_every_exclusion_has_its_reason(settings: Settings, reason: str | None) -> None:
    got = Screen(settings).judge("a.pdf", "0" * 64, _paper(top="Published 4 June 2020"))
    assert (got.reason if isinstance(got, Drop) else None) == reason


def test_files_that_cannot_be_read_are_named() -> None:
    got = Screen(Settings()).judge("a.pdf", "0" * 64, Failed(reason="encrypted", detail="why"))
    assert isinstance(got, Drop)
    assert (got.sample, got.reason, got.detail) == ("a.pdf", "encrypted", "why")


@pytest.mark.parametrize(
    ("other", "how"),
    [
        (_paper(top="doi 10.1234/abc", text=prose(60, 3), title="Another title "
            "altogether, of a paper"),
         "DOI"),
        (_paper(text=GERMAN * 8), "title"),
        (_paper(title="A preprint had another title then"), "text"),
    ],
)  # fmt: skip
def test_copies(other: Layout, how: str) -> None:
    screen = Screen(Settings(any_kind=True))
    first = screen.judge("a.pdf", "a" * 64, _paper(top="doi 10.1234/abc"))
    assert isinstance(first, Paper)
    again = screen.judge("b.pdf", "b" * 64, other)
    assert isinstance(again, Drop)
    assert again.reason == "duplicate"
    assert again.detail.startswith("of a.pdf (") and how in again.detail  # noqa: PT018


def test_the_same_bytes_are_a_copy_without_being_read() -> None:
    screen = Screen(Settings())
    screen.judge("a.pdf", "a" * 64, _paper())
    again = screen.judge("b.pdf", "a" * 64, None)
    assert isinstance(again, Drop)
    assert again.detail == "of a.pdf (the same bytes)"


@pytest.mark.parametrize("how", ["scanned", "not a research article"])
def test_what_is_left_out_does_not_stand_for_the_paper(how: str) -> None:
    """A scan, or a supplement, that comes first has the DOI and the title of the paper."""
    row = Reference(id="a.csv:1", doi="10.1234/abc")
    screen = Screen(Settings(), [row])
    first = _paper(top="doi 10.1234/abc", parts="Abstract")
    if how == "scanned":  # its DOI can be read, and nothing else
        page = first.pages[0]
        first = replace(first, pages=(replace(page, lines=page.lines[1:2], covered=1.0),))
    dropped = screen.judge("a.pdf", "a" * 64, first)
    assert isinstance(dropped, Drop)
    assert dropped.reason == how
    taken = screen.judge("b.pdf", "b" * 64, _paper(top="doi 10.1234/abc"))
    assert isinstance(taken, Paper)
    assert screen.found == {"a.csv:1": "b.pdf"}
    again = screen.judge("c.pdf", "a" * 64, None)
    assert isinstance(again, Drop)
    assert (again.reason, again.detail) == ("duplicate", "of a.pdf (the same bytes)")


def test_one_title_with_two_dois_is_two_papers() -> None:
    screen = Screen(Settings(any_kind=True))
    screen.judge("a.pdf", "a" * 64, _paper(top="doi 10.1234/abc"))
    other = screen.judge("b.pdf", "b" * 64, _paper(top="doi 10.1234/xyz", text=GERMAN * 8))
    assert isinstance(other, Paper)


def test_sketches_estimate_what_texts_share() -> None:
    """Against the Jaccard index of all shingles, worked out in full."""
    text = " ".join(f"w{at}" for at in range(3000))
    half = " ".join(f"w{at}" for at in range(1500)) + " " + " ".join(f"v{at}" for at in range(1500))
    runs = [{tuple(t.split()[i : i + 8]) for i in range(2993)} for t in (text, half)]
    true = len(runs[0] & runs[1]) / len(runs[0] | runs[1])
    assert abs(alike(sketch(text), sketch(half)) - true) < 0.08
    assert alike(sketch(text), sketch(text)) == 1.0
    assert sketch("too short") == ()


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("https://doi.org/10.3389/fpls.2016.01419.", "10.3389/fpls.2016.01419"),
        ("(doi:10.1016/S0261-2194(03)00115-X)", "10.1016/s0261-2194(03)00115-x"),
        ("version 10.3 of 2019/20", None),
    ],
)
def test_dois(text: str, doi: str | None) -> None:
    assert doi_in(text) == doi


RIS = """TY  - JOUR
TI  - Rust of faba bean in three seasons on sand and loam
JO  - Made Trials
PY  - 2020
DO  - 10.1234/ABC
ER  -

"""
BIB = """@article{one, title={Rust of {Faba} bean in three seasons on sand and loam},
 journal={Made Trials}, year={2020}, doi={10.1234/ABC}}
"""
CSV = (
    "Title,Source Title,Publication Year,DOI,Query\n"
    '"Rust of faba bean in three seasons on sand and loam",Made Trials,2020,10.1234/ABC,beans\n'
)


@pytest.mark.parametrize(("name", "text"), [("a.ris", RIS), ("a.bib", BIB), ("a.csv", CSV)])
def test_exports_are_read_alike(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    (row,) = read_references(path)
    assert title_key(row.title or "") == title_key(TITLE)
    assert (row.id, row.doi, row.year, row.venue) == (
        f"{name}:1",
        "10.1234/abc",
        2020,
        "Made Trials",
    )
    assert row.query == ("beans" if name == "a.csv" else None)


@pytest.mark.parametrize(
    ("name", "raw", "fault"),
    [
        ("a.txt", b"", Usage),
        ("a.ris", b"\xff\xfe\x00", BadRecord),
        ("a.bib", b"@article{one, title={never closed", BadRecord),
        ("a.csv", b'Title\n"' + b"x" * 200_000 + b'"\n', BadRecord),
        ("a.csv", b'Title,DOI\n"never closed,10.1234/a\nAnother,10.1234/b\n', BadRecord),
        ("a.csv", b"Name,Link\nRust,10.1234/a\n", BadRecord),
        ("a.csv", b"", BadRecord),
        ("a.csv", "Title\nMüller\n".encode("utf-16"), BadRecord),
    ],
)
def test_broken_exports_are_told(
    tmp_path: Path, name: str, raw: bytes, fault: type[Exception]
) -> None:
    path = tmp_path / name
    path.write_bytes(raw)
    with pytest.raises(fault, match=name):
        read_references(path)


def test_an_entry_that_stands_twice_in_a_bibliography_is_two_rows(tmp_path: Path) -> None:
    """Exports that were put together repeat keys; some repeat a field."""
    path = tmp_path / "a.bib"
    more = "@comment{x}\n@article{two, title={Another}, title={Another}, year=2021}\n"
    path.write_text(BIB + BIB + more)
    rows = read_references(path)
    assert [(row.id, row.doi, row.year) for row in rows] == [
        ("a.bib:1", "10.1234/abc", 2020), ("a.bib:2", "10.1234/abc", 2020), ("a.bib:3", None, 2021),
    ]  # fmt: skip


def test_each_row_of_a_paper_is_found() -> None:
    """Two searches find one paper; its DOI is written in two ways, or once not at all."""
    rows = [
        Reference(id="a.csv:1", doi="10.1234/abc", title="Another title of it"),
        Reference(id="b.csv:1", doi=doi_in("https://doi.org/10.1234/ABC"), title=TITLE),
        Reference(id="b.csv:2", title=TITLE),
        Reference(id="b.csv:3", title=TITLE, doi="10.1234/other"),
        Reference(id="b.csv:4", title="?"),
    ]
    screen = Screen(Settings(), rows)
    screen.judge("a.pdf", "a" * 64, _paper(top="doi 10.1234/abc"))
    assert [screen.file_of(row) for row in rows] == ["a.pdf", "a.pdf", "a.pdf", None, None]


def test_a_paper_has_what_its_export_says() -> None:
    row = Reference(id="a.csv:1", title=TITLE, doi="10.1234/abc", year=2018, venue="V", query="q")
    screen = Screen(Settings(), [row])
    told = screen.judge("a.pdf", "a" * 64, _paper())
    assert isinstance(told, Paper)
    assert (told.doi, told.year, told.venue, told.query) == ("10.1234/abc", 2018, "V", "q")
    assert screen.found == {"a.csv:1": "a.pdf"}
