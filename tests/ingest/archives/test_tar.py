from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

import pytest

from tests.ingest.archives.packing import opened, tarred

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
