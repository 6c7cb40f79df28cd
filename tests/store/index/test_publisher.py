"""Whatever is added, changed and removed, searches find what an index made from nothing would, with the same scores."""

from __future__ import annotations

import os
import random
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from anabranch.store.corpus_database import CorpusDatabase
from anabranch.store.index import dense
from anabranch.store.index import merge_policy as draft
from anabranch.store.index.manifest import current_name, read_manifest, sweep
from anabranch.store.index.publisher import publish, tidy
from anabranch.store.index.segment_index import Index
from anabranch.text.analyzer import analyser
from tests.store.index.filling import DIMENSION, alive, opened, put, vector

edits = st.lists(
    st.tuples(
        st.sampled_from(["put", "put", "put", "remove", "publish", "publish", "tidy", "anew"]), st.integers(0, 7)
    ),
    min_size=1,
    max_size=25,
)


@pytest.fixture(autouse=True)
def _without_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty generations are a thousand files: to sync each takes longer than all else, and no test cuts the power."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


def check(folder: Path, database: CorpusDatabase) -> None:
    """Compare both arms with their references over what is alive."""
    texts = alive(database)
    index = Index(folder, str(current_name(folder)))
    nothing_hidden = index.masks(None)
    terms = {chunk_id: analyser().terms(text) for chunk_id, text in texts.items()}
    reference = BM25Okapi(list(terms.values()), epsilon=0)
    for query in (["heron", "river"], ["flood", "flood", "owl"], ["dawn"], ["absent"]):
        (found,) = index.bm25.search([analyser().terms(" ".join(query))], 1_000, nothing_hidden)
        expected = dict(zip(terms, reference.get_scores(analyser().terms(" ".join(query))), strict=True))
        sharing = {chunk_id for chunk_id, has in terms.items() if set(has) & set(analyser().terms(" ".join(query)))}
        ids = index.ids(found.rows)
        assert set(ids) == sharing
        assert len(ids) == len(sharing)
        np.testing.assert_allclose(found.scores, [expected[chunk_id] for chunk_id in ids], rtol=1e-9, atol=1e-9)
        assert all(before >= after for before, after in pairwise(found.scores))
    question = vector("a question")
    (near,) = index.nearest(question[None], 1_000, nothing_hidden)
    cosines = {chunk_id: float(vector(text) @ question) for chunk_id, text in texts.items()}
    assert sorted(index.ids(near.rows)) == sorted(texts)
    np.testing.assert_allclose(near.scores, sorted(cosines.values(), reverse=True), atol=1e-6)
    assert index.manifest.leaves == len(texts)
    assert index.damage() == []


@settings(
    max_examples=12,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
@given(edits, st.integers(0, 1_000))
def test_an_index_that_grew_is_as_one_made_at_once(steps: list[tuple[str, int]], seed: int) -> None:
    dice = random.Random(seed)
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch, closing(opened(Path(name))) as database:
        folder = Path(name)
        patch.setattr(draft, "SMALL", 4)
        patch.setattr(draft, "LARGEST", 5)
        for act, which in steps:
            if act == "put":
                put(database, f"{which}.md", dice)
            elif act == "remove":
                database.remove_file(f"/{which}.md")
            else:
                tidy(database) if act == "tidy" else publish(database, anew=act == "anew")
        made = publish(database)
        assert publish(database) == made
        if alive(database):
            check(folder, database)
        else:
            assert current_name(folder) is None


def many(database: CorpusDatabase, folder: Path, times: int) -> None:
    dice = random.Random(5)
    for number in range(times):
        put(database, f"{number}.md", dice)
        publish(database)
        tidy(database)


@pytest.mark.parametrize("times", [25, pytest.param(60, marks=pytest.mark.exhaustive)])
def test_segments_stay_few_and_in_order_of_size(times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draft, "SMALL", 4)
    with closing(opened(tmp_path)) as database:
        many(database, tmp_path, times)
        manifest = read_manifest(tmp_path, str(current_name(tmp_path)))
        check(tmp_path, database)
        sizes = [segment.rows for segment in Index(tmp_path, manifest.name).segments]
        assert len(sizes) <= 6
        assert all(before >= 3 * after for before, after in pairwise(sizes))
        assert {path.name for path in (tmp_path / "segments").iterdir()} >= set(manifest.segments)
        publish(database, anew=True)
        sweep(tmp_path, 1)
        check(tmp_path, database)
        assert len(list((tmp_path / "segments").iterdir())) == len(list((tmp_path / "generations").iterdir())) == 1


def test_no_segment_is_merged_into_one_that_is_too_large_to_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draft, "SMALL", 4)
    monkeypatch.setattr(draft, "LARGEST", 12)
    with closing(opened(tmp_path)) as database:
        many(database, tmp_path, 20)
        sizes = [segment.rows for segment in Index(tmp_path, str(current_name(tmp_path))).segments]
        assert max(sizes) <= 12 < sum(sizes)
        check(tmp_path, database)


def test_a_change_touches_no_former_segment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draft, "SMALL", 0)
    with closing(opened(tmp_path)) as database:
        put(database, "large.md", random.Random(1), leaves=40)
        publish(database)
        (large,) = (tmp_path / "segments").iterdir()
        before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in large.iterdir()}
        put(database, "small.md", random.Random(2), leaves=1)
        publish(database)
        assert {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in large.iterdir()} == before
        assert len(list((tmp_path / "segments").iterdir())) == 2
        check(tmp_path, database)


def test_a_mask_of_documents_hides_the_others_in_every_segment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draft, "SMALL", 4)
    with closing(opened(tmp_path)) as database:
        many(database, tmp_path, 12)
        numbers = np.array([row[0] for row in database.all("SELECT number FROM documents WHERE number % 3 = 0")])
        owners = dict(database.all("SELECT c.chunk_id, d.number FROM chunks c JOIN documents d USING (doc_id)"))
    index = Index(tmp_path, str(current_name(tmp_path)))
    (near,) = index.nearest(vector("a question")[None], 1_000, index.masks(numbers))
    assert {owners[chunk_id] for chunk_id in index.ids(near.rows)} == set(numbers.tolist())
    (everything,) = index.nearest(vector("a question")[None], 1_000, index.masks(None))
    scores = dict(zip(everything.rows.tolist(), everything.scores.tolist(), strict=True))
    assert near.scores.tolist() == [scores[row] for row in near.rows.tolist()]


def test_a_damaged_segment_is_not_merged_into_a_sound_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(opened(tmp_path)) as database:
        put(database, "one.md", random.Random(1), leaves=5)
        publish(database)
        (segment,) = (tmp_path / "segments").iterdir()
        content = bytearray((segment / "dense.0.faiss").read_bytes())
        content[-2] ^= 64
        (segment / "dense.0.faiss").write_bytes(bytes(content))
        put(database, "two.md", random.Random(2), leaves=5)
        publish(database)
        assert "Rebuilding the index" in caplog.text
        check(tmp_path, database)


def test_many_rows_get_codes_and_scores_stay_exact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense, "QUANTISED", 100)
    monkeypatch.setattr(dense, "SHARD_BYTES", 4 * DIMENSION * 300)
    with closing(opened(tmp_path)) as database:
        for number in range(8):
            put(database, f"{number}.md", random.Random(number), leaves=100)
        publish(database)
        (segment,) = (tmp_path / "segments").iterdir()
        assert len(list(segment.glob("dense.*.faiss"))) == 3
        assert len(list(segment.glob("codes.*.faiss"))) == 3
        check(tmp_path, database)
