"""Reads search queries from a model's reply."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from anabranch.parsing.json_repair import MAX_REPLY, find_json
from anabranch.parsing.reasoning_blocks import drop_thinking
from anabranch.text.normalization import squeeze

MAX_QUERY = 400
"""Most characters of one query; longer text is no search query."""

_MAX_LINES = 200
_LINE_END = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_ITEM = re.compile(
    r"""^\s*(?:
        [-*+•‣·–—>]+\s+                                     # bullets
      | [#\[(]?\d{1,3}(?:[.):\]]+|\s+[-–—])(?:\s+|$)       # 1. 1) (1) [1] 1 -
      | \#\d{1,3}\s+ | \d{1,3}[、．]\s* | [①-⑳]\s* | [a-hA-H]\)\s+
    )+""",
    re.VERBOSE,
)
_LABEL = re.compile(
    r"""^(?:(?:search|step-?back|rewritten|alternative|hypothetical)\s+)?
    (?:(?:sub-?)?(?:quer(?:y|ies)|questions?)|q|variant|rewrite|alternative|passage|document)
    \s*\#?\d{0,3}\s*(?:[:.)：]\s*|$)""",
    re.IGNORECASE | re.VERBOSE,
)
_TOKEN = re.compile(r"<\|[^|<>\n]{0,40}\|>|</?s>\s*$", re.MULTILINE)
_CHANNEL = "<|message|>"
"""A model that thinks in channels writes this before each; the answer is in the last one."""

_TAGGED = re.compile(r"^\s*<([a-zA-Z][\w-]*)>(.*)</\1>\s*$")
_TAG = re.compile(r"^\s*</?[a-zA-Z][\w-]*>\s*$")
_TABLE_RULE = re.compile(r"\s*+(?:\|\s*+)?:?-{3,}+:?\s*+\|[\s|:-]*+$")
_TABLE_ROW = re.compile(r"\s*\|(?:\s*#?\d{1,3}\s*\|)?([^|]*)")
_EXPLAINED = re.compile(r"^[\"“«]([^\"”»]{3,})[\"”»]\s*[-–—:(].*")
# Matches from the first of several blanks, or a reply of line ends would take quadratic time.
_JSON = re.compile(r"(?:\A|:|(?<!\s)[^\S\n]*+\n)\s*+(?:```\w*+\s*+)?(?=[\[{])")
_INLINE_ITEM = re.compile(r"(?<!\s)\s++(?=\(?\d{1,2}[.)]\s+\S)")
_CHATTER = re.compile(
    r"^(?:(?:sure|certainly|of course|okay|ok|here(?:'s|’s| are| is)|below|the following|these (?:are|queries|should)|"
    r"let me|i hope|i(?:'m|’m| am) sorry|i (?:can(?:no|')t|cannot|could not|am unable)|as an ai|feel free|hope this|"
    r"each (?:of these|query)|no (?:further|more|other|additional) (?:query|queries|questions?))\b|note:)",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"\*\*|__|`+|^#+\s+")
_QUOTES = "\"'“”‘’«»„‚「」『』"
_NOT_WORD = re.compile(r"[\W_]+")
_NOTHING = frozenset({"", "none", "null", "n a", "na", "nothing"})
_QUERY_KEY = re.compile(
    r"""(?:(?:search|sub|step_?back|alt(?:ernative)?|rewritten|derived)?[\W_]*
    (?:quer(?:y|ies)|questions?|rewrites?|rewritten|variants?|alternatives?|q|texts?|passages?|documents?)?)?
    [\W_]*\d*""",
    re.IGNORECASE | re.VERBOSE,
)
_NO_QUERY_KEY = re.compile(r".*(?:original|reason|rationale|thought|explan|note|analysis).*", re.IGNORECASE)


