"""Reads a reply in the answer protocol.

The model is asked to write the answer with [n] markers, then a line `QUOTES:` and lines `[n] "exact words"`; or
`NOT FOUND: what is missing` where the passages do not hold the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from anabranch.parsing.json_repair import MAX_REPLY, find_object
from anabranch.parsing.reasoning_blocks import drop_thinking
from anabranch.parsing.refusal import is_refusal
from anabranch.parsing.reply_sections import Sections
from anabranch.safety.link_removal import strip_links

MAX_QUOTES = 200
MAX_QUOTE = 2000
MAX_MISSING = 500
_PIECE = 1000

PREAMBLE = r"(?:sure|certainly|of course|okay|ok|here|below)\b[^\n{]{0,90}"
"""What chatty models say before they come to it, on a line of its own."""

JSON_BEGINNING = re.compile(rf"\s*(?:{PREAMBLE}\n\s*)?(?:```(?:json)?\s*)?\{{", re.IGNORECASE)
"""How a reply begins that is JSON although it was asked to be text."""

_ANSWER_KEYS = ("answer", "response", "final_answer", "new_answer", "revised_answer")
_QUOTE_KEYS = ("quotes", "citations", "evidence", "quote")
_NUMBER_KEYS = ("n", "number", "passage", "id", "index", "marker", "source", "doc")
_TEXT_KEYS = ("quote", "text", "words", "quotes", "content")
_MARKED = re.compile(r"^[\s*_]*(?:[-•]\s+)?(?:\[(\d{1,6}(?:\s*,\s*\d{1,6})*)\]|(\d{1,6})[.):])\s*[:–—-]?\s*(.*)$")
_NEXT_ON_LINE = re.compile(r"(?<=[\"”»])[\s,;]+(?=\[\d{1,6}\]\s*[:–—-]?\s*[\"“«])")
_OPENING = "\"“«'‘*`"
_CLOSING = "\"”»'’*`"


@dataclass(frozen=True, slots=True)
class AnswerReply:
    """What a reply in the answer protocol says.

    Attributes:
        answer: The text for the reader, with its [n] markers; no quotes, no protocol, and nothing that could be live in
            the reader's page (`strip_links`).
        quotes: The exact words that the model copied, by passage number; not checked.
        not_found: Whether the reply says that the passages do not hold the answer, and gives none.
        missing: What is missing, in the model's words; as harmless.
    """

    answer: str = ""
    quotes: dict[int, list[str]] = field(default_factory=dict)
    not_found: bool = False
    missing: str = ""


def split_answer(reply: str) -> AnswerReply:
    """Split a reply into answer, quotes and what is missing.

    Understands emphasis around the section names, quotes without a section, the same content as JSON, thoughts before
    the answer, and a repeated question. Where the reply has quotes and no answer, they are the answer. A refusal in the
    model's own words stays the answer and counts as not found.

    Args:
        reply: Anything a model wrote; no more than `MAX_REPLY` characters are read.

    Returns:
        What it says. Never raises.
    """
    text = drop_thinking(reply[:MAX_REPLY])
    if JSON_BEGINNING.match(text):
        found = find_object(text, cut_off="half")
        draft = from_object(found) if found is not None else None
        if draft is not None:
            return draft
    return _from_text(text)


def _from_text(text: str) -> AnswerReply:
    sections = Sections()
    pieces = [sections.feed(text[start : start + _PIECE]) for start in range(0, len(text), _PIECE)]
    answer = _shown("".join([*pieces, sections.finish()]))
    quotes = read_quotes(sections.text("quotes") or "")
    missing = sections.text("missing")
    if not answer and missing is None:
        answer = _shown(_from_quotes(quotes) or sections.text("echo") or "")
    if missing is None and is_refusal(answer):
        return AnswerReply(answer, quotes, not_found=True, missing=_line(answer))
    return AnswerReply(answer, quotes, not_found=missing is not None and not answer, missing=_line(missing or ""))


def _from_quotes(quotes: dict[int, list[str]]) -> str:
    return "\n".join(f"{quote} [{number}]" for number, several in quotes.items() for quote in several)


def _shown(text: str) -> str:
    return strip_links(text.strip()).strip()


def _line(text: str) -> str:
    return strip_links(" ".join(strip_links(text).split()))[:MAX_MISSING]


def from_object(value: dict[str, Any]) -> AnswerReply | None:
    """Read a reply out of a JSON object; None where it holds nothing of one."""
    fields = {str(key).casefold(): item for key, item in value.items()}
    answer = next((fields[key] for key in _ANSWER_KEYS if isinstance(fields.get(key), str)), None)
    missing = fields.get("missing")
    none = bool(fields.get("not_found")) or fields.get("action") == "keep"
    if answer is None and not isinstance(missing, str) and not none:
        return None
    inner = _from_text(answer or "")
    quotes = inner.quotes | quotes_in(next((fields[key] for key in _QUOTE_KEYS if key in fields), None))
    text = missing if isinstance(missing, str) else inner.missing
    return AnswerReply(inner.answer, quotes, not_found=inner.not_found or not inner.answer, missing=_line(text))


def quotes_in(value: object) -> dict[int, list[str]]:
    """Read quotes out of {"1": ["..."]}, [{"n": 1, "quote": "..."}] or lines of text."""
    if isinstance(value, str):
        return read_quotes(value)
    pairs: Iterable[tuple[object, object]] = value.items() if isinstance(value, dict) else _pairs(value)
    return _collect((str(number), text) for number, texts in pairs for text in _strings(texts))


def _pairs(value: object) -> Iterator[tuple[object, object]]:
    for item in value if isinstance(value, list) else []:
        if isinstance(item, dict):
            number = next((item[key] for key in _NUMBER_KEYS if key in item), "")
            yield number, next((item[key] for key in _TEXT_KEYS if key in item), "")
        elif isinstance(item, str) and (marked := _MARKED.match(item)):
            yield marked[1] or marked[2], marked[3]


def _strings(value: object) -> list[str]:
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str)]


def read_quotes(text: str) -> dict[int, list[str]]:
    """Read lines of the form `[n] "exact words"`; a line without a number goes on with a quote that is still open."""
    lines = [part for line in text.split("\n") for part in _NEXT_ON_LINE.split(line)]
    quotes: list[tuple[str, list[str]]] = []
    for line in lines:
        marked = _MARKED.match(line)
        if marked and (marked[1] or marked[3][:1] in _OPENING):
            quotes.append((marked[1] or marked[2], [marked[3]]))
        elif quotes and _is_open(quotes[-1][1]):
            quotes[-1][1].append(line)
    return _collect((numbers, "\n".join(parts)) for numbers, parts in quotes)


def _is_open(parts: list[str]) -> bool:
    """Tell whether a quotation mark was opened and not closed."""
    text = "\n".join(parts).strip()
    return text[:1] in tuple('"“«') and (len(text) == 1 or text[-1] not in '"”»')


def _collect(pairs: Iterable[tuple[str, str]]) -> dict[int, list[str]]:
    """Gather quotes by number, without quotation marks and repetitions, and no more than anybody needs."""
    quotes: dict[int, list[str]] = {}
    for numbers, text in list(pairs)[:MAX_QUOTES]:
        words = _unquoted(text)
        for number in re.findall(r"\d{1,6}", numbers)[:10]:
            known = quotes.setdefault(int(number), [])
            if words and words not in known:
                known.append(words)
    return {number: several for number, several in quotes.items() if several}


def _unquoted(text: str) -> str:
    text = text.strip().rstrip(",;")
    while len(text) > 1 and text[0] in _OPENING and text[-1] in _CLOSING:
        text = text[1:-1].strip()
    return text.lstrip('"“«').rstrip('"”»').strip()[:MAX_QUOTE]
