"""Writes what a chat model said of documents into a corpus in SQLite: beside them, and never among their words."""

from __future__ import annotations

import json
from collections.abc import Sequence

from anabranch.store.corpus_database import CorpusDatabase
from anabranch.store.filter_sql import LISTED
from anabranch.store.records import MAX_SUMMARY, row_checksum, spread_positions
from anabranch.store.schema import SUMMARIES, has_summaries, kept_summary
from anabranch.store.writer_protocol import BareDocument, Summary

_OWN = "json_extract(d.metadata, '$.summary')"
_HAS_OWN = f"(typeof({_OWN}) = 'text' AND trim({_OWN}, ' ' || char(9, 10, 13)) != '')"


class SummaryDatabase(CorpusDatabase):
    """A writer's connection that also keeps summaries, implementing `SummaryWriter`."""

    def list_unsummarised(self, after: str, most: int) -> list[BareDocument]:
        """Return documents without a summary, by source."""
        # Only constants are formatted in.
        sql = (
            "SELECT d.doc_id, d.digest, d.source, d.title FROM documents d "  # noqa: S608
            f"WHERE d.source > ? AND NOT {_HAS_OWN} AND {kept_summary(self.connection)} IS NULL "
            "AND EXISTS (SELECT 1 FROM chunks c WHERE c.doc_id = d.doc_id AND c.level = 2) ORDER BY d.source LIMIT ?"
        )
        return [BareDocument(*row) for row in self.all(sql, after, most)]

    def sample_leaves(self, doc_id: str, most: int) -> list[str]:
        """Return the text of leaves spread evenly over a document."""
        leaves = "FROM chunks WHERE doc_id = ? AND level = 2"
        (count,) = self.one(f"SELECT count(*) {leaves}", doc_id)
        sql = f"SELECT text {leaves} AND position IN {LISTED} ORDER BY position"
        return [text for (text,) in self.all(sql, doc_id, json.dumps(spread_positions(count, most)))]

    def keep_summaries(self, summaries: Sequence[Summary]) -> int:
        """Keep summaries of documents that are still in these editions; return how many those are."""
        if not has_summaries(self.connection):
            self.connection.executescript(f"BEGIN IMMEDIATE; {SUMMARIES} COMMIT;")
        sql = "INSERT OR REPLACE INTO summaries SELECT ?, ?, ?, ? FROM documents WHERE doc_id = ? AND digest = ?"
        rows = [(doc_id, digest, text[:MAX_SUMMARY]) for doc_id, digest, text in summaries]
        with self.transaction() as changing:
            kept = self.connection.executemany(sql, [(*row, row_checksum(*row), *row[:2]) for row in rows]).rowcount
            # Counted, so that the next generation has them, which published copies are made of.
            if kept > 0:
                changing()
        return max(kept, 0)
