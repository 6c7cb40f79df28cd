"""Reads a text into tokens: words with their stems, and the kinds that must agree between a claim and its evidence.

Numbers, months, weekdays, names, codes and negations can be compared in any language that the analyser knows, unlike
the meaning of words. Names of months, weekdays, units and currencies are those of the Unicode CLDR.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Literal, NamedTuple

from anabranch.citations.language_tables import LanguageTables, tables_of
from anabranch.citations.quantities import CURRENCIES, SCALES, Figure, figure_spans
from anabranch.text.analyzer import UNSPACED, analyser
from anabranch.text.function_words import NEGATIONS, NUMBERS, fold_word
from anabranch.text.scripts import MARKS
from anabranch.text.sentences import is_shortened
from anabranch.text.stemmer import UNSTEMMED, languages

Kind = Literal["word", "function", "figure", "month", "weekday", "name", "code", "negation"]

# Kinds that cannot be put in other words.
HARD: frozenset[Kind] = frozenset({"figure", "month", "weekday", "name", "code"})

# In scripts without blanks between words, each character is a token. Except in English, an apostrophe ends a word.
_PART = rf"(?:[^\W{UNSPACED}][{MARKS}]*)++"
_WORD = re.compile(rf"[{UNSPACED}]|{_PART}(?:[.\-_/]+{_PART})*")
_ENGLISH_WORD = re.compile(rf"[{UNSPACED}]|{_PART}(?:['’.\-_/]+{_PART})*")
_STEMMED = frozenset(languages())
_ENGLISH = frozenset({"english", ""})
# Languages that write the names of months with a capital: "may" and "march" are other words.
_CAPITALISING = frozenset({"english", "german"})
_ONE_CHAR = re.compile(f"[{UNSPACED}]")
_CODE = re.compile(r"\d|_|(?<=.)[^\W\d_a-zß-öø-ÿ](?<=[A-Z])")
# "5-10 days"; a number that begins with a zero is part of a code.
_FROM_TO = re.compile(r"([1-9]\d{0,3})[-–]([1-9]\d{0,3})")
_FIRST_DIGIT = "123456789"
# "4-letter", "3-stellig"
_COUNTED = re.compile(r"\d+-[^\W\d_]{3,}")
_BREAK = re.compile(r"[,;:.!?()\[\]|，。、；：؟،]|\s[-–—]\s")
_BEGIN = re.compile(r"(?:^|[.!?:;•|\n]\s*|[\"“„«(¿¡]\s*)$")
_ENGLISH_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)")
_ORDINAL = re.compile(r"\b\d\d?\.\s*$")
_FOLLOWED = re.compile(r"\.?\s+\d")
_DATE = re.compile(
    r"\b(?:(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})|(?P<a>\d{1,2})[./](?P<b>\d{1,2})[./](?P<c>\d{4}))\b"
)
# The Arabic "and" is one letter, joined to the number after it.
_ARABIC_AND = re.compile(r"\bو(?=\d)")
_DECEMBER, _LAST_DAY = 12, 31
_SIGN_BEFORE = re.compile(r"[$€£¥₹]\s?$")
_SIGN_AFTER = re.compile(r"\s?[$€£¥₹%‰]")
# Digits of a day, or of a year.
_DAY_OR_YEAR = (1, 2, 4)
_ABBREVIATION = 2
SIGNS = frozenset("$€£¥₹%‰")
"""Signs of units, in any language."""
# How many characters before a word tell whether a sentence begins with it.
_BEFORE = 12


class Token(NamedTuple):
    """A word or number at [start, end) of a text.

    Attributes:
        start: Where it starts.
        end: Where it ends.
        text: Folded: lower case, no accents; a letter that is a name, as in "Plan A", keeps its capital.
        terms: Its stems; none for a function word.
        kind: Its kind; a name is a capitalised word that no sentence begins with.
        figure: The number that it is or contains.
        number: Month, 1 to 12, or weekday, 1 (Monday) to 7; else 0.
        opens: Whether a comma, a stop or a bracket stands before it.
        capital: Whether it is written with a capital.
    """

    start: int
    end: int
    text: str
    terms: tuple[str, ...]
    kind: Kind
    figure: Figure | None = None
    number: int = 0
    opens: bool = False
    capital: bool = False

    @property
    def is_hard(self) -> bool:
        """Whether it must agree exactly."""
        return self.kind in HARD

    @property
    def is_content(self) -> bool:
        """Whether it has a stem, or is a number or a date."""
        return bool(self.terms or self.figure or self.number)


def tokens(text: str, language: str, names: frozenset[str] = frozenset()) -> list[Token]:
    """Read a text.

    Args:
        text: Any text.
        language: A language of the Snowball stemmers; without tables, it is only stemmed.
        names: Folded words that are names if they are capitalised, also at the beginning of a sentence.
    """
    english = language in _ENGLISH
    text = _ARABIC_AND.sub(" ", text) if language == "arabic" else text
    numbers = {start: (end, figure) for start, end, figure in figure_spans(text, blanks=not english)}
    known = tables_of(language)
    read = _with_numbers_inside(_read(text, language, names, numbers), numbers, known.units)
    read = _with_units(_with_short_dates(read, known, language), known.units)
    return _with_german_names(read) if language == "german" else read


def _read(text: str, language: str, names: frozenset[str], numbers: Mapping[int, tuple[int, Figure]]) -> list[Token]:
    english = language in _ENGLISH
    dates = {match.start(): match for match in _DATE.finditer(text)} if numbers else {}
    result: list[Token] = []
    done = 0
    for match in (_ENGLISH_WORD if english else _WORD).finditer(text):
        start, end = match.span()
        if start < done:
            continue
        between = text[done:start]
        opens = between not in ("", " ") and _BREAK.search(between) is not None
        if start in dates and (date := _date(dates[start], english=english)):
            done = date[0].end
            result += date
        elif (found := numbers.get(start)) and found[0] >= end:
            done = found[0]
            result.append(Token(start, done, text[start:done], (), "figure", found[1], opens=opens))
        elif text[start] in _FIRST_DIGIT and (between_two := _FROM_TO.fullmatch(match[0])):
            done = end
            result += _from_to(between_two, start, opens=opens)
        else:
            done = end
            result.append(_word(text, match, language, names, opens=opens))
    return result


def _from_to(match: re.Match[str], start: int, *, opens: bool) -> list[Token]:
    """Return both ends of a range as numbers of their own."""
    figures = [Figure(value := frozenset({match[at]}), value) for at in (1, 2)]
    spans = [(start + match.start(at), start + match.end(at)) for at in (1, 2)]
    return [
        Token(*span, match[at], (), "figure", figure, opens=opens and at == 1)
        for at, (span, figure) in enumerate(zip(spans, figures, strict=True), start=1)
    ]


def _with_numbers_inside(
    read: list[Token], numbers: Mapping[int, tuple[int, Figure]], units: Mapping[str, str]
) -> list[Token]:
    """Give a code, such as "HX-200", the number in it; "25-metre" becomes a number with a unit."""
    for start, (end, figure) in numbers.items():
        at = bisect_right(read, start, key=_start) - 1
        if at >= 0 and read[at].figure is None and read[at].start < end <= read[at].end:
            token = read[at]
            unit = units.get(token.text[end - token.start :].lstrip("-"), "") if start == token.start else ""
            if unit and figure.unit in ("", unit):
                read[at] = token._replace(kind="figure", terms=(), figure=replace(figure, unit=unit))
            else:
                read[at] = token._replace(figure=figure)
    return read


def _with_short_dates(read: list[Token], known: LanguageTables, language: str) -> list[Token]:
    """Recognise short names of months and weekdays in a date: "Sat 18 Oct"."""
    if not any(token.figure for token in read):
        return read
    for at, token in enumerate(read):
        if (month := known.short_months.get(token.text)) and _may_be_short(token, language):
            near = (read[at - 1 : at] if at else []) + read[at + 1 : at + 2]
            if any(map(_is_day_or_year, near)):
                read[at] = token._replace(kind="month", number=month, terms=())
    for at, token in enumerate(read[:-2]):
        day = known.short_weekdays.get(token.text)
        if day and _may_be_short(token, language) and _is_day_or_year(read[at + 1]) and read[at + 2].kind == "month":
            read[at] = token._replace(kind="weekday", number=day, terms=())
    return read


def _may_be_short(token: Token, language: str) -> bool:
    return token.kind in ("word", "name", "function") and (token.capital or language not in _CAPITALISING)


def _is_day_or_year(token: Token) -> bool:
    if token.figure is None or token.figure.unit or token.kind != "figure":
        return False
    return any(len(value) in _DAY_OR_YEAR and value.isdigit() for value in token.figure.values)


def _start(token: Token) -> int:
    return token.start


def _date(match: re.Match[str], *, english: bool) -> list[Token]:
    """Return day, month and year of a date in digits; "3/4/2020" is the third of April, except in English."""
    start, end = match.span()
    month, day, year = (int(match[one] or match[other]) for one, other in (("m", "b"), ("d", "a"), ("y", "c")))
    if not match["m"] and (month > _DECEMBER or (english and "/" in match[0] and day <= _DECEMBER)):
        month, day = day, month
    if not (1 <= month <= _DECEMBER and 1 <= day <= _LAST_DAY):
        return []
    # Three tokens at one place, because the date matches "3 March" as well as "March 2020".
    values = [frozenset({str(value)}) for value in (day, year)]
    return [
        Token(start, end, str(day), (), "figure", Figure(values[0], values[0])),
        Token(start, end, str(month), (), "month", None, month),
        Token(start, end, str(year), (), "figure", Figure(values[1], values[1])),
    ]


def _with_units(read: list[Token], units: Mapping[str, str]) -> list[Token]:
    """Give each number its unit from the one or two words after it."""
    if not any(token.figure for token in read):
        return read
    result: list[Token] = []
    for token in read:
        at, name = len(result) - 1, token.text
        if at > 0 and not result[at].opens and f"{result[at].text} {name}" in units:
            name, at = f"{result[at].text} {name}", at - 1
        elif at > 0 and result[at].kind == "function" and result[at].text in SCALES:
            at -= 1
        figure = result[at].figure if result and not token.opens else None
        if figure and at == len(result) - 1 and figure.unit and _is_symbol(token, figure.unit):
            # A symbol is part of its number, like "kilometres".
            result.append(token._replace(kind="function", terms=()))
            continue
        if figure and name in units and figure.unit in ("", units[name]):
            result[at] = result[at]._replace(figure=replace(figure, unit=units[name]))
            rest = [*result[at + 1 :], token]
            # "Pour cent" has no hundred in it.
            result[at + 1 :] = [each._replace(kind="function", terms=(), figure=None) for each in rest]
        elif figure and figure.is_scaled and token.text in SCALES:
            result.append(token._replace(kind="function", terms=()))
        else:
            result.append(token)
    return result


def _is_symbol(token: Token, unit: str) -> bool:
    return token.text == fold_word(unit) or CURRENCIES.get(token.text.upper()) == unit


def _with_german_names(read: Sequence[Token]) -> list[Token]:
    """Treat two capitalised words in a row as a name, because every German noun has a capital."""
    nouns = [token.kind == "word" and token.capital for token in read]
    return [
        token._replace(kind="name")
        if nouns[at]
        and (
            (at and nouns[at - 1] and not token.opens) or (nouns[at + 1 : at + 2] == [True] and not read[at + 1].opens)
        )
        else token
        for at, token in enumerate(read)
    ]


def _word(text: str, match: re.Match[str], language: str, names: frozenset[str], *, opens: bool) -> Token:
    start, end = match.span()
    word = _read_word(match[0], language)
    kind, number = word.kind, word.number
    if not word.capital and kind != "month":
        return Token(start, end, *word[2:7], opens)
    if kind in ("function", "word") and _is_letter(text, match, language) and not _begins_sentence(text, start):
        # "Plan A": within a sentence, an article has no capital. The capital stays, to tell the two apart.
        return Token(start, end, match[0], (match[0],), "code", None, 0, opens, capital=True)
    if kind in ("month", "word"):
        # "5. Mai": in many languages, a stop makes an ordinal.
        ordinal = kind == "month" and _ORDINAL.search(text[max(0, start - _BEFORE) : start])
        begins = _begins_sentence(text, start) and not ordinal
        if kind == "month" and begins and not _FOLLOWED.match(text, end):
            # "May" and "March" also begin sentences as other words; as an answer, "October" is a name.
            kind, number = "name", 0
        elif kind == "word" and language != "german" and (not begins or word.text in names):
            kind = "name"
    return Token(start, end, word.text, word.terms, kind, word.figure, number, opens, word.capital)


def _begins_sentence(text: str, start: int) -> bool:
    """Tell whether a sentence, a quote or a cell begins at a place; none begins after "Mr."."""
    found = _BEGIN.search(text, max(0, start - _BEFORE), start)
    return found is not None and not (found[0][:1] == "." and is_shortened(text, found.start()))


def _is_letter(text: str, match: re.Match[str], language: str) -> bool:
    """Tell whether a word is a single letter that names something, and no pronoun or initial."""
    letter, end = match[0], match.end()
    if len(letter) != 1 or not letter.isupper() or (letter == "I" and language in _ENGLISH):
        return False
    return not (text[end : end + 1] == "." and is_shortened(text, end))


def find_names(read: Iterable[Token]) -> frozenset[str]:
    """Return the folded words that are names."""
    return frozenset(token.text for token in read if token.kind == "name")


def quote_words(claim: str, read: Sequence[Token]) -> tuple[str, ...]:
    """Return some words of a claim as they are written; adjacent words are joined."""
    found: list[tuple[int, int]] = []
    for token in read:
        start, end = _with_sign(claim, token)
        if found and claim[found[-1][1] : start].isspace():
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return tuple(dict.fromkeys(claim[start:end] for start, end in found))


def _with_sign(claim: str, token: Token) -> tuple[int, int]:
    """Return the span of a word, of a number with its sign: "£24.90", "5 %"."""
    if token.figure is None or token.figure.unit not in SIGNS:
        return token.start, token.end
    before, after = _SIGN_BEFORE.search(claim, 0, token.start), _SIGN_AFTER.match(claim, token.end)
    return before.start() if before else token.start, after.end() if after else token.end


def is_fixed(token: Token) -> bool:
    """Tell whether a word of a question must agree exactly: a name, a number or a code.

    Abbreviations of two letters, such as "US", may be spelt out, and "4-letter" may be "4 letters".
    """
    if token.kind != "code":
        return token.is_hard
    counts = token.figure is not None and token.figure.may_be_a_word and _COUNTED.fullmatch(token.text) is not None
    return not counts and not (token.text.isalpha() and len(token.text) == _ABBREVIATION)


@lru_cache(maxsize=1 << 15)
def _read_word(written: str, language: str) -> Token:
    """Return the token of a word without its context. Owner: this module; its size is bounded."""
    folded = fold_word(written)
    kind, number = _classify(folded, language)
    capital = written[:1].isupper()
    stems = () if kind == "negation" else _stems(written, language)
    figure = None
    if kind == "month" and language in _CAPITALISING and not capital:
        kind, number = "word", 0
    if kind == "figure":
        value = frozenset({str(number)})
        figure, number = Figure(value, value), 0
    elif kind == "word":
        kind = "figure" if _ENGLISH_ORDINAL.fullmatch(written) else "function" if not stems else kind
        kind = "code" if kind == "word" and _CODE.search(written) else kind
    return Token(0, 0, folded, stems, kind, figure, number, capital=capital)


def _classify(folded: str, language: str) -> tuple[Kind, int]:
    """Return the kind and number of a word by the tables of a language."""
    known = tables_of(language)
    if folded.replace("'", "") in NEGATIONS.get(language, ()):
        return "negation", 0
    if folded in known.months:
        return "month", known.months[folded]
    if folded in known.weekdays:
        return "weekday", known.weekdays[folded]
    spelt = NUMBERS.get(language, {})
    return ("figure", spelt[folded]) if folded in spelt else ("word", 0)


def _stems(word: str, language: str) -> tuple[str, ...]:
    if _ONE_CHAR.fullmatch(word):
        return (word,)
    return tuple(analyser(language if language in _STEMMED else UNSTEMMED).terms(word))
