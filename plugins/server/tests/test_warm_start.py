"""What every question needs is there before the first one, and what cannot be loaded keeps no server from starting."""

from __future__ import annotations

import gc
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from anabranch import ingest
from anabranch.agent.nodes.settings import Context
from anabranch.store import stores
from anabranch.store.protocol import Arm, RankedList, Scope
from anabranch_server.warm_start import YOUNG, warm_start
from tests.shared_fixtures import REPOSITORY


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*before)


async def test_the_corpus_is_open_before_the_first_question(tmp_path: Path) -> None:
    shutil.copy(REPOSITORY / "tests" / "samples" / "weir.md", tmp_path)
    corpus = str(tmp_path / "corpus")
    ingest(tmp_path / "weir.md", corpus)
    assert stores.find_reader(corpus, 1) is None
    await warm_start(Context(corpus=corpus, model="openai:stub", base_url="http://127.0.0.1:9/v1"))
    assert stores.find_reader(corpus, 1) is not None
    assert gc.get_freeze_count() > 10_000
    assert gc.get_threshold()[0] == YOUNG


class HostedEmbedder:
    """As one of a provider: it makes vectors of texts, and shows no more."""


async def test_nothing_is_asked_of_a_hosted_embedder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(REPOSITORY / "tests" / "samples" / "weir.md", tmp_path)
    corpus = str(tmp_path / "corpus")
    ingest(tmp_path / "weir.md", corpus)
    reader: Any = await stores.open_corpus(corpus)
    own, search, searched = reader.embedder, reader.search, list[str]()

    async def noted(arm: Arm, queries: Sequence[str], k: int, scope: Scope) -> list[RankedList]:
        searched.append(arm)
        found: list[RankedList] = await search(arm, queries, k, scope)
        return found

    monkeypatch.setattr(reader, "search", noted)
    for embedder in (own, HostedEmbedder()):
        monkeypatch.setattr(reader, "embedder", embedder)
        await warm_start(Context(corpus=corpus))
    assert searched == ["bm25", "dense", "bm25"]


@pytest.mark.parametrize("place", ["{tenant}/corpus", "nothing/here"])
async def test_without_a_corpus_that_can_be_opened_the_server_starts_all_the_same(tmp_path: Path, place: str) -> None:
    corpus = str(tmp_path / place)
    await warm_start(Context(corpus=corpus))
    assert not Path(corpus).exists()
    assert gc.get_freeze_count() > 0
