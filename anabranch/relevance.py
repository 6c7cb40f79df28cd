"""Reads a model's judgements of relevance, and orders passages by them. No passage is ever lost to a bad reply."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from anabranch.corpus.store import RankedList
from anabranch.replies.structured import MAX_REPLY, find_json
from anabranch.replies.thinking import drop_thinking

BEST = 10.0

_DOC = r"(?:doc(?:ument)?|passage|source|id)s?"
_SCORE = r"(?:relevance|relevancy|relevant|score|rating)"
_NUMBER = r"(?<![\d.,])-?\d{1,6}(?:[.,]\d{1,6})?(?!\w)"
_OF = rf"(?P<score>{_NUMBER})(?:\s*/\s*(?P<scale>\d{{1,4}})(?!\d)|\s*(?P<percent>%))?"
_MARKUP = re.compile(r"[*_`|]+")

_LABELLED = re.compile(
    rf"\b{_DOC}\b[\s.:=#\[(]*(?:(?:no|number|id)\b[\s.:=#]*)?(?P<doc>-?\d{{1,6}})(?!\d)"
    rf"(?P<between>(?:(?!\b{_DOC}\b[\s.:=#\[(]*-?\d|\b{_SCORE}\b\s*(?:score)?\s*[:=]).){{0,300}}?)"
    rf"\b{_SCORE}\b\s*(?:score|is|of)?[\s:=(\[\"']*{_OF}",
    re.IGNORECASE | re.DOTALL,
)
_BARE = re.compile(
    rf"^\W*(?:{_DOC}\b[\s.:=#]*)?(?P<doc>-?\d{{1,6}})(?!\d)\s*[\])]?[\s:,;=>(\[.–—-]*?[\s:,;=>(\[]"
    rf"(?:(?:(?!\b{_DOC}\b[\s.:=#\[(]*-?\d)[^\n])*?\b{_SCORE}\b[\s:=(]*)?{_OF}\s*[)\]]?[\s.,;]*$",
    re.IGNORECASE,
)
_VALUE = re.compile(rf"^\s*{_OF}\s*$")

_DOC_KEYS = ("doc", "document", "passage", "id", "index", "number", "doc_id", "document_id", "n")
_SCORE_KEYS = ("relevance", "score", "rating", "relevance_score", "relevancy")
_BRACKETED = re.compile(r"\[\s*(?:doc(?:ument)?|passage)?\s*(\d{1,6})\s*\]", re.IGNORECASE)
_NAMED = re.compile(rf"\b{_DOC}\b[\s.:=#]*(\d{{1,6}})(?!\d)", re.IGNORECASE)
_NUMBERS_ONLY = re.compile(r"^(?:[\w ]{0,40}:)?[\s(*]*\d{1,6}(?:(?:\s*[>,;=-]+\s*|\s+)\d{1,6})*[\s).*]*$")
_INTEGER = re.compile(r"\D{0,12}?(\d{1,6})\D{0,2}")


def parse_relevance(reply: str, count: int) -> dict[int, float]:
    """Read lines like "Doc: 9, Relevance: 7" in the many ways that models write them.

    Understands "Document 2 - Relevance: 9", "[2] 9", "- Doc 2 (9)", "Doc: 3, Relevance: 7/10", decimals, percentages,
    labels on lines of their own, and JSON lists and objects. A judgement that cannot be read is skipped by itself and
    shifts no other. Where a passage is judged more than once the best counts: a reply that rambles on, or repeats what
    a passage said about itself, may then cost a reader one passage too many but never the one that matters.

    Args:
        reply: Anything a model wrote.
        count: How many passages it was shown, numbered from 1.

    Returns:
        Relevance in [0, 10] by 0-based index; empty where nothing can be read. Never raises.
    """
    text = drop_thinking(reply[:MAX_REPLY])
    found: dict[int, float] = {}
    judgements = list(_from_json(find_json(text), count)) or list(_from_text(text))
    for doc, score in judgements:
        if 1 <= doc <= count and score is not None and 0 <= score <= BEST:
            found[doc - 1] = max(score, found.get(doc - 1, 0.0))
    return found


def _from_text(text: str) -> Iterator[tuple[int, float | None]]:
    plain = _MARKUP.sub(" ", text)
    for match in _LABELLED.finditer(plain):
        yield int(match["doc"]), _value(match)
    for line in plain.splitlines():
        if bare := _BARE.match(line[:200]):
            yield int(bare["doc"]), _value(bare)


def _value(match: re.Match[str]) -> float | None:
    """Return a score on the scale of 0 to 10, from "7", "7.5", "7,5", "7/10", "70/100" or "70 %"."""
    score = float(match["score"].replace(",", "."))
    if match["percent"]:
        return score / 10
    if match["scale"]:
        scale = int(match["scale"])
        return score * BEST / scale if scale else None
    return score


def _from_json(value: object, count: int) -> Iterator[tuple[int, float | None]]:
    """Yield judgements from [{"doc": 1, "relevance": 7}], {"1": 7}, [[1, 7]], or either under a key of an object."""
    if isinstance(value, list):
        for item in value[: 10 * max(count, 0)]:
            yield from _from_item(item)
    elif isinstance(value, dict):
        yield from _from_item(value)
        for key, item in list(value.items())[: 10 * max(count, 0)]:
            if (doc := _document(key)) is not None:
                yield doc, _score(item)
            elif isinstance(item, list | dict):
                yield from _from_json(item, count)


def _from_item(item: object) -> Iterator[tuple[int, float | None]]:
    if isinstance(item, list) and len(item) == 2:
        item = {"doc": item[0], "score": item[1]}
    if not isinstance(item, dict):
        return
    fields = {str(key).casefold(): value for key, value in item.items()}
    doc = _document(next((fields[key] for key in _DOC_KEYS if key in fields), None))
    if doc is not None:
        yield doc, _score(next((fields[key] for key in _SCORE_KEYS if key in fields), None))


def _document(value: object) -> int | None:
    """Return the number in 2, "2", "Doc 2" or "[2]"; None for a negative one and for what is no number."""
    text = str(value).strip()[:40]
    match = None if isinstance(value, bool | float) or text.startswith("-") else _INTEGER.fullmatch(text)
    return int(match[1]) if match else None


def _score(value: object) -> float | None:
    if isinstance(value, dict):
        value = next((value[key] for key in _SCORE_KEYS if key in value), None)
    match = None if isinstance(value, bool) else _VALUE.match(str(value)[:40])
    return _value(match) if match else None


def parse_ranking(reply: str, count: int) -> list[int]:
    """Read a listwise ranking such as {"ranking": [2, 1]} or "[2] > [1] > [3]".

    Args:
        reply: Anything a model wrote.
        count: How many passages it was shown, numbered from 1.

    Returns:
        Every 0-based index exactly once: those the reply names, then the others in their prior order; the prior order
        where nothing can be read. Never raises.
    """
    text = drop_thinking(reply[:MAX_REPLY])
    named = [number - 1 for number in _numbers(text) if 1 <= number <= count]
    return list(dict.fromkeys([*named, *range(count)]))


def _numbers(text: str) -> list[int]:
    """Return the first reading that names a passage: brackets, a JSON list, named documents, a line of numbers."""
    bracketed = _BRACKETED.findall(text)
    if len(bracketed) > 1:
        return [int(number) for number in bracketed]
    listed = list(_integers(find_json(text)))
    named = listed or [int(number) for number in bracketed or _NAMED.findall(text)]
    if named:
        return named
    lines = [line[:2000] for line in text.splitlines() if _NUMBERS_ONLY.match(line[:2000])]
    return [int(number) for line in lines for number in re.findall(r"\d{1,6}", line)]


def _integers(value: object, depth: int = 0) -> Iterator[int]:
    """Yield the passage numbers in a list, in an object's first list, or under the name of a document."""
    if depth > 3:
        return
    if isinstance(value, dict):
        fields = {str(key).casefold(): item for key, item in value.items()}
        documents = [fields[key] for key in _DOC_KEYS if key in fields]
        lists = [item for item in fields.values() if isinstance(item, list)]
        yield from _integers((documents or lists or [[]])[0], depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from _integers(item, depth + 1)
    elif (number := _document(value)) is not None:
        yield number


def rank_by_relevance(ids: Sequence[str], scores: Mapping[int, float], *, floor: float = 0.0) -> RankedList:
    """Order passages by relevance, equal relevance in prior order; no passage is lost.

    A passage without a judgement comes after those judged above `floor`, in prior order: a model lists the best first
    and leaves out what does not help, so its silence says a little. It comes before those judged at the floor or below:
    a reply that was cut off is silent too, while a low score is a verdict.

    Args:
        ids: Chunk ids in prior order, best first.
        scores: Relevance in [0, 10] by index into `ids`; indices out of range are ignored.
        floor: Score up to which a judged passage counts as irrelevant, and that unjudged ones get.

    Returns:
        One ranked list of the same ids.
    """

    def order(index: int) -> tuple[float, bool, int]:
        return (-scores.get(index, floor), index in scores, index)

    places = sorted(range(len(ids)), key=order)
    return RankedList(ids=[ids[place] for place in places], scores=[float(scores.get(i, floor)) for i in places])
