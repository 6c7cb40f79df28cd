"""The statements that search a corpus in PostgreSQL by words and by vectors, and what their rows say.

BM25 is a sum over the postings of the question's words, weighed with the statistics of what the caller may read (Okapi,
Robertson and Walker 1994, with the constants of `rank_bm25`). The database finds the best; their scores are computed
here, by the same steps as in a folder, so that they are the same to the last bit whatever plan the database has taken.
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
"""Leaves up to which each vector is compared: it takes some milliseconds, and nothing is missed."""

WIDEST = 400
"""Vectors that the index of the database is asked for, at most; more are found by comparing all."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def filter_storable(texts: Sequence[str]) -> list[str]:
    """Return those that PostgreSQL can hold; of the others it can have none, and would refuse the whole statement."""
    return [text for text in dict.fromkeys(texts) if "\0" not in text and not _SURROGATE.search(text)]


def pick_best(scores: Mapping[str, float], k: int) -> RankedList:
    """Return the best of them; those of equal scores in the order they have."""
    best = sorted(scores, key=lambda chunk_id: -scores[chunk_id])[:k]
    return RankedList(ids=best, scores=[scores[chunk_id] for chunk_id in best])


# Looked up leaf by leaf: a planner that knows nothing of the table would read the words of all leaves for a hundred.
_WORDS: LiteralString = (
    "LATERAL (SELECT w.length, w.terms, w.counts FROM anabranch.leaf_words w WHERE w.corpus = l.corpus "
    "AND w.leaf = l.id OFFSET 0) w ON true"
)


class PostgresSearch:
    """The statements of a search over one generation of a corpus.

    Rows of leaves begin with their number and name; then come their length, how often each asked term is in it, and its
    vector as pgvector sends it, of those what was asked for.
    """

    def __init__(self, corpus: int, generation: int) -> None:
        """Take the number of the corpus, and the generation whose leaves are found."""
        self._corpus = corpus
        self._generation = generation

    def audiences(self, access: Sequence[str]) -> Clause:
        """Return the SQL of the audiences that somebody belongs to: those without a tag, or with one of theirs."""
        sql = "ARRAY(SELECT id FROM anabranch.audiences WHERE corpus = %s AND (tags = '{}' OR tags && %s::text[]))"
        return Clause(sql, (self._corpus, filter_storable(access)))

    def statistics(self, terms: Sequence[str], access: Sequence[str]) -> Clause:
        """Return what counts the leaves that somebody may read, their terms, and those that hold each term.

        Rows of a term's number, leaves and length: of all leaves with no number, of each term with no length.
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

    def by_words(self, terms: Sequence[str], k: int, access: Sequence[str], clause: Clause) -> SqlStatement:
        """Return what finds the best `k` leaves by their words, in no order that counts."""
        audience, told = self.audiences(access), self.statistics(terms, access)
        within, filtered = self._leaf_filter(clause)
        times = Counter(map(term_number, terms))
        counted, of_leaf = _counts(terms)
        # Rounded where the best are told from the others: the sum depends on the order that the plan adds in. What is
        # the same for all postings is reckoned beforehand: there may be a hundred thousand of them, and most of the
        # time goes into putting together those of a leaf.
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

    def by_vector(
        self, vector: NDArray[np.float32], k: int, access: Sequence[str], clause: Clause, *, exact: bool
    ) -> SqlStatement:
        """Return what finds the nearest `k` leaves: by comparing all, or by the index, after `prefer_index`."""
        audience = self.audiences(access)
        if exact:
            within, filtered = self._document_filter(clause)
            near: Composable = SQL("l.vector <#> %b")
        else:
            within, filtered = _document_test(clause)
            near = SQL("{} <#> (%b)::halfvec").format(indexed_vector(len(vector)))
        # The number of the corpus stands in the statement: an index of one corpus alone is used for no parameter.
        sql = (
            SQL("SELECT l.id, l.chunk_id, vector_send(l.vector) FROM anabranch.leaves l WHERE l.corpus = ")
            + Literal(self._corpus)
            + SQL(f" AND l.audience = ANY({audience.sql}) AND l.born <= %s{within} ORDER BY ") + near + SQL(" LIMIT %s")
        )  # fmt: skip
        return SqlStatement(sql, (*audience.parameters, self._generation, *filtered, Vector(vector), k))

    def width(self, access: Sequence[str], clause: Clause) -> SqlStatement:
        """Return what tells whether the index of vectors is there, and how many leaves are in scope."""
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
        """Return what looks up leaves by their names; what is gone, hidden or no leaf is absent."""
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
    """Return what has the planner take the index of vectors for what follows in the transaction."""
    # Filters would otherwise starve a search that looks at so many neighbours and no more. And what the planner knows
    # of tags and filters is a guess: it may sort all rows where the index has them in order.
    sql = (
        "SELECT set_config('hnsw.iterative_scan', 'strict_order', true), set_config('enable_sort', 'off', true), "
        "set_config('hnsw.ef_search', %s, true)"
    )
    return SqlStatement(sql, (str(max(100, min(2 * k, 1000))),))


def cosines_of(rows: Sequence[tuple[Any, ...]], vector: NDArray[np.float32]) -> dict[str, float]:
    """Return the cosine of each leaf, of rows that end with vectors, in the order that they were taken in."""
    if not rows:
        return {}
    # Those of the same words have the same score: the first one taken in comes first.
    by_number = sorted(rows, key=lambda row: row[0])
    found = cosines(vectors_of(by_number), vector)
    return dict(zip((row[1] for row in by_number), found.tolist(), strict=True))


def vectors_of(rows: Sequence[tuple[Any, ...]]) -> Vectors:
    """Return the vectors that rows end with, shape (rows, dimension)."""
    # As pgvector sends them: two numbers of two bytes, and then its own, most significant byte first.
    sent = np.frombuffer(b"".join(row[-1] for row in rows), dtype=">f4").reshape(len(rows), -1)
    return sent[:, 1:].astype(np.float32)


def _counts(terms: Sequence[str]) -> tuple[LiteralString, tuple[Any, ...]]:
    """Return the SQL of how often a leaf with the words `w` has each distinct term, in their order."""
    distinct = tuple(term_number(term) for term in dict.fromkeys(terms))
    each: list[LiteralString] = ["coalesce(w.counts[array_position(w.terms, %s::bigint)], 0)"] * len(distinct)
    return f"ARRAY[{', '.join(each)}]::int[]", distinct


def _document_test(clause: Clause) -> tuple[LiteralString, tuple[Any, ...]]:
    """Return a filter as a look at the document of each leaf that the index brings: no list of all that pass."""
    if clause.passes_all:
        return "", ()
    of_leaf = "d.corpus = l.corpus AND d.number = l.document"
    document = f"SELECT 1 FROM anabranch.documents d WHERE {of_leaf} AND {clause.sql}"  # noqa: S608
    return f" AND EXISTS ({document})", clause.parameters


def index_name(corpus: int) -> str:
    """Return the name of the index over the vectors of a corpus."""
    return f"leaves_nearest_{corpus:d}"


def indexed_vector(dimension: int) -> Composed:
    """Return the SQL of what that index is over: half the precision is half the room."""
    return SQL("(l.vector::halfvec({}))").format(Literal(dimension))


def has_index(connection: Connection[Any], corpus: int) -> bool | None:
    """Tell whether the vectors of a corpus have an index; None where it was left unfinished."""
    sql = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('anabranch.' || %s)"
    found = connection.execute(sql, (index_name(corpus),)).fetchone()
    return False if found is None else found[0] or None
