"""Detects the language of a corpus, so that its words get the right stop words and stemmer.

Function words tell languages apart in a few sentences (Grefenstette 1995, "Comparing two language identification
schemes"). Only languages in Latin letters need this: other scripts identify themselves, word by word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from anabranch.text.stopwords import STOP_WORDS

USUAL = "english"
"""The language used where none is certain."""

SAMPLE = 100
"""Leaves that are sampled."""

# A third or more of running text is function words; lists, tables and code have few and keep the default.
_LEAST_SHARE = 0.15
_LEAST_LEAD = 1.5
_LEAST_WORDS = 20
_WORD = re.compile(r"[^\W\d_]+")
# A list without any ASCII word is of another script, which needs no detection.
_LATIN = {language: words for language, words in STOP_WORDS.items() if any(word.isascii() for word in words)}


def language_of(texts: Iterable[str]) -> str:
    """Return the language that most of the texts are in, 'english' where that is not certain.

    Returns:
        A language of `anabranch.text.stopwords`: its words have to be a seventh of all words, and half as many again
        as English ones.
    """
    counts = Counter(word for text in texts for word in _WORD.findall(text.casefold()))
    total = counts.total()
    hits = {language: sum(counts[word] for word in words) for language, words in _LATIN.items()}
    best = max(hits, key=lambda language: hits[language])
    is_certain = total >= _LEAST_WORDS and hits[best] >= max(_LEAST_SHARE * total, _LEAST_LEAD * hits[USUAL])
    return best if is_certain else USUAL


class LanguageFacts(Protocol):
    """A corpus whose language is detected."""

    def meta(self, name: str) -> str | None:
        """Return one fact about the corpus."""
        ...

    def keep_meta(self, facts: Mapping[str, str]) -> None:
        """Keep facts about the corpus."""
        ...

    def sample_texts(self, most: int) -> Sequence[str]:
        """Return the texts of the first leaves by id: ids are hashes of content, so those are a fair sample."""
        ...


def resolve_language(corpus: LanguageFacts) -> str:
    """Return the language of a corpus, detected from its documents where none was set.

    It is recorded once it is certain: a corpus that begins with three English notes may still become a German one.
    """
    known = corpus.meta("language")
    if known:
        return known
    texts = corpus.sample_texts(SAMPLE)
    found = language_of(texts)
    if found != USUAL or len(texts) == SAMPLE:
        corpus.keep_meta({"language": found})
    return found
