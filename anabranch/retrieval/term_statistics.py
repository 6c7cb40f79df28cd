"""How rare words are and where they occur, from the store if it knows, else estimated."""

from __future__ import annotations

from collections.abc import Sequence

from anabranch.models.usage import note_failure
from anabranch.store.protocol import CorpusReader, Scope, TermStatistics


async def idf_of(corpus: CorpusReader, words: Sequence[str], scope: Scope) -> dict[str, float]:
    """Return the inverse document frequency of each analysed term of `words` that the corpus holds.

    If the store lacks `TermStatistics`, all terms get 1 and the step counts as degraded: common words count like rare
    ones.
    """
    if isinstance(corpus, TermStatistics):
        return await corpus.idf(words, scope)
    note_failure("the store does not report word rarity: all words count the same")
    return {term: 1.0 for terms in await corpus.analyse(words) for term in terms}


async def occurring_in(
    corpus: CorpusReader, words: Sequence[str], ids: Sequence[str], scope: Scope
) -> dict[str, frozenset[str]]:
    """Return which analysed terms of `words` each of these leaves has; those that are gone or hidden are absent."""
    # Use the index if there is one: analysing every passage again takes as long as the search.
    if isinstance(corpus, TermStatistics):
        return await corpus.occurring(words, ids, scope)
    found = await corpus.chunks(ids, scope)
    asked = {term for terms in await corpus.analyse(words) for term in terms}
    from anabranch.store.records import embedded_text

    texts = [embedded_text(chunk.title, chunk.heading, chunk.text) for chunk in found.values()]
    analysed = await corpus.analyse(texts)
    return {chunk_id: frozenset(terms) & asked for chunk_id, terms in zip(found, analysed, strict=True)}
