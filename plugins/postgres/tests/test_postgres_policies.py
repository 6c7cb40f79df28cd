"""The database's own lock: a role that does not own the tables sees what its tags open, whatever it asks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from anabranch.errors import OperationError, SettingsError
from anabranch.store.maintenance import verify
from anabranch.store.protocol import Scope
from anabranch.store.stores import open_corpus, open_snapshot, open_writer
from anabranch_conformance.corpus_contents import ARMS, EVERYTHING, keys, note
from anabranch_postgres import postgres_schema
from anabranch_postgres.connection_pool import connect
from anabranch_postgres.postgres_filters import Clause
from anabranch_postgres.postgres_reader import PostgresReader
from anabranch_postgres.postgres_search import PostgresSearch
from anabranch_postgres.read_transaction import SqlStatement, run_statements
from plugins.postgres.tests.test_postgres_corpus import fill, told

pytestmark = pytest.mark.loopback

WORDLESS = {"schema_version", "corpora", "meta", "audience_sizes"}
"""Tables that hold numbers, and facts of a corpus: everybody may read them."""

HIDDEN = {"pay", "keys", "copy-a", "copy-b"}


@pytest.fixture(scope="module")
def as_reader(database: str) -> str:
    """Return the database's address for a role that may read and owns nothing."""
    with connect(database) as connection:
        postgres_schema.prepare(connection)
        connection.execute("CREATE ROLE only_reader LOGIN")
        connection.execute("GRANT USAGE ON SCHEMA anabranch TO only_reader")
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA anabranch TO only_reader")
    return database.replace("postgres:@", "only_reader:@")


def named(corpus: str) -> str:
    return corpus.partition("#")[2]


def seen(address: str, corpus: int | None, access: Sequence[str] = ()) -> dict[str, int]:
    """Return how many rows of each table a role sees in a transaction with these settings."""
    tables = "SELECT relname FROM pg_class WHERE relnamespace = 'anabranch'::regnamespace AND relkind = 'r'"
    with connect(address) as connection:
        names = [name for (name,) in connection.execute(tables)]
        counted = [SqlStatement(SQL("SELECT count(*) FROM {}").format(Identifier("anabranch", name))) for name in names]
        if corpus is None:
            found = [connection.execute(sql).fetchall() for sql, _ in counted]
        else:
            found = run_statements(connection, corpus, access, counted)
    return {name: rows[0][0] for name, rows in zip(names, found, strict=True)}


def test_a_role_that_only_reads_is_told_what_the_owner_is_told(corpus: str, as_reader: str) -> None:
    fill(corpus)
    theirs = f"{as_reader}#{named(corpus)}"
    assert asyncio.run(told(theirs)) == asyncio.run(told(corpus))
    assert asyncio.run(_facts(theirs)) == asyncio.run(_facts(corpus))


async def _facts(address: str) -> Any:
    store = await open_corpus(address)
    assert isinstance(store, PostgresReader)
    ids = (await store.search("dense", ["water"], 100, EVERYTHING))[0]["ids"]
    documents = [chunk.doc_id for chunk in (await store.chunks(ids, EVERYTHING)).values()]
    told: list[Any] = [(await store.info()).chunks]
    for scope in (Scope(), EVERYTHING):
        told += [
            await store.chunks(ids, scope),
            await store.outlines(scope, 99),
            await store.leaves(documents, scope, 9),
        ]
        told += [await store.originals(documents, scope), await store.places([(each, 0) for each in documents], scope)]
        told += [await store.occurring(["weir miller"], ids, scope)]
    return told


