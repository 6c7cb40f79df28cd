"""What a database does wrong, or is asked wrongly, is said without its password, and nothing is half written."""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg
import pytest

from anabranch.errors import CorpusDamagedError, CorpusUnreachableError, OperationError, SettingsError
from anabranch.store.conformance.corpus_contents import DOCUMENTS, settle, take_in
from anabranch.store.corpus_address import shown_address
from anabranch.store.postgres import connection_pool, postgres_schema
from anabranch.store.postgres.connection_pool import Database
from anabranch.store.postgres.database_address import parse_address
from anabranch.store.protocol import Scope
from anabranch.store.stores import open_corpus, open_writer
from tests.store.postgres.test_postgres_corpus import fill

pytestmark = pytest.mark.loopback


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://anna:se:cret@host/db#c", "postgresql://anna:***@host/db#c"),
        ("postgresql://anna@host/db", "postgresql://anna@host/db"),
        ("postgresql:///db?user=anna&password=secret#c", "postgresql:///db?user=anna&password=***#c"),
        ("postgresql:///db?PASSWORD=secret", "postgresql:///db?PASSWORD=***"),
    ],
)
def test_an_address_is_shown_without_its_password(address: str, shown: str) -> None:
    assert shown_address(address) == shown
    assert parse_address(address).shown == shown


@pytest.mark.parametrize("address", ["postgresql://host/db#", f"postgresql://host/db#{'x' * 300}"])
def test_an_address_without_a_corpus_is_refused(address: str) -> None:
    with pytest.raises(SettingsError, match="names no corpus"):
        parse_address(address)


@pytest.mark.parametrize(
    ("address", "error", "says"),
    [
        ("postgresql://anna:secret@127.0.0.1:9/db", CorpusUnreachableError, "cannot be reached"),
        ("postgresql://anna:secret@[::1/db", SettingsError, "cannot be read"),
        ("postgresql://anna:secret@127.0.0.1/db?nonsense=1", SettingsError, "cannot be read"),
    ],
)
def test_a_server_that_is_not_there(address: str, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says) as raised:
        asyncio.run(open_corpus(address))
    with pytest.raises(error, match=says) as written, open_writer(address):
        pass
    assert "secret" not in f"{raised.value}{written.value}"


def test_a_user_or_a_database_that_is_not_there(database: str) -> None:
    for more in ("user=nobody", "dbname=nothing"):
        with pytest.raises(SettingsError, match="refuses the connection"):
            asyncio.run(open_corpus(f"{database}{'&' if '?' in database else '?'}{more}"))


def test_tables_of_a_later_version_are_left_alone(corpus: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(corpus)
    monkeypatch.setattr(postgres_schema, "VERSION", 0)
    with pytest.raises(CorpusDamagedError, match="Update Anabranch"):
        asyncio.run(open_corpus(corpus))
    with pytest.raises(CorpusDamagedError, match="Update Anabranch"), open_writer(corpus):
        pass


def test_a_question_that_is_given_up_cancels_its_statement(database: str) -> None:
    running = "SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(99)' AND state = 'active'"

    async def give_up() -> None:
        lent = Database(database)
        waiting = asyncio.create_task(lent.run(lambda connection: connection.execute("SELECT pg_sleep(99)")))
        with psycopg.connect(database, autocommit=True) as other:
            await _until(other, running, 1)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            await _until(other, running, 0)

    asyncio.run(give_up())


async def _until(connection: psycopg.Connection[Any], sql: str, wanted: int) -> None:
    for _ in range(600):
        if connection.execute(sql).fetchall()[0][0] == wanted:
            return
        await asyncio.sleep(0.05)
    raise AssertionError(sql)


def test_a_statement_that_takes_too_long(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_pool, "STATEMENT", 0.1)
    lent = Database(database)
    with pytest.raises(CorpusUnreachableError, match="did not answer in time"):
        asyncio.run(lent.run(lambda connection: connection.execute("SELECT pg_sleep(99)")))


def test_connections_that_are_all_busy(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_pool, "CONNECTIONS", 1)
    monkeypatch.setattr(connection_pool, "WAIT", 0.2)
    lent = Database(database)
    with lent.lend(), pytest.raises(CorpusUnreachableError, match="were busy"), lent.lend():
        pass


def test_a_reader_cannot_write(database: str, corpus: str) -> None:
    fill(corpus)
    lent = Database(database)
    with pytest.raises(OperationError, match="read-only"):
        asyncio.run(lent.run(lambda connection: connection.execute("DELETE FROM anabranch.chunks")))


def test_a_document_that_cannot_be_stored_costs_itself(corpus: str) -> None:
    broken = DOCUMENTS[0].__class__("bad.md", "Bad\0title", DOCUMENTS[0].blocks, {}, (), "bad.md")
    with open_writer(corpus) as writer:
        settle(writer)
        result = take_in(writer, {"/notes": [DOCUMENTS[0], broken]})
        writer.publish()
        assert [refused.document.source for refused, _ in result.refused] == ["bad.md"]
        assert writer.counts("/notes")[0] == 1
        record = writer.file("/notes")
        assert record is not None
        assert record.sha256 == ""
    store = asyncio.run(open_corpus(corpus))
    assert asyncio.run(store.info()).documents == 1


def test_a_write_that_fails_leaves_nothing(corpus: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(corpus)
    with open_writer(corpus) as writer:
        monkeypatch.setattr(writer, "_finish", _fails)
        with pytest.raises(ZeroDivisionError):
            take_in(writer, {"/notes.jsonl#weir": [], "/new": [DOCUMENTS[0]]})
    store = asyncio.run(open_corpus(corpus))
    assert asyncio.run(store.info()).documents == len(DOCUMENTS)


def _fails(*_: object) -> int:
    return 1 // 0


@pytest.mark.parametrize("odd", ["\0", "\ud800", "'; DROP TABLE anabranch.chunks; --"])
def test_text_that_the_database_cannot_hold_finds_nothing(corpus: str, odd: str) -> None:
    fill(corpus)
    store = asyncio.run(open_corpus(corpus))
    assert asyncio.run(store.chunks([odd], Scope(access=(odd,)))) == {}
    assert asyncio.run(store.search("bm25", [odd], 3, Scope(access=(odd,)))) == [{"ids": [], "scores": []}]
    assert asyncio.run(store.places([(odd, 1)], Scope()))[0].heading == ""
