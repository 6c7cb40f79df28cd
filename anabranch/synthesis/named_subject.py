"""What a question names, so that a statement about another year, product or person does not answer it.

A likeness in meaning cannot tell "GPT-5" from "GPT-4", nor the revenue of one company from another's. Here nothing is
known of what a name means: it has to stand somewhere in what was found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from anabranch.citations.tokens import Token, tokens
from anabranch.text.function_words import fold_word
from anabranch.text.language import language_of

# "Llama2", "Llama-2" and "llama_2" are all read as "llama 2".
_PART = re.compile(r"[^\W\d_]+|\d+")
_CODE = re.compile(r"[^\W\d_]+[\W_]?\d")
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

    def is_met(self, answering: Sequence[str], found: Iterable[Sequence[str]]) -> bool:
        """Tell whether passages are about what is named.

        Args:
            answering: The passage that would answer, and what is over it. It has all that is `numbered`.
            found: All passages that were found, each with what is over it. One has one of the names: the passage that
                answers may have a pronoun.
        """
        here = [_parts(text) for text in answering]
        if not all(_stands_in(each, here) for each in self.numbered):
            return False
        read = [_parts(text) for texts in found for text in texts]
        return not self.names or any(_stands_in(name, read) for name in self.names)


def named_subject(question: str) -> NamedSubject:
    """Return what a question names; the first word is no name, since a sentence begins with a capital."""
    read = tokens(question, language_of(question, "english"))
    numbered: set[Parts] = set()
    names: set[Parts] = set()
    for at, token in enumerate(read):
        after = read[at + 1] if at + 1 < len(read) else None
        written = question[token.start : token.end]
        if token.kind == "figure" and _YEAR.fullmatch(written):
            numbered.add((written,))
        elif token.kind in ("name", "code"):
            if _CODE.match(written):
                numbered.add(_without_possessive(written))
            elif after and _numbers(after, question):
                numbered.add((*_without_possessive(written), question[after.start : after.end]))
            else:
                names.add(_without_possessive(written))
    return NamedSubject(frozenset(numbered), frozenset(names))


def _numbers(token: Token, question: str) -> bool:
    written = question[token.start : token.end]
    return token.kind == "figure" and not token.opens and written.isdecimal() and not _YEAR.fullmatch(written)


def _without_possessive(written: str) -> Parts:
    return _parts(re.split(r"['’]", written, maxsplit=1)[0])


def _parts(text: str) -> Parts:
    return tuple(fold_word(part) for part in _PART.findall(text))


def _stands_in(parts: Parts, texts: Sequence[Parts]) -> bool:
    return any(text[at : at + len(parts)] == parts for text in texts for at in range(len(text) - len(parts) + 1))
