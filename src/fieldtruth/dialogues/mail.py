"""What a person wrote, without what mail programs and web forms put around it.

Talks with an extension service go to and fro by mail: each answer drags along the letters before
it, their heads (`On Mon, Jun 17, 2024, 6:15 PM Ask Extension <...> wrote:`), a line about the
telephone it was sent from, and a signature. None of it was said in that turn. Often all of a letter
lies in one line, so nothing here relies on line ends alone.

What stands after the head of a quoted letter is the letter quoted; only where nothing stands
before the head was the letter itself forwarded, and is kept.
"""

import re
from functools import cache
from html import unescape
from html.parser import HTMLParser
from typing import NamedTuple

from fieldtruth import taxonomy

LONGEST = 100_000  # characters of one turn; more is no letter
TAIL = 400  # characters at the end in which a signature is looked for
_MARKS = {"<<": "\ue000", ">>": "\ue001"}  # placeholders are no HTML


class Cleaned(NamedTuple):
    """The words, and the kinds of things that were taken out, each once."""

    text: str
    took: tuple[str, ...]


def clean(text: str) -> Cleaned:
    """What the writer of a turn wrote: no HTML, quotes, heads, device lines and signature.

    >>> clean("It is worse now. On Mon, Jun 17, 2024, 6:15 PM Ask <<mail>> wrote: > Hello")
    Cleaned(text='It is worse now.', took=('quoted mail',))
    >>> clean("Is it rust?<br>Thank you &amp; best regards,<br>Ann Poe")
    Cleaned(text='Is it rust?', took=('HTML', 'signature'))
    """
    took: list[str] = []
    steps = (
        ("HTML", _html), ("", _blanks), ("quoted mail", _quoted), ("mail program", _program),
        ("signature", _signature), ("", _tidy),
    )  # fmt: skip
    for name, step in steps:
        left = step(text)
        if name and left.strip() != text.strip():
            took.append(name)
        text = left
    return Cleaned(text, tuple(took))


# ---------------------------------------------------------------------------------------- HTML

_BLOCKS = "br|p|div|li|ul|ol|tr|table|h1|h2|h3|h4|h5|h6|hr|pre|html|body|head|title"
_INLINE = "a|b|i|u|em|strong|span|font|sup|sub|small|img|td|th|tbody|o:p|code"
_UNSEEN = "script|style|blockquote"  # mail programs quote in blockquotes
_TAG = re.compile(
    rf"</?(?:{_BLOCKS}|{_INLINE}|{_UNSEEN})\b[^<>]*>|&(?:#\d+|[a-z]+);", re.IGNORECASE
)


class _Words(HTMLParser):
    """The text of HTML; a tag that is none of HTML's is text too."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.words: list[str] = []
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        if tag in _UNSEEN.split("|"):
            self._unseen += 1
        elif tag in _BLOCKS.split("|"):
            self.words.append("\n")
        elif tag not in _INLINE.split("|"):
            self.handle_data(self.get_starttag_text() or "")

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNSEEN.split("|"):
            self._unseen = max(0, self._unseen - 1)
        elif tag in _BLOCKS.split("|"):
            self.words.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.words.append(data)


def _html(text: str) -> str:
    if not _TAG.search(text):
        return text
    for mark, safe in _MARKS.items():
        text = text.replace(mark, safe)
    if "<" in text:
        reader = _Words()
        reader.feed(text)
        reader.close()
        text = "".join(reader.words)
    else:
        text = unescape(text)
    for mark, safe in _MARKS.items():
        text = text.replace(safe, mark)
    return text


def _blanks(text: str) -> str:
    """One kind of blank and of line end; characters that nobody sees are left out."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = text.replace("\u00c2\u00a0", " ")  # a blank in UTF-8 that was read as Latin-1
    text = re.sub(r"[\u00a0\u202f\u2000-\u200a\u3000\t]", " ", text)
    return re.sub(r"[\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\x00-\x08\x0b-\x1f]", "", text)


# ------------------------------------------------------------------------------- quoted letters

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)[a-z]*\.?"
_DAY = r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? +)?"
_DATE = (
    rf"(?:{_MONTH} \d{{1,2}},? \d{{4}}|\d{{1,2}}\.? {_MONTH},? \d{{4}}"
    r"|\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4})"
)
_WROTE = re.compile(
    rf"(?:In a message dated +|On +)?{_DAY}{_DATE}"
    r"(?:(?!\bwr[oi]tes?\b)[^>]|>(?!\n)){0,160}?\bwr(?:ote|ites):",
    re.S,
)
_RULE = (
    r"(?:[-_*]{2,} *(?:Original Message|Forwarded message|Original Appointment)? *[-_*]{2,}\s*)?"
)
_FIELD = r"(?:Sent|Date|To|Cc|Subject)"
_HEAD = re.compile(
    rf"{_RULE}\bFrom: ?[^\n]{{0,160}}?(?:\n *)?{_FIELD}:(?:[\s\S]{{0,200}}?{_FIELD}:){{1,4}}"
    r"(?P<subject>[^\n]*?(?:\(#\d+\)|$|\n| {2,}))",
    re.M,
)
_BEHALF = re.compile(r":?\s{0,3}[^\s<]{0,80}ask=<[\s\S]*", re.I)
_ARROWS = re.compile(r"(?m)^ *>.*(?:\n|$)")


