"""The documents of a corpus, each whole, with its leaves."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from anabranch.errors import CorpusDamagedError
from anabranch.readers.corpus_marker import DATABASE
from anabranch.store.corpus_folder import SAVE, must_exist
from anabranch.store.passage_reader import read_only
from anabranch.store.stored_document import numbers, stored_chunks, stored_document


@dataclass(frozen=True, slots=True)
class WholeDocument:
    """One document: where it is from, its text, and the ids of its leaves with the characters at which they start."""

    source: str
    text: str
    leaves: tuple[str, ...]
    starts: tuple[int, ...]


def whole_documents(corpus: Path) -> Iterator[WholeDocument]:
    """Yield the documents of a corpus, whatever their access tags: this is its owner's view.

    Raises:
        CorpusNotFoundError: There is no corpus there.
        CorpusDamagedError: The database cannot be read.
    """
    must_exist(corpus)
    try:
        with closing(read_only(corpus / DATABASE)) as connection:
            for number in numbers(connection):
                document = stored_document(connection, number)
                if document is None:
                    continue
                chunks = stored_chunks(connection, document.doc_id)
                leaves = [(chunk.chunk_id, chunk.start, chunk.text) for chunk in chunks if chunk.text is not None]
                yield WholeDocument(
                    source=document.source,
                    text="".join(text for _, _, text in leaves),
                    leaves=tuple(chunk_id for chunk_id, _, _ in leaves),
                    starts=tuple(start - leaves[0][1] for _, start, _ in leaves),
                )
    except sqlite3.DatabaseError as error:
        raise CorpusDamagedError(f"{corpus / DATABASE} cannot be read: {error}", hint=SAVE) from error
