"""The surroundings of found passages: their ancestors, and each ancestor's children in reading order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from anabranch.store.protocol import CorpusReader, Scope
from anabranch.types import Chunk


@dataclass(frozen=True, slots=True)
class Ancestry:
    """The part of the chunk tree above some chunks that the caller may see.

    Attributes:
        chunks: The chunks themselves and their ancestors, by id.
        children: Ids one level down, in document order, of each ancestor.
    """

    chunks: Mapping[str, Chunk]
    children: Mapping[str, list[str]]

    @property
    def parents(self) -> dict[str, str | None]:
        """Parent of each chunk; None for a root."""
        return {chunk_id: chunk.parent_id for chunk_id, chunk in self.chunks.items()}

    @property
    def sizes(self) -> dict[str, int]:
        """Tokens of the chunks and of their siblings; unknown siblings share the rest of the parent equally."""
        sizes = {chunk_id: chunk.tokens for chunk_id, chunk in self.chunks.items()}
        for parent, below in self.children.items():
            # A sibling that was not fetched has no known size; fetching every sibling of every hit would read most of a
            # large document to learn numbers that only weigh against a share.
            others = [child for child in below if child not in self.chunks]
            left = sizes[parent] - sum(sizes[child] for child in below if child in self.chunks)
            sizes |= dict.fromkeys(others, max(left, 0) // max(len(others), 1))
        return sizes


async def ancestry_of(corpus: CorpusReader, scope: Scope, chunks: Mapping[str, Chunk]) -> Ancestry:
    """Fetch the ancestors of chunks, with two reads per level for any number of chunks.

    An ancestor that is gone, or that the scope does not let through, is left out.
    """
    found, children = dict(chunks), dict[str, list[str]]()
    level = _parents(chunks.values())
    # Level by level and not chunk by chunk: a tree has three levels, so this is two round trips for a hundred passages,
    # which matters where the store is a server.
    while level:
        above = await corpus.chunks(level, scope)
        children |= await corpus.children(list(above), scope)
        found |= above
        level = _parents(above.values())
    return Ancestry(found, children)


def _parents(chunks: Iterable[Chunk]) -> list[str]:
    return list(dict.fromkeys(chunk.parent_id for chunk in chunks if chunk.parent_id))
