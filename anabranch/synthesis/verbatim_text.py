"""Joins statements to an answer that keeps their layout, with the markers of their passages where nothing breaks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from anabranch.synthesis.extractive import Sentence

# What such an answer is, for people; more may be said behind it.
VERBATIM = "No chat model wrote this: it is the passages' sentences that match best"
WEAK_MATCH = f"{VERBATIM}. It is a weak match: the answer may not be in it"

_REFERENCE = re.compile(r"\s?\[\d+(?:\s?[,;–-]\s?\d+)*\]")
_ITEM = re.compile(r"(?:[-*+•‣·–]|\(?\d{1,3}[.)])\s")
_LAST_CELL = re.compile(r"\s*\|\s*$")


def without_references(text: str) -> str:
    """Remove a document's own reference marks, "[12]" or "[3, 7]": in an answer they would read as citations."""
    return _REFERENCE.sub("", text)


def joined(chosen: Sequence[Sentence]) -> str:
    """Return the answer: sentences of prose run on, and lists, tables and code stand by themselves."""
    parts: list[str] = []
    head = ""
    before: Sentence | None = None
    for each in chosen:
        text = _marked(each)
        block = each.form != "sentence" or bool(_ITEM.match(text))
        names, _, row = text.rpartition("\n")
        # Rows under the same head are one table, or each figure would bring its head along.
        if each.form == "row" and before and before.form == "row" and names == head:
            parts += ["\n", row]
        else:
            parts += [_between(before, is_block=block), text]
        head = names if each.form == "row" else ""
        before = each
    return "".join(parts)


def _between(before: Sentence | None, *, is_block: bool) -> str:
    if before is None:
        return ""
    was_item = before.form == "sentence" and bool(_ITEM.match(before.text))
    return "\n\n" if is_block or was_item or before.form != "sentence" else " "


def _marked(sentence: Sentence) -> str:
    """Set the marker: behind a sentence, behind each item of a list, in the last cell of a row, before code."""
    marker = f"[{sentence.number}]"
    # Inside a fence a marker would be code, and behind one it would open a paragraph of its own.
    if sentence.form == "code":
        lead, _, code = sentence.text.partition("\n\n")
        return f"{without_references(lead)} {marker}\n\n{code}"
    text = without_references(sentence.text)
    if sentence.form == "row":
        return f"{_LAST_CELL.sub('', text)} {marker} |"
    if sentence.form == "list":
        lead, *items = text.splitlines()
        return "\n".join([lead, *(f"{item} {marker}" if item else "" for item in items)])
    return f"{text} {marker}"
