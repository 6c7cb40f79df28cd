"""Splits tables that do not fit into a leaf, each part with the row of column names.

A reader keeps the parts of a table to about what a leaf holds; a heading above, another tokenizer or smaller leaves can
make one too long all the same. A plain cut between rows would leave figures without column names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from anabranch.chunking.table_captions import is_table
from anabranch.models.wordpiece_tokenizer import Tokens
from anabranch.readers.document import Block
from anabranch.readers.table_blocks import cells_of, names_columns, record_texts

# Characters per token of a leaf; a longer text is no reader's table and is counted piece by piece.
_MOST_CHARACTERS = 64


def fit_tables(blocks: Sequence[Block], embedder: Tokens, size: int) -> Iterator[Block]:
    """Yield the blocks, with tables split to leave room for the headings right above them."""
    room = size
    for block in blocks:
        longest = _MOST_CHARACTERS * size
        if is_table(block.text) and len(block.text) <= longest:
            yield from (replace(block, text=text) for text in _parts(block.text, embedder, size, room))
        else:
            yield block
        room = room - embedder.count([block.text[:longest]])[0] if block.is_heading else size


def _parts(text: str, embedder: Tokens, size: int, room: int) -> Iterator[str]:
    header, *rows = text.split("\n")
    named, *costs = embedder.count([header, *rows])
    if named + sum(costs) <= room or not rows or not names_columns(cells_of(header)):
        yield text
        return
    part, filled, is_told = [header], named, False
    for row, cost in zip(rows, costs, strict=True):
        if len(part) > 1 and filled + cost > room:
            yield "\n".join(part)
            part, filled, room = [header], named, size
        if named + cost > size:
            texts = list(record_texts(cells_of(header), cells_of(row)))
            # Names that are too long, or have no value in this row, would be lost.
            if not is_told and any(name not in "\n".join(texts) for name in cells_of(header)):
                yield header
                is_told = True
            yield from texts
        else:
            part.append(row)
            filled += cost
    if len(part) > 1:
        yield "\n".join(part)
