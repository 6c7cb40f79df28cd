"""The statements that search a corpus in PostgreSQL by words and by vectors, and how to read their rows.

BM25 is a sum over the postings of the question's words, weighed with the statistics of what the caller may read (Okapi,
Robertson and Walker 1994, with the constants of `rank_bm25`). The database finds the best leaves; their scores are
computed here exactly as in a folder, so that the database's plan cannot change a bit of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, LiteralString

import numpy as np
from numpy.typing import NDArray
from pgvector import Vector
from psycopg import Connection
from psycopg.sql import SQL, Composable, Composed, Literal

from anabranch.models.embedder import Vectors
from anabranch.store.index.bm25 import K1, B
from anabranch.store.index.dense import cosines
from anabranch.store.protocol import RankedList
from anabranch_postgres.bm25_counts import term_number
from anabranch_postgres.postgres_filters import Clause
from anabranch_postgres.read_transaction import SqlStatement

NARROW = 5_000
"""Up to this many leaves, every vector is compared: it takes some milliseconds and misses nothing."""

WIDEST = 400
"""Most vectors to request from the index; for more, all are compared."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def filter_storable(texts: Sequence[str]) -> list[str]:
    """Return the texts that PostgreSQL can hold; it would reject a statement with any other."""
    return [text for text in dict.fromkeys(texts) if "\0" not in text and not _SURROGATE.search(text)]


def pick_best(scores: Mapping[str, float], k: int) -> RankedList:
    """Return the `k` best, equal scores in their given order."""
    best = sorted(scores, key=lambda chunk_id: -scores[chunk_id])[:k]
    return RankedList(ids=best, scores=[scores[chunk_id] for chunk_id in best])


# OFFSET 0 forces a look-up per leaf: without statistics, the planner would read the words of all leaves for a hundred.
_WORDS: LiteralString = (
    "LATERAL (SELECT w.length, w.terms, w.counts FROM anabranch.leaf_words w WHERE w.corpus = l.corpus "
    "AND w.leaf = l.id OFFSET 0) w ON true"
)