def parse_queries(reply: str, *, limit: int, original: str) -> list[str]:
    """Return the distinct search queries of a reply, in order.

    Reads JSON lists and objects, numbered and bulleted lists, tables and plain lines; leaves out fences, tags,
    numbering, quotes, text around the list, and queries that differ from an earlier one or from the original only in
    case and punctuation.

    Args:
        reply: Anything a model wrote, of any length.
        limit: Most queries to return.
        original: The query they were made from, which is not among them.

    Returns:
        At most `limit` queries of at most `MAX_QUERY` characters, which may be none. Never raises.
    """
    text = _TOKEN.sub("\n", drop_thinking(reply[:MAX_REPLY]).rpartition(_CHANNEL)[2])
    text = _LINE_END.sub("\n", text)
    queries: list[str] = []
    # Also in the form that it has after parsing, where a long query is cut.
    seen = {_key(original), _key(_clean(original)), *_NOTHING}
    # JSON first, because each of its lines would look like a query.
    for candidate in list(_from_json(_json_in(text))) or _from_lines(text):
        query = _clean(candidate)
        if _key(query) in seen:
            continue
        seen.add(_key(query))
        queries.append(query)
    return queries[: max(limit, 0)]


def select_queries(texts: Sequence[str], *, limit: int, original: str) -> list[str]:
    """Return the distinct queries among texts that were written by a program: no list, numbers or labels to remove.

    Args:
        texts: The queries, in their order.
        limit: Most queries to return; of the texts, no more than 200 are looked at.
        original: The query they were made from, which is not among them.

    Returns:
        At most `limit` queries of at most `MAX_QUERY` characters, each on one line.
    """
    queries: list[str] = []
    seen = {_key(original), _key(_cut(squeeze(original))), *_NOTHING}
    for text in texts[:_MAX_LINES]:
        query = _cut(squeeze(text[: 4 * MAX_QUERY]))
        if _key(query) not in seen:
            seen.add(_key(query))
            queries.append(query)
    return queries[: max(limit, 0)]


def _json_in(text: str) -> list[object]:
    """Return the value that begins a line or follows a colon, and values on later lines."""
    # Brackets inside a line are part of a query.
    start = _JSON.search(text)
    first = find_json(text[start.end() :]) if start else None
    lines = text.split("\n", _MAX_LINES)[:_MAX_LINES] if first else []
    values = (find_json(line, cut_off="refuse") for line in lines if line.strip().endswith(("}", "]")))
    whole: list[object] = [value for value in values if value]
    return whole if len(whole) > 1 and whole[0] == first else [first]


def _from_json(value: object, depth: int = 0) -> Iterator[str]:
    """Yield the strings of a list, of an object's lists, or under a key that means a query."""
    # Deeper nesting comes only from repeated brackets.
    if depth > 4:
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
        if _NO_QUERY_KEY.fullmatch(str(key)):
            continue
        if isinstance(item, list | dict):
            yield from _from_json(item, depth + 1)
        elif isinstance(item, str) and _QUERY_KEY.fullmatch(str(key)):
            yield item


def _from_lines(text: str) -> Iterable[str]:
    """Return the items of a list or the rows of a table, else every line that is not chatter."""
    lines = [line for line in text.split("\n", _MAX_LINES)[:_MAX_LINES] if line.strip() and "```" not in line]
    # Some models write a numbered list without line breaks.
    if len(lines) == 1:
        lines = _INLINE_ITEM.split(lines[0])
    rule = next((place for place, line in enumerate(lines) if _TABLE_RULE.match(line)), None)
    if rule is not None:
        return [row[1] for line in lines[rule + 1 :] if (row := _TABLE_ROW.match(line))]
    items = [line for line in lines if _ITEM.match(line)]
    if items:
        # Indented lines below an item explain it.
        margin = min(map(_indent, items))
        return [_EXPLAINED.sub(r"\1", _ITEM.sub("", line)) for line in items if _indent(line) <= margin + 1]
    return [line for line in lines if not (_TAG.match(line) or _is_chatter(line))]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_chatter(line: str) -> bool:
    plain = line.strip().strip("*_` ")
    return plain.endswith((":", "：")) or bool(_CHATTER.match(plain))


def _clean(line: str) -> str:
    """Return one query without numbering, labels, emphasis and quotes, on one line."""
    text = _MARKUP.sub("", _ITEM.sub("", _TAGGED.sub(r"\2", line[: 4 * MAX_QUERY])))
    text = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    text = _LABEL.sub("", _ITEM.sub("", text)).strip().rstrip(",; ")
    if len(text) > 1 and text[0] in _QUOTES and text[-1] in _QUOTES:
        text = text[1:-1].strip()
    return _cut(text)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_QUERY else text[:MAX_QUERY].rsplit(" ", 1)[0]


def _key(query: str) -> str:
    return _NOT_WORD.sub(" ", query.casefold()).strip()
