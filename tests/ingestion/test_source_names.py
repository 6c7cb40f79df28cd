"""Names of documents from different files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from anabranch.ingestion.source_names import Names
from anabranch.readers.document import Block, Document
from anabranch.store.local_store import LocalWriter


@pytest.fixture
def names(tmp_path: Path) -> Iterator[Names]:
    with closing(LocalWriter(tmp_path)) as writer:
        yield Names(writer)


def make(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return str(path)


def document(source: str) -> Document:
    return Document(source, "T", (Block("b"),), key=source)


def test_a_name_that_is_free_stays(names: Names, tmp_path: Path) -> None:
    one = make(tmp_path / "one/README.md")
    assert names.make_unique(document("README.md"), one) == document("README.md")
    names.wait("README.md", one)
    assert names.make_unique(document("README.md"), one) == document("README.md")


def test_the_later_of_two_takes_its_folder_in_front_then_a_hash(names: Names, tmp_path: Path) -> None:
    paths = [make(tmp_path / folder / "same/README.md") for folder in ("one", "two", "three")]
    given = []
    for path in paths:
        named = names.make_unique(document("README.md"), path)
        names.wait(named.source, path)
        given.append(named.source)
        assert named.key == named.source
    assert given[:2] == ["README.md", "same/README.md"]
    assert given[2].endswith("/same/README.md")


def test_a_key_of_its_own_is_kept(names: Names, tmp_path: Path) -> None:
    names.wait("n.jsonl#1", make(tmp_path / "one/n.jsonl"))
    line = Document("n.jsonl#1", "T", (Block("b"),), key="1")
    named = names.make_unique(line, make(tmp_path / "two/n.jsonl"))
    assert (named.source, named.key) == ("two/n.jsonl#1", "1")


def test_the_name_of_a_file_that_is_gone_is_free(names: Names, tmp_path: Path) -> None:
    names.wait("README.md", str(tmp_path / "gone/README.md"))
    assert names.make_unique(document("README.md"), make(tmp_path / "two/README.md")).source == "README.md"


def test_names_that_were_committed_are_asked_of_the_corpus(names: Names, tmp_path: Path) -> None:
    names.wait("README.md", make(tmp_path / "one/README.md"))
    names.clear_waiting()
    assert names.make_unique(document("README.md"), make(tmp_path / "two/README.md")).source == "README.md"
