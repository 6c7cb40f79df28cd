"""Rebuilds what is derived from the documents of a corpus in PostgreSQL: vectors, postings, word counts.

Vectors are stored as they are made, so that a killed run pays for none twice. Everything else is one transaction, which
publishes it: searches find the former state until then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import LiteralString

from anabranch.errors import CorpusDamagedError
from anabranch.models.embedder import Embedder
from anabranch.store.corpus_embedder import EMBEDDED_LEAVES
from anabranch.store.corpus_language import resolve_language
from anabranch.store.records import embedded_text, text_key
from anabranch.store.stored_document import ExaminedDocument, StoredChunk, find_fault, is_vector
from anabranch.store.writer_protocol import Progress
from anabranch.text.amounts import without_amounts
from anabranch.text.analyzer import analyser
from anabranch_postgres.postgres_index import count_anew, forget_unused, index_vectors, publish_changes
from anabranch_postgres.postgres_snapshot import PostgresSnapshot
from anabranch_postgres.postgres_writer import PostgresWriter

# Repairs of leaves, in order; correct rows are not written again, because each write is slow in an index of vectors.
_LEAVES: tuple[LiteralString, ...] = (
    "DELETE FROM anabranch.chunks c WHERE c.corpus = %(corpus)s AND NOT EXISTS (SELECT 1 FROM anabranch.documents d "
    "WHERE d.corpus = c.corpus AND d.number = c.document)",
    "DELETE FROM anabranch.leaves l WHERE l.corpus = %(corpus)s AND NOT EXISTS (SELECT 1 FROM anabranch.chunks c "
    "WHERE c.corpus = l.corpus AND c.chunk_id = l.chunk_id AND c.level = 2)",
    "UPDATE anabranch.leaves l SET vector_key = r.vector_key, vector = v.vector FROM renewed r "
    "JOIN anabranch.meta m ON m.corpus = %(corpus)s AND m.name = 'embedder' JOIN anabranch.vectors v "
    "ON v.corpus = m.corpus AND v.vector_key = r.vector_key AND v.embedder = m.value "
    "WHERE l.corpus = %(corpus)s AND l.chunk_id = r.chunk_id",
    "INSERT INTO anabranch.leaves (corpus, chunk_id, document, audience, born, vector_key, vector) "
    "SELECT d.corpus, r.chunk_id, d.number, d.audience, 0, r.vector_key, v.vector FROM renewed r "
    "JOIN anabranch.documents d ON d.corpus = %(corpus)s AND d.number = r.document "
    "JOIN anabranch.chunks c ON c.corpus = d.corpus AND c.chunk_id = r.chunk_id "
    "JOIN anabranch.meta m ON m.corpus = d.corpus AND m.name = 'embedder' JOIN anabranch.vectors v "
    "ON v.corpus = d.corpus AND v.vector_key = r.vector_key AND v.embedder = m.value "
    "WHERE NOT EXISTS (SELECT 1 FROM anabranch.leaves l WHERE l.corpus = d.corpus AND l.chunk_id = r.chunk_id) "
    "ORDER BY d.number, c.start",
    "UPDATE anabranch.leaves l SET document = d.number, audience = d.audience FROM anabranch.chunks c "
    "JOIN anabranch.documents d ON d.corpus = c.corpus AND d.number = c.document WHERE l.corpus = %(corpus)s "
    "AND c.corpus = l.corpus AND c.chunk_id = l.chunk_id AND (l.document, l.audience) <> (d.number, d.audience)",
    "UPDATE anabranch.leaves l SET born = c.generation + 1 FROM anabranch.corpora c "
    "WHERE l.corpus = %(corpus)s AND c.id = l.corpus AND l.born > c.generation + 1",
    "UPDATE anabranch.documents d SET leaves = n.leaves FROM (SELECT c.document, count(*) AS leaves "
    "FROM anabranch.chunks c WHERE c.corpus = %(corpus)s AND c.level = 2 GROUP BY 1) n "
    "WHERE d.corpus = %(corpus)s AND d.number = n.document AND d.leaves <> n.leaves",
)


def make_vectors(
    writer: PostgresWriter, snapshot: PostgresSnapshot, load: Callable[[], Embedder], progress: Progress
) -> None:
    """Make missing, bad or outdated vectors of leaves; `rebuild_index` puts them in place.

    Args:
        writer: The writer, which stores them.
        snapshot: A snapshot of the same corpus, on its own connection.
        load: Returns the embedder of the corpus; called only if something has to be embedded.
        progress: Called with the progress.

    Raises:
        CorpusDamagedError: A document is damaged; nothing has been changed.
    """
    # A temporary table, because all leaves of a large corpus may lack vectors.
    columns = "chunk_id text PRIMARY KEY, document bigint, vector_key text"
    writer.connection.execute(f"CREATE TEMP TABLE renewed ({columns})")
    texts: dict[str, str] = {}
    total = snapshot.count() or 0
    for done, document in enumerate(snapshot.documents(), start=1):
        for leaf, text in _missing_vectors(snapshot, document):
            row = (leaf.chunk_id, document.number, text_key(text))
            writer.connection.execute("INSERT INTO renewed VALUES (%s, %s, %s)", row)
            texts[text_key(text)] = text
            if len(texts) == EMBEDDED_LEAVES:
                _embed(writer, texts, load())
                texts = {}
        progress("passages", done, total)
    if texts:
        _embed(writer, texts, load())


def _missing_vectors(snapshot: PostgresSnapshot, document: ExaminedDocument) -> Iterator[tuple[StoredChunk, str]]:
    """Yield the leaves of a document that need a vector, with the text to embed."""
    row = document.row
    if row is None or not all(isinstance(each.text, str) for each in document.chunks if each.level == 2):
        raise _damage_error(document, document.fault)
    title = row.title
    said = [embedded_text(title, each.heading, each.text or "") if each.level == 2 else "" for each in document.chunks]
    # Check only the words: a wrong vector of a leaf is repaired here.
    chunks = [
        each._replace(vector_key=text_key(text)) if text else each
        for each, text in zip(document.chunks, said, strict=True)
    ]
    if why := find_fault(row, chunks):
        raise _damage_error(document, why)
    vectors = iter(snapshot.vectors(document))
    for before, now, text in zip(document.chunks, chunks, said, strict=True):
        if now.level == 2 and (next(vectors) is None or before.vector_key != now.vector_key):
            yield now, text


def _damage_error(document: ExaminedDocument, why: str | None) -> CorpusDamagedError:
    name = document.name or f"document number {document.number}"
    hint = "Replace it: anabranch corpus remove SOURCE, then ingest its folder."
    return CorpusDamagedError(f"{name}: {why}.", hint=hint)


def _embed(writer: PostgresWriter, texts: dict[str, str], model: Embedder) -> None:
    """Store the vectors of texts by key, except those that a killed run has stored."""
    sql = (
        "SELECT vector_key, vector FROM anabranch.vectors WHERE corpus = %s AND embedder = %s AND vector_key = ANY(%s)"
    )
    parameters = (writer.corpus, model.name, list(texts))
    kept = writer.connection.execute(sql, parameters).fetchall()
    good = {key for key, vector in kept if is_vector(vector.to_numpy().astype("<f4").tobytes(), model.dimension)}
    bad = [key for key, _ in kept if key not in good]
    gone = "DELETE FROM anabranch.vectors WHERE corpus = %s AND embedder = %s AND vector_key = ANY(%s)"
    writer.connection.execute(gone, (writer.corpus, model.name, bad))
    todo = [key for key in texts if key not in good]
    if todo:
        vectors = model.embed([without_amounts(texts[key]) for key in todo])
        writer.add_vectors(todo, vectors, model.name)


def rebuild_index(writer: PostgresWriter, progress: Progress) -> None:
    """Repair leaves from their documents, count all words again, and publish; call it after `make_vectors`."""
    connection, corpus = writer.connection, writer.corpus
    language = resolve_language(writer)
    words = analyser(language)

    def report(done: int, total: int) -> None:
        progress("index", done, total)

    with writer.transaction():
        for sql in _LEAVES:
            connection.execute(sql, {"corpus": corpus})
        leaves = count_anew(connection, corpus, words, report)
        publish_changes(connection, corpus, words, language)
    index_vectors(connection, corpus, leaves)
    forget_unused(connection, corpus)
