"""What kind of thing an English question asks for, told by its words: a figure or a date, a name, or neither.

A question in another language asks for neither here, so its sentences are chosen by relevance alone.

The rules of question answering before models (Li and Roth 2002 sort questions the same way): they only raise sentences
that hold such a thing, and never exclude one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_ASKS_FIGURE = re.compile(
    r"^\W*(when (did|do|does|was|were|is|are|will|has|have|had|can|should)|how (many|much|long|old|large|big|tall|high|"
    r"far|often))\b|\b(what|which) (year|date|month|day|percentage|share|number)\b",
    re.IGNORECASE,
)
_ASKS_AMOUNT = re.compile(
    r"\b(?:what|which)(?:['’]s| (?:was|were|is|are))\b.*\b(?:revenues?|income|loss(?:es)?|profits?|sales|bookings|"
    r"costs?|expenses?|prices?|rates?|ratio|margin|amount|total|share|percentage|value|assets|liabilities|cash|debt|length|"
    r"height|weight|width|depth|diameter|age|population|score|accuracy|size|temperature|distance)\b",
    re.IGNORECASE,
)
_ASKS_NAME = re.compile(
    r"^\W*(?:(?:in|on|at|from|to|by|with|of|for) )?(?:who|whom|whose|where|which)\b|\bwhat (?:is|was) the name\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(
    r"\b\d|\b(two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|seventy|"
    r"eighty|ninety|hundred|thousand|million|billion|trillion|january|february|march|april|may|june|july|august|"
    r"september|october|november|december|(mon|tues|wednes|thurs|fri|satur|sun)days?)\b",
    re.IGNORECASE,
)
_CAPITALISED = re.compile(r"(?<![.!?“\"] )(?<!^)\b[A-Z][\w’'-]+")


@dataclass(frozen=True, slots=True)
class Asks:
    """What a question asks for.

    Attributes:
        question: In lower case: what it names itself is no answer to it.
        figure: Whether it asks for a number, an amount or a date.
        name: Whether it asks for a person, a place or one thing of several.
    """

    question: str
    figure: bool
    name: bool

    def is_figure(self, text: str) -> bool:
        """Say whether a text holds a figure, where one is asked for."""
        return self.figure and bool(_FIGURE.search(text))

    def is_name(self, text: str) -> bool:
        """Say whether a text holds a name that is not in the question, where one is asked for."""
        return self.name and any(word.lower() not in self.question for word in _CAPITALISED.findall(text))


def asks_in_english(question: str) -> Asks:
    """Return what an English question asks for; nothing in particular where the language is another one."""
    figure = bool(_ASKS_FIGURE.search(question) or _ASKS_AMOUNT.search(question))
    return Asks(question.lower(), figure, not figure and bool(_ASKS_NAME.search(question)))
