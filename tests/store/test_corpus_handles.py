"""Opening a corpus: once, checked, from any loop or thread."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import shutil
import threading
from collections.abc import Callable
from concurrent import futures
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

import pytest
from blockbuster import blockbuster_ctx

from anabranch.errors import (
    CorpusDamagedError,
    CorpusEmptyError,
    CorpusNotFoundError,
    EmbedderMismatchError,
)
from anabranch.ingestion.pipeline import ingest
from anabranch.store import corpus_handles as opening
from anabranch.store.corpus_database import CorpusDatabase
from anabranch.store.index import checksum_watch as integrity
from anabranch.store.index import segment
from anabranch.store.index.manifest import current_name
from anabranch.store.index.segment import Segment
from anabranch.store.index.segment_index import Index
from anabranch.store.local_reader import LocalReader
from anabranch.store.local_store import LocalStore, LocalWriter
from anabranch.store.maintenance import rebuild, verify
from anabranch.store.protocol import Scope
from anabranch.store.write_lock import hold_write_lock

T = TypeVar("T")


def opened(corpus: Path) -> LocalReader:
    return asyncio.run(LocalStore().open(corpus))


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "a.md").write_text("# Herons\n\nHerons fish at dawn.\n", encoding="utf-8")
    ingest([tmp_path / "d"], tmp_path / "c")
    return tmp_path / "c"


def more(corpus: Path, name: str = "b") -> None:
    (corpus.parent / "d" / f"{name}.md").write_text(f"# Swifts {name}\n\nSwifts sleep in the air.\n", encoding="utf-8")
    ingest([corpus.parent / "d"], corpus)


def test_the_same_handle_until_there_is_a_new_generation(corpus: Path) -> None:
    first = opened(corpus)
    assert opened(corpus) is first
    more(corpus)
    second = opened(corpus)
    assert second is not first
    assert second.generation > first.generation


def test_an_old_handle_goes_on_searching_its_generation(corpus: Path) -> None:
    old = opened(corpus)
    for name in "bcdefg":
        more(corpus, name)

    async def search() -> list[str]:
        (ranked,) = await old.search("bm25", ["herons swifts"], 10, Scope())
        return [chunk.source for chunk in (await old.chunks(ranked["ids"], Scope())).values()]

    assert asyncio.run(search()) == ["a.md"]


def test_threads_and_loops_share_one_handle(corpus: Path) -> None:
    handles: list[LocalReader] = []

    def work() -> None:
        async def many() -> list[LocalReader]:
            return await asyncio.gather(*(LocalStore().open(corpus) for _ in range(8)))

        handles.extend(asyncio.run(many()))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(handle) for handle in handles}) == 1


async def test_the_loop_is_never_blocked(corpus: Path) -> None:
    with blockbuster_ctx():
        store = await LocalStore().open(corpus)
        await store.search("dense", ["herons"], 3, Scope())
        (ranked,) = await store.search("bm25", ["herons"], 3, Scope())
        await store.chunks(ranked["ids"], Scope())
        await store.info()


def test_no_corpus_there(tmp_path: Path) -> None:
    with pytest.raises(CorpusNotFoundError, match="anabranch ingest"):
        opened(tmp_path / "absent")


def test_nothing_in_it(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    ingest([tmp_path / "d"], tmp_path / "c")
    with pytest.raises(CorpusEmptyError, match="anabranch ingest"):
        opened(tmp_path / "c")


def test_an_embedder_that_changed_under_its_name_is_refused(corpus: Path, own_model: Path, tmp_path: Path) -> None:
    model = shutil.copytree(own_model, tmp_path / "model")
    rebuild(corpus, embedder=str(model))
    assert opened(corpus).embedder.name.startswith("onnx:model-")
    tokenizer = model / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text("utf-8") + "\n", encoding="utf-8")
    os.utime(model / "model.onnx", (1, 1))
    more_files = corpus.parent / "e"
    shutil.copytree(corpus, more_files)
    with pytest.raises(EmbedderMismatchError):
        opened(more_files)
    shutil.rmtree(model)
    gone = shutil.copytree(corpus, corpus.parent / "f")
    with pytest.raises(EmbedderMismatchError):
        opened(gone)


FILES = ["segments/dense.0.faiss", "segments/rows.npy", "segments/segment.json", "segments/bm25.rows.npy"]
FILES += ["generations/manifest.json", "segments"]


def derived(corpus: Path, name: str) -> Path:
    """The one file of that name in the only segment, or in the current generation."""
    folder, _, file = name.partition("/")
    if folder == "generations":
        return corpus / folder / str(current_name(corpus)) / file
    (segment,) = (corpus / "segments").iterdir()
    return segment / file if file else segment


def is_mended(corpus: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Opening makes the index anew, says so, and finds what it found before."""
    assert verify(corpus) != []
    with caplog.at_level("WARNING", logger="anabranch"):
        store = opened(corpus)
    assert "Rebuilding it" in caplog.text
    assert verify(corpus) == []
    (ranked,) = asyncio.run(store.search("bm25", ["herons"], 5, Scope()))
    assert len(ranked["ids"]) == 1


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_made_anew_and_that_is_said(
    corpus: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = derived(corpus, name)
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    is_mended(corpus, caplog)


@pytest.mark.parametrize("name", FILES[:-1])
def test_a_cut_file_is_made_anew_and_that_is_said(corpus: Path, name: str, caplog: pytest.LogCaptureFixture) -> None:
    file = derived(corpus, name)
    file.write_bytes(file.read_bytes()[:-7])
    is_mended(corpus, caplog)


@pytest.mark.parametrize("name", FILES[:-1])
def test_a_flipped_bit_is_made_anew_and_that_is_said(corpus: Path, name: str, caplog: pytest.LogCaptureFixture) -> None:
    file = derived(corpus, name)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(bytes(content))
    is_mended(corpus, caplog)


@pytest.mark.parametrize("pointer", [b"\xff\xfe", b"../../somewhere", b"000099-abcd", b"/etc", b"x\0y", b"000001"])
def test_a_damaged_pointer_is_mended(corpus: Path, pointer: bytes) -> None:
    (corpus / "CURRENT").write_bytes(pointer)
    assert verify(corpus) != []
    assert opened(corpus).generation > 1
    assert verify(corpus) == []


def test_an_index_of_another_format_is_made_anew(corpus: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = derived(corpus, "generations/manifest.json")
    facts = json.loads(file.read_text())
    file.write_text(json.dumps(facts | {"schema": 99}))
    is_mended(corpus, caplog)


def test_damage_found_while_another_process_writes_is_an_error_that_says_what_to_do(corpus: Path) -> None:
    derived(corpus, "segments/rows.npy").unlink()
    with hold_write_lock(corpus), pytest.raises(CorpusDamagedError, match="anabranch corpus rebuild"):
        opened(corpus)


def test_a_large_segment_that_is_removed_while_it_is_checked_is_not_damaged(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(integrity, "AT_ONCE", 0)
    index = Index(corpus, str(current_name(corpus)))
    shutil.rmtree(derived(corpus, "segments"))
    integrity.Watch(index).check_all()


def test_damage_of_a_large_segment_is_found_while_it_is_searched(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    is_open, damage = threading.Event(), Segment.damage
    monkeypatch.setattr(integrity, "AT_ONCE", 0)
    monkeypatch.setattr(segment, "HEAD", 64)
    monkeypatch.setattr(Segment, "damage", lambda each: damage(each) if is_open.wait(600) else [])
    corpus = request.getfixturevalue("corpus")
    file = derived(corpus, "segments/dense.0.faiss")
    content = bytearray(file.read_bytes())
    content[-3] ^= 1
    file.write_bytes(bytes(content))
    store = opened(corpus)
    is_open.set()

    async def searched_until_it_is_found() -> None:
        while True:
            await store.search("bm25", ["herons"], 5, Scope())
            await asyncio.sleep(0.01)

    with pytest.raises(CorpusDamagedError, match=r"dense\.0\.faiss"):
        asyncio.run(asyncio.wait_for(searched_until_it_is_found(), 600))
    is_mended(corpus, caplog)


def test_a_database_that_is_none_is_damage(corpus: Path) -> None:
    (corpus / "corpus.db").write_bytes(b"not a database" * 400)

    async def fetch() -> None:
        store = await LocalStore().open(corpus)
        await store.chunks(["x"], Scope())

    with pytest.raises(CorpusDamagedError):
        asyncio.run(fetch())
    assert verify(corpus) != []


def test_a_corpus_whose_first_run_died_before_its_index_is_indexed_on_opening(corpus: Path) -> None:
    (corpus / "CURRENT").unlink()
    shutil.rmtree(corpus / "generations")
    assert opened(corpus).generation == 1
    assert verify(corpus) == []


def test_documents_that_a_dead_run_committed_are_indexed_on_opening(corpus: Path) -> None:
    before = (corpus / "CURRENT").read_text()
    more(corpus)
    (corpus / "CURRENT").write_text(before)

    async def search() -> int:
        store = await LocalStore().open(corpus)
        (ranked,) = await store.search("bm25", ["swifts"], 5, Scope())
        return len(ranked["ids"])

    assert asyncio.run(search()) == 1


def test_tags_given_later_hide_a_document_from_a_handle_that_is_open(corpus: Path) -> None:
    store = opened(corpus)

    async def hits(*access: str) -> int:
        (ranked,) = await store.search("bm25", ["herons"], 5, Scope(access=access))
        return len(ranked["ids"])

    assert asyncio.run(hits()) == 1
    ingest([corpus.parent / "d"], corpus, access=("board",))
    assert asyncio.run(hits()) == 0
    assert asyncio.run(hits("board")) == 1


def test_tags_given_later_hide_passages_that_were_read_before(corpus: Path) -> None:
    store = opened(corpus)
    (ranked,) = asyncio.run(store.search("bm25", ["herons"], 5, Scope()))

    def read(*access: str) -> set[str]:
        return set(asyncio.run(store.chunks(ranked["ids"], Scope(access=access))))

    assert read() == set(ranked["ids"]) == read()
    ingest([corpus.parent / "d"], corpus, access=("board",))
    assert read() == set()
    assert read("board") == set(ranked["ids"])
    assert read("staff") == set()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_opens(corpus: Path) -> None:
    for path in [corpus, *corpus.rglob("*")]:
        path.chmod(0o500 if path.is_dir() else 0o400)
    assert opened(corpus).generation == 1
    for path in [corpus, *corpus.rglob("*")]:
        path.chmod(0o700)


class _Blocked:
    """An index that is being made until somebody lets it: stands for that of a large corpus."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.begun, self.may_end = threading.Event(), threading.Event()
        publish = opening.publish

        def slow(database: CorpusDatabase, **named: Any) -> Any:
            if database.folder == folder:
                self.begun.set()
                self.may_end.wait(180)
            return publish(database, **named)

        monkeypatch.setattr(opening, "publish", slow)


def in_thread(work: Callable[[], T]) -> futures.Future[T]:
    """Run a function in a thread that a test which fails does not wait for."""
    future: futures.Future[T] = futures.Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future


def behind(corpus: Path) -> str:
    """Add a document and make no index of it, as a run does that dies; return the generation that is left."""
    with patch.object(LocalWriter, "publish"):
        more(corpus)
    return (corpus / "CURRENT").read_text().strip()


def test_a_corpus_being_indexed_holds_up_no_other(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = shutil.copytree(corpus, tmp_path / "other")
    behind(corpus)
    indexing = _Blocked(monkeypatch, corpus)
    first = in_thread(lambda: opening.open_folder(corpus))
    assert indexing.begun.wait(60)
    try:
        assert in_thread(lambda: opening.open_folder(other)).result(60).generation == 1
    finally:
        indexing.may_end.set()
    assert first.result(60).generation > 1


def test_a_corpus_being_indexed_is_searched_as_it_was(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    former = behind(corpus)
    indexing = _Blocked(monkeypatch, corpus)
    first = in_thread(lambda: opening.open_folder(corpus))
    assert indexing.begun.wait(60)
    try:
        assert in_thread(lambda: opening.open_folder(corpus)).result(60).manifest.name == former
    finally:
        indexing.may_end.set()
    assert first.result(60).manifest.name != former
    assert opened(corpus) is first.result()


def test_a_corpus_without_an_index_is_indexed_once_for_all_who_wait(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (corpus / "CURRENT").unlink()
    shutil.rmtree(corpus / "generations")
    indexing = _Blocked(monkeypatch, corpus)
    waiting = [in_thread(lambda: opening.open_folder(corpus)) for _ in range(4)]
    assert indexing.begun.wait(60)
    indexing.may_end.set()
    assert len({id(each.result(60)) for each in waiting}) == 1
    assert verify(corpus) == []


def test_what_is_remembered_of_corpora_is_bounded(corpus: Path, tmp_path: Path) -> None:
    for number in range(opening.HANDLES + 4):
        opened(shutil.copytree(corpus, tmp_path / f"copy{number}"))
    assert len(opening._open) == opening.HANDLES
    gc.collect()  # the errors of other tests are cycles, and hold the frames they came from
    assert len(opening._homes) == 0
