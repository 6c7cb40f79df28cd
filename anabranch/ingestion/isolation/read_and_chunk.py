"""Read a file and cut its documents into their chunk trees: what a process does for one file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from anabranch.chunking.hierarchical_chunker import DEFAULT_SIZES, Sizes, Tree, grow
from anabranch.errors import ReadingError
from anabranch.ingestion.safe_open import by_handle
from anabranch.models.wordpiece_tokenizer import Tokens
from anabranch.readers import READERS, read
from anabranch.readers.document import PLAIN, Document, Failure, ReadOptions
from anabranch.readers.heartbeat import beat


@dataclass(frozen=True, slots=True)
class ChunkedDocument:
    """A document with its chunk tree; None where whoever takes it has to grow that."""

    document: Document
    tree: Tree | None = None


FilePart = ChunkedDocument | Failure
"""What a file yields, in its order."""


def read_and_chunk(
    path: Path,
    source: str,
    options: ReadOptions = PLAIN,
    tokens: Tokens | None = None,
    sizes: Sizes = DEFAULT_SIZES,
    real: Path | None = None,
) -> Iterator[FilePart]:
    """Yield the documents of a file, cut if there is something to count with, and what of it could not be read.

    Args:
        path: The file.
        source: What a person calls it.
        options: How it is read.
        tokens: Counts tokens; None to leave the cutting to whoever takes the documents.
        sizes: Most tokens of a root, a middle and a leaf.
        real: Where it lay when it was found, behind all links; a link that was put there since is not followed.

    Raises:
        ReadingError: The file cannot become text.
        MemoryError: It takes more memory than there is.
    """
    is_read = path.suffix.lower() in READERS
    with ExitStack() as stack:
        try:
            # A file of an unknown kind is not opened: its name alone says that nobody reads it.
            path = stack.enter_context(by_handle(path, real if is_read else None))
        except OSError as error:
            raise ReadingError(f"{source!r} cannot be opened: {error.strerror}.", reason="unreadable") from error
        for item in read(path, source, options):
            yield (
                item
                if isinstance(item, Failure)
                else ChunkedDocument(item, _tree(item, tokens, sizes) if tokens else None)
            )


class _Heard:
    """Counts tokens, and gives a sign of life with each batch: a document of 50 MB takes minutes."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    def count(self, texts: Sequence[str]) -> list[int]:
        beat()
        return self._tokens.count(texts)

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return self._tokens.offsets(text)


def _tree(document: Document, tokens: Tokens, sizes: Sizes) -> Tree:
    try:
        return grow(document, _Heard(tokens), sizes)
    except MemoryError:
        raise
    except Exception as error:  # one document that cannot be cut must not end the run
        what = " ".join(str(error).split())[:200] or type(error).__name__
        raise ReadingError(f"{document.source!r} cannot be cut into passages: {what}", reason="broken") from error
