"""Remove a file from a corpus, if the user may do so."""

from __future__ import annotations

from anabranch.errors import NotAllowedError
from anabranch.ingestion.access_rights import OPERATOR, AccessRights
from anabranch.store.corpus_address import StrPath
from anabranch.store.stores import open_writer


def remove_file(corpus: StrPath, path: str, *, rights: AccessRights = OPERATOR, wait: float = 0.0) -> int:
    """Remove a file's documents from the corpus; return their number. The file itself stays where it is.

    Args:
        corpus: Folder of the corpus, or its address in another store.
        path: The key of the file in the corpus (`FileRecord.path`).
        rights: The rights of the user.
        wait: Seconds to wait for another writer.

    Raises:
        NotAllowedError: They do not hold all tags of the file and of its documents.
        CorpusLockedError: Another process is writing.
    """
    with open_writer(corpus, wait=wait) as writer:
        # Checked under the lock, because an ingest may just have changed the tags.
        if not rights.cover(writer.tags(path)):
            msg = "This file has access tags that you do not hold."
            raise NotAllowedError(msg, hint="Ask a user who holds them, or the operator of this server.")
        removed = writer.remove_file(path)
        writer.publish()
    return removed
