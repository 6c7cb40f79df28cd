"""A corpus in PostgreSQL beside one in a folder, several of them in one database, and what a kill leaves."""

from __future__ import annotations

import asyncio
import io
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from anabranch import answer, ingest
from anabranch.errors import CorpusDamagedError, CorpusNotFoundError, NotAllowedError
from anabranch.identity.user import User
from anabranch.store.protocol import FullScores, Scope, TermStatistics
from anabranch.store.stores import open_corpus, open_writer
from anabranch_conformance.corpus_contents import ARMS, DOCUMENTS, EVERYTHING, keep_facts, keys, note, take_in
from anabranch_copies.export import export_corpus, import_corpus
from anabranch_postgres import postgres_index, postgres_search
from anabranch_postgres.connection_pool import connect
from anabranch_postgres.postgres_filters import Clause
from anabranch_postgres.postgres_reader import PostgresReader
from anabranch_postgres.postgres_search import PostgresSearch
from tests.shared_fixtures import REPOSITORY

pytestmark = pytest.mark.loopback

QUERIES = ["when was the weir built", "the water of the river at the weir weir", "bees dance", "year 117", "zeppelin"]
SCOPES = [Scope(), EVERYTHING, Scope(access=("staff",)), Scope(access=("board",), filters={"tags": "animals"})]


def fill(address: str, **files: Any) -> None:
    with open_writer(address) as writer:
        keep_facts(writer)
        take_in(writer, files or {f"/{document.source}": [document] for document in DOCUMENTS})
        writer.publish()


async def told(address: str) -> dict[str, Any]:
    store = await open_corpus(address)
    assert isinstance(store, FullScores)
    assert isinstance(store, TermStatistics)
    found: dict[str, Any] = {}
    for scope in SCOPES:
        for arm in ARMS:
            lists = await store.search(arm, QUERIES, 10_000, scope)
            found[f"{arm} {scope}"] = [dict(zip(one["ids"], one["scores"], strict=True)) for one in lists]
        found[f"idf {scope}"] = await store.idf(QUERIES, scope)
    return found


def test_every_score_is_that_of_a_folder(corpus: str, tmp_path: Path) -> None:
    folder = str(tmp_path / "c")
    for address in (corpus, folder):
        fill(address)
    assert asyncio.run(told(corpus)) == asyncio.run(told(folder))


def test_and_still_is_after_documents_changed_and_went(corpus: str, tmp_path: Path) -> None:
    folder = str(tmp_path / "c")
    for address in (corpus, folder):
        fill(address)
        with open_writer(address) as writer:
            writer.remove_file("/notes.jsonl#mill")
            take_in(writer, {"/notes.jsonl#pike": [note("pike", "Pike", "The pike sleeps in the mill.", ["staff"])]})
            take_in(writer, {"/notes.jsonl#eel": [note("eel", "Eel", "The eel passes the weir at night.")]})
            writer.publish()
    assert asyncio.run(told(corpus)) == asyncio.run(told(folder))


def test_what_is_written_is_found_once_it_is_published_also_after_a_kill(corpus: str) -> None:
    fill(corpus)
    before = asyncio.run(open_corpus(corpus))
    first = asyncio.run(told(corpus))
    with open_writer(corpus) as writer:
        take_in(writer, {"/eel": [note("eel", "Eel", "The eel passes the weir at night.")]})
    assert asyncio.run(open_corpus(corpus)) is before
    assert asyncio.run(told(corpus)) == first
    with open_writer(corpus) as writer:
        writer.publish()
    store = asyncio.run(open_corpus(corpus))
    (found,) = asyncio.run(store.search("bm25", ["eel"], 5, Scope()))
    assert asyncio.run(keys(store, found["ids"])) == ["eel"]


def test_the_next_writer_need_not_wait_until_the_server_has_seen_the_last_one_go(corpus: str) -> None:
    locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
    with closing(connect(corpus.partition("#")[0])) as looking:
        for _ in range(30):
            with open_writer(corpus):
                assert looking.execute(locks).fetchone() != (0,)
            assert looking.execute(locks).fetchone() == (0,)


def test_corpora_of_one_database_know_nothing_of_each_other(corpus: str, database: str) -> None:
    other = f"{corpus}-other"
    fill(corpus)
    alone = asyncio.run(told(corpus))
    # The same documents have the same ids, and one of them is public there alone.
    fill(other, **{"/pay": [note("pay", "Pay", "The miller earns 4711 a year.")], "/weir": [DOCUMENTS[0]]})
    assert asyncio.run(told(corpus)) == alone
    with open_writer(other) as writer:
        writer.remove_file("/weir")
        writer.publish()
    assert asyncio.run(told(corpus)) == alone
    with pytest.raises(CorpusNotFoundError, match="nobody"):
        asyncio.run(open_corpus(f"{database}#nobody"))


