"""Mends a corpus: what is derived is made anew, what is torn is set aside and its file marked to be read again."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from anabranch.models.embedders import DEFAULT_EMBEDDER, load_embedder
from anabranch.readers.corpus_marker import DATABASE
from anabranch.store.corpus_folder import SAVE, must_exist
from anabranch.store.corpus_writer import Truth
from anabranch.store.index.manifest import sweep
from anabranch.store.index.publisher import publish
from anabranch.store.maintenance.problem import Finding, Kind
from anabranch.store.maintenance.quarantine import set_aside
from anabranch.store.maintenance.rebuild import embed_missing
from anabranch.store.maintenance.verify import Told, examine
from anabranch.store.passage_reader import read_only
from anabranch.store.path_arguments import Given
from anabranch.store.schema import VERSION, version_of
from anabranch.store.stored_document import dimension_of_most, is_vector
from anabranch.store.write_lock import writing
from anabranch.text.plural import counted

ROUNDS = 3
"""What a torn document hides, such as a difference between index and database, only the next look finds."""


@dataclass(slots=True)
class RepairReport:
    """What a repair came upon.

    Attributes:
        found: What was wrong, the first time that it was found.
        done: What was done about it, line by line.
        left: What is wrong still.
    """

    found: list[Finding] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    left: list[Finding] = field(default_factory=list)


def repair(
    corpus: Given, *, wait: float = 0.0, said: Callable[[str], None] | None = None, progress: Told | None = None
) -> RepairReport:
    """Look through a corpus and mend what can be mended; what is left of what is removed is kept in `torn.jsonl`.

    Args:
        corpus: The corpus.
        wait: Seconds to wait for another writer.
        said: Told of each thing that was done, when it is.
        progress: Told of the stages 'documents', 'passages' and 'index'.

    Raises:
        CorpusNotFoundError: There is no corpus there.
        CorpusLockedError: Another process is writing.
        CorpusDamagedError: The database cannot be opened; `anabranch corpus export` may read it.
        EmbedderMismatchError: Passages have to be embedded, and the embedder cannot be had.
    """
    folder = must_exist(corpus)
    report = RepairReport()
    with writing(folder, wait=wait):
        before = _version(folder)
        with closing(Truth(folder)) as truth:
            mend = _Repair(folder, truth, report, said, progress)
            if before < VERSION:
                mend.say(f"the tables were brought from version {before} to {VERSION}")
            _mended(folder, mend, report, progress)
    return report


def _mended(folder: Path, mend: _Repair, report: RepairReport, progress: Told | None) -> None:
    for _ in range(ROUNDS):
        found = examine(folder, progress)
        report.left = [finding for finding in found if not finding.is_remark]
        report.found += [finding for finding in found if finding not in report.found]
        if not found or not mend.mend(found):
            return
    report.left = [finding for finding in examine(folder, progress) if not finding.is_remark]


def _version(folder: Path) -> int:
    with closing(read_only(folder / DATABASE)) as connection:
        return version_of(connection)


class _Repair:
    """One run."""

    def __init__(
        self,
        folder: Path,
        truth: Truth,
        report: RepairReport,
        said: Callable[[str], None] | None,
        progress: Told | None,
    ) -> None:
        self._folder = folder
        self._truth = truth
        self._report = report
        self._said = said
        self._progress = progress

    def say(self, done: str) -> None:
        """Note something that was done."""
        self._report.done.append(done)
        if self._said is not None:
            self._said(done)

    def mend(self, found: Sequence[Finding]) -> bool:
        """Mend from the bottom up: database, documents, vectors, index, folder; False if it cannot be done."""
        kinds: set[Kind] = {finding.kind for finding in found}
        if "database" in kinds and not self._has_reindexed():
            self.say(f"{DATABASE} is damaged in a way that cannot be mended in place. {SAVE}")
            return False
        if kinds & {"torn", "strays"}:
            set_aside(self._folder, self._truth, [finding for finding in found if finding.kind == "torn"], self.say)
        if "vectors" in kinds:
            self._embed([finding.number for finding in found if finding.kind == "vectors" and finding.number])
        self._index(kinds)
        if "leftover" in kinds:
            sweep(self._folder)
            (self._folder / ".CURRENT").unlink(missing_ok=True)
            self.say("what was left over in the folder was deleted")
        return True

    def _has_reindexed(self) -> bool:
        """Make SQLite's own indexes anew, and tell whether that was what was wrong."""
        with suppress(sqlite3.DatabaseError):
            with self._truth.transaction():
                self._truth.connection.execute("REINDEX")
            if self._truth.all("PRAGMA integrity_check") == [("ok",)]:
                self.say(f"the indexes inside {DATABASE} were made anew")
                return True
        return False

    def _embed(self, differing: Sequence[int]) -> None:
        """Embed what has no vector, a bad one, or another one than the index, whose checksums are right."""
        name = self._truth.meta("embedder") or ""
        model = load_embedder(self._truth.meta("spec") or DEFAULT_EMBEDDER, self._truth.meta("base_url") or None)
        dimension = dimension_of_most(self._truth.connection)
        vectors = self._truth.connection.execute("SELECT vector_key, vector FROM vectors WHERE embedder = ?", (name,))
        bad = [key for key, vector in vectors if not is_vector(vector, dimension)]
        of_document = "SELECT vector_key FROM chunks JOIN documents USING (doc_id) WHERE number = ? AND level = 2"
        bad += [key for number in differing for (key,) in self._truth.all(of_document, number)]
        with self._truth.transaction():
            sql = "DELETE FROM vectors WHERE vector_key = ? AND embedder = ?"
            self._truth.connection.executemany(sql, [(key, name) for key in bad])
        self.say(f"{counted(embed_missing(self._truth, model, self._progress), 'passage')} embedded again")

    def _index(self, kinds: set[Kind]) -> None:
        anew = bool(kinds & {"index", "vectors"})
        if not anew and not kinds & {"behind", "torn", "strays"}:
            return
        indexed = partial(self._progress, "index") if self._progress else None
        publish(self._folder, self._truth, anew=anew, progress=indexed)
        self.say("the index was made anew" if anew else "the index was brought up to the documents")
