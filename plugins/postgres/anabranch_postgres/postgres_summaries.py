"""Keeps what a chat model wrote of documents in PostgreSQL: in their rows, which a changed document loses."""

from __future__ import annotations

from collections.abc import Sequence

from anabranch.store.records import MAX_SUMMARY, spread_positions
from anabranch.store.writer_protocol import BareDocument, Summary
from anabranch_postgres.postgres_records import PostgresRecords


class PostgresSummaries(PostgresRecords):
    """The methods of `SummaryWriter` beyond those of `CorpusWriter`."""

    def list_unsummarised(self, after: str, most: int) -> list[BareDocument]:
        """Return documents without a summary, by source."""
        sql = (
            "SELECT d.doc_id, d.digest, d.source, d.title FROM anabranch.documents d "
            "WHERE d.corpus = %s AND d.source > %s COLLATE \"C\" AND d.leaves > 0 AND d.summary = '' AND NOT "
            "(jsonb_typeof(d.metadata -> 'summary') IS NOT DISTINCT FROM 'string' "
            "AND d.metadata ->> 'summary' ~ '\\S') ORDER BY d.source COLLATE \"C\" LIMIT %s"
        )
        return [BareDocument(*row) for row in self.connection.execute(sql, (self.corpus, after, most))]

    def sample_leaves(self, doc_id: str, most: int) -> list[str]:
        """Return the text of leaves spread evenly over a document."""
        row = self.one("SELECT number, leaves FROM anabranch.documents WHERE corpus = %s AND doc_id = %s", doc_id)
        if row is None:
            return []
        number, count = row
        sql = (
            "SELECT text FROM anabranch.chunks WHERE corpus = %s AND document = %s AND level = 2 "
            "AND position = ANY(%s) ORDER BY position"
        )
        found = self.connection.execute(sql, (self.corpus, number, spread_positions(count, most)))
        return [text for (text,) in found]

    def keep_summaries(self, summaries: Sequence[Summary]) -> int:
        """Keep summaries of documents that are still in these editions; return how many those are."""
        sql = (
            "UPDATE anabranch.documents d SET summary = a.text FROM unnest(%s::text[], %s::text[], %s::text[]) "
            "AS a(doc_id, digest, text) WHERE d.corpus = %s AND d.doc_id = a.doc_id AND d.digest = a.digest"
        )
        # The last one counts, as where they are kept one by one.
        known = {each.doc_id: each for each in summaries}.values()
        columns = [each.doc_id for each in known], [each.digest for each in known]
        texts = [each.text[:MAX_SUMMARY] for each in known]
        return self.connection.execute(sql, (*columns, texts, self.corpus)).rowcount
