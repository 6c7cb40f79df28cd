"""Reads search queries out of whatever a model wrote when it was asked for some."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from anabranch.replies.structured import MAX_REPLY, find_json
from anabranch.replies.thinking import drop_thinking

MAX_QUERY = 400
"""Characters of one query; more is no search query, and a retriever would only drown in it."""

_MAX_LINES = 200
_ITEM = re.compile(r"^\s*(?:[-*+•‣·–—]+\s+|[\[(]?\d{1,3}(?:[.):\]]+|\s+[-–—])(?:\s+|$)|[a-hA-H]\)\s+)+")
_LABEL = re.compile(
    r"^(?:search\s+)?(?:quer(?:y|ies)|questions?|q|variant|rewrite)\s*#?\d{0,3}\s*[:.)]\s*", re.IGNORECASE
)
_JSON = re.compile(r"(?:^|:)\s*(?:```\w*\s*)?(?=[\[{])", re.MULTILINE)
_INLINE_ITEM = re.compile(r"\s+(?=\(?\d{1,2}[.)]\s+\S)")
_CHATTER = re.compile(
    r"^(?:sure|certainly|of course|okay|ok|here(?:'s|’s| are| is)|below|the following|these (?:are|queries|should)|"
    r"let me|i hope|i(?:'m|’m| am) sorry|i (?:can(?:no|')t|cannot|could not|am unable)|as an ai|note:|feel free|"
    r"each (?:of these|query)|hope this)\b",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"\*\*|__|`+|^#+\s+")
_QUOTES = "\"'“”‘’«»„‚"
_NOT_WORD = re.compile(r"[\W_]+")
_QUERY_KEY = re.compile(
    r"(?:(?:search|sub|alt(?:ernative)?)?[\W_]*(?:query|question|rewrite|q|text))?[\W_]*\d*", re.IGNORECASE
)


def parse_queries(reply: str, *, limit: int, original: str) -> list[str]:
    """Return the distinct search queries of a reply, in order.

    Reads JSON lists and objects, numbered and bulleted lists and plain lines; leaves out fences, numbering, quotes,
    what comes before and after the list, and every query that says the same as an earlier one or as the original,
    apart from case and punctuation.

    Args:
        reply: Anything a model wrote, of any length.
        limit: Most queries to return.
        original: The query they were made from; the caller keeps it, so it is not among them.

    Returns:
        At most `limit` queries of at most `MAX_QUERY` characters; none where nothing can be read. Never raises.
    """
    text = drop_thinking(reply[:MAX_REPLY])
    # Brackets inside a line are part of a query.
    start = _JSON.search(text)
    found = list(_from_json(find_json(text[start.end() :]))) if start else []
    queries: list[str] = []
    seen = {_key(original), ""}
    for candidate in found or _from_lines(text):
        query = _clean(candidate)
        if _key(query) in seen:
            continue
        seen.add(_key(query))
        queries.append(query)
    return queries[: max(limit, 0)]


def _from_json(value: object, depth: int = 0) -> Iterator[str]:
    """Yield the strings of a list, of an object's lists, or under a key that means a query."""
    if depth > 3:
        return
    if isinstance(value, list):
        for item in value[:_MAX_LINES]:
            if isinstance(item, str):
                yield item
            else:
                yield from _from_json(item, depth + 1)
    elif isinstance(value, dict):
        yield from _from_object(value, depth)


def _from_object(value: dict[object, object], depth: int) -> Iterator[str]:
    for key, item in list(value.items())[:_MAX_LINES]:
        if isinstance(item, list | dict):
            yield from _from_json(item, depth + 1)
        elif isinstance(item, str) and _QUERY_KEY.fullmatch(str(key)):
            yield item


def _from_lines(text: str) -> Iterable[str]:
    """Return the items of a list where there is one, else every line that is not chatter."""
    lines = [line for line in text.split("\n", _MAX_LINES)[:_MAX_LINES] if line.strip() and "```" not in line]
    if len(lines) == 1:
        lines = _INLINE_ITEM.split(lines[0])
    items = [line for line in lines if _ITEM.match(line)]
    return items or [line for line in lines if not _is_chatter(line)]


def _is_chatter(line: str) -> bool:
    plain = line.strip().strip("*_` ")
    return plain.endswith((":", "：")) or bool(_CHATTER.match(plain))


def _clean(line: str) -> str:
    """Return one query without numbering, labels, emphasis and quotes, on one line."""
    text = _MARKUP.sub("", _ITEM.sub("", line[: 4 * MAX_QUERY]))
    text = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    text = _LABEL.sub("", _ITEM.sub("", text)).strip().rstrip(",;")
    if len(text) > 1 and text[0] in _QUOTES and text[-1] in _QUOTES:
        text = text[1:-1].strip()
    return text if len(text) <= MAX_QUERY else text[:MAX_QUERY].rsplit(" ", 1)[0]


def _key(query: str) -> str:
    return _NOT_WORD.sub(" ", query.casefold()).strip()
