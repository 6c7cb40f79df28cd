"""Members of archives, good and bad."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.ingestion.archives.packing import CENTRAL, END, LOCAL, encrypted, opened, patched, tarred, zip_link, zipped

NOTE = b"Herons wait in the shallows."


def test_names_in_odd_encodings(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "x.tar", "w", format=tarfile.GNU_FORMAT, encoding="latin-1") as archive:
        info = tarfile.TarInfo("café.md")
        info.size = len(NOTE)
        archive.addfile(info, io.BytesIO(NOTE))
    assert opened(tmp_path / "x.tar") == {"x.tar!/caf\udce9.md": NOTE}


@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
def test_long_names_are_taken(tmp_path: Path, form: int) -> None:
    name = "folder/" * 40 + "a" * 150 + ".md"
    with tarfile.open(tmp_path / "x.tar", "w", format=form) as archive:
        info = tarfile.TarInfo(name)
        info.size = len(NOTE)
        archive.addfile(info, io.BytesIO(NOTE))
    assert opened(tmp_path / "x.tar") == {f"x.tar!/{name}": NOTE}


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK])
def test_a_description_that_does_not_end_is_not_read_into_memory(tmp_path: Path, kind: bytes) -> None:
    info = tarfile.TarInfo("x")
    info.type, info.size = kind, 30 << 20
    data = info.tobuf(tarfile.GNU_FORMAT) + bytes(30 << 20)
    (tmp_path / "x.tar.gz").write_bytes(gzip.compress(data))
    assert opened(tmp_path / "x.tar.gz") == {"x.tar.gz": "too_large"}


def test_a_damaged_header_in_the_middle_is_not_taken_for_the_end(tmp_path: Path) -> None:
    archive = tarred(tmp_path / "x.tar", ("a.md", NOTE), ("b.md", NOTE), ("c.md", NOTE))
    data = bytearray(archive.read_bytes())
    data[1024 + 148 : 1024 + 156] = b"99999999"  # the checksum of the second header
    archive.write_bytes(data)
    assert opened(archive) == {"x.tar!/a.md": NOTE, "x.tar": "broken"}


def test_an_archive_without_its_end_is_broken(tmp_path: Path) -> None:
    archive = tarred(tmp_path / "x.tar", ("a.md", NOTE))
    archive.write_bytes(archive.read_bytes()[:1024])
    assert opened(archive) == {"x.tar!/a.md": NOTE, "x.tar": "broken"}


def test_a_sparse_file_is_as_large_as_it_says(tmp_path: Path) -> None:
    info = tarfile.TarInfo("hole.md")
    info.size = len(NOTE)
    info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": str(1 << 50)}
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        archive.addfile(info, io.BytesIO(NOTE))
    assert set(opened(tmp_path / "x.tar").values()) <= {"too_large", "broken"}


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