def _quoted(text: str) -> str:
    found = [match for pattern in (_WROTE, _HEAD) if (match := pattern.search(text))]
    if found:
        head = min(found, key=lambda match: match.start())
        before, after = text[: head.start()], text[head.end() :]
        text = before if before.strip(" \n-_*") else _quoted(_ARROWS.sub("", after))
    return _ARROWS.sub("", _BEHALF.sub("", text))


_PROGRAM = re.compile(
    r"\[ *EXTERNAL(?: E-?MAIL)? *\]"
    r"|(?:Sent )?\bfrom (?:my )?(?:iPhone|iPad|Android|Samsung|Galaxy|mobile|smartphone)\b"
    r"[^.\n]{0,40}\.?"
    r"|\bSent from (?:Yahoo Mail|Mail|Outlook|Gmail|my)\b[^.\n]{0,40}\.?"
    r"|\bfrom Mail for Windows\b"
    r"|\bGet Outlook for \w+(?:<[^>]*>)?"
    r"|\bNeed to reply to the expert\?[\s\S]*"
    r"|\bThis message was sent by Ask Extension\.[\s\S]*",
    re.I,
)


def _program(text: str) -> str:
    return _PROGRAM.sub("", text)


# ----------------------------------------------------------------------------------- signatures

_BYE = (
    r"(?:(?:(?:best|kind|warm)(?:est)? +)?regards|sincerely(?: yours)?|yours(?: truly)?|cordially"
    r"|gratefully|respectfully|cheers|take care|good luck|best(?: wishes)?"
    r"|(?:(?:many|much) )?thanks(?:,? (?:so much|very much|much|again|in advance))*"
    r"|thank ?you(?:,? (?:so much|very much|again|in advance|for your help|& best regards))*)"
)
_WORD = r"(?:<<[a-z ]+>>|\(?[A-Z][\w.'’)&-]*)"
_RUN = rf"{_WORD}(?:[ ,\n/|–-]{{1,3}}(?:{_WORD}|of|and|the|for|in|&)){{0,14}}"
# A closing and a name at the very end: "Thank you so much, Ann Poe".
_CLOSING = re.compile(rf"[\s,–-]*\b(?i:{_BYE})[\s,.!;:–-]+{_RUN}\W*$")
# A name, or a name and a post, that stands by itself at the very end.
_ALONE = re.compile(rf"(?:(?<=[.!?,)…])\s+|\s{{2,}}|\n|[-–]{{1,2}} ?)(?P<name>{_RUN})[\s.,!-]*$")
_POST = re.compile(
    r"\b(?:Master Gardener|Extension|MG|EMG|Coordinator|Horticultur|Agent|Professor|Ph\.?D|Educator"
    r"|Specialist|Volunteer|Clinic|Gardeners)\b"
)
_LINE = re.compile(rf"(?im)^[ -]*{_BYE}[\s,.!-]*$")  # a closing with a line to itself
_DASHES = re.compile(r"(?m)^-- ?$")
_EVERYDAY = re.compile(
    r"thanks?|please|help|photos?|pictures?|yes|no|ok|okay|hello|hi|new|more|see|attached|usa"
)


def _signature(text: str) -> str:
    return _unsigned(text.rstrip()) or text  # a turn of nothing but thanks stays a turn


def _unsigned(text: str) -> str:
    if dashes := _DASHES.search(text):
        text = text[: dashes.start()].rstrip()
    for line in reversed(list(_LINE.finditer(text))):
        after = [each for each in text[line.end() :].split("\n") if each.strip()]
        if len(after) <= 6 and all(len(each) <= 60 and "?" not in each for each in after):
            text = text[: line.start()].rstrip()
        break
    head, tail = text[:-TAIL], text[-TAIL:]
    for _ in range(3):  # "Best, Ann", then "Thank you, Ann Poe" above it
        match = _CLOSING.search(tail)
        if match is None:
            match = _ALONE.search(tail)
            if match is None or not _is_name(match["name"]):
                break
        tail = tail[: match.start()].rstrip()
    return head + tail


def _is_name(run: str) -> bool:
    """Whether words at the end can be somebody's name or name and post, not a plant's or a pest's.

    >>> _is_name("Ann Poe"), _is_name("Japanese Beetle"), _is_name("Ann, Weld County MG")
    (True, False, True)
    """
    if _POST.search(run):
        return True
    words = re.findall(r"[^\W\d_]+", run.casefold())
    return len(words) <= 3 and not any(
        word in known_words() or _EVERYDAY.fullmatch(word) for word in words
    )


@cache
def known_words() -> frozenset[str]:
    """Every word of a name in the taxonomy, lower case."""
    named = (*taxonomy.names(), *taxonomy.CROPS, *taxonomy.CROPS.values())
    return frozenset(word for name in named for word in name.casefold().split())


def _tidy(text: str) -> str:
    """Runs of blanks are one, of empty lines one; nothing at the ends."""
    text = re.sub(r" +", " ", text)
    text = re.sub(r" ?\n ?", "\n", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip()
