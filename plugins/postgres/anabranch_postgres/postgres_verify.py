"""Checks a corpus in PostgreSQL: its documents, their vectors, and the counts of their words.

The database keeps its pages and keys sound. It cannot check the word counts of passages: those are counted again here
and compared with the sums.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, LiteralString, Protocol

from anabranch.store.corpus_snapshot import CorpusSnapshot, Finding
from anabranch.store.records import embedded_text
from anabranch.store.stored_document import ExaminedDocument
from anabranch.store.writer_protocol import Progress
from anabranch.text.analyzer import Analyser, analyser
from anabranch.text.plural import counted
from anabranch_postgres.bm25_counts import term_number
from anabranch_postgres.postgres_search import NARROW, index_name
from anabranch_postgres.word_counts import MOST_COUNTED

# Each statement counts rows and should return 0. The next ingest removes sums of 0.
_SUMS: dict[str, LiteralString] = {
    "counts of a term that differ from its postings": (
        "SELECT count(*) FROM (SELECT term, audience, born, leaves FROM anabranch.term_frequencies "
        "WHERE corpus = %(corpus)s AND leaves <> 0) f FULL JOIN (SELECT term, audience, born, count(*) AS leaves "
        "FROM anabranch.postings WHERE corpus = %(corpus)s GROUP BY 1, 2, 3) p USING (term, audience, born) "
        "WHERE f.leaves IS DISTINCT FROM p.leaves"
    ),
    "sizes of an audience that differ from its passages": (
        "SELECT count(*) FROM (SELECT audience, born, leaves, length FROM anabranch.audience_sizes "
        "WHERE corpus = %(corpus)s AND (leaves <> 0 OR length <> 0)) s FULL JOIN (SELECT l.audience, l.born, "
        "count(*) AS leaves, sum(w.length) AS length FROM anabranch.leaves l JOIN anabranch.leaf_words w "
        "ON w.corpus = l.corpus AND w.leaf = l.id WHERE l.corpus = %(corpus)s GROUP BY 1, 2) l USING (audience, born) "
        "WHERE s.leaves IS DISTINCT FROM l.leaves OR s.length IS DISTINCT FROM l.length"
    ),
    "chunks without a document": (
        "SELECT count(*) FROM anabranch.chunks c WHERE c.corpus = %(corpus)s AND NOT EXISTS "
        "(SELECT 1 FROM anabranch.documents d WHERE d.corpus = c.corpus AND d.number = c.document)"
    ),
    "documents whose passage count is wrong": (
        "SELECT count(*) FROM anabranch.documents d WHERE d.corpus = %(corpus)s AND d.leaves <> (SELECT count(*) "
        "FROM anabranch.leaves l WHERE l.corpus = d.corpus AND l.document = d.number)"
    ),
}


class QueryableSnapshot(CorpusSnapshot, Protocol):
    """A snapshot that can also query the tables."""

    corpus: int

    def rows(self, sql: LiteralString, **parameters: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401  # of any type
        """Return the rows of a statement; its parameter `corpus` is this one."""
        ...


@dataclass(slots=True)
class _Words:
    """The result of counting the words of passages again.

    Attributes:
        words: The analyser that counted them, None if this program lacks it.
        postings: How many postings there should be.
        wrong: Number of passages by problem.
    """

    words: Analyser | None
    postings: int = 0
    wrong: Counter[str] = field(default_factory=Counter)


def findings_of(snapshot: QueryableSnapshot, progress: Progress) -> Iterator[Finding]:
    """Yield what is wrong with a corpus.

    Checked: that every document is exactly what was written and has its vectors; that postings, and the sums over them,
    are those of its words; that passages have the tags of their document; and that all of them are published.
    """
    sql = "SELECT generation, changes = published, analyser, language FROM anabranch.corpora WHERE id = %(corpus)s"
    ((generation, is_published, indexed_by, language),) = snapshot.rows(sql)
    found = _Words(None)
    if indexed_by:
        yield from _check_settings(snapshot, indexed_by, language)
        words = analyser(language)
        found.words = words if words.name == indexed_by else None
    total = snapshot.count() or 0
    for done, each in enumerate(snapshot.documents(), start=1):
        yield from _check_document(snapshot, each, found)
        progress("documents", done, total)
    yield from (Finding("index", f"{counted(many, 'passage')} {said}") for said, many in found.wrong.items())
    yield from _check_sums(snapshot, found)
    yield from _check_generation(snapshot, generation, is_published=is_published)
    yield from _check_vector_index(snapshot)


def _check_settings(snapshot: QueryableSnapshot, indexed_by: str, language: str) -> Iterator[Finding]:
    named = snapshot.facts().get("language") or language
    if (should := analyser(named).name) != indexed_by:
        yield Finding(
            "index", f"the words were counted by {indexed_by!r}, not {should!r}; the next ingest counts them again"
        )


def _check_document(snapshot: QueryableSnapshot, each: ExaminedDocument, found: _Words) -> Iterator[Finding]:
    name = each.name or f"document number {each.number}"
    if each.fault is not None:
        yield Finding("document", f"{name}: {each.fault}")
        return
    if without := snapshot.vectors(each).count(None):
        yield Finding("index", f"{name}: {counted(without, 'passage')} without a vector, or with a bad one")
    if found.words is not None:
        _count_again(snapshot, each, found, found.words)


def _count_again(snapshot: QueryableSnapshot, each: ExaminedDocument, found: _Words, words: Analyser) -> None:
    """Compare the stored word counts of a document's leaves with their words."""
    sql = (
        "SELECT l.chunk_id, l.id, w.length, w.terms, w.counts, l.audience, l.born, "
        "(l.audience, w.audience) = (d.audience, d.audience) FROM anabranch.leaves l "
        "JOIN anabranch.leaf_words w ON w.corpus = l.corpus AND w.leaf = l.id "
        "JOIN anabranch.documents d ON d.corpus = l.corpus AND d.number = l.document "
        "WHERE l.corpus = %(corpus)s AND l.document = %(number)s"
    )
    rows = {row[0]: row[1:] for row in snapshot.rows(sql, number=each.number)}
    title = each.row.title if each.row else ""
    should: dict[tuple[int, int], tuple[int, ...]] = {}
    for chunk in each.chunks:
        if chunk.chunk_id not in rows:
            continue
        leaf, length, *kept, audience, born, has_its_tags = rows[chunk.chunk_id]
        own = words.terms(embedded_text(title, chunk.heading, chunk.text or ""))
        counts = {term: min(many, MOST_COUNTED) for term, many in sorted(Counter(map(term_number, own)).items())}
        found.wrong["with other tags than their document"] += not has_its_tags
        is_right = [length, *kept] == [len(own), [*counts], [*counts.values()]]
        found.wrong["with other words than were counted"] += not is_right
        should |= {(leaf, term): (count, len(own), audience, born) for term, count in counts.items()}
    found.postings += len(should)
    has = _postings(snapshot, should)
    off = {leaf for (leaf, term), row in should.items() if has.get((leaf, term)) != row}
    found.wrong["with a posting that is missing or wrong"] += len(off)
    found.wrong = +found.wrong  # drop zero counts