class PostgresSearch:
    """The statements of a search over one generation of a corpus.

    Rows of leaves begin with number and id; then, as requested, length, the count of each asked term, and the vector as
    pgvector sends it.
    """

    def __init__(self, corpus: int, generation: int) -> None:
        """Take the number of the corpus, and the generation to search."""
        self._corpus = corpus
        self._generation = generation

    def audiences(self, access: Sequence[str]) -> Clause:
        """Return the SQL of a caller's audiences: those without a tag, or with one of the caller's."""
        sql = "ARRAY(SELECT id FROM anabranch.audiences WHERE corpus = %s AND (tags = '{}' OR tags && %s::text[]))"
        return Clause(sql, (self._corpus, filter_storable(access)))

    def statistics(self, terms: Sequence[str], access: Sequence[str]) -> Clause:
        """Return the statement that counts the leaves a caller may read, their terms, and the leaves with each term.

        Its rows are a term's number, leaves and length: one row without a number for all leaves, the others without a
        length.
        """
        audience = self.audiences(access)
        sql: LiteralString = (
            "SELECT NULL::bigint AS term, coalesce(sum(leaves), 0)::bigint AS leaves, "  # noqa: S608
            "coalesce(sum(length), 0)::bigint AS length FROM anabranch.audience_sizes "
            f"WHERE corpus = %s AND audience = ANY({audience.sql}) AND born <= %s"
        )
        parameters = (self._corpus, *audience.parameters, self._generation)
        if not terms:
            return Clause(sql, parameters)
        sql += (
            " UNION ALL SELECT term, sum(leaves)::bigint, 0 FROM anabranch.term_frequencies "  # noqa: S608
            f"WHERE corpus = %s AND term = ANY(%s) AND audience = ANY({audience.sql}) AND born <= %s GROUP BY term"
        )
        numbers = [term_number(term) for term in terms]
        return Clause(sql, (*parameters, self._corpus, numbers, *audience.parameters, self._generation))

    def find_by_words(self, terms: Sequence[str], k: int, access: Sequence[str], clause: Clause) -> SqlStatement:
        """Return the statement that finds the best `k` leaves by their words, unordered."""
        audience, told = self.audiences(access), self.statistics(terms, access)
        within, filtered = self._leaf_filter(clause)
        times = Counter(map(term_number, terms))
        counted, of_leaf = _counts(terms)
        # Scores are rounded before the best are chosen, because the sum depends on the order of the plan. Constants are
        # computed first: there may be a hundred thousand postings, and grouping them takes most of the time.
        sql = (
            f"WITH told AS MATERIALIZED ({told.sql}), asked AS MATERIALIZED (SELECT a.term, "  # noqa: S608
            "%s::float8 * a.times * greatest(0, ln(greatest(w.leaves - t.leaves, 0)::float8 + 0.5) "
            "- ln(t.leaves::float8 + 0.5)) AS weight, %s::float8 * w.leaves / w.length AS by_length "
            "FROM unnest(%s::bigint[], %s::int[]) AS a(term, times) "
            "JOIN told t ON t.term = a.term AND t.leaves > 0 JOIN told w ON w.term IS NULL AND w.leaves > 0) "
            f"SELECT l.id, l.chunk_id, w.length, {counted} FROM (SELECT p.leaf, "
            "sum(a.weight * p.count / (p.count + %s::float8 + a.by_length * p.length))::float4 AS score "
            "FROM asked a JOIN anabranch.postings p ON p.corpus = %s AND p.term = a.term "
            f"WHERE p.audience = ANY({audience.sql}) AND p.born <= %s{within} "
            "GROUP BY p.leaf ORDER BY score DESC, p.leaf LIMIT %s) best "
            "JOIN anabranch.leaves l ON l.corpus = %s AND l.id = best.leaf "
            f"JOIN {_WORDS}"
        )
        parameters = (
            *told.parameters, K1 + 1, K1 * B, list(times), list(times.values()), *of_leaf, K1 * (1 - B), self._corpus,
            *audience.parameters, self._generation, *filtered, k, self._corpus,
        )  # fmt: skip
        return SqlStatement(sql, parameters)

    def find_by_vector(
        self, vector: NDArray[np.float32], k: int, access: Sequence[str], clause: Clause, *, exact: bool
    ) -> SqlStatement:
        """Return the statement that finds the nearest `k` leaves, exactly or by the index (see `prefer_index`)."""
        audience = self.audiences(access)
        if exact:
            within, filtered = self._document_filter(clause)
            near: Composable = SQL("l.vector <#> %b")
        else:
            within, filtered = _document_test(clause)
            near = SQL("{} <#> (%b)::halfvec").format(indexed_vector(len(vector)))
        # The number of the corpus is a literal: the planner uses a partial index only for a constant.
        sql = (
            SQL("SELECT l.id, l.chunk_id, vector_send(l.vector) FROM anabranch.leaves l WHERE l.corpus = ")
            + Literal(self._corpus)
            + SQL(f" AND l.audience = ANY({audience.sql}) AND l.born <= %s{within} ORDER BY ") + near + SQL(" LIMIT %s")
        )  # fmt: skip
        return SqlStatement(sql, (*audience.parameters, self._generation, *filtered, Vector(vector), k))

    def width(self, access: Sequence[str], clause: Clause) -> SqlStatement:
        """Return the statement that tells whether the index of vectors exists, and how many leaves are in scope."""
        audience = self.audiences(access)
        parameters = (index_name(self._corpus), self._corpus, *audience.parameters)
        index = (
            "SELECT EXISTS (SELECT 1 FROM pg_index WHERE indexrelid = to_regclass('anabranch.' || %s) AND indisvalid)"
        )
        if clause.passes_all:
            sql = "SELECT coalesce(sum(leaves), 0)::bigint FROM anabranch.audience_sizes WHERE corpus = %s AND audience"
        else:
            sql = (
                "SELECT coalesce(sum(d.leaves), 0)::bigint FROM anabranch.documents d "
                "WHERE d.corpus = %s AND d.audience"
            )
        narrowed = "" if clause.passes_all else f" AND {clause.sql}"
        return SqlStatement(f"{index}, ({sql} = ANY({audience.sql}){narrowed})", (*parameters, *clause.parameters))

    def leaves(
        self, ids: Sequence[str], terms: Sequence[str], access: Sequence[str], clause: Clause, *, vectors: bool
    ) -> SqlStatement:
        """Return the statement that looks up leaves by id; removed and hidden ones are absent."""
        audience = self.audiences(access)
        within, filtered = self._document_filter(clause)
        counted, of_leaf = _counts(terms)
        vector = ", vector_send(l.vector)" if vectors else ""
        sql = (
            f"SELECT l.id, l.chunk_id, coalesce(w.length, 0), {counted}{vector} FROM anabranch.leaves l "  # noqa: S608
            f"LEFT JOIN {_WORDS} WHERE l.corpus = %s AND l.chunk_id = ANY(%s) AND l.audience = ANY({audience.sql}) "
            f"AND l.born <= %s{within}"
        )
        named = (self._corpus, filter_storable(ids), *audience.parameters, self._generation)
        return SqlStatement(sql, (*of_leaf, *named, *filtered))

    def _document_filter(self, clause: Clause) -> tuple[LiteralString, tuple[Any, ...]]:
        """Return the SQL by which a filter narrows leaves `l`, none where everything passes."""
        if clause.passes_all:
            return "", ()
        sql = f" AND l.document IN (SELECT d.number FROM anabranch.documents d WHERE d.corpus = %s AND {clause.sql})"  # noqa: S608
        return sql, (self._corpus, *clause.parameters)

    def _leaf_filter(self, clause: Clause) -> tuple[LiteralString, tuple[Any, ...]]:
        """Return the SQL by which a filter narrows postings `p`, none where everything passes."""
        within, filtered = self._document_filter(clause)
        if not within:
            return "", ()
        sql = f" AND p.leaf IN (SELECT l.id FROM anabranch.leaves l WHERE l.corpus = %s{within})"  # noqa: S608
        return sql, (self._corpus, *filtered)