def test_a_folder_moves_by_export_and_import(corpus: str, tmp_path: Path) -> None:
    folder = str(tmp_path / "c")
    fill(folder)
    lines = io.BytesIO()
    export_corpus(folder, lines, vectors=True)
    lines.seek(0)
    report = import_corpus(lines, corpus)
    assert (report.added, report.embedded, report.bad) == (len(DOCUMENTS), 0, [])
    assert asyncio.run(told(corpus)) == asyncio.run(told(folder))
    lines.seek(0)
    assert import_corpus(lines, corpus).unchanged == len(DOCUMENTS)


def test_each_tenant_has_a_corpus_of_its_own(corpus: str) -> None:
    address = f"{corpus}-{{tenant}}"
    acme, globex = (User(identity="anna", tenant=tenant) for tenant in ("acme", "globex"))
    fill(acme.place(address, "ANABRANCH_CORPUS"))
    fill(globex.place(address, "ANABRANCH_CORPUS"), **{"/eel": [note("eel", "Eel", "The eel passes the weir.")]})

    def documents(address: str) -> int:
        store = asyncio.run(open_corpus(address))
        return asyncio.run(store.info()).documents

    assert documents(f"{corpus}-acme") == len(DOCUMENTS)
    assert documents(f"{corpus}-globex") == 1
    with pytest.raises(NotAllowedError):
        User(identity="anna").place(address, "ANABRANCH_CORPUS")


def test_the_language_is_told_from_the_documents_as_in_a_folder(corpus: str, tmp_path: Path) -> None:
    text = "Der Müller und die Müllerin haben das Wehr nicht gebaut, aber sie wohnen seit vielen Jahren in der Mühle."
    for address in (corpus, str(tmp_path / "c")):
        fill(address, **{"/m": [note("m", "Mühle", f"{text} {text}")]})
        with open_writer(address) as writer:
            assert writer.meta("language") == "english"  # somebody has said so
            writer.keep_meta({"language": ""})
            writer.publish()
            assert writer.meta("language") == "german"


@pytest.fixture
def _indexed(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (postgres_index, postgres_search):
        monkeypatch.setattr(module, "NARROW", 5)


@pytest.mark.usefixtures("_indexed")
def test_the_index_of_vectors_finds_what_comparing_all_finds(corpus: str, database: str) -> None:
    fill(corpus)
    store = asyncio.run(open_corpus(corpus))
    assert isinstance(store, PostgresReader)
    with psycopg.connect(database) as connection:
        name = postgres_search.index_name(store.number)
        assert connection.execute("SELECT to_regclass('anabranch.' || %s)", (name,)).fetchall()[0][0]
    for scope in SCOPES:
        by_index = asyncio.run(store.search("dense", QUERIES, 5, scope))
        by_all = asyncio.run(store.search("dense", QUERIES, 1_000, scope))
        # Their scores: of two passages with the same words, either may be the last of five.
        assert [one["scores"] for one in by_index] == [one["scores"][:5] for one in by_all]


def test_another_language_counts_the_words_anew(corpus: str) -> None:
    fill(corpus)
    with open_writer(corpus) as writer:
        writer.keep_meta({"language": "german"})
        writer.publish()
    store = asyncio.run(open_corpus(corpus))
    (found,) = asyncio.run(store.search("bm25", ["Clover"], 5, Scope()))
    assert asyncio.run(keys(store, found["ids"])) == ["bees"]


def test_a_passage_that_somebody_changed_is_an_error(corpus: str, database: str) -> None:
    fill(corpus, **{"/weir": [DOCUMENTS[0]]})
    store = asyncio.run(open_corpus(corpus))
    assert isinstance(store, PostgresReader)
    (found,) = asyncio.run(store.search("dense", ["weir"], 1, Scope()))
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(
            "UPDATE anabranch.chunks SET text = 'other' WHERE corpus = %s AND level = 2", (store.number,)
        )
    with pytest.raises(CorpusDamagedError, match="not what was written"):
        asyncio.run(store.chunks(found["ids"], Scope()))


def test_files_are_taken_in_and_a_question_is_answered(corpus: str) -> None:
    report = ingest([REPOSITORY / "tests" / "samples"], corpus)
    assert {row.status for row in report.rows} == {"added"}
    found = answer("Who built the Halden weir?", corpus=corpus)
    assert not found["abstained"]
    assert found["citations"]
    assert {row.status for row in ingest([REPOSITORY / "tests" / "samples"], corpus).rows} == {"unchanged"}


def test_only_the_words_of_the_leaves_that_are_asked_for_are_read(corpus: str) -> None:
    fill(corpus)
    name = corpus.partition("#")[2]
    names = [f"{number:016x}" for number in range(100)]
    with connect(corpus.partition("#")[0]) as connection:
        ((number,),) = connection.execute("SELECT id FROM anabranch.corpora WHERE name = %s", (name,)).fetchall()
        # Whatever the planner believes of the table: after the first VACUUM it joined all of it for each question.
        connection.execute("SET enable_nestloop = off")
        sql, parameters = PostgresSearch(number, 1).leaves(names, ["weir"], (), Clause("true"), vectors=False)
        plan = [row for (row,) in connection.execute(b"EXPLAIN " + sql.encode(), parameters)]
    assert not [line for line in plan if "Hash" in line or "Merge" in line], plan
