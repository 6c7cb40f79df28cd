"""Corpora in memory: told apart by name, bounded in number, with the scores of a folder."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from anabranch.errors import CorpusNotFoundError, SettingsError
from anabranch.ingestion.pipeline import ingest
from anabranch.store import memory
from anabranch.store.memory import forget
from anabranch.store.protocol import FullScores, Scope
from anabranch.store.stores import open_corpus, open_writer
from anabranch.text.stopwords import STOP_WORDS


@pytest.fixture(autouse=True)
def _own(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(memory, "_corpora", {})
    yield


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(12):
        words = " ".join(f"word{number * step % 7} heron{step}" for step in range(1, 9))
        (folder / f"{number}.md").write_text(f"# Note {number}\n\nThe heron of the weir: {words}.\n")
    return folder


async def ids(address: str, query: str) -> list[str]:
    (found,) = await (await open_corpus(address)).search("bm25", [query], 9, Scope())
    return found["ids"]


def test_two_names_are_two_corpora(notes: Path) -> None:
    ingest(notes / "1.md", "memory:one")
    ingest(notes / "2.md", "memory:two")
    one, two = (asyncio.run(ids(f"memory:{name}", "heron")) for name in ("one", "two"))
    assert len(one) == len(two) == 1
    assert one != two
    forget("memory:one")
    with pytest.raises(CorpusNotFoundError, match="memory:one"):
        asyncio.run(open_corpus("memory:one"))
    assert asyncio.run(ids("memory:two", "heron")) == two


def test_their_number_is_bounded_and_none_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MOST", 2)
    for name in ("one", "two", "one"):
        with open_writer(f"memory:{name}") as writer:
            writer.keep_meta({"spec": name})
    with pytest.raises(SettingsError, match="one, two"), open_writer("memory:three"):
        pass
    forget("memory:two")
    with open_writer("memory:three"), open_writer("memory:one") as writer:
        assert writer.meta("spec") == "one"


def test_a_name_is_needed() -> None:
    with pytest.raises(SettingsError, match="names no corpus"), open_writer("memory:"):
        pass


async def test_scores_are_those_of_a_folder(notes: Path, tmp_path: Path) -> None:
    for address in ("memory:notes", str(tmp_path / "corpus")):
        await asyncio.to_thread(ingest, notes, address)
    here, there = await open_corpus("memory:notes"), await open_corpus(tmp_path / "corpus")
    assert isinstance(here, FullScores)
    assert isinstance(there, FullScores)
    queries = ["heron3 word2 of the weir", "word1 word1 heron8", "note 4"]
    for arm in ("bm25", "dense"):
        for ours, theirs in zip(
            await here.search(arm, queries, 50, Scope()), await there.search(arm, queries, 50, Scope()), strict=True
        ):
            assert dict(zip(ours["ids"], ours["scores"], strict=True)) == pytest.approx(
                dict(zip(theirs["ids"], theirs["scores"], strict=True)), abs=1e-5
            )


async def test_a_second_run_leaves_what_is_unchanged_and_takes_in_what_is_not(notes: Path) -> None:
    await asyncio.to_thread(ingest, notes, "memory:notes")
    before = await open_corpus("memory:notes")
    assert (await asyncio.to_thread(ingest, notes, "memory:notes")).count("unchanged") == 12
    assert await open_corpus("memory:notes") is before
    (notes / "3.md").unlink()
    (notes / "4.md").write_text("# Note 4\n\nAn otter.\n")
    report = await asyncio.to_thread(ingest, notes, "memory:notes")
    assert (report.count("updated"), report.count("removed")) == (1, 1)
    assert len(await ids("memory:notes", "otter")) == 1
    assert (await (await open_corpus("memory:notes")).info()).documents == 11


async def test_words_of_a_german_corpus_are_stemmed_in_german(tmp_path: Path) -> None:
    assert "german" in STOP_WORDS
    (tmp_path / "wehr.md").write_text(
        "Das Wehr wurde im Jahr 1848 gebaut, und es hat die Häuser am Fluss vor dem Wasser geschützt, das bei jedem "
        "Hochwasser in die Keller lief und nicht mehr aus ihnen wich.\n"
    )
    await asyncio.to_thread(ingest, tmp_path / "wehr.md", "memory:wehr")
    assert len(await ids("memory:wehr", "ein Haus im Keller")) == 1
    assert await ids("memory:wehr", "nicht aus dem") == []


def test_the_library_does_not_need_pytest() -> None:
    code = (
        "import sys, anabranch.store.stores as stores, anabranch.ingestion.pipeline, "
        "anabranch.agent.graph.answer\n"
        "[stores.STORES.get(name) for name in stores.STORES.names]\n"
        "sys.exit('pytest' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


async def test_a_generation_is_later_than_those_before_also_after_the_corpus_was_empty(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Weir\n\nThe weir was built by Ida Marrow.\n")
    seen = []
    for text in ("It was built in 1931.", "", "It was built in 1932."):
        if text:
            (tmp_path / "a.md").write_text(f"# Weir\n\n{text}\n")
        else:
            (tmp_path / "a.md").unlink()
        await asyncio.to_thread(ingest, tmp_path, "memory:generations")
        if text:
            seen.append((await open_corpus("memory:generations")).generation)
    assert seen == sorted(set(seen))
