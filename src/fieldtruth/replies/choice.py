"""Words -> the letter of an option, for multiple-choice questions.

Design, section 8; the sentences that other readers get wrong are in peers.md, finding 5 and T4.
The first of these that speaks decides:

1. the whole reply is a letter, or exactly one option's text;
2. its last decision: "Answer: C", "the correct option is (C)", "C is right", `\\boxed{C}`, or the
   same with an option's text in place of the letter; one taken back ("A. Wait, B.") is not it;
3. the only letter it says yes to, where it goes through several: "A: no. B: no. C: yes";
4. a letter that leads a line: "B) early blight", "**B**: ...", "B" alone above its reasons;
5. the only option that is spoken of, by letter or by text.

The pronoun I and the article A are no letters; what stands in a clause with a negation is not
asserted. Two letters ("B or C"), a letter beyond the options, or a letter beside another
option's text give none.

`Reading.repairs` holds `thinking` where that was taken away, and how a letter was come by unless
it was the whole reply: `option_text`, `decision`, `gone_through`, `leading` or `spoken`; or why
there is none:
`two_letters`, `beyond_options`, `contradiction`.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from fieldtruth.records import LETTERS, Finish, Reading
from fieldtruth.replies import visible
from fieldtruth.taxonomy import normalise

_DECORATION = re.compile(
    r"[*`\"“”$]+|\\text\b|(?<!\w)_{1,2}(?=[^\W_])|(?<=[^\s_])_{1,2}(?!\w)"  # __B__, _B_
)
_QUOTED = re.compile(r"(?<!\w)'([A-Za-z])'(?!\w)")  # {'answer': 'C'}
_WHOLE = re.compile(r"[\s(\[{<#>-]*+(?:(?i:option)\s++)?+([A-Za-z])[\s)\]}>.:,;!]*+")
# A capital alone, or a small letter with nothing behind it. A and I before a word are English.
_LETTER = r"""(?:[B-HJ-Z](?![\w'’])
  | [AI](?![\w'’])(?![ \t]+(?!(?:because|since|as|is|or|and|due)\b)[a-z])
  | [a-z](?=[)\]}>]{0,3}\s{0,3}(?:[.;,:)\n<]|\Z)))"""
_ADVERB = r"(?:therefore|thus|clearly|(?:most\ )?likely|probably|the|option|choice|letter)"
_DECISION = re.compile(
    rf"""(?P<cue>(?i:
        \b(?:answer|choice|option|letter|selection)\b[\s)'>]{{0,3}}
          (?:is\b|would\ be\b|must\ be\b|should\ be\b|:|=|->|→|\n)
      | \b(?:choose|pick|select|go(?:ing)?\ with)\b
      | \\boxed | <answer>)
      \s{{0,4}}(?i:{_ADVERB}\b[\s:]{{0,3}}){{0,3}})
      (?:[\s(\[{{<]{{0,4}}(?P<letter>{_LETTER}))?
    | \b(?i:I(?:['’]d|['’]ll|\ would|\ will)?\ (?:say|guess))\b[\s:]{{1,2}}
      (?i:{_ADVERB}\b\s){{0,2}}[(\[]?(?P<say>{_LETTER})(?=[)\]]?\s?(?:[.;!,]|\n|\Z))
    | (?i:\b(?:wait|actually|correction|scratch\ that|on\ second\ thought|no(?=[,:]))\b)[,:—–-]?\s
      (?i:(?:it\ is|it['’]s|I\ mean|make\ that)\s)?[(\[]?(?P<back>{_LETTER})
      (?=[)\]]?(?:[.;!,\n]|\Z))
    | \b(?P<right>[A-HJ-Z])[)\]]?\s+is\s+(?:{_ADVERB}\s+){{0,2}}(?:correct|right|best|answer)\b""",
    re.VERBOSE,
)
_LEADING = re.compile(
    r"^[ \t(\[{<#>-]{0,6}([A-Za-z])(?:[ \t]?[).:\]},]|[ \t]*(?:\n|\Z)|[ \t]+[-–—]\s"
    r"|[ \t](?=because|since)\b)",
    re.MULTILINE,
)
_SPOKEN = re.compile(
    rf"""\((?P<round>[A-Za-z])\)
      | (?<![\w'’.°-])(?P<plain>[B-HJ-Z]|A(?=\s?(?:and|or|,|/|&)\s
          |[\s,/&+|]{{1,2}}[B-HJ-Z](?![\w'’])|[)\]]?(?:[.;:!?]|\Z|\n))
          |I(?=\s?(?:and|or|,|/|&)\s?[A-HJ-Z](?![\w'’])|[)\]]?(?:[.;:!?]|\Z|\n)))(?![\w'’]|[.-]\w)
      | (?i:\b(?:option|choice|answer))\s(?P<named>{_LETTER})""",
    re.VERBOSE,
)
_ANOTHER = re.compile(r"[\s)\]]{0,3}(?:or|and|/|,|&|\+)\s{0,3}(?:option\s)?\(?[A-Z](?![\w'’])")
_LINE_BELOW = re.compile(r"[)\].]?[ \t]*\n\s*[(\[]?[A-Z][)\].]{0,2}[ \t]*(?:\n|\Z)")
# Each option with a word of its own: "A: no", "B? Yes.", "C - incorrect".
_GONE_THROUGH = re.compile(
    r"(?<![\w'’])[(\[]?([A-Z])[)\]]?(?:\s?[.:?=–—-]{1,2}|\s+is)\s*"
    r"(?:(yes|true|correct|right|✓|✔|✅)|(no|false|incorrect|wrong|✗|✘|❌))"
    r"(?=\s*(?:[.,;:!)\n–—-]|\Z|because\b|since\b|as\b))",
    re.IGNORECASE,
)
_YES_NO = frozenset({"yes", "no", "true", "false", "correct", "incorrect", "right", "wrong"})
_ALL_BUT = re.compile(r"\b(?:all|any\w*|every\w*) but (?:option )?\(?\Z", re.IGNORECASE)
_NO_OPTION = re.compile(  # "panel B", "vitamin C": letters, but not of an option
    r"\b(?:panels?|fig(?:ure)?s?|images?|plots?|tables?|vitamin|type|group|treatment|line|plate|"
    r"grade|class|zone|samples?)\W{1,2}\Z"
    r"|\b(?:plan|plots?|stage|phase|step|method|scenario|strain|race|variety|case|part)[ \t]\Z",
    re.IGNORECASE,
)
_BREAK = re.compile(
    r"[.;:!?,](?=\s)|\n|\b(?:but|because|since|so|while|whereas|although)\b", re.IGNORECASE
)
_NEGATION = re.compile(
    r"\b(?:not|no|never|neither|nor|without|cannot|rather than|instead of|unlike|unlikely|wrong|"
    r"incorrect|false|absent|except(?:ing)?|other than|apart from|exclud(?:e[sd]?|ing)|"
    r"rule[sd]? out|lacks?|eliminated?|"
    r"would (?!say|go\b|choose|pick|answer))\b|n['’]t\b",
    re.IGNORECASE,
)
_NO_NEGATION = re.compile(r"\b(?:no doubt|without (?:a )?doubt|not only)\b", re.IGNORECASE)
_RATHER = re.compile(r"\b(?:rather than|instead of|unlike|as opposed to)\b", re.IGNORECASE)
_DENIES = re.compile(r"\W(?:not|no|without)\s(?:(?:an?|any|the|option)\s)?\(?", re.IGNORECASE)
_CAPITAL = re.compile(r"[A-HJ-Z](?![\w'’])")
_WINDOW = 160  # characters of a clause that are looked at on either side
_MOST = 500  # mentions of one option that are looked at
_LONG = 1000  # characters; a longer reply is no option's text


def read_choice(text: str, options: Sequence[str] | None, finish: Finish) -> Reading:
    """What a reply says under a choice protocol: `letter`, `prose` or `unreadable` (blank).

    `options` are the texts in letter order; without them letters are read and texts are not.
    Never raises.
    """
    seen = visible.without_thinking(text)
    repairs = ["thinking"] if len(seen) != len(text) else []
    seen = _QUOTED.sub(r"\1", _DECORATION.sub("", visible.without_fences(seen))).strip()
    letter = None
    if seen:
        letter, how = _Choice(seen, options or ()).decide()
        repairs += [how] if how else []
    return Reading(
        outcome="letter" if letter else "prose" if seen else "unreadable",
        letter=letter,
        repairs=tuple(repairs),
        truncated=finish == "length",
    )


class _Choice:
    """One reply beside its options."""

    def __init__(self, seen: str, options: Sequence[str]) -> None:
        self.seen = seen
        self.plain = [normalise(option) for option in options]
        self.count = len(options) or len(LETTERS)
        texts = [(a, _words(b)) for a, b in zip(LETTERS, options, strict=False)]
        self.texts = sorted(
            [(a, b) for a, b in texts if b is not None], key=lambda pair: -len(pair[1].pattern)
        )

    def decide(self) -> tuple[str | None, str]:
        """The letter and how it was come by, or None and why."""
        whole = _WHOLE.fullmatch(self.seen)
        if whole:
            return self._within(whole[1].upper(), "")
        own = normalise(self.seen[:_LONG])
        same = [a for a, b in zip(LETTERS, self.plain, strict=False) if b and b == own]
        if len(same) == 1 and len(self.seen) < _LONG:
            return same[0], "option_text"
        for way in (self._decided, self._gone_through, self._leading):
            letter, how = way()
            if how:
                return letter, how
        spoken = {*self._letters(), *self._asserted(0, len(self.seen))}
        if len(spoken) == 1:
            return self._within(spoken.pop(), "spoken")
        return None, "two_letters" if spoken else ""

    def _within(self, letter: str, how: str) -> tuple[str | None, str]:
        fits = LETTERS.index(letter) < self.count
        return (letter, how) if fits else (None, "beyond_options")

    def _decided(self) -> tuple[str | None, str]:
        """The last decision, if there is any."""
        for cue in reversed(list(_DECISION.finditer(self.seen))[-_MOST:]):
            if _NEGATION.search(self._before(cue.start())):
                continue
            group = next((name for name in ("right", "say", "back") if cue[name]), "letter")
            if cue[group] and not self._is_pronoun(cue[group]):
                return self._checked(cue[group].upper(), cue.end(group), "decision")
            named = list(self._asserted(cue.end(), cue.end() + len(self._line(cue.end()))))
            if len(named) == 1:
                return named[0], "decision"
            if named:
                return None, "two_letters"
        return None, ""

    def _gone_through(self) -> tuple[str | None, str]:
        """The one letter with a yes, where several have a yes or a no of their own."""
        if _YES_NO & set(self.plain):
            return None, ""
        said = {found[1]: bool(found[2]) for found in _GONE_THROUGH.finditer(self.seen)}
        if len(said) < 2:
            return None, ""
        good = [letter for letter, yes in said.items() if yes]
        if len(good) == 1:
            return self._within(good[0], "gone_through")
        return None, "two_letters" if good else "contradiction"

    def _leading(self) -> tuple[str | None, str]:
        """The one letter that begins a line, if the first line begins with it."""
        first = _LEADING.match(self.seen)
        if not first or self._is_pronoun(first[1]):
            return None, ""
        if first[1].islower() and self.seen[first.end() - 1] not in ").:]":
            return None, ""
        others = {found[1].upper() for found in _LEADING.finditer(self.seen)}
        if len(others) > 1:
            return None, "two_letters"
        return self._checked(first[1].upper(), first.end(1), "leading")

    def _checked(self, letter: str, end: int, how: str) -> tuple[str | None, str]:
        """A letter, unless another stands beside it or what follows is another option's text."""
        if _ANOTHER.match(self.seen, end) or _LINE_BELOW.match(self.seen, end):
            return None, "two_letters"
        named = set(self._asserted(end, end + len(self._line(end))))
        if named and letter not in named:
            return None, "contradiction"
        return self._within(letter, how)

    def _is_pronoun(self, letter: str) -> bool:
        return letter in "Ii" and (self.count < 9 or not self.texts)

    def _letters(self) -> Iterator[str]:
        """Letters spoken of without a negation, each once."""
        known: set[str] = set()
        for found in islice(_SPOKEN.finditer(self.seen), _MOST):
            letter = (found["round"] or found["plain"] or found["named"]).upper()
            if letter in known or self._is_pronoun(letter):
                continue
            before = self._before(found.start())
            beside = _ALL_BUT.search(self.seen[max(0, found.start() - _WINDOW) : found.start()])
            beside = beside or _NO_OPTION.search(before)
            if not (beside or _negated(self._around(found))):
                known.add(letter)
                yield letter

    def _asserted(self, start: int, end: int) -> Iterator[str]:
        """Letters of the options whose text stands there without a negation, longest first."""
        taken = bytearray(len(self.seen))
        for letter, text in self.texts:
            found = islice(text.finditer(self.seen, start, end), _MOST)
            free = [at for at in found if not taken[at.start()]]
            for at in free:
                taken[at.start() : at.end()] = b"\1" * (at.end() - at.start())
            if any(not _negated(self._around(at)) for at in free):
                yield letter

    def _around(self, at: re.Match[str]) -> str:
        return f"{self._before(at.start())} {self._after(at.end())}"

    def _line(self, start: int) -> str:
        return self.seen[start : start + _WINDOW].split("\n", 1)[0]

    def _before(self, at: int) -> str:
        """The clause up to there."""
        return _BREAK.split(self.seen[max(0, at - _WINDOW) : at])[-1]

    def _after(self, at: int) -> str:
        """The rest of the clause, up to where another option is denied: "B rather than A"."""
        rest = _BREAK.split(self.seen[at : at + _WINDOW], maxsplit=1)[0]
        rest = _RATHER.split(rest, maxsplit=1)[0]
        for denial in _DENIES.finditer(rest):
            others = (_CAPITAL, *(text for _, text in self.texts))
            if any(other.match(rest, denial.end()) for other in others):
                return rest[: denial.start()]
        return rest


def _negated(clause: str) -> bool:
    return bool(_NEGATION.search(_NO_NEGATION.sub("", clause)))


def _words(option: str) -> re.Pattern[str] | None:
    """An option's words, whatever stands between them; None where it has none."""
    words = re.findall(r"[^\W_]+", option)
    if not words:
        return None
    return re.compile(r"(?<!\w)" + r"[\W_]++".join(map(re.escape, words)) + r"(?!\w)", re.I)
