"""Tells whether a claim is about somebody else than its evidence."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from difflib import SequenceMatcher

from anabranch.corpus.analysis import analyser
from anabranch.names import BETWEEN, Known, Word, has, known, words

_PRONOUN = re.compile(
    r"\b(?:he|she|it|they|we|i|him|her|them|us|his|hers|its|their|our|my|this|these|that|those|who|which|whose|"
    r"the (?:company|firm|author|authors|group|team|town|city|country|model|system|product|man|woman|writer))\b",
    re.IGNORECASE,
)
_LONGEST = 600
_RUN = 3


def stated_names(claim: str, names: Collection[str]) -> tuple[Word, ...]:
    """Return the words of a claim, those at its beginning told by the names that are known from elsewhere."""
    return tuple(
        replace(word, sure=True) if word.maybe and not word.sure and word.folded in names else word
        for word in words(claim)
    )


def unknown_names(claim: str, passage: str, label: str, names: Collection[str] = ()) -> set[str]:
    """Return the names of a claim that neither the passage nor its label has, however inflected.

    Args:
        claim: One statement.
        passage: What is to support it.
        label: Title, heading and source of the passage.
        names: Words that are names, from the question and all passages.
    """
    here = (known(passage), known(label))
    return {
        word.folded
        for word in stated_names(claim, names)
        if word.sure and not any(has(each, word.folded) for each in here) and not _spelt_out(word, claim, here)
    }


def _spelt_out(word: Word, claim: str, here: Iterable[Known]) -> bool:
    """Tell whether the passage has the acronym of the names in a row that a word is part of."""
    run: list[Word] = []
    runs: list[list[Word]] = []
    for each in words(claim):
        joined = run and BETWEEN.fullmatch(claim, run[-1].end, each.start)
        run = [*run, each] if joined and (each.sure or each.maybe) else [each]
        runs.append(run)
    acronyms = {"".join(item.folded[0] for item in each) for each in runs if word in each and len(each) > 1}
    return any(acronyms & text.all for text in here)


def other_name(claim: str, quote: str, passage: str, label: str, names: Collection[str] = ()) -> bool:
    """Tell whether a quote says of somebody else what the claim says of a name.

    Either a name stands in the place of another one, word for word around it, or the claim's name is only elsewhere in
    the passage while the quote names others and no pronoun could mean it.

    Args:
        claim: One statement.
        quote: Words of the passage.
        passage: What is around the quote.
        label: Title, heading and source of the passage.
        names: See `unknown_names`.
    """
    here, around, title, said = known(quote), known(passage), known(label), known(claim)
    certain = {*names, *title.capital}
    mine = [word for word in stated_names(claim[:_LONGEST], certain) if _stem(word)]
    its = [word for word in stated_names(quote[:_LONGEST], certain) if _stem(word)]
    missing = {w.folded for w in mine if w.sure and not has(here, w.folded) and not _spelt_out(w, claim, [here])}
    foreign = {w.folded for w in its if w.sure and not has(said, w.folded) and not _spelt_out(w, quote, [said])}
    if _replaced(mine, its, missing, foreign, around) or (foreign and _only_strange(mine, here, around)):
        return True
    elsewhere = {name for name in missing if not has(title, name)}
    return bool(elsewhere) and bool(foreign) and not _PRONOUN.search(quote)


def _replaced(mine: list[Word], its: list[Word], missing: set[str], foreign: set[str], around: Known) -> bool:
    """Tell whether, where the two run alike, one has a name and the other has another."""
    left, right = [_stem(word) for word in mine], [_stem(word) for word in its]
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    for tag, first, last, start, end in matcher.get_opcodes():
        if tag != "replace" or last - first > _RUN or end - start > _RUN:
            continue
        out, into = mine[first:last], its[start:end]
        if len(out) == len(into) == 1 and out[0].sure and into[0].sure and not _same(out[0], into[0]):
            return True
        named, others = [w for w in out if w.folded in missing], [w for w in into if w.folded in foreign]
        strange = [word for word in out if not has(around, word.folded)]
        if (named and (others or _may_be(into, around))) or (_may_be(strange, around) and _may_be(into, around)):
            return True
        if others and _may_be(out, around):
            return True
    return False


def _only_strange(mine: list[Word], here: Known, around: Known) -> bool:
    """Tell whether the quote has all of the claim but its first word, which may be a name and is not in the passage."""
    lacking = [word for word in mine if not has(here, word.folded)]
    return len(lacking) == 1 and not has(around, lacking[0].folded) and _may_be(lacking, around)


def _same(one: Word, other: Word) -> bool:
    return has(known(one.folded), other.folded) or one.folded[:4] == other.folded[:4]


def _may_be(run: Iterable[Word], around: Known) -> bool:
    """Tell whether one of these may be a name: it begins a sentence, and the passage never writes it small."""
    return any(
        word.maybe and not word.folded.endswith("s") and not {word.folded, _stem(word)} & around.common for word in run
    )


def _stem(word: Word) -> str:
    return " ".join(analyser().terms(word.folded))
