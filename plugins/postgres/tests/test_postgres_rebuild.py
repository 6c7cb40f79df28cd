"""Whatever somebody breaks in what searches read of a corpus in PostgreSQL, `corpus rebuild` makes it anew."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anabranch.errors import CorpusDamagedError, CorpusEmptyError, CorpusNotFoundError, SettingsError
from anabranch.store.maintenance import overview, remove, renew, verify
from anabranch.store.stores import open_corpus, open_writer
from anabranch.store.writer_protocol import silent
from anabranch_conformance.corpus_contents import note, take_in
from anabranch_postgres import postgres_index, postgres_rebuild, postgres_store
from plugins.postgres.tests.test_postgres_corpus import fill, told
from plugins.postgres.tests.test_postgres_verify import A_POSTING, OF_MILL, WORDS, change
from tests.cli.conftest import Run, run  # noqa: F401  # a fixture

pytestmark = pytest.mark.loopback

OTHERS = "(SELECT id FROM anabranch.audiences WHERE corpus = {this} AND tags = '{board}')"


def rebuild(address: str) -> Any:
    return renew(address, embedder=None, base_url=None, wait=0.0, progress=silent)


def answers(address: str) -> dict[str, Any]:
    """Return every score, with cosines as near as an embedder comes to what it made before, in another batch."""
    found = asyncio.run(told(address))
    return {
        name: [{key: round(score, 5) for key, score in one.items()} for one in lists] if "dense" in name else lists
        for name, lists in found.items()
    }


# Rows that are missing, too many or wrong, and counts: all of them are made anew, whatever was done to one.
@pytest.mark.parametrize(
    "broken",
    [
        [f"DELETE FROM anabranch.leaves WHERE {OF_MILL}"],
        pytest.param(["DELETE FROM anabranch.leaves WHERE corpus = {this}"], marks=pytest.mark.exhaustive),
        [f"UPDATE anabranch.leaves SET vector = vector + vector WHERE {OF_MILL}"],
        pytest.param([f"UPDATE anabranch.leaves SET vector = '[1, 0]' WHERE {OF_MILL}"], marks=pytest.mark.exhaustive),
        [f"UPDATE anabranch.leaves SET vector_key = 'x' WHERE {OF_MILL}"],
        [f"UPDATE anabranch.leaves SET audience = {OTHERS}, born = 99 WHERE {OF_MILL}"],
        pytest.param(
            [f"UPDATE anabranch.leaf_words SET length = length + 1, terms = terms[2:] WHERE {WORDS}"],
            marks=pytest.mark.exhaustive,
        ),
        [
            "INSERT INTO anabranch.leaves (corpus, chunk_id, document, audience, born, vector_key, vector) "
            "SELECT corpus, 'no chunk', document, audience, born, vector_key, vector FROM "
            f"anabranch.leaves WHERE {OF_MILL}"
        ],
        pytest.param(
            [f"UPDATE anabranch.postings SET count = 7, born = 0 WHERE {A_POSTING}"], marks=pytest.mark.exhaustive
        ),
        [
            "DELETE FROM anabranch.postings WHERE corpus = {this}",
            "DELETE FROM anabranch.leaf_words WHERE corpus = {this}",
            "UPDATE anabranch.term_frequencies SET leaves = leaves + 1 WHERE corpus = {this}",
            "DELETE FROM anabranch.audience_sizes WHERE corpus = {this}",
            "UPDATE anabranch.documents SET leaves = 7 WHERE corpus = {this} AND number = {mill}",
        ],
    ],
)
def test_what_is_broken_by_hand_is_made_anew(corpus: str, beside: str, broken: list[str]) -> None:
    fill(corpus)
    before, generation = answers(corpus), overview(corpus).generation
    for sql in broken:
        change(corpus, sql)
    assert verify(corpus)
    assert rebuild(corpus).generation == generation + 1
    assert verify(corpus) == []
    assert answers(corpus) == before
    # And it goes on as ever.
    with open_writer(corpus) as writer:
        take_in(writer, {"/eel": [note("eel", "Eel", "The eel passes the weir at night.")]})
        writer.publish()
    assert remove(corpus, ["eel"]) == 1
    assert verify(corpus) == []
    assert answers(corpus) == before


def test_what_has_lost_its_document_goes(corpus: str) -> None:
    fill(corpus)
    change(corpus, "DELETE FROM anabranch.documents WHERE corpus = {this} AND number = {mill}")
    assert any("chunks without a document" in said for said in verify(corpus))
    rebuild(corpus)
    assert verify(corpus) == []


def test_an_index_of_vectors_is_kept_and_used(corpus: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_index, "NARROW", 5)
    fill(corpus)
    before = answers(corpus)
    change(corpus, f"DELETE FROM anabranch.leaves WHERE {OF_MILL}")
    rebuild(corpus)
    assert answers(corpus) == before
    assert verify(corpus) == []


def test_who_searches_meanwhile_finds_what_was_there_and_a_kill_repeats_no_embedding(
    corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(corpus)
    before = answers(corpus)
    change(corpus, f"DELETE FROM anabranch.leaves WHERE {OF_MILL}")
    without = answers(corpus)
    embedder = postgres_store._embedder
    embedded: list[int] = []

    def counting(*given: Any) -> Any:
        model = embedder(*given)
        whole = type(model).embed

        class Counted:
            name, dimension = model.name, model.dimension

            def embed(self, texts: list[str]) -> Any:
                embedded.append(len(texts))
                return np.asarray(whole(model, texts))

        return Counted()

    def killed(*_: Any) -> None:
        # The postings are gone and made anew, and none of it is seen.
        seen: list[Any] = []
        looking = threading.Thread(target=lambda: seen.append(answers(corpus)))
        looking.start()
        looking.join()
        assert seen == [without]
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(postgres_store, "_embedder", counting)
        patch.setattr(postgres_rebuild, "publish_changes", killed)
        with pytest.raises(KeyboardInterrupt):
            rebuild(corpus)
        assert embedded == [1]
        assert answers(corpus) == without
        patch.undo()
        patch.setattr(postgres_store, "_embedder", counting)
        rebuild(corpus)
    assert embedded == [1]
    assert answers(corpus) == before
    assert verify(corpus) == []


def test_what_cannot_be_made_from_documents_is_said(corpus: str, database: str) -> None:
    with pytest.raises(CorpusNotFoundError):
        rebuild(corpus)
    fill(corpus)
    with pytest.raises(SettingsError, match="cannot be embedded again in place") as refused:
        renew(corpus, embedder="minilm", base_url=None, wait=0.0, progress=silent)
    assert "import --embedder" in refused.value.hint
    before = asyncio.run(open_corpus(corpus))
    change(corpus, f"UPDATE anabranch.chunks SET text = 'x' || text WHERE {OF_MILL} AND level = 2")
    with pytest.raises(CorpusDamagedError, match="#mill") as torn:
        rebuild(corpus)
    assert "corpus remove" in torn.value.hint
    assert asyncio.run(open_corpus(corpus)) is before
    with open_writer(f"{corpus}-empty"):
        pass
    with pytest.raises(CorpusEmptyError):
        rebuild(f"{corpus}-empty")


def test_the_command(run: Run, corpus: str, tmp_path: Path) -> None:  # noqa: F811
    fill(corpus)
    change(corpus, "DELETE FROM anabranch.postings WHERE corpus = {this}")
    broken = run("corpus", "verify", "--corpus", corpus)
    assert broken.exit_code == 1
    assert "anabranch corpus rebuild" in broken.stdout
    made = run("corpus", "rebuild", "--corpus", corpus)
    assert made.exit_code == 0, made.stderr
    assert "9 documents, 36 passages, generation 2" in made.stderr
    assert run("corpus", "verify", "--corpus", corpus).exit_code == 0
