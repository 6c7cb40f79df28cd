"""Read one file and cut its documents into chunk trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from anabranch.chunking.hierarchical_chunker import DEFAULT_SIZES, Sizes, Tree, grow
from anabranch.errors import ReadingError
from anabranch.ingestion.safe_open import pin_path
from anabranch.models.wordpiece_tokenizer import Tokens
from anabranch.readers import READERS, extension_of, read
from anabranch.readers.document import PLAIN, Document, Failure, ReadOptions
from anabranch.readers.faults import refuse
from anabranch.readers.heartbeat import beat


@dataclass(frozen=True, slots=True)
class ChunkedDocument:
    """A document with its chunk tree, or None if the consumer must build it."""

    document: Document
    tree: Tree | None = None


FilePart = ChunkedDocument | Failure
"""A part of a file's result."""


def read_and_chunk(
    path: Path,
    source: str,
    options: ReadOptions = PLAIN,
    tokens: Tokens | None = None,
    sizes: Sizes = DEFAULT_SIZES,
    real: Path | None = None,
) -> Iterator[FilePart]:
    """Yield the documents of a file, cut into chunks if `tokens` is given, and a failure for each unreadable part.

    Args:
        path: The file.
        source: The name that a person sees.
        options: How it is read.
        tokens: Counts tokens; None to leave the cutting to the consumer.
        sizes: Most tokens of a root, a middle and a leaf.
        real: Its resolved path when it was found; a link that replaced it since is not followed.

    Raises:
        ReadingError: The file cannot become text.
        MemoryError: It takes more memory than there is.
    """
    is_read = extension_of(path) in READERS
    with ExitStack() as stack:
        try:
            # A file of an unknown kind is not opened; its name is enough to refuse it.
            path = stack.enter_context(pin_path(path, real if is_read else None))
        except OSError as error:
            raise ReadingError(f"{source!r} cannot be opened: {error.strerror}.", reason="unreadable") from error
        for item in read(path, source, options):
            yield (
                item
                if isinstance(item, Failure)
                else ChunkedDocument(item, _tree(item, tokens, sizes) if tokens else None)
            )


class _TokensWithHeartbeat:
    """Counts tokens, and sends a heartbeat with each batch, because a document of 50 MB takes minutes."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    def count(self, texts: Sequence[str]) -> list[int]:
        beat()
        return self._tokens.count(texts)

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return self._tokens.offsets(text)


def _tree(document: Document, tokens: Tokens, sizes: Sizes) -> Tree:
    try:
        return grow(document, _TokensWithHeartbeat(tokens), sizes)
    except MemoryError:
        raise
    except Exception as error:  # one document that cannot be cut must not end the run
        raise refuse(document.source, "cut into passages", error) from error
