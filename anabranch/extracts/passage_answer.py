"""Writes passages as an answer in Markdown: each under its place, with its original words.

Tables get the line that makes Markdown read them as tables, lines of commands get a fence, and the sentence that fits
best is bold. Links are removed, as from the words of a model: a stranger may have written the document.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from anabranch.extracts.best_passages import ShownPassage
from anabranch.extracts.passage_layout import PassageBlock, blocks_of
from anabranch.safety.link_removal import make_plain, name_source, strip_links
from anabranch.text.normalization import squeeze

MOST_HEADING = 160

_REFERENCE = re.compile(r"\s?\[\d+(?:\s?[,;–-]\s?\d+)*\]")
_ROUND = str.maketrans("[]", "()")
_RULE = re.compile(r"[\s|:-]+")
_TICKS = re.compile(r"`{3,}|~{3,}")
_BAR = re.compile(r"(?<!\\)\|")
_BULLET = re.compile(r"\s*(?:[-*+•‣·–]|\(?\d{1,3}[.)])\s+")


def write_answer(first_line: str, placed: Iterable[tuple[str, ShownPassage]]) -> str:
    """Return the answer: the first line, and the passages, each with its marker and place."""
    passages = (f"[{each.number}] {place}\n\n{passage_markdown(each)}" for place, each in placed)
    return "\n\n".join([first_line, *passages])


def place_line(source: str, page: int | None, heading: str) -> str:
    """Return the place of a passage on one line."""
    section = make_plain(squeeze(heading)[-MOST_HEADING:])
    line = ", ".join(filter(None, (name_source(source), f"p. {page}" if page is not None else "", section)))
    return round_references(line)


def round_references(line: str) -> str:
    """Return a line with "(12)" for a document's own "[12]": in an answer it would read as a citation."""
    return _REFERENCE.sub(lambda found: found[0].translate(_ROUND), line)


def passage_markdown(passage: ShownPassage) -> str:
    """Return the words of a passage as Markdown."""
    blocks = (_block(passage, block) for block in blocks_of(passage.text))
    return strip_links("\n\n".join(block for block in blocks if block), keep_addresses=True)


def _block(passage: ShownPassage, block: PassageBlock) -> str:
    text = passage.text[block.start : block.end]
    if block.kind == "code":
        return _fence(text.strip("\n"))
    if block.kind == "table":
        return _table(text.strip("\n"))
    start, end = (min(max(at, block.start), block.end) - block.start for at in passage.best)
    before, best, after = (_without_references(part) for part in (text[:start], text[start:end], text[end:]))
    return f"{before}{_bold(best)}{after}".strip("\n")


def _without_references(text: str) -> str:
    """Remove a document's own reference marks, "[12]" or "[3, 7]": in an answer they would read as citations."""
    return _REFERENCE.sub("", text)


def _bold(text: str) -> str:
    """Make each line of a sentence bold, without the bullet of an item; text with its own marks stays unchanged."""
    if "*" in text.lstrip("* ") or text.count("`") % 2 or not text.strip():
        return text
    bullet = found.end() if (found := _BULLET.match(text)) else 0
    lines = (f"**{line.strip()}**" if line.strip() else line for line in text[bullet:].split("\n"))
    return text[:bullet] + "\n".join(lines)


def _fence(code: str) -> str:
    """Put a longer fence around code; the document's own fence stays, and is closed at the end of the leaf."""
    if not code.strip():
        return ""
    if own := _TICKS.match(code.lstrip()):
        closed = "\n" in code and code.rstrip().endswith(own[0])
        return code if closed else f"{code}\n{own[0]}"
    fence = "`" * max([3, *(len(ticks) + 1 for ticks in _TICKS.findall(code))])
    return f"{fence}\n{code}\n{fence}"


def _table(text: str) -> str:
    """Set a rule below the first row where there is none: readers of documents leave it out."""
    head, *rows = text.splitlines()
    is_ruled = bool(rows) and bool(_RULE.fullmatch(rows[0]))
    rule = [] if is_ruled else ["|" + " --- |" * (len(_BAR.findall(head)) - 1)]
    return "\n".join([head, *rule, *rows])
