"""Read a file and cut its documents into their chunk trees: what a process does for one file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from anabranch.corpus.document import Document
from anabranch.corpus.reading import read
from anabranch.corpus.reading.failure import Failure
from anabranch.corpus.reading.options import PLAIN, ReadOptions
from anabranch.corpus.tree import DEFAULT_SIZES, Sizes, Tree, grow
from anabranch.errors import ReadingError
from anabranch.models.tokens import Tokens


@dataclass(frozen=True, slots=True)
class Cut:
    """A document with its chunk tree; None where whoever takes it has to grow that."""

    document: Document
    tree: Tree | None = None


Part = Cut | Failure
"""What a file yields, in its order."""


def cut_file(
    path: Path, source: str, options: ReadOptions = PLAIN, tokens: Tokens | None = None, sizes: Sizes = DEFAULT_SIZES
) -> Iterator[Part]:
    """Yield the documents of a file, cut if there is something to count with, and what of it could not be read.

    Raises:
        ReadingError: The file cannot become text.
        MemoryError: It takes more memory than there is.
    """
    for item in read(path, source, options):
        yield item if isinstance(item, Failure) else Cut(item, _tree(item, tokens, sizes) if tokens else None)


def _tree(document: Document, tokens: Tokens, sizes: Sizes) -> Tree:
    try:
        return grow(document, tokens, sizes)
    except MemoryError:
        raise
    except Exception as error:  # one document that cannot be cut must not end the run
        what = " ".join(str(error).split())[:200] or type(error).__name__
        raise ReadingError(f"{document.source!r} cannot be cut into passages: {what}", reason="broken") from error
