"""Checks a whole corpus and reports what is wrong with it; changes nothing."""

from __future__ import annotations

from anabranch.errors import CorpusDamagedError
from anabranch.store.corpus_address import StrPath
from anabranch.store.corpus_folder import SAVE
from anabranch.store.corpus_snapshot import Finding, FindingKind
from anabranch.store.stores import open_snapshot
from anabranch.store.writer_protocol import Progress, silent

REMEDIES: dict[FindingKind, str] = {
    "history": "Ingest the folders again: changes since the database of now are lost, and a rebuild forgets that.",
    "index": "Rebuild the index and the vectors: anabranch corpus rebuild.",
    "document": "Replace damaged documents: anabranch corpus remove SOURCE, then ingest their folder.",
    "database": SAVE,
}
"""What to do about each kind of finding, the mildest first."""


def verify(corpus: StrPath) -> list[str]:
    """Return what is wrong with a corpus, one line each; an empty list means sound. Nothing is changed.

    Raises:
        CorpusNotFoundError: There is no corpus there.
        CorpusDamagedError: It is of another version of this program.
    """
    return [finding.said for finding in examine(corpus) if not finding.is_remark]


def examine(corpus: StrPath, progress: Progress = silent) -> list[Finding]:
    """Check a corpus. Nothing is changed, and others may read and write meanwhile.

    Checked: that every document is exactly what was written and has its vectors, that the index is one of these
    documents, and what each kind of store adds (`anabranch.store.local_verify`, for a folder).

    Raises:
        CorpusNotFoundError: There is no corpus there.
        CorpusDamagedError: It is of another version of this program.
    """
    try:
        with open_snapshot(corpus) as snapshot:
            return list(snapshot.findings(progress))
    except CorpusDamagedError as error:
        # Another version has no cause; the caller must hear of it, for it is no damage.
        if error.__cause__ is None:
            raise
        return [Finding("database", error.message)]
