"""Takes "According to the passages," off a claim: it speaks of the passages, and none of them says so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from anabranch.citations.tokens import Token, tokens
from anabranch.parsing.refusal import SourceWords, source_words
from anabranch.text.function_words import fold_word

# Words of a lead-in at most.
_LONGEST = 20
# Characters that hold so many.
_READ = 200


def without_lead_in(claim: str) -> str:
    """Return a claim without the words at its beginning that only name the passages as what it is from.

    "According to Grete Voss," says who says it, and stays.
    """
    first = fold_word(claim[:_READ])
    for language, words in source_words().items():
        # Most claims have no such word: they need not be read in each language.
        begins = first.lstrip("*_ ").startswith(tuple(lead[0] for lead in _leads(language)))
        if not begins and not any(word in first for word in words.leads_behind):
            continue
        read = tokens(claim[:_READ], language)[:_LONGEST]
        for end in (*_ends_behind(read, words), *_ends_before(read, words, language)):
            rest = claim[end:].lstrip(" ,:;*_")
            if rest.strip(" ."):
                return rest
    return claim


def _ends_before(read: Sequence[Token], words: SourceWords, language: str) -> Iterator[int]:
    """Yield where a lead-in such as "according to the text" ends."""
    for lead in _leads(language):
        if tuple(token.text for token in read[: len(lead)]) == lead:
            last = _last_of_sources(read, len(lead), words)
            if last:
                yield read[last].end


def _ends_behind(read: Sequence[Token], words: SourceWords) -> Iterator[int]:
    """Yield where a lead-in such as "dem Text zufolge" ends."""
    last = _last_of_sources(read, 0, words) if words.leads_behind else 0
    if last + 1 < len(read) and read[last + 1].text in words.leads_behind and last:
        yield read[last + 1].end


def _last_of_sources(read: Sequence[Token], first: int, words: SourceWords) -> int:
    """Return the place of the last word that is of the sources and of nothing else; 0 where none is named."""
    last = 0
    names_sources = False
    for at in range(first, len(read)):
        token = read[at]
        if token.opens and at > first:
            break
        is_source = token.text.startswith(words.sources)
        if is_source or token.text in words.given or (names_sources and _is_number(read, at)):
            last, names_sources = at, names_sources or is_source
        elif token.kind != "function":
            break
    return last if names_sources else 0


def _is_number(read: Sequence[Token], at: int) -> bool:
    """Tell whether a number says which passage, "passage 2,": no other word follows it."""
    follows = read[at + 1 : at + 2]
    return read[at].figure is not None and (not follows or follows[0].opens or follows[0].kind == "function")


@cache
def _leads(language: str) -> tuple[tuple[str, ...], ...]:
    """Return the words that begin a lead-in. Owner: this module; one entry for each language."""
    return tuple(tuple(token.text for token in tokens(lead, language)) for lead in source_words()[language].leads)
