"""Searches a corpus in PostgreSQL by words and by vectors.

BM25 is a sum over the postings of the question's words, weighed with the statistics of what the caller may read (Okapi,
Robertson and Walker 1994, with the constants of `rank_bm25`). The database finds the best; their scores are computed
here, by the same steps as in a folder, so that they are the same to the last bit whatever plan the database has taken.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, LiteralString

import numpy as np
from numpy.typing import NDArray
from psycopg import Connection
from psycopg.sql import SQL, Composable, Composed, Literal

from anabranch.models.embedder import Vectors
from anabranch.store.index.bm25 import K1, B
from anabranch.store.index.dense import cosines
from anabranch.store.postgres.bm25_counts import TermCounts, bm25_scores, term_number
from anabranch.store.postgres.postgres_filters import Clause
from anabranch.store.protocol import RankedList

NARROW = 5_000
"""Leaves up to which each vector is compared: it takes some milliseconds, and nothing is missed."""

_SURROGATE = re.compile("[\ud800-\udfff]")

WIDEST = 400
"""Vectors that the index of the database is asked for, at most; more are found by comparing all."""


@dataclass(frozen=True, slots=True)
class QueryBatch:
    """Questions as the database sees them: analysed terms of each, or a row of `vectors`, shape (questions, d)."""

    terms: Sequence[Sequence[str]] = ()
    vectors: Vectors | None = None


def storable_of(texts: Sequence[str]) -> list[str]:
    """Return those that PostgreSQL can hold; of the others it can have none, and would refuse the whole statement."""
    return [text for text in dict.fromkeys(texts) if "\0" not in text and not _SURROGATE.search(text)]


def ranked(scores: Mapping[str, float], k: int) -> RankedList:
    """Return the best of them; those of equal scores in the order they have."""
    best = sorted(scores, key=lambda chunk_id: -scores[chunk_id])[:k]
    return RankedList(ids=best, scores=[scores[chunk_id] for chunk_id in best])


class PostgresSearch:
    """The statements of a search over one generation of a corpus."""

    def __init__(self, corpus: int, generation: int) -> None:
        """Take the number of the corpus, and the generation whose leaves are found."""
        self._corpus = corpus
        self._generation = generation

    def audiences(self, access: Sequence[str]) -> Clause:
        """Return the SQL of the audiences that somebody belongs to: those without a tag, or with one of theirs."""
        sql = "ARRAY(SELECT id FROM anabranch.audiences WHERE corpus = %s AND (tags = '{}' OR tags && %s::text[]))"
        return Clause(sql, (self._corpus, storable_of(access)))

    def statistics(self, connection: Connection[Any], terms: Sequence[str], access: Sequence[str]) -> TermCounts:
        """Count what somebody may read, and in how many of those leaves each term is."""
        audience = self.audiences(access)
        sizes = (
            "SELECT coalesce(sum(leaves), 0)::bigint, coalesce(sum(length), 0)::bigint FROM anabranch.audience_sizes "  # noqa: S608
            f"WHERE corpus = %s AND audience = ANY({audience.sql}) AND born <= %s"
        )
        found = connection.execute(sizes, (self._corpus, *audience.parameters, self._generation)).fetchone()
        leaves, length = found or (0, 0)
        frequencies = (
            "SELECT term, sum(leaves)::bigint FROM anabranch.term_frequencies "  # noqa: S608
            f"WHERE corpus = %s AND term = ANY(%s) AND audience = ANY({audience.sql}) AND born <= %s GROUP BY term"
        )
        numbers = [term_number(term) for term in terms]
        parameters = (self._corpus, numbers, *audience.parameters, self._generation)
        rows = connection.execute(frequencies, parameters).fetchall() if numbers else []
        return TermCounts(leaves, length / leaves if leaves else 0.0, dict(rows))

    def nearest(
        self, connection: Connection[Any], asked: QueryBatch, k: int, access: Sequence[str], clause: Clause
    ) -> list[dict[str, float]]:
        """Return the scores of the best `k` leaves for each question, in no order that counts."""
        if asked.vectors is not None:
            exact = self._compares_all(connection, k, access, clause)
            return [self._by_vector(connection, vector, k, access, clause, exact=exact) for vector in asked.vectors]
        statistics = self.statistics(connection, _distinct(asked.terms), access)
        return [self._by_words(connection, terms, k, access, clause, statistics) for terms in asked.terms]

    def scores(
        self, connection: Connection[Any], asked: QueryBatch, ids: Sequence[str], access: Sequence[str], clause: Clause
    ) -> list[dict[str, float]]:
        """Return the score of each of these leaves for each question; what is gone, hidden or no leaf is absent."""
        if asked.vectors is not None:
            rows = self._leaves(connection, "l.id, l.chunk_id, l.vector", ids, access, clause)
            names, vectors = [row[1] for row in rows], _matrix([row[2] for row in rows])
            return [_paired(names, cosines(vectors, vector)) if names else {} for vector in asked.vectors]
        distinct = _distinct(asked.terms)
        statistics = self.statistics(connection, distinct, access)
        rows = self._leaves(connection, "l.id, l.chunk_id, l.length", ids, access, clause)
        counts = self._counts(connection, distinct, [row[0] for row in rows])
        return [bm25_scores(rows, counts, terms, statistics) for terms in asked.terms]

    def occurring(
        self, connection: Connection[Any], terms: Sequence[str], ids: Sequence[str], access: Sequence[str],
        clause: Clause,
    ) -> dict[str, frozenset[str]]:  # fmt: skip
        """Return which of these terms each of these leaves has."""
        rows = self._leaves(connection, "l.id, l.chunk_id", ids, access, clause)
        counts = self._counts(connection, terms, [row[0] for row in rows])
        return {
            name: frozenset(term for term in terms if (number, term_number(term)) in counts) for number, name in rows
        }

    def _by_words(
        self, connection: Connection[Any], terms: Sequence[str], k: int, access: Sequence[str], clause: Clause,
        statistics: TermCounts,
    ) -> dict[str, float]:  # fmt: skip
        weights: dict[int, float] = {}
        for term in terms:
            if (idf := statistics.idf(term)) is not None:
                weights[term_number(term)] = weights.get(term_number(term), 0.0) + idf
        if not weights:
            return {}
        audience = self.audiences(access)
        within, filtered = self._narrowed(clause, "p.leaf", "l.id")
        # Rounded where the best are told from the others: the sum depends on the order that the plan adds in. What is
        # the same for all postings is reckoned beforehand: there may be a hundred thousand of them.
        sql = (
            "SELECT l.id, l.chunk_id, l.length FROM (SELECT p.leaf, "  # noqa: S608
            "(sum(a.weight * p.count / (p.count + %s::float8 + %s::float8 * p.length)) * 1e9)::bigint AS score "
            "FROM unnest(%s::bigint[], %s::float8[]) AS a(term, weight) "
            "JOIN anabranch.postings p ON p.corpus = %s AND p.term = a.term "
            f"WHERE p.audience = ANY({audience.sql}) AND p.born <= %s{within} "
            "GROUP BY p.leaf ORDER BY score DESC, p.leaf LIMIT %s) best "
            "JOIN anabranch.leaves l ON l.corpus = %s AND l.id = best.leaf"
        )
        parameters = (
            K1 * (1 - B), K1 * B / (statistics.mean or 1.0), list(weights),
            [(K1 + 1) * weight for weight in weights.values()], self._corpus, *audience.parameters, self._generation,
            *filtered, k, self._corpus,
        )  # fmt: skip
        rows = sorted(connection.execute(sql, parameters, binary=True), key=itemgetter(0))
        counts = self._counts(connection, _distinct([terms]), [row[0] for row in rows])
        return bm25_scores(rows, counts, terms, statistics)

    def _by_vector(
        self, connection: Connection[Any], vector: NDArray[np.float32], k: int, access: Sequence[str], clause: Clause,
        *, exact: bool,
    ) -> dict[str, float]:  # fmt: skip
        audience = self.audiences(access)
        if exact:
            within, filtered = self._narrowed(clause, "l.document", "l.document")
            near: Composable = SQL("l.vector <#> %s")
        else:
            within, filtered = _looked_up(clause)
            near = SQL("{} <#> %s::halfvec").format(indexed_vector(len(vector)))
            # Filters would otherwise starve a search that looks at so many neighbours and no more. And what the planner
            # knows of tags and filters is a guess: it may sort all rows where the index has them in order.
            local = (
                "SELECT set_config('hnsw.iterative_scan', 'strict_order', true), set_config('enable_sort', 'off', true)"
            )
            connection.execute(f"{local}, set_config('hnsw.ef_search', %s, true)", (str(max(100, min(2 * k, 1000))),))
        # The number of the corpus stands in the statement: an index of one corpus alone is used for no parameter.
        statement = (
            SQL("SELECT l.id, l.chunk_id, l.vector FROM anabranch.leaves l WHERE l.corpus = ") + Literal(self._corpus)
            + SQL(f" AND l.audience = ANY({audience.sql}) AND l.born <= %s{within} ORDER BY ") + near + SQL(" LIMIT %s")
        )  # fmt: skip
        parameters = (*audience.parameters, self._generation, *filtered, vector, k)
        # Binary: to write and to read 384 numbers as text takes longer than the search.
        # Those of the same words have the same score: they come in the order that they were taken in.
        rows = sorted(connection.execute(statement, parameters, binary=True), key=itemgetter(0))
        return _paired([row[1] for row in rows], cosines(_matrix([row[2] for row in rows]), vector)) if rows else {}

    def _compares_all(self, connection: Connection[Any], k: int, access: Sequence[str], clause: Clause) -> bool:
        """Tell whether each vector is to be compared: few are in scope, many are wanted, or there is no index."""
        if k > WIDEST or not has_index(connection, self._corpus):
            return True
        if clause.sql == _EVERYTHING:
            return self.statistics(connection, [], access).leaves <= NARROW
        audience = self.audiences(access)
        sql = (
            "SELECT coalesce(sum(d.leaves), 0) FROM anabranch.documents d "  # noqa: S608
            f"WHERE d.corpus = %s AND d.audience = ANY({audience.sql}) AND {clause.sql}"
        )
        found = connection.execute(sql, (self._corpus, *audience.parameters, *clause.parameters)).fetchone()
        return found is None or found[0] <= NARROW

    def _narrowed(self, clause: Clause, leaf: LiteralString, of: str) -> tuple[LiteralString, tuple[Any, ...]]:
        """Return the SQL by which a filter narrows leaves, none where everything passes."""
        if clause.sql == _EVERYTHING:
            return "", ()
        documents = f"SELECT d.number FROM anabranch.documents d WHERE d.corpus = %s AND {clause.sql}"  # noqa: S608
        if of == "l.document":
            return f" AND {leaf} IN ({documents})", (self._corpus, *clause.parameters)
        leaves = f"SELECT l.id FROM anabranch.leaves l WHERE l.corpus = %s AND l.document IN ({documents})"  # noqa: S608
        return f" AND {leaf} IN ({leaves})", (self._corpus, self._corpus, *clause.parameters)

    def _leaves(
        self,
        connection: Connection[Any],
        columns: LiteralString,
        ids: Sequence[str],
        access: Sequence[str],
        clause: Clause,
    ) -> list[tuple[Any, ...]]:  # fmt: skip
        audience = self.audiences(access)
        within, filtered = self._narrowed(clause, "l.document", "l.document")
        sql = (
            f"SELECT {columns} FROM anabranch.leaves l WHERE l.corpus = %s AND l.chunk_id = ANY(%s) "  # noqa: S608
            f"AND l.audience = ANY({audience.sql}) AND l.born <= %s{within}"
        )
        parameters = (self._corpus, storable_of(ids), *audience.parameters, self._generation, *filtered)
        # Put in order here: asked for it, the database goes through all leaves by their number.
        return sorted(connection.execute(sql, parameters, binary=True), key=itemgetter(0))

    def _counts(
        self, connection: Connection[Any], terms: Sequence[str], leaves: Sequence[int]
    ) -> dict[tuple[int, int], int]:
        """Return how often each leaf has each term, by their numbers, where it has it."""
        if not terms or not leaves:
            return {}
        sql = "SELECT leaf, term, count FROM anabranch.postings WHERE corpus = %s AND term = ANY(%s) AND leaf = ANY(%s)"
        rows = connection.execute(sql, (self._corpus, [term_number(term) for term in terms], list(leaves)), binary=True)
        return {(leaf, term): count for leaf, term, count in rows}


_EVERYTHING = "true"


def _looked_up(clause: Clause) -> tuple[LiteralString, tuple[Any, ...]]:
    """Return a filter as a look at the document of each leaf that the index brings: no list of all that pass."""
    if clause.sql == _EVERYTHING:
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


def _distinct(terms: Sequence[Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(term for each in terms for term in each))


def _matrix(vectors: Sequence[Any]) -> Vectors:
    return np.array([np.asarray(vector.to_numpy(), dtype=np.float32) for vector in vectors], dtype=np.float32)


def _paired(names: Sequence[str], scores: NDArray[np.float64]) -> dict[str, float]:
    return dict(zip(names, scores.tolist(), strict=True))
