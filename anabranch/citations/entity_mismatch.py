"""Tells whether a claim is about somebody else than its evidence."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from anabranch.citations.proper_nouns import BETWEEN, Known, Word, has, known, mentions, words
from anabranch.text.analyzer import analyser

_PRONOUN = re.compile(
    r"\b(?:he|she|it|they|we|i|him|her|them|us|his|hers|its|their|our|my|this|these|that|those|who|which|whose|"
    r"the (?:company|firm|author|authors|group|team|town|city|country|model|system|product|man|woman|writer))\b",
    re.IGNORECASE,
)
_BY = re.compile(r"\bby\b", re.IGNORECASE)
_MUTUAL = frozenset(
    analyser().terms(
        "met meet married marry merged merge divorced borders border joined connects connect links between"
    )
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
    lacking = [
        word
        for word in stated_names(claim, names)
        if word.sure and not mentions(passage, word.folded) and not mentions(label, word.folded)
    ]
    # Reading a whole passage is dear, and few claims have a name that is not in it.
    return {word.folded for word in lacking if not _spelt_out(word, claim, (known(passage), known(label)))}


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
    here, title, said = known(quote), known(label), known(claim)
    certain = {*names, *title.capital}
    mine = [word for word in stated_names(claim[:_LONGEST], certain) if _stem(word)]
    its = [word for word in stated_names(quote[:_LONGEST], certain) if _stem(word)]
    missing = {w.folded for w in mine if w.sure and not has(here, w.folded) and not _spelt_out(w, claim, [here])}
    foreign = {w.folded for w in its if w.sure and not has(said, w.folded) and not _spelt_out(w, quote, [said])}
    if _turned(mine, its) and bool(_BY.search(claim)) == bool(_BY.search(quote)):
        return True
    if _replaced(mine, its, missing, foreign, passage) or (foreign and _only_strange(mine, here, passage)):
        return True
    elsewhere = {name for name in missing if not has(title, name)}
    return bool(elsewhere) and bool(foreign) and not _PRONOUN.search(quote)


def _turned(mine: Sequence[Word], its: Sequence[Word]) -> bool:
    """Tell whether who does and who is done to have changed places around a word that both texts have once."""
    left, right = [_stem(word) for word in mine], [_stem(word) for word in its]
    for at, word in enumerate(mine):
        stem = left[at]
        if word.sure or stem in _MUTUAL or left.count(stem) != 1 or right.count(stem) != 1:
            continue
        there = right.index(stem)
        doer, done = _sure(mine[:at]), _sure(mine[at + 1 :])
        if doer and done and not doer & done and doer == _sure(its[there + 1 :]) and done == _sure(its[:there]):
            return True
    return False


def _sure(run: Sequence[Word]) -> set[str]:
    return {_stem(word) for word in run if word.sure}


def _replaced(mine: list[Word], its: list[Word], missing: set[str], foreign: set[str], passage: str) -> bool:
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
        if (named and (others or _may_be(into, passage))) or (others and _may_be(out, passage)):
            return True
        strange = [word for word in out if word.maybe and not mentions(passage, word.folded)]
        if _may_be(strange, passage) and _may_be(into, passage):
            return True
    return False


def _only_strange(mine: list[Word], here: Known, passage: str) -> bool:
    """Tell whether the quote has all of the claim but its first word, which may be a name and is not in the passage."""
    lacking = [word for word in mine if not has(here, word.folded)]
    return len(lacking) == 1 and _may_be(lacking, passage) and not mentions(passage, lacking[0].folded)


def _same(one: Word, other: Word) -> bool:
    return has(known(one.folded), other.folded) or one.folded[:4] == other.folded[:4]


def _may_be(run: Iterable[Word], passage: str) -> bool:
    """Tell whether one of these may be a name: it begins a sentence, and the passage never writes it small."""
    return any(word.maybe and not word.folded.endswith("s") and not _is_common(word, passage) for word in run)


def _is_common(word: Word, passage: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(_stem(word) or word.folded)}", passage) is not None


def _stem(word: Word) -> str:
    return " ".join(analyser().terms(word.folded))
