"""What kind of thing an English question asks for, told by its words: a figure, a date, a name, a list and so on.

A question in another language asks for nothing in particular here, so its sentences are chosen by relevance alone.

The rules of question answering before models (Li and Roth 2002 sort questions the same way): they only raise sentences
that hold such a thing, and never exclude one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from anabranch.synthesis.statements import StatementForm
from anabranch.text.function_words import fold_word

EnglishQuestionKind = Literal["figure", "date", "person", "name", "place", "list", "definition", "steps", "reason", ""]

# Added to a sentence that holds a figure or a date, where the question asks for one.
FIGURE = 0.5
# Added where the figure stands right beside the noun that is counted.
BESIDE = 0.3
# Added to a sentence with a name that is not in the question, where it asks who, where or which.
NAME = 0.2
# Added to a sentence that says of the thing asked about what it is.
DEFINED = 0.5
# Added to a sentence that gives a reason, where it is asked why.
REASON = 0.3
# Added to a list where one is asked for, and to steps or code where it is asked how to do something.
FORM = 0.3

# A follow-up begins so: "And when?"
_FOLLOWS = r"^\W*(?:(?:and|but|so|then) )?"
_DATE_ASKED = re.compile(
    rf"{_FOLLOWS}(?:(?:since|until|by) )?when\b(?! (?:i|you|we|they|he|she|it) )"
    r"|\b(?:what|which) (?:time|year|date|month|day|decade|century)\b",
    re.IGNORECASE,
)
_NUMBER_OF = r"what(?:['’]s| is| are| was) (?:[\w’'-]+ ){0,3}numbers?\b"
_FIGURE_ASKED = re.compile(
    rf"{_FOLLOWS}(?:(?:by|for|at|in|to|of|about|roughly) )?how (?:many|much|long|old|large|big|tall|high|far|often|"
    r"deep|wide|heavy|fast|small|short|expensive)\b"
    r"|\b(?:what|which) (?:percentage|percent|share|number|proportion|fraction)\b"
    rf"|{_FOLLOWS}what (?:do|does|did|will|would) .*\bcost\b|{_FOLLOWS}{_NUMBER_OF}",
    re.IGNORECASE,
)
# No answer does without a date or a number then: "When is it paid?" may be answered by a condition.
_NEEDED = re.compile(
    rf"{_FOLLOWS}(?:(?:since|until|by) )?when (?:was|were|did)\b|\b(?:what|which) (?:year|date|decade|century)\b"
    rf"|{_FOLLOWS}{_NUMBER_OF}",
    re.IGNORECASE,
)
_AMOUNT_ASKED = re.compile(
    r"\b(?:what|which)(?:['’]s| (?:was|were|is|are))\b.*\b(?P<amount>revenues?|income|loss(?:es)?|profits?|sales|"
    r"bookings|costs?|expenses?|prices?|rates?|ratio|margin|amount|total|share|percentage|value|assets|liabilities|cash|"
    r"debt|length|height|weight|width|depth|diameter|age|population|score|accuracy|size|temperature|distance)\b",
    re.IGNORECASE,
)
_STEPS_ASKED = re.compile(
    rf"{_FOLLOWS}how (?:do|can|could|should|would|must) (?:i|you|we|one|users?|people)\b|{_FOLLOWS}how to\b"
    r"|\b(?:what|which) (?:steps|command|commands)\b",
    re.IGNORECASE,
)
_DEFINITION_ASKED = re.compile(
    rf"{_FOLLOWS}(?:who|what) (?:is|are|was|were) (?:an? |the )?"
    r"((?:(?!(?:to|of|for|in|on|at|with|by|from|after|before|during)\b)[\w’'.-]+ ?){1,4}?)\s*\?*\s*$"
    rf"|{_FOLLOWS}what (?:does|do|did) (?:an? |the )?([\w’'. -]{{2,40}}?) (?:mean|stand for)\b",
    re.IGNORECASE,
)
_LIST_ASKED = re.compile(
    rf"{_FOLLOWS}(?:list|name|enumerate)\b|\b(?:what|which) (?:are|were) (?:the|some|all)?\b"
    rf"|\bwhat (?:kinds|types|sorts) of\b|{_FOLLOWS}(?:what|which) \w+s (?:are|were|does|do|can|did)\b",
    re.IGNORECASE,
)
_PLACE_ASKED = re.compile(
    rf"{_FOLLOWS}(?:from )?where\b|\b(?:what|which) (?:city|town|country|village|state|place)\b", re.IGNORECASE
)
_PERSON_ASKED = re.compile(rf"{_FOLLOWS}(?:(?:to|by|with|of|for|from) )?(?:who|whom|whose)\b", re.IGNORECASE)
_NAME_ASKED = re.compile(
    rf"{_FOLLOWS}(?:(?:in|on|at|from|to|by|with|of|for) )?which\b|\bwhat (?:is|was) the name\b", re.IGNORECASE
)
_REASON_ASKED = re.compile(
    rf"{_FOLLOWS}why\b|\b(?:what|which) (?:was |is |were |are )?(?:the )?reasons?\b", re.IGNORECASE
)
_REASON = re.compile(r"\b(?:because|due to|owing to|so that|in order to|reasons?|therefore|thus)\b", re.IGNORECASE)
# "May" and "march" are verbs as well.
_MONTHS = "january|february|april|june|july|august|september|october|november|december"
_WORDS = (
    "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|"
    "nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|billion|trillion"
)
_NUMERAL = re.compile(rf"\b\d[\d.,]*|\b(?:{_WORDS})\b", re.IGNORECASE)
_YEAR = re.compile(r"(?:1[89]|20)\d\d[.,]*$")
# The number of a table or of a product is no amount: "Table 18", "Llama 2".
_LABEL = re.compile(r"\b[A-Z][a-z]{2,}[ \u00a0]$")
_MONEY_ASKED = re.compile(r"\b(?:costs?|prices?|expensive)\b", re.IGNORECASE)
_MONEY = re.compile(r"[$€£¥₩]|\b(?:euros?|dollars?|pounds?|cents?|francs?|crowns?|kroner|yen|EUR|USD|GBP|CHF)\b")
_DATE = re.compile(
    rf"\b(?:1\d{{3}}|20\d\d)\b|\b\d{{1,2}}[./-]\d{{1,2}}[./-]\d{{2,4}}\b|\b(?:May|March)\b|(?i:\b(?:{_MONTHS})\b"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b\d{1,2}(?:st|nd|rd|th) century\b"
    r"|\b\d+ (?:years?|days?|months?|weeks?)\b"
    r"|\b(?:[01]?\d|2[0-3]):[0-5]\d\b|\b\d{1,2}(?:[.:]\d\d)? ?(?:[ap]m\b|[ap]\.m\.|o['’]clock\b)"
    r"|\b(?:noon|midday|midnight)\b)"
)
_DEFINES = (
    r"(?:(?:is|are|was|were) (?:an?|the|one|our|my|his|her|their)|means?|refers? to|stands? for|denotes?|consists? of)"
)
_COUNTED = re.compile(r"\bhow (?:many|much) ((?:[\w’'-]+ ){0,2}?[\w’'-]+?)(?=\W|$)", re.IGNORECASE)
_PERSON = re.compile(r"\b[A-Z][\w’'-]+,? (?:[A-Z]\.,? )?[A-Z][\w’'-]+")
_CAPITALISED = re.compile(r"(?<![.!?“\"] )(?<!^)\b[A-Z][\w’'-]+")
_IN_PLACE = re.compile(r"\b(?:in|at|near|from|to|of|on) (?:the )?[A-Z][\w’'-]+")


@dataclass(frozen=True, slots=True)
class Asks:
    """What a question asks for.

    Attributes:
        question: In lower case: what it names itself is no answer to it.
        kind: The kind of thing; empty where nothing in particular, or another language, is asked.
        about: What is counted, or what is to be defined, in lower case; empty where that cannot be told.
        amount: Of which quantity a figure is asked, such as 'population'; empty where none is named.
        numbers: Words that are numbers in the language of the question, folded, where that is not English.
        whether: Whether a yes or a no would answer: then a sentence with no other words than the question's may, too.
        needed: Whether nothing answers that does not hold a figure or a date.
    """

    question: str
    kind: EnglishQuestionKind
    about: str = ""
    amount: str = ""
    numbers: frozenset[str] = frozenset()
    whether: bool = False
    needed: bool = False

    @property
    def figure(self) -> bool:
        """Whether it asks for a number, an amount or a date: rows of tables have these."""
        return self.kind in ("figure", "date")

    def is_figure(self, text: str) -> bool:
        """Say whether a text holds a figure, or a date, where one is asked for."""
        if self.kind == "figure":
            return _has_amount(text) or not self.numbers.isdisjoint(map(fold_word, text.split()))
        return self.kind == "date" and bool(_DATE.search(text))

    def is_beside(self, text: str) -> bool:
        """Say whether a figure stands right before what is counted, two words between them at most, or is a price."""
        if self.kind == "figure" and _MONEY_ASKED.search(self.question) and _MONEY.search(text):
            return _has_amount(text)
        if self.kind != "figure" or not self.about:
            return False
        near = rf"(?:\d[\d,.]*|\b(?:{_WORDS}))(?:\W+[\w-]+){{0,2}}?\W+{re.escape(self.about)}"
        return bool(re.search(near, text, re.IGNORECASE))

    def is_name(self, text: str) -> bool:
        """Say whether a text holds a name that is not in the question, where one is asked for."""
        if self.kind not in ("person", "name", "place"):
            return False
        # A name of the question itself is no answer to it.
        found = {"place": _IN_PLACE, "person": _PERSON}.get(self.kind, _CAPITALISED).findall(text)
        return any(words.split()[-1].lower() not in self.question for words in found) or (
            self.kind == "person" and any(word.lower() not in self.question for word in _CAPITALISED.findall(text))
        )

    def is_defined(self, text: str) -> bool:
        """Say whether a text says of what is asked about what it is, where that is asked."""
        if self.kind != "definition" or not self.about:
            return False
        thing = re.escape(self.about)
        return bool(
            re.search(rf"\b{thing}s?\b(?: \([^)]{{1,30}}\))?,? {_DEFINES}\b", text, re.IGNORECASE)
            or re.search(rf"\b{thing}\b, (?:an?|the|who|which)\b", text, re.IGNORECASE)
            # As contracts name their parties: 'Harbour Ltd ("the Landlord")'.
            or re.search(rf"\(\W?(?:(?:an?|the) )?{thing}\W?\)", text, re.IGNORECASE)
        )

    def is_form(self, form: StatementForm) -> bool:
        """Say whether a statement has the form that is asked for: a list, or steps and code."""
        return form in {"list": ("list",), "steps": ("list", "code")}.get(self.kind, ())

    def bonus(self, text: str, form: StatementForm) -> float:
        """Return what a statement is worth above its relevance for being of the kind that is asked for."""
        return (
            FIGURE * self.is_figure(text)
            + BESIDE * self.is_beside(text)
            + NAME * self.is_name(text)
            + DEFINED * self.is_defined(text)
            + REASON * (self.kind == "reason" and bool(_REASON.search(text)))
            + FORM * self.is_form(form)
        )


def _has_amount(text: str) -> bool:
    """Say whether a text has a number that is neither a year nor a part of a name."""
    return any(
        not _YEAR.match(found[0]) and not _LABEL.search(text, max(0, found.start() - 30), found.start())
        for found in _NUMERAL.finditer(text)
    )


def asks_in_english(question: str) -> Asks:
    """Return what an English question asks for; nothing in particular where the language is another one."""
    # The first that fits counts, the surest signs first: "When" tells more than "what ... are".
    asked: tuple[tuple[EnglishQuestionKind, re.Pattern[str]], ...] = (
        ("date", _DATE_ASKED),
        ("figure", _FIGURE_ASKED),
        ("figure", _AMOUNT_ASKED),
        ("reason", _REASON_ASKED),
        ("steps", _STEPS_ASKED),
        ("place", _PLACE_ASKED),
        ("name", _NAME_ASKED),
        ("definition", _DEFINITION_ASKED),
        ("person", _PERSON_ASKED),
        ("list", _LIST_ASKED),
    )
    kinds: list[EnglishQuestionKind] = [each for each, pattern in asked if pattern.search(question)]
    kind = kinds[0] if kinds else ""
    about = amount = ""
    if kind == "figure" and (named := _AMOUNT_ASKED.search(question)):
        amount = named["amount"]
    if kind == "definition" and (found := _DEFINITION_ASKED.search(question)):
        about = found[1] or found[2]
    elif kind == "figure" and (found := _COUNTED.search(question)):
        about = found[1]
    needed = kind in ("figure", "date") and bool(_NEEDED.search(question))
    return Asks(question.lower(), kind, about.strip().lower(), amount.lower(), needed=needed)
