"""Builds the chunk tree of a document: leaves of whole sentences, middles of whole leaves, roots of whole middles.

The spans of the leaves tile the text, and each level's spans nest exactly in the one above, so that a parent can take
the place of its children without a character lost or doubled.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from anabranch.chunking.split_units import SEPARATOR, SplitPiece, cut, pieces
from anabranch.chunking.table_captions import add_captions
from anabranch.chunking.table_fitting import fit_tables
from anabranch.errors import SettingsError
from anabranch.models.wordpiece_tokenizer import Tokens
from anabranch.readers.document import Block, Document, Level

Sizes = tuple[int, int, int]
"""Most tokens of a root, a middle and a leaf."""

DEFAULT_SIZES: Sizes = (2048, 512, 128)


@dataclass(frozen=True, slots=True)
class ChunkNode:
    """One chunk of the tree; see `anabranch.readers.document.Chunk` for the fields of the same name.

    Attributes:
        parent: Index of the parent in `Tree.nodes`, None for a root.
    """

    level: Level
    start: int
    end: int
    page: int | None
    page_end: int | None
    heading: str
    tokens: int
    parent: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Tree:
    """A document's text and its chunks, parents before their children, in reading order."""

    text: str
    nodes: tuple[ChunkNode, ...]

    @property
    def leaves(self) -> tuple[ChunkNode, ...]:
        """The chunks of the lowest level."""
        return tuple(node for node in self.nodes if node.level == 2)


@dataclass(frozen=True, slots=True)
class _Span:
    """A chunk without its parent yet."""

    start: int
    end: int
    tokens: int
    heading: tuple[str, ...]
    page: int | None
    page_end: int | None
    opens: bool
    children: tuple[_Span, ...] = ()


def check_sizes(sizes: Sequence[int]) -> Sizes:
    """Return valid sizes.

    Raises:
        SettingsError: They are not three descending numbers from 16 up.
    """
    whole = len(sizes) == 3 and all(isinstance(size, int) and size >= 16 for size in sizes)
    if not whole or any(upper <= lower for upper, lower in pairwise(sizes)):
        msg = f"Chunk sizes {tuple(sizes)!r} cannot make a tree."
        raise SettingsError(msg, hint="Give three numbers of tokens, each smaller than the one before, from 16 up.")
    return (sizes[0], sizes[1], sizes[2])


def grow(document: Document, embedder: Tokens, sizes: Sequence[int] = DEFAULT_SIZES) -> Tree:
    """Cut a document into its chunk tree.

    Args:
        document: The document of a reader; blank blocks are omitted.
        embedder: The embedder, which counts the tokens.
        sizes: Most tokens of a root, a middle and a leaf.

    Raises:
        SettingsError: The sizes cannot make a tree.
    """
    root_size, middle_size, leaf_size = check_sizes(sizes)
    written = add_captions([block for block in document.blocks if block.text.strip()])
    blocks = list(fit_tables(written, embedder, leaf_size))
    text = SEPARATOR.join(block.text for block in blocks)
    leaves = [_leaf(group, blocks) for group in _pack(text, blocks, embedder, leaf_size)]
    roots = _gather(_gather(leaves, middle_size), root_size)
    return Tree(text, tuple(_number(roots, text)))


def _pack(text: str, blocks: Sequence[Block], embedder: Tokens, size: int) -> Iterator[list[SplitPiece]]:
    """Fill leaves in order; a heading opens a leaf and keeps some of its text with it."""
    coming = pieces(text, blocks, embedder, size)
    group: list[SplitPiece] = []
    waiting: deque[SplitPiece] = deque()
    while (piece := waiting.popleft() if waiting else next(coming, None)) is not None:
        room = size - sum(each.tokens for each in group)
        headed = bool(group) and group[-1].heading
        if not group:
            group = [piece]
        # A part of an unbroken run has another count beside other words.
        elif piece.alone or group[-1].alone or (piece.heading and not headed):
            yield group
            group = [piece]
        elif piece.tokens <= room:
            group.append(piece)
        elif headed and not piece.heading and room >= size // 4:
            # A heading without its text would match a question and answer nothing.
            first, *rest = cut(text, piece, embedder, room)
            if first.alone:
                yield group
                group = []
            group.append(first)
            waiting.extendleft(reversed(rest))
        else:
            yield group
            group = [piece]
    if group:
        yield group


def _leaf(group: Sequence[SplitPiece], blocks: Sequence[Block]) -> _Span:
    # The first text names the leaf: its path includes the heading above it.
    body = next((piece for piece in group if not piece.heading), group[-1])
    return _Span(
        start=group[0].start,
        end=group[-1].end,
        tokens=sum(piece.tokens for piece in group),
        heading=blocks[body.block].heading,
        page=blocks[group[0].block].page,
        page_end=blocks[group[-1].block].page,
        opens=group[0].heading,
    )


def _gather(spans: Sequence[_Span], size: int) -> list[_Span]:
    """Gather neighbours up to `size` tokens; past a quarter of it, a heading starts the next one."""
    groups: list[list[_Span]] = []
    tokens = 0
    for span in spans:
        # A section begins a new parent, unless the previous one is so short that many parents would have one leaf.
        if not groups or tokens + span.tokens > size or (span.opens and tokens >= size // 4):
            groups.append([])
            tokens = 0
        groups[-1].append(span)
        tokens += span.tokens
    return [_parent(group) for group in groups]


def _parent(children: Sequence[_Span]) -> _Span:
    first, last = children[0], children[-1]
    return _Span(
        start=first.start,
        end=last.end,
        # Cuts run between tokens, so the sum of the parts is the count.
        tokens=sum(child.tokens for child in children),
        # A parent over two sections takes the heading path that they share.
        heading=_shared_titles([child.heading for child in children]),
        page=first.page,
        page_end=last.page_end,
        opens=first.opens,
        children=tuple(children),
    )


def _shared_titles(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the titles that all heading paths begin with."""
    return tuple(titles[0] for titles in takewhile(lambda titles: len(set(titles)) == 1, zip(*paths, strict=False)))


def _number(roots: Sequence[_Span], text: str) -> list[ChunkNode]:
    nodes: list[ChunkNode] = []

    # The recursion is three levels deep for any document.
    def visit(span: _Span, level: int, parent: int | None) -> None:
        index = len(nodes)
        nodes.append(_node(span, level, parent, text))
        for child in span.children:
            visit(child, level + 1, index)

    for root in roots:
        visit(root, 0, None)
    return nodes


def _node(span: _Span, level: int, parent: int | None, text: str) -> ChunkNode:
    levels: tuple[Level, Level, Level] = (0, 1, 2)
    return ChunkNode(
        level=levels[level],
        start=span.start,
        end=span.end,
        page=span.page,
        page_end=span.page_end,
        heading=" > ".join(span.heading),
        tokens=span.tokens,
        parent=parent,
        text=text[span.start : span.end],
    )
