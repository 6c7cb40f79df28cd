"""Whatever somebody breaks in the tables of a corpus is found by verify."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from anabranch.errors import CorpusNotFoundError, UserError
from anabranch.store.maintenance import documents, examine, overview, remove, verify
from anabranch.store.protocol import Scope
from anabranch.store.stores import open_corpus, open_writer
from anabranch_conformance.corpus_contents import note, take_in
from anabranch_postgres import postgres_index, postgres_verify
from anabranch_postgres.database_address import parse_address
from plugins.postgres.tests.test_postgres_corpus import fill

pytestmark = pytest.mark.loopback


@pytest.fixture
def filled(corpus: str, beside: str) -> str:
    fill(corpus)
    return corpus


def change(corpus: str, sql: str) -> None:
    where = parse_address(corpus)
    with psycopg.connect(where.database, autocommit=True) as connection:
        this = "(SELECT id FROM anabranch.corpora WHERE name = %(name)s)"
        statement = sql.replace("{this}", this).replace("{mill}", MILL.replace("{this}", this))
        assert connection.execute(statement.encode(), {"name": where.corpus}).rowcount > 0


MILL = "(SELECT number FROM anabranch.documents WHERE corpus = {this} AND source = 'notes.jsonl#mill')"
OF_MILL = "corpus = {this} AND document = {mill}"
WORDS = f"corpus = {{this}} AND leaf IN (SELECT id FROM anabranch.leaves WHERE {OF_MILL})"
A_POSTING = (
    "corpus = {this} AND (leaf, term) = (SELECT leaf, term FROM anabranch.postings WHERE corpus = {this} "
    "ORDER BY leaf, term LIMIT 1)"
)


def test_a_sound_corpus_has_no_problems(filled: str) -> None:
    told: list[tuple[str, int, int]] = []
    assert examine(filled, lambda stage, done, total, _="": told.append((stage, done, total))) == []
    assert told[-1] == ("documents", 9, 9)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        (f"DELETE FROM anabranch.chunks WHERE {OF_MILL}", "notes.jsonl#mill: a passage is missing"),
        (f"DELETE FROM anabranch.chunks WHERE {OF_MILL} AND level = 1", "#mill: a chunk has lost its parent"),
        (f"UPDATE anabranch.chunks SET text = 'x' || text WHERE {OF_MILL} AND level = 2", "#mill: a passage"),
        (f"UPDATE anabranch.chunks SET text = NULL WHERE {OF_MILL}", "#mill: a leaf has no text"),
        (f"DELETE FROM anabranch.leaves WHERE {OF_MILL}", "#mill: 1 passage without a vector"),
        (f"UPDATE anabranch.leaves SET vector = '[1, 0]' WHERE {OF_MILL}", "#mill: 1 passage without a vector"),
        (
            f"UPDATE anabranch.leaves SET vector = vector + vector WHERE {OF_MILL}",
            "#mill: 1 passage without a vector, or with a bad one",
        ),
        (f"UPDATE anabranch.leaves SET vector_key = 'x' WHERE {OF_MILL}", "#mill: a passage or its headings"),
        (f"UPDATE anabranch.leaf_words SET length = length + 1 WHERE {WORDS}", "1 passage with other words than were"),
        (f"UPDATE anabranch.leaf_words SET terms = terms[2:] WHERE {WORDS}", "1 passage with other words than were"),
        (f"UPDATE anabranch.leaf_words SET counts[1] = 7 WHERE {WORDS}", "1 passage with other words than were"),
        (f"UPDATE anabranch.leaf_words SET audience = 0 WHERE {WORDS}", "1 passage with other tags than"),
        (f"DELETE FROM anabranch.leaf_words WHERE {WORDS}", "1 passage whose words are not counted"),
        (f"UPDATE anabranch.leaves SET born = 99 WHERE {OF_MILL}", "1 passage of a generation after the present one"),
        (
            "UPDATE anabranch.leaves SET audience = (SELECT id FROM anabranch.audiences WHERE corpus = {this} AND "
            f"tags = '{{board}}') WHERE {OF_MILL}",
            "1 passage with other tags than their document",
        ),
        ("DELETE FROM anabranch.audiences WHERE corpus = {this} AND tags = '{board}'", "its metadata cannot be read"),
        (
            "UPDATE anabranch.documents SET leaves = 7 WHERE corpus = {this} AND number = {mill}",
            "1 documents whose passage count is wrong",
        ),
        ("UPDATE anabranch.documents SET title = 'Cats' WHERE corpus = {this} AND number = {mill}", "#mill: a passage"),
        (f"DELETE FROM anabranch.postings WHERE {A_POSTING}", "1 passage with a posting that is missing or wrong"),
        (f"UPDATE anabranch.postings SET count = 7 WHERE {A_POSTING}", "a posting that is missing or wrong"),
        (f"UPDATE anabranch.postings SET born = 0 WHERE {A_POSTING}", "a posting that is missing or wrong"),
        (
            "INSERT INTO anabranch.postings SELECT corpus, term, 0, count, length, audience, born FROM "
            f"anabranch.postings WHERE {A_POSTING}",
            "1 posting without a passage",
        ),
        (
            "UPDATE anabranch.term_frequencies SET leaves = leaves + 1 WHERE corpus = {this} AND term = "
            "(SELECT min(term) FROM anabranch.term_frequencies WHERE corpus = {this})",
            "counts of a term that differ from its postings",
        ),
        ("DELETE FROM anabranch.term_frequencies WHERE corpus = {this}", "counts of a term"),
        ("DELETE FROM anabranch.documents WHERE corpus = {this} AND number = {mill}", "chunks without a document"),
        ("UPDATE anabranch.audience_sizes SET length = 0 WHERE corpus = {this}", "sizes of an audience"),
        ("DELETE FROM anabranch.audience_sizes WHERE corpus = {this}", "sizes of an audience"),
        ("UPDATE anabranch.corpora SET generation = 0 WHERE id = {this}", "36 passages of a generation after"),
        ("UPDATE anabranch.corpora SET analyser = 'old' WHERE id = {this}", "the words were counted by 'old', not"),
        (
            "UPDATE anabranch.meta SET value = 'german' WHERE corpus = {this} AND name = 'language'",
            "the words were counted by",
        ),
    ],
)
def test_what_is_broken_is_said(filled: str, sql: str, said: str) -> None:
    change(filled, sql)
    problems = verify(filled)
    assert any(said in problem for problem in problems), problems


def test_what_is_not_published_yet_is_no_fault(filled: str) -> None:
    assert overview(filled).is_current
    with open_writer(filled) as writer:
        take_in(writer, {"/eel": [note("eel", "Eel", "The eel passes the weir at night.")]})
    assert not overview(filled).is_current
    found = examine(filled)
    assert ("some documents are not published yet; the next ingest publishes them", True) in [
        (finding.said, finding.is_remark) for finding in found
    ]


def test_many_vectors_without_an_index_are_worth_a_remark(filled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_verify, "NARROW", 5)
    assert [finding.said for finding in examine(filled) if finding.is_remark] == [
        "the index of the vectors is unfinished: searches compare all vectors; the next change builds it"
    ]
    monkeypatch.setattr(postgres_index, "NARROW", 5)
    with open_writer(filled) as writer:
        take_in(writer, {"/eel": [note("eel", "Eel", "The eel passes the weir at night.")]})
        writer.publish()
    assert examine(filled) == []


def found(corpus: str) -> set[str]:
    store = asyncio.run(open_corpus(corpus))
    (ranked,) = asyncio.run(store.search("dense", ["weir"], 100, Scope(access=("board", "staff"))))
    chunks = asyncio.run(store.chunks(ranked["ids"], Scope(access=("board", "staff"))))
    return {chunk.source for chunk in chunks.values()}


@pytest.mark.parametrize(
    ("given", "gone"),
    [
        (["gauge.md"], {"gauge.md"}),
        (["notes.jsonl#*e[ey]*"], {"notes.jsonl#bees", "notes.jsonl#keys"}),
        (["notes.jsonl#mill", "notes.jsonl#mill", "notes.jsonl#we?r"], {"notes.jsonl#mill", "notes.jsonl#weir"}),
    ],
)
def test_documents_are_removed_by_name(filled: str, given: list[str], gone: set[str]) -> None:
    before = found(filled)
    assert remove(filled, given) == len(gone)
    assert found(filled) == before - gone
    assert {row.source for row in documents(filled)} == before - gone
    assert verify(filled) == []
    with open_writer(filled) as writer:
        unread = {record.source for record in writer.files() if not record.sha256}
    assert unread == gone


def test_a_file_is_a_name_for_its_documents(filled: str) -> None:
    with open_writer(filled) as writer:
        take_in(writer, {"/two": [note("eel", "Eel", "The eel."), note("ide", "Ide", "The ide.")]})
        writer.publish()
    assert remove(filled, "two") == 2


@pytest.mark.parametrize("name", ["nobody", "*.pdf", "\0", "[", "'; DROP TABLE anabranch.documents; --"])
def test_an_unknown_name_removes_nothing(beside: str, name: str) -> None:
    with pytest.raises(UserError, match="No document has the source"):
        remove(beside, ["gauge.md", name])
    assert overview(beside).documents == 9


def test_removing_everything_leaves_an_empty_corpus(filled: str) -> None:
    assert remove(filled, "*") == 9
    assert verify(filled) == []
    assert overview(filled).documents == 0
    assert list(documents(filled)) == []


def test_where_there_is_no_corpus_none_is_made(corpus: str) -> None:
    for work in (overview, verify, lambda address: remove(address, "*"), lambda address: list(documents(address))):
        with pytest.raises(CorpusNotFoundError):
            work(corpus)
