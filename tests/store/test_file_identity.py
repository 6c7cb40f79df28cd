from pathlib import Path

import pytest

from anabranch.ingestion.directory_walk import FoundFile, identity_of
from anabranch.store.file_identity import archives_of, is_gone, is_url
from anabranch.text.normalization import storable


def test_a_file_is_known_by_where_it_lies(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("a")
    (tmp_path / "link.md").symlink_to("a.md")
    assert identity_of(FoundFile(tmp_path / "link.md", "link.md")) == str(tmp_path / "a.md")
    assert identity_of(FoundFile(tmp_path / "a.md", "x", identity="https://example.org/")) == "https://example.org/"


def test_names_that_are_no_text_become_text() -> None:
    assert storable("caf\udce9.md") == "caf\\udce9.md"
    assert storable("café.md") == "café.md"


@pytest.mark.parametrize("text", ["http://a", "HTTPS://a", "ftp://a", "file:///etc", "s3://bucket", "x+y-z.1://"])
def test_addresses_are_told_from_paths(text: str) -> None:
    assert is_url(text)


@pytest.mark.parametrize("text", ["", "a.md", "/a/b", "http:", "https:/example.org", "C://x", "a b://c", "./http://x"])
def test_paths_are_no_addresses(text: str) -> None:
    assert not is_url(text)


def test_the_archives_of_a_member() -> None:
    assert list(archives_of("/a/b.zip!/c!/d.md")) == ["/a/b.zip", "/a/b.zip!/c"]
    assert list(archives_of("/a/b!.md")) == []


def test_what_is_gone(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_text("an archive")
    (tmp_path / "odd!").mkdir()
    (tmp_path / "odd!/a.md").write_text("a")
    (tmp_path / "odd").mkdir()
    (tmp_path / "dangling").symlink_to("nowhere")
    here = ["x.zip", "x.zip!/member.md", "odd!/a.md", "dangling"]
    gone = ["y.zip", "y.zip!/member.md", "odd!/b.md", "x.zip/member.md"]
    assert [name for name in here if is_gone(str(tmp_path / name))] == []
    assert [name for name in gone if not is_gone(str(tmp_path / name))] == []
    assert not is_gone("https://example.org/")
