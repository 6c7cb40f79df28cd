"""Whatever the tags and the filter, PostgreSQL finds what the evaluator in Python lets pass, and nothing else.

`ANABRANCH_SCOPES=10000` tries as many cases.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.readers.document import Document
from anabranch.store.filters import matches, parse_filters
from anabranch.store.protocol import Scope
from anabranch.store.records import digest_of
from anabranch.store.stores import open_corpus
from anabranch_conformance.corpus_contents import ARMS, note
from anabranch_postgres import postgres_index, postgres_reader
from anabranch_postgres.postgres_reader import PostgresReader
from anabranch_postgres.postgres_search import WIDEST
from plugins.postgres.tests.test_postgres_corpus import fill
from tests.store.test_filters import expressions

pytestmark = pytest.mark.loopback

CASES = int(os.environ.get("ANABRANCH_SCOPES", "40"))
TAGS = ["a", "b", "a,b", "{a}", 'x"y', "*", "NULL", "é", "\\", " a"]


def documents() -> list[Document]:
    """Return documents with tags and metadata of all kinds, the same ones each time."""
    chance = random.Random(16)
    values: list[Any] = [None, True, False, 0, 1, 3, -2.0, 0.5, "", "a", "ab", "é", "1", "a.pdf", "[a]", "x'; --"]

    def facts() -> dict[str, Any]:
        names = chance.sample(["year", "kind", "a", "tags"], chance.randint(0, 4))
        shapes = [lambda: chance.choice(values), lambda: chance.choices(values, k=chance.randint(0, 3))]
        shapes += [lambda: {"b": chance.choice(values)}]
        return {name: chance.choice(shapes)() for name in names}

    tags = [chance.sample(TAGS, chance.choice([0, 0, 1, 2])) for _ in range(60)]
    return [note(f"n{n}", f"Note {n % 7}", f"Water {n}.", tags[n], **facts()) for n in range(60)]


DOCUMENTS = documents()


@pytest.fixture(scope="module")
def store(database: str) -> PostgresReader:
    address = f"{database}#scopes"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postgres_index, "NARROW", 5)  # so that there is an index
        fill(address, **{f"/{document.source}": [document] for document in DOCUMENTS})
    opened = asyncio.run(open_corpus(address))
    assert isinstance(opened, PostgresReader)
    return opened


def passing(access: tuple[str, ...], filters: Mapping[str, Any]) -> set[str]:
    """Return the ids of the documents that somebody may find."""
    tree = parse_filters(filters)
    return {
        digest_of(each.source)
        for each in DOCUMENTS
        if not each.access or set(each.access) & set(access)
        if matches(tree, _columns(each), each.metadata)
    }


def _columns(document: Document) -> dict[str, str]:
    doc_id = digest_of(document.source)
    return {"source": document.source, "title": document.title, "key": document.key, "doc_id": doc_id}


async def found(store: PostgresReader, scope: Scope) -> dict[str, list[str]]:
    """Return the documents of everything that a store finds in a scope, by how it was found."""
    # Every text has the word; so many are wanted that all vectors are compared, and so few that the index is asked.
    lists = {
        f"{arm} {k}": (await store.search(arm, ["water"], k, scope))[0]["ids"] for arm in ARMS for k in (WIDEST + 1, 3)
    }
    everything = [digest_of(each.source) for each in DOCUMENTS]
    leaves = await store.leaves(everything, scope, 9)
    lists["leaves"] = [leaf for each in leaves.values() for leaf in each]
    every = await store.leaves(everything, Scope(access=tuple(TAGS)), 9)
    owners = {leaf: doc_id for doc_id, own in every.items() for leaf in own}
    lists["scores"] = list((await store.scores({"bm25": ["water"]}, list(owners), scope))["bm25"][0])
    lists["chunks"] = list(await store.chunks(list(owners), scope))
    told = {way: [owners[each] for each in named] for way, named in lists.items()}
    return told | {"outlines": [each.doc_id for each in await store.outlines(scope, 99)], "leaves of": list(leaves)}


@settings(max_examples=CASES, deadline=None)
@given(st.lists(st.sampled_from([*TAGS, "c", "\0"]), max_size=3), expressions)
def test_what_is_found_is_what_the_evaluator_lets_pass(
    store: PostgresReader, access: list[str], filters: dict[str, Any]
) -> None:
    scope = Scope(access=tuple(access), filters=filters)
    allowed = passing(scope.access, filters)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postgres_reader, "NARROW", 5)
        for way, ids in asyncio.run(found(store, scope)).items():
            if way.endswith(" 3"):
                assert len(ids) == min(3, len(allowed)), way
                assert set(ids) <= allowed, way
            else:
                assert set(ids) == allowed, way