def _postings(
    snapshot: QueryableSnapshot, should: Mapping[tuple[int, int], object]
) -> dict[tuple[int, int], tuple[int, ...]]:
    sql = (
        "SELECT leaf, term, count, length, audience, born FROM anabranch.postings "
        "WHERE corpus = %(corpus)s AND term = ANY(%(terms)s) AND leaf = ANY(%(leaves)s)"
    )
    leaves, terms = ({leaf for leaf, _ in should}, {term for _, term in should})
    return {(leaf, term): tuple(row) for leaf, term, *row in snapshot.rows(sql, terms=list(terms), leaves=list(leaves))}


def _check_sums(snapshot: QueryableSnapshot, found: _Words) -> Iterator[Finding]:
    for said, sql in _SUMS.items():
        ((many,),) = snapshot.rows(sql)
        if many:
            yield Finding("index", f"{many} {said}")
    ((there,),) = snapshot.rows("SELECT count(*) FROM anabranch.postings WHERE corpus = %(corpus)s")
    if found.words is not None and not found.wrong and there > found.postings:
        yield Finding("index", f"{counted(there - found.postings, 'posting')} without a passage")


def _check_generation(snapshot: QueryableSnapshot, generation: int, *, is_published: bool) -> Iterator[Finding]:
    sql = (
        "SELECT count(*) FILTER (WHERE l.born > %(generation)s), count(*) FILTER (WHERE w.leaf IS NULL AND "
        "l.born <= %(generation)s) FROM anabranch.leaves l LEFT JOIN anabranch.leaf_words w "
        "ON w.corpus = l.corpus AND w.leaf = l.id WHERE l.corpus = %(corpus)s"
    )
    ((later, uncounted),) = snapshot.rows(sql, generation=generation)
    if not is_published:
        # Only a remark: a killed run or a run in progress leaves the corpus like this.
        said = "some documents are not published yet; the next ingest publishes them"
        yield Finding("index", said, is_remark=True)
    elif later:
        yield Finding("index", f"{counted(later, 'passage')} of a generation after the present one, {generation}")
    if uncounted:
        yield Finding("index", f"{counted(uncounted, 'passage')} whose words are not counted")


def _check_vector_index(snapshot: QueryableSnapshot) -> Iterator[Finding]:
    """Report a large corpus without an index of vectors: searches are slow, but correct."""
    sql = (
        "SELECT count(*) > %(most)s, (SELECT indisvalid FROM pg_index WHERE indexrelid = "
        "to_regclass('anabranch.' || %(name)s)) FROM anabranch.leaves WHERE corpus = %(corpus)s"
    )
    ((is_large, is_valid),) = snapshot.rows(sql, most=NARROW, name=index_name(snapshot.corpus))
    if is_large and not is_valid:
        said = "the index of the vectors is unfinished: searches compare all vectors; the next change builds it"
        yield Finding("index", said, is_remark=True)
