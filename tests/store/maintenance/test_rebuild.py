"""Making the indexes anew, with the same embedder or another one."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from anabranch.errors import CorpusDamagedError, CorpusEmptyError, CorpusNotFoundError
from anabranch.ingestion.pipeline import ingest
from anabranch.store.connections import connect_read_only
from anabranch.store.corpus_folder import size_of
from anabranch.store.index.manifest import current_name, read_manifest
from anabranch.store.maintenance import examine, rebuild, remove, verify
from anabranch.store.protocol import Scope
from anabranch.store.stores import open_corpus
from tests.store.maintenance.conftest import Change, Sources


def test_a_missing_vector_is_embedded_by_a_rebuild(corpus: Path, change: Change, sources: Sources) -> None:
    before = sources(corpus)
    change(corpus, "DELETE FROM vectors")
    rebuild(corpus)
    assert verify(corpus) == []
    assert sources(corpus) == before


def test_rows_of_tables_are_embedded_by_a_rebuild_as_they_were_when_taken_in(tmp_path: Path, change: Change) -> None:
    (tmp_path / "a.md").write_text(
        "| Town | 2021 |\n|---|---|\n| Vesle | 3,208,323 |\n| Halden | 91 |\n", encoding="utf-8"
    )
    corpus = tmp_path / "corpus"
    ingest([tmp_path / "a.md"], corpus)

    def vectors() -> list[np.ndarray]:
        with closing(connect_read_only(corpus / "corpus.db")) as connection:
            rows = connection.execute("SELECT vector FROM vectors ORDER BY vector_key").fetchall()
        return [np.frombuffer(vector, np.float32) for (vector,) in rows]

    before = vectors()
    change(corpus, "DELETE FROM vectors")
    rebuild(corpus)
    assert len(before) == 1
    np.testing.assert_allclose(vectors(), before, atol=1e-5)


@pytest.mark.parametrize(
    "vector",
    [b"short", np.full(384, np.nan, np.float32).tobytes(), np.ones(384, np.float32).tobytes(), bytes(4 * 384)],
    ids=["short", "nan", "long", "zero"],
)
def test_a_bad_vector_is_embedded_again(corpus: Path, change: Change, sources: Sources, vector: bytes) -> None:
    before = sources(corpus)
    change(corpus, "UPDATE vectors SET vector = ? WHERE vector_key = (SELECT min(vector_key) FROM vectors)", vector)
    assert {finding.kind for finding in examine(corpus)} == {"index"}
    told: list[tuple[str, int, int]] = []
    rebuild(corpus, progress=lambda *step: told.append(step))
    assert [step for step in told if step[0] == "passages"] == [("passages", 1, 1)]
    assert verify(corpus) == []
    assert sources(corpus) == before


def test_an_index_of_sqlite_that_differs_is_made_anew(corpus: Path, miswire: Callable[[Path], None]) -> None:
    miswire(corpus)
    assert verify(corpus) != []
    rebuild(corpus)
    assert verify(corpus) == []


def test_a_document_that_is_not_whole_is_named_and_goes_out_and_in_again(
    corpus: Path, documents: Path, change: Change, sources: Sources
) -> None:
    before = sources(corpus)
    change(corpus, "UPDATE chunks SET text = replace(text, 'fish', 'fisk') WHERE level = 2 AND text LIKE '%fish%'")
    assert {finding.kind for finding in examine(corpus)} == {"document"}
    with pytest.raises(CorpusDamagedError, match=r"'a\.md' is not what was written") as caught:
        rebuild(corpus)
    assert "anabranch corpus remove a.md" in (caught.value.hint or "")
    remove(corpus, ["a.md"])
    assert verify(corpus) == []
    ingest([documents], corpus)
    assert sources(corpus) == before
    assert verify(corpus) == []


def test_a_damaged_page_is_said_and_left_to_export(corpus: Path) -> None:
    content = bytearray((corpus / "corpus.db").read_bytes())
    with closing(sqlite3.connect(corpus / "corpus.db")) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'chunks'").fetchone()
    content[(root - 1) * 4096 : root * 4096] = b"\xa5" * 4096
    (corpus / "corpus.db").write_bytes(content)
    assert "database" in {finding.kind for finding in examine(corpus)}
    with pytest.raises(CorpusDamagedError) as caught:
        rebuild(corpus)
    assert "anabranch corpus export" in (caught.value.hint or "")
    assert (corpus / "corpus.db").read_bytes() == content


@pytest.fixture
def fragmented(corpus: Path, tmp_path: Path) -> Path:
    """A corpus with two segments, dead rows, and free pages."""
    more = tmp_path / "more"
    more.mkdir()
    for n in range(6):
        (more / f"{n}.md").write_text(f"# Note {n}\n\n" + f"Line {n} of the long note. " * 40, encoding="utf-8")
    ingest([more], corpus, prune=False)
    remove(corpus, ["[123].md"])
    (corpus / "generations" / ".000009-abcd").mkdir()
    return corpus


def test_everything_is_there_in_less_room(fragmented: Path, sources: Sources) -> None:
    before, size = sources(fragmented), size_of(fragmented)
    rebuild(fragmented)
    assert size_of(fragmented) < size
    assert sources(fragmented) == before
    assert examine(fragmented) == []
    assert len(read_manifest(fragmented, str(current_name(fragmented))).segments) == 1
    with closing(sqlite3.connect(fragmented / "corpus.db")) as connection:
        assert connection.execute("PRAGMA freelist_count").fetchone() == (0,)
        unused = "SELECT count(*) FROM vectors WHERE vector_key NOT IN (SELECT vector_key FROM chunks WHERE level = 2)"
        assert connection.execute(unused).fetchone() == (0,)


def test_a_reader_keeps_its_view_and_is_not_waited_for(fragmented: Path) -> None:
    with closing(connect_read_only(fragmented / "corpus.db")) as reader:
        reader.execute("BEGIN")
        count = reader.execute("SELECT count(*) FROM documents").fetchone()
        rebuild(fragmented)
        assert reader.execute("SELECT count(*) FROM documents").fetchone() == count
    assert verify(fragmented) == []


def test_a_rebuild_finds_the_same(corpus: Path) -> None:
    async def found() -> object:
        store = await open_corpus(corpus)
        return [await store.search(arm, ["birds at night", "air"], 10, Scope()) for arm in ("bm25", "dense")]

    before, name = asyncio.run(found()), current_name(corpus)
    manifest = rebuild(corpus)
    assert manifest.name == current_name(corpus) != name
    assert asyncio.run(found()) == before


def test_another_embedder_embeds_everything_anew(
    corpus: Path, documents: Path, own_model: Path, sources: Sources
) -> None:
    told: list[tuple[str, int, int]] = []
    manifest = rebuild(corpus, embedder=str(own_model), progress=lambda *step: told.append(step))
    assert manifest.embedder.startswith("onnx:own-model-")
    assert ("passages", 6, 6) in told
    assert verify(corpus) == []
    assert len(sources(corpus)) == 6
    assert ingest([documents], corpus).count("unchanged") == 4
    assert rebuild(corpus, embedder="minilm").embedder.endswith("int8-dynamic")


def test_old_generations_go(corpus: Path) -> None:
    for _ in range(5):
        rebuild(corpus)
    assert [path.name for path in (corpus / "generations").iterdir()] == [current_name(corpus)]


def test_an_empty_corpus_has_no_index(corpus: Path) -> None:
    remove(corpus, ["*"])
    with pytest.raises(CorpusEmptyError):
        rebuild(corpus)


def test_no_corpus_there(tmp_path: Path) -> None:
    with pytest.raises(CorpusNotFoundError):
        rebuild(tmp_path / "absent")
