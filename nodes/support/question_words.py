"""The words of a question that evidence can have, spelt as they were searched for."""

from __future__ import annotations

from collections.abc import Mapping

from anabranch.agent.nodes.state import RetrievalState, State
from anabranch.parsing.query_list import WORD
from anabranch.store.protocol import CorpusReader
from anabranch.text.function_words import LIGHT, fold_word
from anabranch.text.language import language_of
from anabranch.text.phrases import without_courtesy
from anabranch.text.stopwords import STOP_WORDS

# Kind of the question with words corrected that no passage has; a person's own words are searched for as well.
SPELLING = "spelling"
# The same where nothing was misspelt, and the documents have another form of the word: shown to nobody as a correction.
FORM = "form"


def as_asked(state: RetrievalState | State) -> str:
    """Return the question of this turn by itself, without the courtesies around it; the messages keep these."""
    return without_courtesy(state["original_question"])


def shown_queries(state: RetrievalState | State) -> list[str]:
    """Return the queries that people and models are told of."""
    return [query["text"] for query in state["queries"] if query["kind"] != FORM]


def own_words(state: RetrievalState | State) -> dict[str, str]:
    """Return the words of the question with other forms in it, each with the reader's; nothing where there is none."""
    asked = WORD.findall(state["standalone_question"])
    searched = [WORD.findall(query["text"]) for query in state["queries"] if query["kind"] == FORM]
    # One word was put in the place of one.
    return {word: own for words in searched if len(words) == len(asked) for word, own in zip(words, asked, strict=True)}


def as_searched(state: RetrievalState | State) -> str:
    """Return the question that was searched for, with its words as the documents spell them."""
    spelt = [query["text"] for query in state["queries"] if query["kind"] in (SPELLING, FORM)]
    return spelt[0] if spelt else state["standalone_question"]


async def words_by_term(corpus: CorpusReader, question: str) -> dict[str, str]:
    """Return the analysed terms of a question, each with its word.

    Left out are its stop words where the corpus is of another language, whose analyser keeps them.
    """
    words = WORD.findall(question)
    read = list(zip([word.lower() for word in words], words, await corpus.analyse(words), strict=True))
    small = STOP_WORDS.get(language_of(question), frozenset())
    kept = [bool(terms) for lower, _, terms in read if lower in small]
    is_foreign = 2 * sum(kept) > len(kept)
    return {term: word for lower, word, terms in read for term in terms if not (is_foreign and lower in small)}


def light_terms(words: Mapping[str, str], question: str, language: str = "english") -> frozenset[str]:
    """Return the terms of the words that may be in any question of its language, such as "get".

    Args:
        words: Of the question, by term.
        question: As it was searched for.
        language: Taken where the question is too short to tell its own.
    """
    known = LIGHT.get(language_of(question, language), frozenset())
    return frozenset(term for term, word in words.items() if fold_word(word) in known)
