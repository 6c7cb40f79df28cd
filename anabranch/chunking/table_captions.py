"""Captions of tables: the line that says what the rows are about.

A long table comes from its reader in parts, each with its header. Its caption stands once, above the first or below the
last, and becomes the innermost title of all parts, so that it is searched, shown and cited with each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from anabranch.readers.document import Block
from anabranch.text.normalization import squeeze
from anabranch.text.sentences import spans

LONGEST_CAPTION = 200  # characters

# "Table 3: ...", "Tabelle 3. ...", "Tableau 3 : ...": one word in any language, a number, and a separator.
_LABELLED = re.compile(r"[^\W\d_]{1,12}\.?\s\d+(?:\.\d+)*\s?[:.|–—-]\s?\w")
_ENDS = re.compile(r"[.!?。！？]\W*$")
_IN_BRACKETS = re.compile(r"[(\[（].*[)\]）]")


def is_table(text: str) -> bool:
    """Tell whether a block is a table, or a part of one, as readers write it."""
    # Every reader writes rows in this form, with which no prose begins.
    return text.startswith("| ")


def add_captions(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks with the caption of each table as the last title over its rows."""
    found: list[Block] = []
    taken = -1  # the place of the last caption, which belongs to one table
    for first, last in _tables(blocks):
        above = _label(blocks, first - 1) if first - 1 != taken else ""
        caption = above or _introduction(blocks, first)
        if not caption and (caption := _label(blocks, last)):
            taken = last
        caption = caption or _line_above(blocks, first)
        found += blocks[len(found) : first]
        found += [replace(each, heading=(*each.heading, *filter(None, [caption]))) for each in blocks[first:last]]
    return [*found, *blocks[len(found) :]]


def _tables(blocks: Sequence[Block]) -> Iterator[tuple[int, int]]:
    """Yield the blocks [first, last) of each table, or of several with nothing between them."""
    for found, run in groupby(range(len(blocks)), key=lambda at: is_table(blocks[at].text)):
        if found:
            places = list(run)
            yield places[0], places[-1] + 1


def _label(blocks: Sequence[Block], at: int) -> str:
    """Return the first sentence of a block that is a numbered caption."""
    text = _block_text(blocks, at)
    label = _LABELLED.match(text)
    if not label:
        return ""
    # The label may reach to the end of the text: it takes in the first character of the words.
    end = next(end for _, end in spans(text) if end >= label.end())
    return text[:end].strip() if end <= LONGEST_CAPTION else text[:LONGEST_CAPTION].rpartition(" ")[0]


def _introduction(blocks: Sequence[Block], first: int) -> str:
    """Return the sentence above a table that ends in a colon."""
    text = _block_text(blocks, first - 1)
    if not text.endswith((":", "：")):
        return ""
    start, end = spans(text)[-1]
    return text[start:end].strip() if end - start <= LONGEST_CAPTION else ""


def _line_above(blocks: Sequence[Block], first: int) -> str:
    """Return the line above a table, if it is not prose."""
    text = _block_text(blocks, first - 1)
    if _IN_BRACKETS.fullmatch(text) and _is_line(_block_text(blocks, first - 2)):
        text = f"{_block_text(blocks, first - 2)} {text}"  # "(in thousands)" stands below the name of the table
    return text if _is_line(text) else ""


def _is_line(text: str) -> bool:
    return len(text) <= LONGEST_CAPTION and not _ENDS.search(text) and any(map(str.isalpha, text))


def _block_text(blocks: Sequence[Block], at: int) -> str:
    """Return the text of a block; empty for a heading, which is a title already."""
    return squeeze(blocks[at].text) if 0 <= at < len(blocks) and not blocks[at].is_heading else ""
