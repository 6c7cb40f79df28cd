"""Threads as rows: searched through without reading all of them, and alike in both databases."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, event, insert
from sqlalchemy.ext.asyncio import AsyncEngine

from anabranch_server import thread_records
from anabranch_server.database import open_database, threads
from anabranch_server.thread_records import Threads

MANY = 2_000


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=[pytest.mark.loopback, pytest.mark.slow])])
async def engine(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[AsyncEngine]:
    if request.param == "sqlite":
        async with open_database(str(tmp_path / "data")) as found:
            yield found
        return
    async with open_database(request.getfixturevalue("database")) as found:
        yield found
        async with found.begin() as connection:
            await connection.execute(delete(threads))


@pytest.fixture
async def many(engine: AsyncEngine) -> AsyncEngine:
    """Threads of two people; the last used has the highest number."""
    began = time.time()
    rows = [
        {
            "thread_id": f"{owner}-{number}",
            "owner": owner,
            "metadata": {"title": f"Räder {number}", "graph_id": "answer", "even": number % 2 == 0, "number": number},
            "created_at": began,
            "updated_at": began + number,
        }
        for owner in ("ida", "bob")
        for number in range(MANY)
    ]
    async with engine.begin() as connection:
        await connection.execute(insert(threads), rows)
    return engine


def numbers(found: Any) -> list[int]:
    return [each.metadata["number"] for each in found]


async def test_pages_of_two_thousand(many: AsyncEngine) -> None:
    kept, last = Threads(many), MANY - 1
    assert numbers(await kept.search("ida")) == list(range(last, last - 10, -1))
    assert numbers(await kept.search("ida", limit=3, offset=1000)) == [999, 998, 997]
    assert await kept.search("ida", offset=MANY) == []
    assert len(await kept.search("ida", limit=5_000)) == 1_000
    assert {each.owner for each in await kept.search("ida", limit=1_000)} == {"ida"}
    assert numbers(await kept.search("ida", metadata={"even": True}, limit=3, offset=2)) == [1994, 1992, 1990]
    assert numbers(await kept.search("ida", metadata={"graph_id": "answer"}, limit=2)) == [1999, 1998]
    assert numbers(await kept.search("ida", metadata={"title": "Räder 7", "number": 7})) == [7]


async def test_a_page_ends_where_a_reply_would_be_too_large(
    engine: AsyncEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, told = Threads(engine), {"graph_id": "answer", "note": "x" * 1_000}
    for number in range(7):
        await kept.add("ida", metadata={**told, "number": number})
    monkeypatch.setattr(thread_records, "MAX_REPLY", 3_500)
    for wanted in (None, {"graph_id": "answer"}):
        seen: list[int] = []
        while page := await kept.search("ida", metadata=wanted, limit=100, offset=len(seen)):
            assert len(page) <= 3
            seen += numbers(page)
        assert sorted(seen) == list(range(7))
    monkeypatch.setattr(thread_records, "MAX_REPLY", 10)
    assert len(await kept.search("ida")) == 1


async def test_values_are_equal_as_they_are_in_python(many: AsyncEngine) -> None:
    kept = Threads(many)
    for strange in ({"number": "7"}, {"title": "Räder 7'; --"}, {'a"b': "c"}, {"title": "x\0y"}, {"even": "true"}):
        assert await kept.search("ida", metadata=strange) == []
    await kept.change("ida", "ida-5", {"of": {"a": [1, None]}, 'a"b': "c"})
    for strange in ({"of": {"a": [1, None]}}, {'a"b': "c"}):
        assert numbers(await kept.search("ida", metadata=strange)) == [5]


async def test_the_database_leaves_out_what_is_not_asked_for(many: AsyncEngine) -> None:
    said: list[str] = []
    event.listen(many.sync_engine, "before_cursor_execute", lambda *given: said.append(given[2]))
    await Threads(many).search("ida", limit=3, offset=1000)
    await Threads(many).search("ida", metadata={"title": "Räder 7"})
    page, titled = (each.partition("WHERE")[2] for each in said if "WHERE" in each)
    assert "LIMIT" in page
    assert "metadata" in titled
