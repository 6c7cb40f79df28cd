"""Indexes what was written to a corpus in PostgreSQL: postings, word counts, an index of vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, LiteralString

import numpy as np
from psycopg import Connection
from psycopg.sql import SQL, Identifier, Literal

from anabranch.store.records import embedded_text
from anabranch.text.analyzer import Analyser, analyser
from anabranch_postgres.packed_arrays import Integers, pack_rows
from anabranch_postgres.postgres_search import NARROW, has_index, index_name
from anabranch_postgres.word_counts import Int64s, WordCounts, word_counts

BATCH = 16_000
"""Leaves whose words are counted in one transaction; finished transactions survive a kill.

Larger batches cost less: the rows of a term lie together, and its count is updated once.
"""

MANY = 4_000
"""From this many new leaves on, ANALYZE runs before they are looked up."""


_UNCOUNTED: LiteralString = (
    "NOT EXISTS (SELECT 1 FROM anabranch.leaf_words w WHERE w.corpus = l.corpus AND w.leaf = l.id)"
)


def publish(
    connection: Connection[Any], corpus: int, language: str, progress: Callable[[int, int], None] | None
) -> None:
    """Index the new leaves and publish them at once; does nothing if nothing has changed.

    Args:
        connection: The connection of the writer.
        corpus: The number of the corpus.
        language: The language of its stop words and stemmer.
        progress: Called with the leaves done and the leaves in all.
    """
    sql = "SELECT changes, published, analyser FROM anabranch.corpora WHERE id = %s"
    (changes, published, indexed_by), *_ = connection.execute(sql, (corpus,)).fetchall()
    words = analyser(language)
    if changes == published and words.name == indexed_by:
        return
    if indexed_by not in ("", words.name):
        # The analyser changed, so count all words again. Meanwhile searches by words find only counted leaves.
        _forget_words(connection, corpus)
    counted = (
        "SELECT (SELECT count(*) FROM anabranch.leaf_words WHERE corpus = %(corpus)s), count(*) "
        "FROM anabranch.leaves WHERE corpus = %(corpus)s"
    )
    (done, leaves), *_ = connection.execute(counted, {"corpus": corpus}).fetchall()
    if leaves - done > MANY:
        # The planner's statistics are older: it would join all leaves for each batch.
        connection.execute("ANALYZE anabranch.documents, anabranch.chunks, anabranch.leaves")
    last = 0
    while new := _next_leaves(connection, corpus, f"l.id > %s AND {_UNCOUNTED}", last):
        with connection.transaction():
            _count_words(connection, corpus, new, words)
        done, last = done + len(new), new[-1][0]
        if progress is not None:
            progress(done, leaves)
    index_vectors(connection, corpus, leaves)
    publish_changes(connection, corpus, words, language, changes)


def count_anew(connection: Connection[Any], corpus: int, words: Analyser, progress: Callable[[int, int], None]) -> int:
    """Count the words of all leaves again in the caller's transaction; return the number of leaves."""
    _forget_counts(connection, corpus)
    ((leaves,),) = connection.execute("SELECT count(*) FROM anabranch.leaves WHERE corpus = %s", (corpus,)).fetchall()
    done, last = 0, 0
    while new := _next_leaves(connection, corpus, "l.id > %s", last):
        _count_words(connection, corpus, new, words)
        done, last = done + len(new), new[-1][0]
        progress(done, leaves)
    return int(leaves)


def publish_changes(
    connection: Connection[Any], corpus: int, words: Analyser, language: str, changes: int | None = None
) -> None:
    """Publish all changes to readers, or those up to a count of changes."""
    sql = (
        "UPDATE anabranch.corpora SET generation = generation + 1, published = coalesce(%s, changes), analyser = %s, "
        "language = %s, dimension = "
        "coalesce((SELECT vector_dims(vector) FROM anabranch.leaves WHERE corpus = %s LIMIT 1), 0) WHERE id = %s"
    )
    connection.execute(sql, (changes, words.name, language, corpus, corpus))


