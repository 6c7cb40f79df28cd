"""What a question names, so that a statement about another year, product or person does not answer it.

A likeness in meaning cannot tell "GPT-5" from "GPT-4", nor the revenue of one company from another's. Here nothing is
known of what a name means: it has to stand somewhere in what was found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from anabranch.citations.tokens import Token, tokens
from anabranch.text.analyzer import UNSPACED
from anabranch.text.function_words import INTERROGATIVES, fold_word
from anabranch.text.language import language_of

# "Llama2", "Llama-2" and "llama_2" are all read as "llama 2"; a writing without blanks begins after any of them.
_PART = re.compile(rf"[{UNSPACED}]|[^\W\d_{UNSPACED}]+|\d+")
_CODE = re.compile(r"[^\W\d_]+[\W_]?\d")
_POSSESSIVE = re.compile(r"['’].*", re.DOTALL)
_YEAR = re.compile(r"1[5-9]\d\d|20\d\d")

Parts = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NamedSubject:
    """What a question names.

    Attributes:
        numbered: Years, codes with a number, and names with the number after them, in parts: ("llama", "2").
        names: Other names, in parts.
    """

    numbered: frozenset[Parts]
    names: frozenset[Parts]

    def is_numbered_in(self, texts: Iterable[str]) -> bool:
        """Tell whether all that is `numbered` stands in a passage and in what is over it."""
        read = [_parts(text) for text in texts] if self.numbered else []
        return all(_stands_in(each, read) for each in self.numbered)

    def is_named_in(self, texts: Iterable[str]) -> bool:
        """Tell whether one of the names is in any of the texts that were found: a passage may have a pronoun."""
        read = [_parts(text) for text in texts] if self.names else []
        return not self.names or any(_stands_in(name, read) for name in self.names)


def named_subject(question: str, language: str = "english") -> NamedSubject:
    """Return what a question names; the first word is no name, since a sentence begins with a capital.

    Args:
        question: As it was asked.
        language: Its own, or where it is too short to tell, that of the passages.
    """
    language = language_of(question, language)
    read = tokens(question, language)
    asking = INTERROGATIVES.get(language, frozenset())
    # Where all words have a capital, it tells nothing.
    is_title = all(question[token.start].isupper() for token in read if question[token.start].isalpha())
    numbered: set[Parts] = set()
    names: set[Parts] = set()
    for at, token in enumerate(read):
        after, further = (*read[at + 1 : at + 3], None, None)[:2]
        written = question[token.start : token.end]
        name = _POSSESSIVE.sub("", written)
        named = _parts(name)
        if _is_year(token, question):
            numbered.add(named)
        # "3rd" and "(3)" name nothing.
        elif token.kind not in ("name", "code") or not written[:1].isalpha():
            continue
        # "Q4 2021" may be written "the fourth quarter of 2021"; a year is written as it is.
        elif _CODE.match(name):
            numbered |= set() if _is_year(after, question) else {_code(named)}
        elif after and name == written and _numbers(after, question) and not is_title:
            numbered |= set() if _is_year(further, question) else {named + _parts(question[after.start : after.end])}
        elif token.text not in asking and not is_title:
            names.add(named)
    return NamedSubject(frozenset(numbered), frozenset(names))


def _is_year(token: Token | None, question: str) -> bool:
    return token is not None and token.kind == "figure" and bool(_YEAR.fullmatch(question[token.start : token.end]))


def _numbers(token: Token, question: str) -> bool:
    written = question[token.start : token.end]
    return token.kind == "figure" and not token.opens and written.isdecimal() and not _YEAR.fullmatch(written)


def _code(parts: Parts) -> Parts:
    """Return "rad 53" of "Rad53-dependent", "vps 9 a" of "VPS9a", and the year alone of "FY2021"."""
    last = max(at for at, part in enumerate(parts) if part.isdecimal())
    if _YEAR.fullmatch(parts[last]) and last == len(parts) - 1:
        return parts[last:]
    is_letter = len("".join(parts[last + 1 : last + 2])) == 1
    return parts[: last + 1 + is_letter]


def _parts(text: str) -> Parts:
    return tuple(fold_word(part) for part in _PART.findall(text))


def _stands_in(parts: Parts, texts: Sequence[Parts]) -> bool:
    return any(text[at : at + len(parts)] == parts for text in texts for at in range(len(text) - len(parts) + 1))
