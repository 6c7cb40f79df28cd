from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.ingest.archives.packing import CENTRAL, END, LOCAL, encrypted, opened, patched, zip_link, zipped

NOTE = b"Herons wait in the shallows."


def test_protected_members_are_reported(tmp_path: Path) -> None:
    assert opened(encrypted(zipped(tmp_path / "x.zip", ("a.md", NOTE)))) == {"x.zip!/a.md": "encrypted"}


def test_links_are_refused(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "x.zip", (zip_link("link.md"), b"/etc/passwd"), ("a.md", NOTE))
    assert opened(archive) == {"x.zip!/link.md": "refused", "x.zip!/a.md": NOTE}


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_cannot_be_bounded_are_not_unpacked(tmp_path: Path, method: int) -> None:
    assert opened(zipped(tmp_path / "x.zip", ("a.md", NOTE), method=method)) == {"x.zip!/a.md": "unsupported"}


def test_a_damaged_member_costs_itself(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "x.zip", ("a.md", NOTE), ("b.md", NOTE[::-1]), method=zipfile.ZIP_STORED)
    archive.write_bytes(archive.read_bytes().replace(NOTE, NOTE.upper()))
    assert opened(archive) == {"x.zip!/a.md": "broken", "x.zip!/b.md": NOTE[::-1]}


@pytest.mark.parametrize("size", [0, 1, 2000])
def test_a_member_that_is_longer_than_it_says_is_broken(tmp_path: Path, size: int) -> None:
    archive = zipped(tmp_path / "x.zip", ("a.md", NOTE * 1000))
    found = opened(patched(patched(archive, LOCAL, 22, "<I", size), CENTRAL, 24, "<I", size))
    assert found == {"x.zip!/a.md": "broken"}


def test_a_member_that_is_shorter_than_it_says_comes_whole(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "x.zip", ("a.md", NOTE))
    assert opened(patched(archive, CENTRAL, 24, "<I", 10**6)) == {"x.zip!/a.md": NOTE}


def test_a_list_of_members_that_is_too_long_is_not_read(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "x.zip", ("a.md", NOTE))
    archive.write_bytes(bytes(20 << 20) + archive.read_bytes())
    assert opened(archive) == {"x.zip!/a.md": NOTE}  # something in front of an archive is usual
    assert opened(patched(archive, END, 12, "<I", 17 << 20)) == {"x.zip": "too_large"}


def test_names_of_programs_that_do_not_say_utf8(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "x.zip", ("xxxxx.md", NOTE), ("yyyy.md", NOTE))
    data = archive.read_bytes().replace(b"xxxxx", "käse".encode()).replace(b"yyyy", "café".encode("cp437"))
    archive.write_bytes(data)
    assert opened(archive) == {"x.zip!/käse.md": NOTE, "x.zip!/café.md": NOTE}


def test_names_in_utf8_by_their_flag(tmp_path: Path) -> None:
    assert opened(zipped(tmp_path / "x.zip", ("日本/語.md", NOTE))) == {"x.zip!/日本/語.md": NOTE}


def test_a_name_that_is_cut_at_a_zero_is_refused(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "x.zip", ("a.mdx.md", NOTE))
    archive.write_bytes(archive.read_bytes().replace(b"a.mdx.md", b"a.md\0.md"))
    assert list(opened(archive).values()) == ["refused"]
