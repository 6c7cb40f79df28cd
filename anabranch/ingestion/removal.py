"""Remove a file from a corpus, if the user may do so; and notice that most files are missing at once."""

from __future__ import annotations

from collections.abc import Collection

from anabranch.errors import NotAllowedError
from anabranch.ingestion.access_rights import OPERATOR, AccessRights
from anabranch.ingestion.ingest_report import IngestReport
from anabranch.store.corpus_address import StrPath
from anabranch.store.stores import open_writer
from anabranch.store.writer_protocol import CorpusWriter
from anabranch.text.plural import counted

MAX_SMALL = 20
"""Documents of a corpus that may lose most of them without a question."""


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


def keep_most(writer: CorpusWriter, missing: Collection[str], report: IngestReport) -> bool:
    """Tell whether the documents of missing files, by path, are to be kept, and say so in the report.

    They are where they are more than half of a corpus that is not small: a disk may not be mounted.
    """
    files = list(writer.files()) if missing else []
    # A file that was moved is there under another name.
    there = {file.sha256 for file in files if file.path not in missing}
    gone = sum(writer.counts(file.path)[0] for file in files if file.path in missing and file.sha256 not in there)
    left = 0
    for file in files if gone else ():
        # Stops when half is reached, so that few missing files of many cost little.
        left += 0 if file.path in missing else writer.counts(file.path)[0]
        if left >= gone:
            return False
    if gone + left <= MAX_SMALL:
        return False
    report.missing = gone
    what = f"The files of {counted(gone, 'document')}, more than half of the corpus, are missing, so these were kept"
    report.warnings.append(f"{what}: mount their disk, or run `anabranch ingest` with --remove-missing to remove them.")
    return True
