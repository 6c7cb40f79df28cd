"""Removing documents by name, and what is left of them."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from anabranch.errors import CorpusEmptyError, CorpusNotFoundError, UserError
from anabranch.ingestion.pipeline import ingest
from anabranch.store.maintenance import rebuild, remove, verify
from anabranch.store.stores import open_corpus
from tests.store.maintenance.conftest import Sources

CANARY = "zyxwvutsrq"


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
def test_documents_are_removed_by_name(
    corpus: Path, documents: Path, sources: Sources, given: list[str], gone: set[str]
) -> None:
    before = sources(corpus)
    assert remove(corpus, given) == len(gone)
    assert sources(corpus) == before - gone
    assert verify(corpus) == []
    ingest([documents], corpus)
    assert sources(corpus) == before


def test_an_unknown_name_removes_nothing(corpus: Path, sources: Sources) -> None:
    with pytest.raises(UserError, match=r"'b\.md'"):
        remove(corpus, ["a.md", "b.md"])
    assert "a.md" in sources(corpus)


def test_removing_everything_leaves_an_empty_corpus(corpus: Path, documents: Path) -> None:
    assert remove(corpus, ["*"]) == 6
    assert verify(corpus) == []
    with pytest.raises(CorpusEmptyError):
        asyncio.run(open_corpus(corpus))
    assert ingest([documents], corpus).count("added") == 4


def test_no_corpus_there(tmp_path: Path) -> None:
    with pytest.raises(CorpusNotFoundError):
        remove(tmp_path / "absent", ["a"])


def files_with(corpus: Path, *parts: bytes) -> Iterator[str]:
    for path in corpus.rglob("*"):
        if path.is_file() and any(part in path.read_bytes() for part in parts):
            yield path.name


def test_what_was_removed_is_in_no_file_after_a_rebuild(corpus: Path, tmp_path: Path) -> None:
    extra = tmp_path / "extra"
    extra.mkdir()
    long = "\n\n".join(f"# {CANARY} {n}\n\nThe {CANARY}{n} was seen {n} times by {CANARY}son." for n in range(30))
    (extra / "secret.md").write_text(long, encoding="utf-8")
    (extra / "kept.md").write_text("# Kept\n\nThis stays here.\n", encoding="utf-8")
    ingest([extra], corpus, prune=False)
    read = sqlite3.connect(corpus / "corpus.db")
    vector = read.execute(
        "SELECT vector FROM vectors JOIN chunks USING (vector_key) WHERE text LIKE ?", (f"%{CANARY}%",)
    ).fetchone()[0][64:128]  # a whole one lies on two pages
    read.close()
    word = CANARY.encode()
    assert {"corpus.db", "bm25.terms.npy"} <= set(files_with(corpus, word))
    assert {"corpus.db", "dense.0.faiss"} <= set(files_with(corpus, vector))

    assert remove(corpus, ["secret.md"]) == 1
    assert not [name for name in files_with(corpus, word, vector) if name.startswith("corpus.db")]
    rebuild(corpus)
    # The name of the file stays in the record of it, so that the next ingest takes it in again.
    assert list(files_with(corpus, word, vector)) == []
    assert verify(corpus) == []
