"""Ingest documents from memory; each is identified by its id, as a file is by its path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from anabranch.ingestion.change_detection import Arrival, count_documents
from anabranch.ingestion.directory_walk import FoundFile
from anabranch.ingestion.isolation.read_and_chunk import ChunkedDocument
from anabranch.readers.document import Failure
from anabranch.readers.langchain_document import read_given
from anabranch.store.file_identity import GIVEN
from anabranch.store.records import content_digest
from anabranch.store.writer_protocol import CorpusWriter, FileRecord
from anabranch.text.normalization import storable

if TYPE_CHECKING:
    # Imported lazily: it takes a second, and ingesting files does not need it.
    from langchain_core.documents import Document as LangChainDocument


class GivenText(FoundFile):
    """A document in memory, whose path is its id; `discard` must not delete a file of that name."""

    __slots__ = ()

    def discard(self) -> None:
        """Do nothing: there is no copy."""


def given_documents(
    documents: Iterable[str | LangChainDocument], writer: CorpusWriter, access: Sequence[str]
) -> Iterator[tuple[Arrival, ChunkedDocument] | Failure]:
    """Yield each document without chunks, and a failure for an invalid one; of two with one id, the first counts.

    Args:
        documents: Texts, and Documents of LangChain.
        writer: The corpus.
        access: The access tags of this run; without any, a known document keeps its tags.

    Raises:
        UserError: An item is neither.
    """
    seen: set[str] = set()
    for number, given in enumerate(documents):
        document = read_given(given)
        if isinstance(document, Failure):
            yield document
            continue
        identity = storable(f"{GIVEN}{document.key}")
        if identity in seen:
            yield Failure(document.key, "duplicate", "the id occurs twice; the first one counts")
            continue
        seen.add(identity)
        known = writer.file(identity)
        tags = tuple(sorted(set(access))) or (known.access if known else ())
        # Recorded under its id, so that it can be removed by it.
        record = FileRecord(identity, storable(document.key), content_digest(document), tags)
        found = GivenText(Path(document.key), document.source, identity=identity, is_copy=True)
        yield Arrival(number, found, record, "", 0, count_documents(writer, known)), ChunkedDocument(document)
