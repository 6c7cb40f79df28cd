"""A store of somebody else's is two files: what it does, and the line that names it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from anabranch.agent.graph.answer import build as answer_graph
from anabranch.agent.graph.retrieval import build_search as search_graph
from anabranch.agent.nodes.settings import Context
from anabranch.errors import SettingsError
from anabranch.ingestion.pipeline import ingest
from anabranch.retrieval.llm_retriever import Reach, read_all
from anabranch.store.memory import forget
from anabranch.store.protocol import FullScores, Outlines, Scope, TermStatistics
from anabranch.store.stores import STORES, open_corpus, open_writer

STORE = '''
from anabranch.store.memory import MemoryStore


class DummyReader:
    """What every store has, and nothing that is optional."""

    def __init__(self, inner):
        self.embedder, self.generation = inner.embedder, inner.generation
        self.info, self.search, self.chunks = inner.info, inner.search, inner.chunks
        self.children, self.places, self.analyse = inner.children, inner.places, inner.analyse


class DummyStore:
    async def open(self, address):
        return DummyReader(await MemoryStore().open(address))

    def writer(self, address, *, wait=0.0):
        return MemoryStore().writer(address, wait=wait)
'''
ADDRESS = "dummy:rivers"


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    package = tmp_path / "package"
    (package / "dummy-1.0.dist-info").mkdir(parents=True)
    (package / "dummy_store.py").write_text(STORE)
    (package / "dummy-1.0.dist-info" / "entry_points.txt").write_text(
        "[anabranch.stores]\ndummy = dummy_store:DummyStore\n"
    )
    assert sum(path.is_file() for path in package.rglob("*")) == 2
    monkeypatch.syspath_prepend(package)
    monkeypatch.delitem(vars(STORES), "_added", raising=False)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "weir.md").write_text("# The weir\n\nThe weir was built in 1848 to hold the river back.\n")
    (tmp_path / "notes" / "mill.md").write_text("# The mill\n\nThe mill grinds corn; the river turns its wheel.\n")
    assert ingest(tmp_path / "notes", ADDRESS).count("added") == 2
    yield ADDRESS
    forget(ADDRESS)


async def test_it_is_searched_by_its_scheme(corpus: str) -> None:
    found = (
        await search_graph().compile().ainvoke({"question": "When was the weir built?"}, context=Context(corpus=corpus))
    )
    best = found["candidates"][0]["id"]
    reader = await open_corpus(corpus)
    assert (await reader.chunks([best], Scope()))[best].source == "weir.md"
    # The default fusion wants scores that this store does not give.
    (said,) = [each["reason"] for each in found["degraded"] if each["step"] == "fuse"]
    assert "cannot score further passages" in said


async def test_it_answers_and_says_what_it_lacks(corpus: str) -> None:
    found = (
        await answer_graph().compile().ainvoke({"question": "When was the weir built?"}, context=Context(corpus=corpus))
    )
    assert "1848" in found["answer"]
    assert {each["step"].partition(":")[0] for each in found["degraded"]} >= {"fuse", "grade"}


async def test_what_it_lacks_is_told_by_its_methods(corpus: str) -> None:
    reader = await open_corpus(corpus)
    assert not isinstance(reader, FullScores | Outlines | TermStatistics)

    async def ask(batches: object) -> list[None]:
        raise AssertionError(batches)

    with pytest.raises(SettingsError, match="store does not list them"):
        await read_all(reader, Scope(), ask, Reach(5, 5, 5))


def test_an_unknown_scheme_names_those_that_are_known(corpus: str) -> None:
    for use in (
        lambda: asyncio.run(open_corpus("dumy:x")),
        lambda: open_writer("dumy:x"),
        lambda: ingest("a", "dumy:x"),
    ):
        with pytest.raises(SettingsError, match="There is no store 'dumy'") as caught:
            use()
        known = "Known: file, memory, dummy, postgresql, s3. To name a folder"
        assert caught.value.hint.startswith(f"Did you mean 'dummy'? {known}")
