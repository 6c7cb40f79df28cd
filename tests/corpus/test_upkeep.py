"""Checking, rebuilding, re-embedding and removing."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from pathlib import Path

import pytest

from anabranch.corpus.ingest import ingest
from anabranch.corpus.opening import open_corpus
from anabranch.corpus.segments.generation import current
from anabranch.corpus.store import Scope
from anabranch.corpus.upkeep import rebuild, remove, verify
from anabranch.errors import CorpusEmptyError, CorpusNotFoundError, UserError


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "d"
    folder.mkdir()
    (folder / "a.md").write_text("# Herons\n\nHerons fish at dawn.\n", encoding="utf-8")
    (folder / "old[1].md").write_text("# Swifts\n\nSwifts sleep in the air.\n", encoding="utf-8")
    (folder / "old1.md").write_text("# Owls\n\nOwls hunt at night.\n", encoding="utf-8")
    records = [{"id": str(n), "title": "N", "text": f"Bird number {n} sings."} for n in range(3)]
    (folder / "n.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    ingest([folder], tmp_path / "c")
    return tmp_path / "c"


def sources(corpus: Path) -> set[str]:
    async def work() -> set[str]:
        store = await open_corpus(corpus)
        (ranked,) = await store.search("dense", ["bird"], 100, Scope())
        return {chunk.source for chunk in (await store.chunks(ranked["ids"], Scope())).values()}

    return asyncio.run(work())


def change(corpus: Path, sql: str) -> None:
    connection = sqlite3.connect(corpus / "corpus.db")
    with connection:
        connection.execute(sql)
    connection.close()


def test_a_sound_corpus_has_no_problems_and_stays_as_it_is(corpus: Path) -> None:
    before = {path: path.read_bytes() for path in corpus.rglob("*") if path.is_file()}
    assert verify(corpus) == []
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("DELETE FROM vectors", "no vector"),
        ("DELETE FROM chunks WHERE level = 2", "index holds"),
        ("DELETE FROM chunks WHERE level = 1", "lost their parent"),
        ("UPDATE chunks SET start = start + 1 WHERE level = 2", "do not follow"),
        ("UPDATE meta SET value = '99' WHERE name = 'changes'", "earlier state"),
    ],
)
def test_what_is_wrong_in_the_database_is_said(corpus: Path, sql: str, said: str) -> None:
    change(corpus, sql)
    assert any(said in problem for problem in verify(corpus))


def test_a_missing_vector_is_embedded_by_a_rebuild(corpus: Path) -> None:
    change(corpus, "DELETE FROM vectors")
    before = sources(corpus)
    rebuild(corpus)
    assert verify(corpus) == []
    assert sources(corpus) == before


def test_a_rebuild_finds_the_same(corpus: Path) -> None:
    async def found() -> object:
        store = await open_corpus(corpus)
        return [await store.search(arm, ["birds at night", "air"], 10, Scope()) for arm in ("bm25", "dense")]

    before, name = asyncio.run(found()), current(corpus)
    manifest = rebuild(corpus)
    assert manifest.name == current(corpus) != name
    assert asyncio.run(found()) == before


def test_another_embedder_embeds_everything_anew(corpus: Path, own_model: Path) -> None:
    told: list[tuple[str, int, int]] = []
    manifest = rebuild(corpus, embedder=str(own_model), progress=lambda *step: told.append(step))
    assert manifest.embedder.startswith("onnx:own-model-")
    assert ("passages", 6, 6) in told
    assert verify(corpus) == []
    assert len(sources(corpus)) == 6
    assert ingest([corpus.parent / "d"], corpus).count("unchanged") == 4
    assert rebuild(corpus, embedder="minilm").embedder.endswith("int8")


def test_old_generations_go(corpus: Path) -> None:
    for _ in range(5):
        rebuild(corpus)
    names = sorted(path.name for path in (corpus / "generations").iterdir())
    assert len(names) == 2
    assert names[-1] == current(corpus)


@pytest.mark.parametrize(
    ("given", "gone"),
    [
        (["a.md"], {"a.md"}),
        (["old[1].md"], {"old[1].md"}),
        (["old*"], {"old[1].md", "old1.md"}),
        (["n.jsonl"], {"n.jsonl#0", "n.jsonl#1", "n.jsonl#2"}),
        (["n.jsonl#1", "n.jsonl#1", "a.md"], {"n.jsonl#1", "a.md"}),
    ],
)
def test_documents_are_removed_by_name(corpus: Path, given: list[str], gone: set[str]) -> None:
    before = sources(corpus)
    assert remove(corpus, given) == len(gone)
    assert sources(corpus) == before - gone
    assert verify(corpus) == []
    ingest([corpus.parent / "d"], corpus)
    assert sources(corpus) == before


def test_an_unknown_name_removes_nothing(corpus: Path) -> None:
    with pytest.raises(UserError, match=r"'b\.md'"):
        remove(corpus, ["a.md", "b.md"])
    assert "a.md" in sources(corpus)


def test_removing_everything_leaves_an_empty_corpus(corpus: Path) -> None:
    assert remove(corpus, ["*"]) == 6
    assert verify(corpus) == []
    for use in (lambda: asyncio.run(open_corpus(corpus)), lambda: rebuild(corpus)):
        with pytest.raises(CorpusEmptyError):
            use()
    assert ingest([corpus.parent / "d"], corpus).count("updated") == 4


def test_no_corpus_there(tmp_path: Path) -> None:
    for use in (verify, rebuild, lambda folder: remove(folder, ["a"])):
        with pytest.raises(CorpusNotFoundError):
            use(tmp_path / "absent")
