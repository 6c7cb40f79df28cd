"""Documents that a caller holds in memory, on their way into a corpus: each by its id, as a file is by its path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from anabranch.ingestion.change_detection import Arrival, held_of
from anabranch.ingestion.directory_walk import FoundFile
from anabranch.ingestion.isolation.read_and_chunk import ChunkedDocument
from anabranch.readers.document import Failure
from anabranch.readers.langchain_document import read_given
from anabranch.store.file_identity import GIVEN
from anabranch.store.records import content_digest
from anabranch.store.writer_protocol import CorpusWriter, FileRecord
from anabranch.text.normalization import storable

if TYPE_CHECKING:
    # It takes a second to import, which whoever reads files has no use for.
    from langchain_core.documents import Document as LangChainDocument


class GivenText(FoundFile):
    """A document in memory: its path is its id, and no file is deleted that happens to be called so."""

    __slots__ = ()

    def discard(self) -> None:
        """Do nothing: there is no copy."""


def given_documents(
    documents: Iterable[str | LangChainDocument], writer: CorpusWriter, access: Sequence[str]
) -> Iterator[tuple[Arrival, ChunkedDocument] | Failure]:
    """Yield each document, to be cut by whoever takes it, and what is none; of two with one id the first counts.

    Args:
        documents: Texts, and Documents of LangChain.
        writer: The corpus.
        access: The tags given with this run; where there are none, a document that is known keeps those it was given.

    Raises:
        UserError: One of them is neither.
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
        # Known by its id, so that it is removed by that, whatever its name is.
        record = FileRecord(identity, storable(document.key), content_digest(document), tags)
        found = GivenText(Path(document.key), document.source, identity=identity, is_copy=True)
        yield Arrival(number, found, record, "", 0, held_of(writer, known)), ChunkedDocument(document)
