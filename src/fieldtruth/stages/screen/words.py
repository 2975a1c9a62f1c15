"""What the words of a paper tell: language, kind, title, year, crops, tasks.

Rules alone: word counts, headings, and what stands on the first page.
"""

import re
from collections import Counter
from collections.abc import Sequence
from statistics import median

from fieldtruth.papers.layout import Layout, Line
from fieldtruth.taxonomy.lexicon import crop_in

# The most frequent words of a language that are words of none of the others.
_STOPS = {
    "en": "the and of with that were was which this from have been these than",
    "de": "und der die das mit nicht wurde wurden eine einer durch auf bei nach",
    "fr": "les des une dans est par avec sont été ces plus aux sur cette",
    "es": "los las una del por con fueron como más entre esta también sus",
    "pt": "os uma dos das com não foram são mais entre pelo também foi ao",
    "it": "il gli della dei delle nel che sono stato alla anche questo più",
    "nl": "het een van zijn werd werden met voor niet deze door bij ook",
    "pl": "nie się jest oraz przez był były dla które jako między",
    "tr": "bir ve bu ile için olarak olan daha sonra",
    "id": "yang dan dengan untuk pada dari tidak adalah ini",
}
_STOPS_OF = {word: language for language, some in _STOPS.items() for word in some.split()}
_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]"), 0.05), ("ko", re.compile("[\uac00-\ud7af]"), 0.2),
    ("zh", re.compile("[\u4e00-\u9fff]"), 0.2), ("ru", re.compile("[\u0400-\u04ff]"), 0.4),
    ("el", re.compile("[\u0370-\u03ff]"), 0.4), ("ar", re.compile("[\u0600-\u06ff]"), 0.3),
    ("hi", re.compile("[\u0900-\u097f]"), 0.3), ("th", re.compile("[\u0e00-\u0e7f]"), 0.3),
)  # fmt: skip
# What the parts of a research article are headed, in the languages above.
_PARTS = {
    "abstract": (
        "abstract|summary|zusammenfassung|résumé|resumen|resumo|riassunto|摘要|要旨|аннотация"
    ),
    "introduction": (
        "introduction|background|einleitung|introducción|introdução|introduzione|引言|前言|введение"
    ),
    "methods": (
        "(?:materials?|experimental)?(?: and |, )?(?:methods?|methodology|procedures?|design)"
        "|material und methoden|methoden|matériels? et méthodes|materiales y métodos"
        "|material e métodos|materiais e métodos|材料与方法|方法|методы"
    ),
    "results": "results?|ergebnisse|résultats|resultados|risultati|结果|结果与分析|результаты",
    "discussion": (
        "(?:results? and )?discussions?|conclusions?|concluding remarks|diskussion|schluss"
        "|discusión|discussão|conclusiones|conclusões|讨论|结论|обсуждение"
    ),
    "references": (
        "references|literature cited|bibliography|literatur|références|referencias|referências"
        "|参考文献|литература"
    ),
}
_HEADING = {
    part: re.compile(rf"^(?:\d+(?:\.\d+)*\.?\s*|[IVX]+\.\s*)?(?:{words})\s*[:.]?$", re.IGNORECASE)
    for part, words in _PARTS.items()
}
_RUN_IN = re.compile(rf"^(?:{_PARTS['abstract']})\s*[:.—–-]", re.IGNORECASE)
_NO_ARTICLE = re.compile(
    r"^(?:editorial|erratum|corrigendum|correction(?: to)?\b|retraction|book review|obituary"
    r"|call for papers|table of contents|contents|news|in memoriam|author index|cover image)\b",
    re.IGNORECASE,
)  # fmt: skip
_NO_TITLE = re.compile(
    r"^(?:microsoft|untitled|manuscript)|\.(?:docx?|indd|tex|dvi|pdf|qxd)\b", re.IGNORECASE
)
_YEARS = re.compile(
    r"(?:publi\w+|accepted|received|©|\(c\)|copyright|vol(?:ume)?\.?|available online)"
    r"[^\n]{0,40}?\b(19[5-9]\d|20[0-4]\d)\b",
    re.IGNORECASE,
)
_ANY_YEAR = re.compile(r"\b(19[5-9]\d|20[0-4]\d)\b")
# PlantXpert searched by these four (table 6); the words are those that such papers use.
_TASKS = {
    "disease assessment": (
        r"diseases?|pathogens?|blight|rust|mildew|lesions?|symptoms?|infect\w+|severity"
    ),
    "pest control": r"pests?|insects?|insecticid\w+|aphids?|larva\w*|beetles?|mites?|bollworm\w*",
    "weed management": r"weeds?|herbicid\w+|weeding",
    "crop yield": r"yields?|grain weight|biomass|harvest(?: index)?|productivity",
}
_TASK = {name: re.compile(rf"\b(?:{some})\b", re.IGNORECASE) for name, some in _TASKS.items()}
_FIG = re.compile(r"\bfigs?\b\.?(?=\s*(?:\d|$))|\bfigs\.", re.IGNORECASE)  # "Fig. 3" is no fruit
_OFTEN = 3  # times that a task's words stand in title and abstract before it counts
_FRONT = 3000  # letters: title, authors and abstract