def _next_leaves(
    connection: Connection[Any], corpus: int, which: LiteralString, *parameters: int
) -> list[tuple[Any, ...]]:
    sql = (
        "SELECT l.id, l.audience, l.born, d.title, c.heading, c.text FROM anabranch.leaves l "  # noqa: S608  # ours
        "JOIN anabranch.documents d ON d.corpus = l.corpus AND d.number = l.document "
        "JOIN anabranch.chunks c ON c.corpus = l.corpus AND c.chunk_id = l.chunk_id "
        f"WHERE l.corpus = %s AND {which} ORDER BY l.id LIMIT %s"
    )
    return connection.execute(sql, (corpus, *parameters, BATCH)).fetchall()


def _count_words(connection: Connection[Any], corpus: int, leaves: Sequence[tuple[Any, ...]], words: Analyser) -> None:
    ids, audiences, births = np.array([leaf[:3] for leaf in leaves], dtype=np.int64).T
    counted = word_counts([words.terms(embedded_text(*parts)) for _, _, _, *parts in leaves])
    groups, of_leaf = np.unique(np.stack([audiences, births]), axis=1, return_inverse=True)
    _add_postings(connection, corpus, counted, (ids, audiences, births))
    _keep_words(connection, corpus, ids, audiences, counted)
    terms, group, many = counted.frequencies(of_leaf)
    told = "SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[])"
    _add_frequencies(connection, corpus, told, [Integers(each) for each in (terms, *groups[:, group], many)])
    for place, (audience, born) in enumerate(groups.T.tolist()):
        lengths = counted.lengths[of_leaf == place]
        _add_size(connection, corpus, (audience, born, len(lengths), int(lengths.sum())))


def _add_postings(
    connection: Connection[Any], corpus: int, counted: WordCounts, known: tuple[Int64s, Int64s, Int64s]
) -> None:
    """Add a posting for each term of each leaf, whose number, audience and birth are known."""
    # In the order of the index, which makes inserting quicker.
    order = counted.by_term()
    rows = counted.rows[order]
    ids, audiences, births = (column[rows] for column in known)
    columns: list[tuple[str, Int64s | int]] = [
        ("i4", corpus), ("i8", counted.distinct[counted.places[order]]), ("i8", ids), ("i2", counted.counts[order]),
        ("i4", counted.lengths[rows]), ("i4", audiences), ("i4", births),
    ]  # fmt: skip
    with connection.cursor() as cursor, cursor.copy("COPY anabranch.postings FROM STDIN (FORMAT binary)") as copy:
        copy.write(pack_rows(len(order), columns))


def _keep_words(connection: Connection[Any], corpus: int, ids: Int64s, audiences: Int64s, counted: WordCounts) -> None:
    """Store the terms of each leaf, their counts, and its length."""
    sql = (
        "INSERT INTO anabranch.leaf_words SELECT %s, id, audience, length, (%s::bigint[])[first:last], "
        "(%s::bigint[]::smallint[])[first:last] FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], "
        "%s::bigint[]) AS b(id, audience, length, first, last)"
    )
    numbers = (
        counted.distinct[counted.places], counted.counts, ids, audiences, counted.lengths, *counted.spans()
    )  # fmt: skip
    connection.execute(sql, (corpus, *map(Integers, numbers)))


def _add_frequencies(
    connection: Connection[Any], corpus: int, changes: LiteralString, parameters: Sequence[Any]
) -> None:
    """Add to the counts of words; `changes` selects rows of term, audience, birth and additional leaves."""
    sql = (
        f"INSERT INTO anabranch.term_frequencies AS f SELECT %s, a.* FROM ({changes}) a "  # noqa: S608  # ours
        "ON CONFLICT (corpus, term, audience, born) DO UPDATE SET leaves = f.leaves + excluded.leaves"
    )
    connection.execute(sql, (corpus, *parameters))


def _add_size(connection: Connection[Any], corpus: int, row: tuple[int, int, int, int]) -> None:
    """Add to the size of an audience: its number, birth, leaves and terms."""
    sql = (
        "INSERT INTO anabranch.audience_sizes AS s VALUES (%s, %s, %s, %s, %s) ON CONFLICT (corpus, audience, born) "
        "DO UPDATE SET leaves = s.leaves + excluded.leaves, length = s.length + excluded.length"
    )
    connection.execute(sql, (corpus, *row))


_WORDS_OF_LEAVES: LiteralString = (
    "anabranch.leaves l JOIN anabranch.leaf_words w ON w.corpus = l.corpus AND w.leaf = l.id"
)