def prefer_index(k: int) -> SqlStatement:
    """Return the settings that make the planner use the index of vectors in this transaction."""
    # Iterative scans keep filters from starving a search of the nearest neighbours. The planner only guesses the effect
    # of tags and filters, and may sort all rows instead of using the index.
    sql = (
        "SELECT set_config('hnsw.iterative_scan', 'strict_order', true), set_config('enable_sort', 'off', true), "
        "set_config('hnsw.ef_search', %s, true)"
    )
    return SqlStatement(sql, (str(max(100, min(2 * k, 1000))),))


def cosines_of(rows: Sequence[tuple[Any, ...]], vector: NDArray[np.float32]) -> dict[str, float]:
    """Return the cosine of each leaf from rows that end with vectors, in the order of insertion."""
    if not rows:
        return {}
    # Leaves with the same text have the same score: the older one comes first.
    by_number = sorted(rows, key=lambda row: row[0])
    found = cosines(vectors_of(by_number), vector)
    return dict(zip((row[1] for row in by_number), found.tolist(), strict=True))


def vectors_of(rows: Sequence[tuple[Any, ...]]) -> Vectors:
    """Return the vectors that rows end with, shape (rows, dimension)."""
    # pgvector's format: two numbers of two bytes, then the elements, most significant byte first.
    sent = np.frombuffer(b"".join(row[-1] for row in rows), dtype=">f4").reshape(len(rows), -1)
    return sent[:, 1:].astype(np.float32)


def _counts(terms: Sequence[str]) -> tuple[LiteralString, tuple[Any, ...]]:
    """Return the SQL of how often a leaf with the words `w` has each distinct term, in their order."""
    distinct = tuple(term_number(term) for term in dict.fromkeys(terms))
    each: list[LiteralString] = ["coalesce(w.counts[array_position(w.terms, %s::bigint)], 0)"] * len(distinct)
    return f"ARRAY[{', '.join(each)}]::int[]", distinct


def _document_test(clause: Clause) -> tuple[LiteralString, tuple[Any, ...]]:
    """Return a filter as a test of each leaf's document, instead of a list of all documents that pass."""
    if clause.passes_all:
        return "", ()
    of_leaf = "d.corpus = l.corpus AND d.number = l.document"
    document = f"SELECT 1 FROM anabranch.documents d WHERE {of_leaf} AND {clause.sql}"  # noqa: S608
    return f" AND EXISTS ({document})", clause.parameters


def index_name(corpus: int) -> str:
    """Return the name of the index over the vectors of a corpus."""
    return f"leaves_nearest_{corpus:d}"


def indexed_vector(dimension: int) -> Composed:
    """Return the SQL of the indexed expression: half the precision takes half the space."""
    return SQL("(l.vector::halfvec({}))").format(Literal(dimension))


def has_index(connection: Connection[Any], corpus: int) -> bool | None:
    """Tell whether the vectors of a corpus have an index; None where it was left unfinished."""
    sql = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('anabranch.' || %s)"
    found = connection.execute(sql, (index_name(corpus),)).fetchone()
    return False if found is None else found[0] or None
