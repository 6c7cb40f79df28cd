"""The documents of a corpus, whole, and where their tokens are."""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from anabranch.errors import CorpusDamagedError
from anabranch.evaluation.spans import Span
from anabranch.models.token_count import Tokens
from anabranch.readers.corpus_marker import DATABASE
from anabranch.store.corpus_folder import SAVE, must_exist
from anabranch.store.passage_reader import read_only


class Texts:
    """Reads documents of a corpus, whatever their access tags: this is its owner's view."""

    def __init__(self, corpus: Path, tokens: Tokens) -> None:
        """Take the folder of the corpus, and what counts its tokens."""
        must_exist(corpus)
        self._database = corpus / DATABASE
        self._tokens = tokens
        self._starts: dict[str, list[int]] = {}

    def ids(self, key: str) -> list[str]:
        """Return the ids of the documents that evaluation knows under a name, usually one."""
        return [str(row[0]) for row in self._read("SELECT doc_id FROM documents WHERE key = ? ORDER BY doc_id", key)]

    def text(self, doc_id: str) -> str:
        """Return the text that the spans of a document's chunks count in."""
        sql = "SELECT text FROM chunks WHERE doc_id = ? AND level = 2 ORDER BY start"
        return "".join(str(row[0]) for row in self._read(sql, doc_id))

    def between(self, span: Span) -> tuple[int, int]:
        """Return the numbers [first, after) of the tokens that begin within a span."""
        starts = self._starts.get(span.document)
        if starts is None:
            starts = [start for start, _ in self._tokens.offsets(self.text(span.document))]
            self._starts[span.document] = starts
        return bisect_left(starts, span.start), bisect_left(starts, span.end)

    def _read(self, sql: str, parameter: str) -> Sequence[tuple[object, ...]]:
        try:
            with closing(read_only(self._database)) as connection:
                return connection.execute(sql, (parameter,)).fetchall()
        except sqlite3.DatabaseError as error:
            raise CorpusDamagedError(f"{self._database} cannot be read: {error}", hint=SAVE) from error
