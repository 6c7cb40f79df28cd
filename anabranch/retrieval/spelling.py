"""Corrects words of a question that no passage has to words that passages have.

One letter more, less, other or swapped with its neighbour, which Damerau (1964) found in four of five misspellings; or
two words written as one, "skijoring" for "ski-joring". Only words in what the caller may read are taken, and only from
passages in the question's language: "muss" is German, and no misspelt English "miss".
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from anabranch.store.protocol import CorpusReader, Scope, TermStatistics
from anabranch.text.language import language_of
from anabranch.text.scripts import main_script

# Lengths of words to correct: shorter ones all have neighbours, and those of longer ones take seconds.
LEAST, LONGEST = 4, 40
LEAST_PART = 3
# Most words to correct in a question.
MOST = 3
# Most candidates per word whose language is checked, most frequent first, and passages that show it.
CANDIDATES, PASSAGES = 8, 3
_WORD = re.compile(r"[^\W_]+")
# Codes and abbreviations, "CHEK2" and "OPMLs", have neighbours that are something else.
_CODE = re.compile(r".*\d|.+[^\W\d_a-zß-öø-ÿ](?<=[A-Z])")
# The analyser folds accents. Other scripts use only the letters of the word itself.
_ALPHABETS = {
    "Latin": "abcdefghijklmnopqrstuvwxyz",
    "Cyrillic": "абвгдежзийклмнопрстуфхцчшщъыьэюя",
    "Greek": "αβγδεζηθικλμνξοπρστυφχψω",
}


async def correct_words(corpus: CorpusReader, question: str, scope: Scope) -> dict[str, str]:
    """Return the likely meaning of each misspelt word of the question.

    Of several candidates in its language the one that most passages have, by inverse document frequency. Nothing is
    corrected in a question that does not tell its language.
    """
    language = language_of(question)
    if not language or not isinstance(corpus, TermStatistics):
        return {}
    words = list(dict.fromkeys(_WORD.findall(question)))
    words = [word for word in words if LEAST <= len(word) <= LONGEST and not _CODE.match(word)]
    analysed = await corpus.analyse(words)
    known = await corpus.idf(words, scope)
    absent = [word for word, terms in zip(words, analysed, strict=True) if terms and known.keys().isdisjoint(terms)]
    # A word in the embedder's vocabulary is spelt correctly: the documents are about something else.
    tokens = await asyncio.to_thread(corpus.embedder.count, absent) if absent else []
    unknown = [word for word, count in zip(absent, tokens, strict=True) if count > 1]
    found = {word: await _candidates(corpus, word, scope) for word in unknown[:MOST]}
    spoken = await _languages(corpus, dict.fromkeys(chain.from_iterable(found.values())), scope)
    fitting = {word: [near for near in found[word] if spoken[near] == language] for word in found}
    return {word: near[0] for word, near in fitting.items() if near}


def replace_words(question: str, words: Mapping[str, str]) -> str:
    """Return a question with the replacements of `correct_words`."""
    return _WORD.sub(lambda found: words.get(found[0], found[0]), question)


def other_forms(question: str, words: Mapping[str, str]) -> set[str]:
    """Return the corrected words that were spelt correctly, in another form than in the documents.

    Uses the stemmer of the question's language, for that of the corpus knows only its own endings.
    """
    language = language_of(question)
    from anabranch.text.analyzer import analyser

    terms = analyser(language).terms if language else str.split
    return {word for word, near in words.items() if terms(word) == terms(near)}


async def _candidates(corpus: TermStatistics, word: str, scope: Scope) -> list[str]:
    near = [each for each in dict.fromkeys(neighbours(word.lower())) if _begins_like(each, word.lower())]
    pairs = list(splits(word.lower()))
    texts = [*near, *(part for pair in pairs for part in pair)]
    # Search in the caller's scope: a suggestion must not reveal a word of hidden documents.
    idf = await corpus.idf(texts, scope)
    terms = dict(zip(texts, await corpus.analyse(texts), strict=True))
    each = ((_rating([text], terms, idf), text) for text in near)
    rated = [(rating, text) for rating, text in each if rating is not None]
    # Two words where one was written are less likely than one wrong letter.
    if not rated:
        both = ((_rating(pair, terms, idf), " ".join(pair)) for pair in pairs)
        rated = [(rating, text) for rating, text in both if rating is not None]
    return [text for _, text in sorted(rated)[:CANDIDATES]]


async def _languages(corpus: TermStatistics, words: Iterable[str], scope: Scope) -> dict[str, str]:
    """Return the language of the passages that hold each word; empty if it is uncertain."""
    asked = list(words)
    lists = await corpus.search("bm25", asked, PASSAGES, scope) if asked else []
    chunks = await corpus.chunks([chunk_id for found in lists for chunk_id in found["ids"]], scope)
    texts = (" ".join(chunks[chunk_id].text for chunk_id in found["ids"] if chunk_id in chunks) for found in lists)
    return dict(zip(asked, map(language_of, texts), strict=True))


def _begins_like(one: str, other: str) -> bool:
    """Tell whether two words begin alike: few misspellings are of the first letter (Kukich 1992)."""
    return one[:1] == other[:1] or one[:2] == other[1::-1]


def _rating(texts: Sequence[str], terms: Mapping[str, Sequence[str]], idf: Mapping[str, float]) -> float | None:
    """Return how rare the rarest of some words is; None where a passage has not all of them."""
    found = [idf.get(term) for text in texts for term in terms[text]]
    rare = [value for value in found if value is not None]
    return max(rare) if rare and len(rare) == len(found) >= len(texts) else None


def neighbours(word: str) -> Iterator[str]:
    """Yield all words at one edit from a word in lower case."""
    letters = _ALPHABETS.get(main_script(word), "")
    for at in range(len(word) + 1):
        before, after = word[:at], word[at:]
        if after:
            yield before + after[1:]
            yield from (before + letter + after[1:] for letter in letters if letter != after[0])
        if len(after) > 1 and after[0] != after[1]:
            yield before + after[1] + after[0] + after[2:]
        yield from (before + letter + after for letter in letters)


def splits(word: str) -> Iterator[tuple[str, str]]:
    """Yield the ways to write a word as two."""
    for at in range(LEAST_PART, len(word) - LEAST_PART + 1):
        yield word[:at], word[at:]