def test_without_our_own_condition_nothing_of_others_is_found(
    corpus: str, as_reader: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(corpus)
    fill(f"{corpus}-other", **{"/secret": [note("secret", "Weir", "The weir of another corpus.")]})
    # Every statement asks for every audience of every corpus.
    everybody = Clause("ARRAY(SELECT id FROM anabranch.audiences)")
    monkeypatch.setattr(PostgresSearch, "audiences", lambda *_: everybody)

    async def found(address: str, scope: Scope) -> set[str]:
        store = await open_corpus(address)
        lists = [await store.search(arm, ["the weir miller water note"], 100, scope) for arm in ARMS]
        return set(await keys(store, [each for ((ranked),) in lists for each in ranked["ids"]]))

    theirs = f"{as_reader}#{named(corpus)}"
    assert asyncio.run(found(corpus, Scope())) >= HIDDEN
    assert not asyncio.run(found(theirs, Scope())) & HIDDEN
    assert asyncio.run(found(theirs, Scope(access=("board",)))) & HIDDEN == HIDDEN - {"copy-b"}


def test_rows_of_other_tags_and_other_corpora_are_not_there(corpus: str, as_reader: str) -> None:
    fill(corpus)
    fill(f"{corpus}-other")
    store = asyncio.run(open_corpus(corpus))
    assert isinstance(store, PostgresReader)
    everything, public = seen(as_reader, store.number, ["board", "staff"]), seen(as_reader, store.number)
    for table in ("documents", "chunks", "leaves", "postings", "term_frequencies", "audiences", "files"):
        assert 0 < public[table] < everything[table]
    assert everything["documents"] == 9
    assert public["documents"] == 9 - len(HIDDEN)
    assert everything["vectors"] == 0
    # Who says nothing sees nothing, also on a connection where somebody else has just said who they are.
    nobody = seen(as_reader, None)
    assert {table for table, count in nobody.items() if count} <= WORDLESS
    with connect(as_reader) as connection:
        run_statements(connection, store.number, ["board"], [])
        assert connection.execute("SELECT count(*) FROM anabranch.chunks").fetchall() == [(0,)]


def test_every_table_with_words_has_a_lock(corpus: str, database: str) -> None:
    fill(corpus)
    tables = "SELECT relname FROM pg_class WHERE relnamespace = 'anabranch'::regnamespace AND relkind = 'r'"
    with connect(database) as connection:
        assert {name for (name,) in connection.execute(f"{tables} AND NOT relrowsecurity")} == WORDLESS


@pytest.mark.parametrize("opened", [open_writer, open_snapshot])
def test_who_only_reads_cannot_write_nor_copy_what_is_shown_for_the_whole(
    corpus: str, as_reader: str, opened: Callable[[str], AbstractContextManager[object]]
) -> None:
    fill(corpus)
    with pytest.raises(SettingsError, match="does not own the tables"), opened(f"{as_reader}#{named(corpus)}"):
        pass


def test_tables_made_before_get_their_locks_from_the_next_writer(
    corpus: str, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connect(database) as connection:
        connection.execute("CREATE DATABASE before")
    address = corpus.replace("/postgres?", "/before?")
    with monkeypatch.context() as earlier, connect(address.partition("#")[0]) as connection:
        earlier.setattr(postgres_schema, "VERSION", 1)
        postgres_schema.prepare(connection)
        connection.execute("INSERT INTO anabranch.corpora (name) VALUES (%s)", (named(corpus),))
    with pytest.raises(OperationError, match="version 1"):
        asyncio.run(open_corpus(address))
    fill(address)
    assert len(asyncio.run(told(address))) > 0
    with psycopg.connect(address.partition("#")[0]) as connection:
        assert postgres_schema.version_of(connection) == postgres_schema.VERSION
        locked = "SELECT count(*) FROM pg_class WHERE relnamespace = 'anabranch'::regnamespace AND relrowsecurity"
        assert connection.execute(locked).fetchall()[0][0] >= 8


# What versions 4 to 6 have done, undone.
_THIRD = """
ALTER TABLE anabranch.leaves ADD COLUMN length int, ADD COLUMN terms bigint[];
UPDATE anabranch.leaves l SET length = w.length, terms = w.terms FROM anabranch.leaf_words w
WHERE w.corpus = l.corpus AND w.leaf = l.id;
CREATE INDEX leaves_not_indexed ON anabranch.leaves (corpus, id) WHERE length IS NULL;
DROP TABLE anabranch.leaf_words;
ALTER TABLE anabranch.vectors ADD FOREIGN KEY (corpus) REFERENCES anabranch.corpora ON DELETE CASCADE;
ALTER TABLE anabranch.term_frequencies ADD FOREIGN KEY (corpus) REFERENCES anabranch.corpora ON DELETE CASCADE;
ALTER TABLE anabranch.leaves ADD FOREIGN KEY (corpus, document) REFERENCES anabranch.documents ON DELETE CASCADE;
ALTER TABLE anabranch.chunks ADD FOREIGN KEY (corpus, document) REFERENCES anabranch.documents ON DELETE CASCADE;
ALTER TABLE anabranch.documents DROP COLUMN summary, DROP COLUMN checksum;
DELETE FROM anabranch.schema_version WHERE version > 3;
"""


def test_the_words_of_version_3_are_kept_and_those_who_read_leaves_read_them(
    corpus: str, database: str, as_reader: str
) -> None:
    with connect(database) as connection:
        connection.execute("CREATE DATABASE third")
    address, reader = (each.replace("/postgres?", "/third?") for each in (corpus, f"{as_reader}#{named(corpus)}"))
    fill(address)
    before = asyncio.run(told(address))
    with connect(address.partition("#")[0]) as connection:
        connection.execute(_THIRD)
        connection.execute("GRANT USAGE ON SCHEMA anabranch TO only_reader")
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA anabranch TO only_reader")
        # Another role than the one that brings the tables up.
        connection.execute("CREATE ROLE keeper")
        connection.execute("ALTER TABLE anabranch.leaves OWNER TO keeper")
        postgres_schema.prepare(connection)
        owner = connection.execute("SELECT tableowner FROM pg_tables WHERE tablename = 'leaf_words'").fetchall()
    assert owner == [("keeper",)]
    assert verify(address) == []
    assert asyncio.run(told(address)) == before
    assert asyncio.run(told(reader)) == before
