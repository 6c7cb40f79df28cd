"""The words of a question to look for in evidence, as they were searched for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from anabranch.text.function_words import INTERROGATIVES, LIGHT, fold_word
from anabranch.text.language import language_of
from anabranch.text.stopwords import STOP_WORDS

if TYPE_CHECKING:
    from anabranch.store.protocol import CorpusReader
    from anabranch.types import Query

# Kind of a query that joins the question with the previous one; the question alone comes next.
TOGETHER = "together"
# The evidence score of such a question: the best cosine of the question alone.
ALONE = "dense_alone"
# Kind of the question with corrected spelling; the original words are searched for as well.
SPELLING = "spelling"
# Kind of the question with other forms of its words, as in the documents: not a correction, so neither people nor
# models see it.
FORM = "form"

WORD = re.compile(r"\w[\w'’.,-]*\w|\w")
"""Matches a word of a question as it is written."""

_LETTERS = re.compile(r"\w+")


def list_queries(queries: Sequence[Query]) -> list[str]:
    """Return the queries that people and models see."""
    return [query["text"] for query in queries if query["kind"] != FORM]


def find_own_words(question: str, queries: Sequence[Query]) -> dict[str, str]:
    """Return the other word forms that were searched for, each with the word of the question."""
    asked = WORD.findall(question)
    searched = [WORD.findall(query["text"]) for query in queries if query["kind"] == FORM]
    # Replacements are word for word.
    return {word: own for words in searched if len(words) == len(asked) for word, own in zip(words, asked, strict=True)}


def respell_question(question: str, queries: Sequence[Query]) -> str:
    """Return the question that was searched for, with its words as the documents spell them."""
    spelt = [query["text"] for query in queries if query["kind"] in (SPELLING, FORM)]
    return spelt[0] if spelt else question


async def map_terms(corpus: CorpusReader, question: str) -> dict[str, str]:
    """Return the analysed terms of a question, each with its word.

    Omits stop words of the question's language if the corpus's analyser keeps them.
    """
    words = WORD.findall(question)
    read = list(zip([word.lower() for word in words], words, await corpus.analyse(words), strict=True))
    small = STOP_WORDS.get(language_of(question), frozenset())
    kept = [bool(terms) for lower, _, terms in read if lower in small]
    is_foreign = 2 * sum(kept) > len(kept)
    return {term: word for lower, word, terms in read for term in terms if not (is_foreign and lower in small)}


def find_light_terms(words: Mapping[str, str], question: str, language: str = "english") -> frozenset[str]:
    """Return the terms of the words that may be in any question of its language, such as "get".

    Args:
        words: The question's words by term.
        question: The question as it was searched for.
        language: The language if the question is too short to detect one.
    """
    known = LIGHT.get(language_of(question, language), frozenset())
    return frozenset(term for term, word in words.items() if fold_word(word) in known)


def has_subject(question: str, language: str) -> bool:
    """Tell whether a question has a word beside numbers and those that only ask or are small in its language."""
    small = STOP_WORDS.get(language, frozenset())
    asking = INTERROGATIVES.get(language, frozenset())
    words = (word for word in _LETTERS.findall(question) if not any(map(str.isdigit, word)))
    return any(word.casefold() not in small and fold_word(word) not in asking for word in words)
