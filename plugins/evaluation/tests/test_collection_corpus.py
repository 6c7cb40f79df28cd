from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from anabranch.errors import CollectionError, CorpusEmptyError, CorpusNotFoundError
from anabranch_evaluation.collection import read_collection
from anabranch_evaluation.collection_corpus import open_prepared, prepare
from plugins.evaluation.tests.made import ANIMALS, make_collection, write_lines


class Embedded:
    """Counts the passages that were embedded."""

    def __init__(self) -> None:
        self.passages = 0

    def __call__(self, stage: str, done: int, total: int, detail: str = "") -> None:
        if stage == "passages":
            self.passages = max(self.passages, done)


def embedded_by(folder: Path, home: Path, *, fresh: bool = False) -> tuple[int, Path, int]:
    told = Embedded()
    prepared = prepare(read_collection(folder), home, fresh=fresh, progress=told)
    return told.passages, prepared.corpus, prepared.documents


def test_a_collection_is_embedded_once_and_a_change_of_it_alone(tmp_path: Path) -> None:
    folder, home = make_collection(tmp_path / "animals"), tmp_path / "cache"
    passages, corpus, documents = embedded_by(folder, home)
    assert (passages, documents) == (4, 4)
    assert corpus.parent == tmp_path / "cache"
    assert corpus.name.startswith("animals-")
    assert embedded_by(folder, home) == (0, corpus, 4)
    make_collection(folder, {**ANIMALS, "eels": "Eels swim to the Sargasso Sea to spawn."})
    assert embedded_by(folder, home) == (1, corpus, 5)
    # Other sizes of chunks are another corpus, and so is a folder of the same name elsewhere.
    assert prepare(read_collection(folder), home, sizes=(64, 32, 16)).corpus != corpus
    other = shutil.copytree(folder, tmp_path / "elsewhere" / "animals")
    assert embedded_by(other, home)[1] != corpus
    assert embedded_by(folder, home, fresh=True) == (5, corpus, 5)


def test_documents_that_cannot_be_taken_in_are_said_each_time(tmp_path: Path) -> None:
    folder = make_collection(tmp_path / "animals")
    good = (folder / "corpus.jsonl").read_text()
    bad = [{"_id": "empty", "text": " "}, {"_id": "owls", "text": "Again."}, ["no object"]]
    (folder / "corpus.jsonl").write_text(good + "".join(json.dumps(row) + "\n" for row in bad))
    for _ in range(2):
        prepared = prepare(read_collection(folder), tmp_path / "cache")
        assert prepared.documents == 4
        (remark,) = prepared.collection.remarks
        assert remark.startswith("documents that could not be taken in: 3 (corpus.jsonl:5: ")


def test_documents_with_access_tags_are_said(tmp_path: Path) -> None:
    folder = make_collection(tmp_path / "animals")
    rows = [{"_id": key, "text": text, "access": ["vets"] * (key == "owls")} for key, text in ANIMALS.items()]
    write_lines(folder / "corpus.jsonl", rows)
    prepared = prepare(read_collection(folder), tmp_path / "cache")
    assert prepared.collection.remarks == (
        "documents with access tags: 1; without --set access=... they count as not found",
    )


def test_a_collection_without_documents_is_refused(tmp_path: Path) -> None:
    making = tmp_path / "cache"
    folder = make_collection(tmp_path / "a", documents=None)
    with pytest.raises(CollectionError, match=r"no corpus\.jsonl"):
        prepare(read_collection(folder), making)
    write_lines(folder / "corpus.jsonl", [{"_id": "a", "text": ""}, {"_id": "b", "text": "\x00"}])
    with pytest.raises(CorpusEmptyError, match="could not be taken in: 2"):
        prepare(read_collection(folder), making)
    with pytest.raises(CorpusNotFoundError):
        open_prepared(read_collection(folder), tmp_path / "nowhere")