def text_of(layout: Layout) -> str:
    """All lines of a paper, one a line."""
    return "\n".join(line.text for page in layout.pages for line in page.lines)


def language(text: str) -> str | None:
    """ISO 639-1 code of the language; null where too little can be read."""
    letters = [each for each in text[:200_000] if each.isalpha()]
    if len(letters) < 100:
        return None
    some = "".join(letters)
    for code, script, share in _SCRIPTS:
        if len(script.findall(some)) >= share * len(some):
            return code
    words = re.findall(r"[^\W\d_]+", text[:200_000].casefold())
    count = Counter(_STOPS_OF[word] for word in words if word in _STOPS_OF)
    if not count:
        return None
    (first, most), *rest = count.most_common(2)
    return first if most >= 0.02 * len(words) and (not rest or most > 1.5 * rest[0][1]) else None


def parts(layout: Layout) -> set[str]:
    """Which parts of a research article have a heading of their own."""
    found: set[str] = set()
    for page in layout.pages:
        for line in page.lines:
            text = line.text.strip()
            if len(text) > 60 and not _RUN_IN.match(text):
                continue
            found.update(part for part, heading in _HEADING.items() if heading.match(text))
            if _RUN_IN.match(text):
                found.add("abstract")
    return found


def article(layout: Layout) -> tuple[bool, str]:
    """Whether a paper is a research article, and what tells so.

    It has at least three of the six parts, and its first page is not headed as something else.
    """
    first = layout.pages[0].lines[:12] if layout.pages else ()
    for line in first:
        if _NO_ARTICLE.match(line.text.strip()) and len(line.text) < 80:
            return False, f"headed {line.text.strip()[:60]!r}"
    has = sorted(parts(layout))
    return len(has) >= 3, f"parts: {', '.join(has) or 'none'}"


def title(layout: Layout) -> str | None:
    """The title: the metadata's where it is one, else the largest lines of the first page."""
    told = layout.title
    stem = _NO_TITLE.search(told)
    if len(told.split()) >= 4 and not stem:
        return told
    lines = [line for line in (layout.pages[0].lines if layout.pages else ()) if len(line.text) > 3]
    lines = [line for line in lines if line.box[1] < 0.6 * layout.pages[0].height]
    if not lines:
        return None
    largest = max(line.size for line in lines)
    if largest < 1.1 * median(line.size for line in lines):
        return None  # nothing stands out
    some = [line for line in lines if line.size > 0.93 * largest]
    made = " ".join(line.text for line in _together(some))
    return made if len(made.split()) >= 3 else None


def _together(lines: Sequence[Line]) -> list[Line]:
    """The first of some lines, and those right under it."""
    made: list[Line] = []
    for line in sorted(lines, key=lambda each: each.box[1]):
        if made and line.box[1] - made[-1].box[3] > line.size:
            break
        made.append(line)
    return made


def year(layout: Layout) -> int | None:
    """The year of publication, as the first page says it, else when the PDF was made."""
    first = "\n".join(line.text for page in layout.pages[:1] for line in page.lines)
    years = [int(found) for found in _YEARS.findall(first)]
    if years:
        return max(years)
    made = re.match(r"D:(19\d\d|20\d\d)", layout.made)
    if made:
        return int(made[1])
    anywhere = _ANY_YEAR.search(first)
    return int(anywhere[1]) if anywhere else None


def front(layout: Layout, told: str | None) -> str:
    """Title, abstract and key words: where a paper says what it is about."""
    first = "\n".join(line.text for page in layout.pages[:2] for line in page.lines)
    return "\n".join((told or "", layout.about, first[:_FRONT]))


def crops(words: str) -> tuple[str, ...]:
    """The crops that are named at least twice, or in the title (the first line)."""
    head, _, rest = words.partition("\n")
    count: Counter[str] = Counter()
    for line in rest.split("\n"):
        if crop := crop_in(_FIG.sub(" ", line)):
            count[crop] += 1
    if first := crop_in(_FIG.sub(" ", head)):
        count[first] += 2
    return tuple(sorted(crop for crop, n in count.items() if n > 1))


def tasks(words: str) -> tuple[str, ...]:
    """Which of PlantXpert's four tasks a paper's front is about."""
    return tuple(name for name, some in _TASK.items() if len(some.findall(words)) >= _OFTEN)
