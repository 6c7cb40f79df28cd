"""Documents are published while questions are being answered: each turn reads the generation that it began with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from anabranch.agent.graph.answer import build
from anabranch.agent.nodes.settings import Context
from anabranch.ingestion.pipeline import ingest
from anabranch.store import stores
from anabranch.store.stores import open_corpus
from anabranch_copies.replica import replica_store
from anabranch_copies.replica.replica_publisher import publish_replica
from plugins.copies.tests.replica.conftest import cache_at
from tests.servers.postgres import postgres

QUESTION = "When was the weir of Halden rebuilt?"


class Site(NamedTuple):
    """Where documents are written, and where questions look for them; `publish` brings the one to the other."""

    notes: Path
    written: str
    read: str
    publish: Callable[[], None]

    def write(self, name: str, text: str, *access: str) -> None:
        """Write a note and publish it, with its access tags."""
        (self.notes / f"{name}.md").write_text(f"# {name}\n\n{text}\n")
        report = ingest([self.notes / f"{name}.md"], self.written, access=list(access))
        assert not [row for row in report.rows if row.status == "failed"]
        self.publish()


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    with TemporaryDirectory(prefix="anabranch-", ignore_cleanup_errors=True) as folder, postgres(Path(folder)) as found:
        yield found


@pytest.fixture(params=["folder", "postgresql", "copy"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Site]:
    """A corpus of two notes in each kind of store."""
    written = str(tmp_path / "corpus")
    if request.param == "postgresql":
        written = f"{request.getfixturevalue('database')}#{tmp_path.name}"
    target = (tmp_path / "published").as_uri()
    is_copy = request.param == "copy"
    with cache_at(tmp_path / "cache", poll=0):

        def publish() -> None:
            if not is_copy:
                return
            publish_replica(tmp_path / "corpus", target)
            # A process follows beside its questions; here, before the next one.
            if (follower := replica_store._followers.get(target)) is not None:
                with follower._following:
                    follower._follow()

        made = Site(tmp_path, written, target if is_copy else written, publish)
        made.write("weir", "The weir of Halden was rebuilt in 1901.")
        made.write("tea", "Tea is drunk at five.")
        yield made


class Turn:
    """One question, which stops before its search and before its answer is written."""

    def __init__(self, site: Site) -> None:
        self._graph = build().compile(checkpointer=InMemorySaver(), interrupt_after=["begin", "retrieval"])
        self._config: Any = {"configurable": {"thread_id": "t"}}
        self._context = Context(corpus=site.read, top_k=5)

    async def begin(self) -> int:
        """Return the generation that it begins with."""
        return int((await self._step({"question": QUESTION}))["turn"]["generation"])

    async def search(self) -> dict[str, Any]:
        return await self._step(None)

    async def finish(self) -> dict[str, Any]:
        return await self._step(None)

    async def _step(self, given: Any) -> dict[str, Any]:
        await self._graph.ainvoke(given, self._config, context=self._context)
        return dict((await self._graph.aget_state(self._config)).values)


def sources(state: dict[str, Any]) -> set[str]:
    return {passage["source"] for passage in state["passages"]}


async def test_two_turns_at_once_each_read_their_own(site: Site) -> None:
    early = Turn(site)
    first = await early.begin()
    await asyncio.to_thread(site.write, "gauge", "The gauge at the weir of Halden was rebuilt in 1950.")
    late = Turn(site)
    second = await late.begin()
    assert second > first
    # The searches come in turn, and so do the answers.
    found_late, found_early = await late.search(), await early.search()
    assert "gauge.md" in sources(found_late)
    assert "gauge.md" not in sources(found_early)
    assert "weir.md" in sources(found_early)
    ended_early, ended_late = await early.finish(), await late.finish()
    assert (ended_early["turn"]["generation"], ended_late["turn"]["generation"]) == (first, second)
    assert ended_early["degraded"] == ended_late["degraded"] == []
    assert "1901" in ended_early["answer"]


async def test_a_turn_whose_generation_is_gone_goes_on_with_the_present_one_and_says_so_once(site: Site) -> None:
    turn = Turn(site)
    first = await turn.begin()
    # Long after, in another process: nothing of before is open.
    await asyncio.to_thread(site.write, "gauge", "The gauge at the weir of Halden was rebuilt in 1950.")
    stores._opened.clear()
    present = (await open_corpus(site.read)).generation
    found = await turn.search()
    assert "gauge.md" in sources(found)
    ended = await turn.finish()
    assert ended["turn"]["generation"] == present > first
    told = [each for each in ended["degraded"] if f"generation {first} " in each["reason"]]
    assert told
    # Branches that run side by side say it each; the steps after them do not.
    assert {each["step"].partition(":")[0] for each in told} <= {"rewrite", "retrieve"}
    assert ended["degraded"] == told


IN_PLACE = pytest.mark.parametrize("site", ["folder", "postgresql"], indirect=True)


@pytest.mark.parametrize("site", ["copy"], indirect=True)
async def test_what_is_hidden_on_a_copy_is_hidden_from_the_next_turn_on(site: Site) -> None:
    turn = Turn(site)
    await turn.begin()
    await asyncio.to_thread(site.write, "weir", "The weir of Halden was rebuilt in 1901.", "board")
    assert "weir.md" in sources(await turn.search())
    assert "1901" in (await turn.finish())["answer"]
    later = Turn(site)
    await later.begin()
    assert "weir.md" not in sources(await later.search())
    assert "1901" not in (await later.finish())["answer"]


@IN_PLACE
async def test_what_is_hidden_after_a_turn_has_begun_is_not_read_from_its_generation(site: Site) -> None:
    before_search, before_answer = Turn(site), Turn(site)
    first = await before_search.begin()
    await before_answer.begin()
    assert "weir.md" in sources(await before_answer.search())
    await asyncio.to_thread(site.write, "weir", "The weir of Halden was rebuilt in 1901.", "board")
    await open_corpus(site.read)
    assert stores.find_reader(site.read, first) is not None
    assert "weir.md" not in sources(await before_search.search())
    for turn in (before_search, before_answer):
        ended = await turn.finish()
        assert "1901" not in ended["answer"]
        assert "weir.md" not in {each["source"] for each in ended["claims"] if each["grade"] != "not_confirmed"}


@IN_PLACE
async def test_what_is_removed_after_a_turn_has_begun_is_not_read_either(site: Site) -> None:
    turn = Turn(site)
    await turn.begin()
    assert "weir.md" in sources(await turn.search())
    with stores.open_writer(site.written) as writer:
        assert writer.remove_file(str(site.notes / "weir.md")) == 1
        writer.publish()
    await asyncio.to_thread(site.publish)
    ended = await turn.finish()
    assert "1901" not in ended["answer"]
