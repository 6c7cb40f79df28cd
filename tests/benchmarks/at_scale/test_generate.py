"""A generated corpus is what Anabranch makes of it, and each filter lets its share pass."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.readers import read
from anabranch.readers.document import Document
from anabranch.store.records import text_key
from benchmarks.at_scale.exact import nearest
from benchmarks.at_scale.generate import Buckets, generate
from benchmarks.at_scale.material import SHARES, Material, limit, matrix
from benchmarks.at_scale.pool import Pool


@pytest.fixture(scope="module")
def material(pool: Pool, tmp_path_factory: pytest.TempPathFactory) -> Material:
    return generate(pool, 200, tmp_path_factory.mktemp("made"), seed=1)


def test_the_reader_finds_the_documents_that_the_passages_are_from(material: Material) -> None:
    documents = {each.key: each for each in read(material.documents, "x.jsonl") if isinstance(each, Document)}
    passages = list(material.passages())
    assert 200 <= material.size == len(passages) < 300
    assert {each["document"] for each in passages} == set(documents)
    for each in passages:
        assert documents[each["document"]].metadata["bucket"] == each["bucket"]
        assert each["key"] == text_key(each["text"])
        assert each["text"].startswith(documents[each["document"]].title)


def test_vectors_are_unit_rows_near_those_of_the_embedder(material: Material) -> None:
    vectors = matrix(material.folder / "vectors.f32")
    assert len(vectors) == material.size
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert material.facts["made_cosine"] > 0.6
    assert sum(len(batch) for batch, _ in material.batches(64)) == material.size
    assert np.array_equal(np.concatenate([rows for _, rows in material.batches(64)]), vectors)


def test_the_exact_nearest_are_those_of_the_vectors(material: Material) -> None:
    vectors = np.array(matrix(material.folder / "vectors.f32"))
    asked = np.stack([material.question_vectors[question] for question in material.questions])
    assert material.nearest[1.0].tolist() == nearest(vectors, asked, None, 10).tolist()
    assert set(material.nearest) == {1.0, *SHARES}


def test_the_same_seed_makes_the_same_corpus_and_a_larger_one_begins_with_it(
    pool: Pool, material: Material, tmp_path: Path
) -> None:
    larger = generate(pool, 250, tmp_path, seed=1)
    lines = material.documents.read_text("utf-8").splitlines()
    assert larger.documents.read_text("utf-8").splitlines()[: len(lines)] == lines
    assert generate(pool, 250, tmp_path, seed=1).facts == larger.facts


def test_added_documents_have_a_word_of_their_own(material: Material) -> None:
    everything = material.documents.read_text("utf-8")
    assert len(material.added) > 1
    for file, word, passages, vectors in material.added:
        assert word not in everything
        assert word in file.read_text("utf-8")
        assert word in passages[0]["text"]
        assert len(passages) == len(vectors)


@given(st.lists(st.integers(1, 40), min_size=200, max_size=400), st.integers(0, 99))
def test_filters_let_their_share_pass_whatever_the_lengths(lengths: list[int], seed: int) -> None:
    buckets = Buckets(np.random.default_rng(seed))
    drawn = []
    for length in lengths:
        bucket = buckets.next()
        buckets.take(bucket, length)
        drawn.append((bucket, length))
    for share in SHARES:
        passed = sum(length for bucket, length in drawn if bucket < limit(share))
        assert abs(passed - share * sum(lengths)) <= max(lengths)
