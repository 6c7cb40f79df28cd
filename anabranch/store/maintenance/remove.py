"""Takes documents out of a corpus by name."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from anabranch.errors import UserError
from anabranch.store.corpus_address import StrPath
from anabranch.store.corpus_database import CorpusDatabase
from anabranch.store.corpus_folder import must_exist
from anabranch.store.index.publisher import publish
from anabranch.store.write_lock import writing


def remove(corpus: StrPath, sources: str | Sequence[str], *, wait: float = 0.0) -> int:
    """Remove documents; return how many there were.

    No search finds them any more, and their text and vectors are overwritten in the database. The index files keep
    their vectors and single words until they are merged, at the latest by `rebuild`.

    Args:
        corpus: The corpus.
        sources: One or several, each the source of a document, or of a file that holds several, or a shell pattern.
        wait: Seconds to wait for another writer.

    Raises:
        UserError: A source names no document; then nothing is removed.
        CorpusLockedError: Another process is writing.
    """
    folder = must_exist(corpus)
    sources = [sources] if isinstance(sources, str) else sources
    with writing(folder, wait=wait), closing(CorpusDatabase(folder)) as database:
        # All names are looked up before anything is removed: a mistyped one must not leave half of it done.
        doomed = list(dict.fromkeys(doc_id for source in sources for doc_id in _named(database, source)))
        removed = database.remove_documents(doomed)
        database.forget_unused()
        publish(database)
        return removed


def _named(database: CorpusDatabase, source: str) -> list[str]:
    """Return the documents of that name; a name that looks like a pattern is a name first."""
    for test in ("d.source = ?", "f.source = ?", "d.source GLOB ?"):
        sql = f"SELECT d.doc_id FROM documents d LEFT JOIN files f USING (path) WHERE {test}"  # noqa: S608  # constants
        if found := database.all(sql, source):
            return [row[0] for row in found]
    raise UserError(f"No document has the source {source!r}.", hint="`anabranch corpus stats` lists the sources.")
