"""What a database does wrong, or is asked wrongly, is said without its password, and nothing is half written."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import psycopg
import pytest
from psycopg import conninfo

from anabranch import ingest
from anabranch.errors import (
    CorpusDamagedError,
    CorpusNotFoundError,
    CorpusUnreachableError,
    EmbedderMismatchError,
    OperationError,
    SettingsError,
)
from anabranch.store.corpus_address import shown_address
from anabranch.store.maintenance import overview, remove, verify
from anabranch.store.protocol import Scope
from anabranch.store.stores import open_corpus, open_writer
from anabranch_conformance.corpus_contents import DOCUMENTS, keep_facts, note, take_in
from anabranch_postgres import connection_pool, postgres_schema
from anabranch_postgres.connection_pool import CONNECTIONS, Database
from anabranch_postgres.database_address import parse_address
from plugins.postgres.tests.test_postgres_corpus import fill
from tests.shared_fixtures import REPOSITORY

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


@pytest.fixture
def walled(database: str) -> Iterator[str]:
    """The address of the database for a role with a password, and without any right."""
    with psycopg.connect(database, autocommit=True) as owner:
        owner.execute("CREATE ROLE walled LOGIN PASSWORD 'right'")
        ((file,),) = owner.execute("SHOW hba_file").fetchall()
        rules = Path(file)
        before = rules.read_text()
        rules.write_text(f"local all walled scram-sha-256\nhost all walled all scram-sha-256\n{before}")
        owner.execute("SELECT pg_reload_conf()")
    yield conninfo.make_conninfo(database, user="walled", password="right")
    with psycopg.connect(database, autocommit=True) as owner:
        rules.write_text(before)
        owner.execute("SELECT pg_reload_conf()")
        owner.execute("DROP ROLE walled")


def address_of(database: str, **parts: str) -> str:
    """An address as people write it, with some parts changed."""
    known = {**conninfo.conninfo_to_dict(database), **parts}
    name = known.pop("dbname", "postgres")
    return f"postgresql:///{name}?{urlencode({key: str(value) for key, value in known.items()})}#walled"


def test_a_wrong_password_is_said_and_never_shown(walled: str) -> None:
    wrong = address_of(walled, password="secret-7")
    for work in (lambda: asyncio.run(open_corpus(wrong)), lambda: overview(wrong), lambda: remove(wrong, "*")):
        with pytest.raises(SettingsError, match="refuses the connection") as raised:
            work()
        assert "PGPASSWORD" in str(raised.value)
        assert "secret-7" not in f"{raised.value!r}{raised.value}"


def test_a_user_who_may_not_read_is_told_what_is_missing(corpus: str, walled: str) -> None:
    fill(corpus)
    mine = address_of(walled).replace("#walled", f"#{corpus.partition('#')[2]}")
    for work in (lambda: asyncio.run(open_corpus(mine)), lambda: overview(mine)):
        with pytest.raises(SettingsError, match="denies this user permission: permission denied"):
            work()


def test_a_database_without_the_extension_is_left_as_it_was(database: str, walled: str) -> None:
    with psycopg.connect(database, autocommit=True) as owner:
        owner.execute("CREATE DATABASE bare TEMPLATE template0")
    bare = address_of(walled, dbname="bare")
    try:
        with pytest.raises(SettingsError, match="may not create what a corpus needs") as raised, open_writer(bare):
            pass
        assert "CREATE EXTENSION vector" in str(raised.value)
        # At once: not after the time that a pool goes on trying.
        with pytest.raises(CorpusNotFoundError, match="lacks the extension pgvector"):
            asyncio.run(open_corpus(bare))
        with pytest.raises(CorpusNotFoundError):
            overview(bare)
        with psycopg.connect(bare.partition("#")[0]) as look:
            there = "SELECT count(*) FROM pg_namespace WHERE nspname = 'anabranch' UNION ALL SELECT count(*) FROM "
            rows = look.execute(f"{there} pg_extension WHERE extname = 'vector'".encode()).fetchall()
            assert rows == [(0,), (0,)]
    finally:
        with psycopg.connect(database, autocommit=True) as owner:
            owner.execute("DROP DATABASE bare WITH (FORCE)")


def test_a_server_without_the_extension(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with psycopg.connect(database, autocommit=True) as owner:
        owner.execute("CREATE DATABASE bare TEMPLATE template0")
    bare = address_of(database, dbname="bare")
    try:
        # What a server says of any extension that nobody has installed on it.
        monkeypatch.setattr(postgres_schema, "EXTENSION", "no_such_extension")
        with pytest.raises(SettingsError, match="has no extension pgvector"), open_writer(bare):
            pass
    finally:
        with psycopg.connect(database, autocommit=True) as owner:
            owner.execute("DROP DATABASE bare WITH (FORCE)")


def test_another_embedder_is_refused(corpus: str, own_model: Path) -> None:
    fill(corpus)
    before = overview(corpus)
    with pytest.raises(EmbedderMismatchError, match="Leave --embedder out"):
        ingest([REPOSITORY / "tests" / "samples"], corpus, embedder=str(own_model))
    assert overview(corpus) == before
    for spec, said in ((str(own_model), "was made with the embedder"), ("/nowhere", "is not available here")):
        with open_writer(corpus) as writer:
            writer.keep_meta({"spec": spec})
            take_in(writer, {f"/{spec}": [DOCUMENTS[0]]})  # another generation: the reader before stays as it is
            writer.publish()
        with pytest.raises(EmbedderMismatchError, match=said):
            asyncio.run(open_corpus(corpus))


@pytest.mark.parametrize("how", ["pg_cancel_backend", "pg_terminate_backend"])
def test_a_write_that_the_server_breaks_off_leaves_nothing(corpus: str, database: str, how: str) -> None:
    fill(corpus)
    before = overview(corpus)

    def break_off() -> None:
        with psycopg.connect(database, autocommit=True) as owner:
            blocked = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%anabranch%'"
            while not (found := owner.execute(blocked).fetchall()):
                time.sleep(0.05)
            owner.execute(f"SELECT {how}(%s)".encode(), found[0])

    with psycopg.connect(database) as holds:
        holds.execute("LOCK anabranch.files IN SHARE MODE")
        breaking = threading.Thread(target=break_off)
        breaking.start()
        with pytest.raises(CorpusUnreachableError), open_writer(corpus) as writer:
            take_in(writer, {"/eel": [note("eel", "Eel", "The eel passes the weir at night.")]})
        breaking.join()
    # But for rows that nobody sees any more.
    assert replace(overview(corpus), bytes=0) == replace(before, bytes=0)
    assert verify(corpus) == []


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


@pytest.fixture
def other_database(database: str) -> str:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS other")
        connection.execute("CREATE DATABASE other")
    return conninfo.make_conninfo(database, dbname="other")


def test_a_database_that_hangs_holds_up_no_other(database: str, other_database: str) -> None:
    let_go = threading.Event()
    hung, other = Database(database), Database(other_database)
    with psycopg.connect(other_database) as made:
        made.execute("CREATE EXTENSION vector")

    async def ask() -> None:
        # As many as there are threads: those without a connection wait for one.
        waiting = [asyncio.create_task(hung.run(lambda _: let_go.wait(60))) for _ in range(2 * CONNECTIONS)]
        await asyncio.sleep(0)
        try:
            answered = await asyncio.wait_for(other.run(_one), 30)
            assert (answered, let_go.is_set(), any(task.done() for task in waiting)) == (1, False, False)
        finally:
            let_go.set()
        assert all(await asyncio.gather(*waiting))

    asyncio.run(ask())


def _one(connection: psycopg.Connection[Any]) -> int:
    return int(connection.execute("SELECT 1").fetchall()[0][0])


def test_the_threads_of_a_database_end_with_it(database: str) -> None:
    before = set(threading.enumerate())
    lent = Database(database)
    assert asyncio.run(lent.run(_one)) == 1
    own = {each for each in set(threading.enumerate()) - before if each.name.startswith("anabranch-postgres")}
    assert own
    del lent
    gc.collect()
    for each in own:
        each.join(30)
        assert not each.is_alive()


def test_a_reader_cannot_write(database: str, corpus: str) -> None:
    fill(corpus)
    lent = Database(database)
    with pytest.raises(OperationError, match="read-only"):
        asyncio.run(lent.run(lambda connection: connection.execute("DELETE FROM anabranch.chunks")))


@pytest.mark.parametrize("facts", [{"title": "Bad\0title"}, {"access": (3, "x")}, {"key": "\udce9"}])
def test_a_document_that_cannot_be_stored_costs_itself(corpus: str, facts: dict[str, Any]) -> None:
    broken = replace(DOCUMENTS[0], **{"source": "bad.md", "key": "bad.md"} | facts)
    with open_writer(corpus) as writer:
        keep_facts(writer)
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
