"""Removes documents from a corpus by name."""

from __future__ import annotations

from collections.abc import Sequence

from anabranch.errors import UserError
from anabranch.store.corpus_address import StrPath
from anabranch.store.stores import open_snapshot, open_writer
from anabranch.store.writer_protocol import CorpusWriter


def remove(corpus: StrPath, sources: str | Sequence[str], *, wait: float = 0.0) -> int:
    """Remove documents; return how many there were.

    No search finds them any more, and their text and vectors are gone from the database, which a folder's database
    overwrites. The index files of a folder keep their vectors and single words until they are merged, at the latest by
    `rebuild`.

    Args:
        corpus: The corpus.
        sources: One or several, each the source of a document, or of a file that holds several, or a shell pattern.
        wait: Seconds to wait for another writer.

    Raises:
        UserError: A source names no document; then nothing is removed.
        CorpusNotFoundError: There is no corpus there.
        CorpusLockedError: Another process is writing.
    """
    sources = [sources] if isinstance(sources, str) else sources
    with open_snapshot(corpus):  # a writer would create a missing corpus
        pass
    with open_writer(corpus, wait=wait) as writer:
        # Look up all names before removing anything: a mistyped one must remove nothing.
        doomed = list(dict.fromkeys(doc_id for source in sources for doc_id in _find_named(writer, source)))
        removed = writer.remove_documents(doomed)
        writer.publish()
        return removed


def _find_named(writer: CorpusWriter, source: str) -> list[str]:
    if found := writer.named(source):
        return found
    raise UserError(f"No document has the source {source!r}.", hint="`anabranch corpus stats` lists the sources.")