def uncount_words(connection: Connection[Any], corpus: int, documents: Sequence[int]) -> None:
    """Subtract the words of documents, given by number, from the counts before the documents are removed."""
    parameters = (corpus, list(documents))
    sql = (
        f"SELECT l.audience, l.born, -count(*), -sum(w.length) FROM {_WORDS_OF_LEAVES} "  # noqa: S608  # a constant
        "WHERE l.corpus = %s AND l.document = ANY(%s) GROUP BY 1, 2"
    )
    for row in connection.execute(sql, parameters).fetchall():
        _add_size(connection, corpus, row)
    changes: LiteralString = (
        f"SELECT term, l.audience, l.born, -count(*) FROM {_WORDS_OF_LEAVES}, unnest(w.terms) term "  # noqa: S608
        "WHERE l.corpus = %s AND l.document = ANY(%s) GROUP BY 1, 2, 3"
    )
    _add_frequencies(connection, corpus, changes, parameters)
    sql = (
        f"DELETE FROM anabranch.postings p USING {_WORDS_OF_LEAVES}, unnest(w.terms) AS t(term) "  # noqa: S608
        "WHERE l.corpus = %s AND l.document = ANY(%s) AND p.corpus = l.corpus AND p.term = t.term AND p.leaf = l.id"
    )
    connection.execute(sql, parameters)
    sql = (
        "DELETE FROM anabranch.leaf_words w USING anabranch.leaves l WHERE l.corpus = %s AND l.document = ANY(%s) "
        "AND w.corpus = l.corpus AND w.leaf = l.id"
    )
    connection.execute(sql, parameters)


def _forget_words(connection: Connection[Any], corpus: int) -> None:
    with connection.transaction():
        _forget_counts(connection, corpus)


def _forget_counts(connection: Connection[Any], corpus: int) -> None:
    for table in ("postings", "leaf_words", "term_frequencies", "audience_sizes"):
        sql = SQL("DELETE FROM {} WHERE corpus = %s").format(Identifier("anabranch", table))
        connection.execute(sql, (corpus,))


def index_vectors(connection: Connection[Any], corpus: int, leaves: int) -> None:
    """Index the vectors of a large corpus; in a small one, searches compare all vectors."""
    found = has_index(connection, corpus)
    if leaves <= NARROW or found:
        return
    name = Identifier("anabranch", index_name(corpus))
    if found is None:
        connection.execute(SQL("DROP INDEX {}").format(name))  # a kill left it unfinished
    sql = "SELECT vector_dims(vector) FROM anabranch.leaves WHERE corpus = %s LIMIT 1"
    ((size,),) = connection.execute(sql, (corpus,)).fetchall()
    # One index per corpus, so that no search visits vectors of another. Concurrently, because other corpora are written
    # to meanwhile.
    statement = SQL(
        "CREATE INDEX CONCURRENTLY {name} ON anabranch.leaves USING hnsw ((vector::halfvec({size})) halfvec_ip_ops) "
        "WHERE corpus = {corpus}"
    ).format(name=Identifier(index_name(corpus)), size=Literal(size), corpus=Literal(corpus))
    connection.execute(statement)
    connection.execute("ANALYZE anabranch.leaves, anabranch.leaf_words, anabranch.documents, anabranch.postings")


def forget_unused(connection: Connection[Any], corpus: int) -> None:
    """Drop vectors without a leaf, and the counts of removed leaves."""
    with connection.transaction():
        # Keep vectors that a worker has embedded but not written yet.
        sql = (
            "DELETE FROM anabranch.vectors v WHERE v.corpus = %s AND NOT EXISTS "
            "(SELECT 1 FROM anabranch.jobs j WHERE j.corpus = v.corpus AND j.state = 'running')"
        )
        connection.execute(sql, (corpus,))
        for table in ("term_frequencies", "audience_sizes"):
            empty = SQL("DELETE FROM {} WHERE corpus = %s AND leaves = 0").format(Identifier("anabranch", table))
            connection.execute(empty, (corpus,))
        sql = (
            "DELETE FROM anabranch.audiences a WHERE a.corpus = %s AND NOT EXISTS "
            "(SELECT 1 FROM anabranch.documents d WHERE d.corpus = a.corpus AND d.audience = a.id)"
        )
        connection.execute(sql, (corpus,))
