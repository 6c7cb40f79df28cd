from __future__ import annotations

import gzip
from pathlib import Path

import pymupdf
import pytest

from anabranch.ingestion.archives import unpack_limits
from tests.readers.read_bytes import documents, reason


@pytest.mark.parametrize(
    ("name", "data", "kind", "title"),
    [
        ("tool.1.gz", b".TH TOOL 1\n.SH NAME\nwords\n", "man", "tool(1)"),
        ("notes.txt.gz", b"words\n", "text", "notes"),
        ("README.gz", b"words\n", "text", "README"),
        ("a.md.gz", b"# Head\n\nwords\n", "markdown", "Head"),
    ],
)
def test_what_is_inside_is_read(tmp_path: Path, name: str, data: bytes, kind: str, title: str) -> None:
    (document,) = documents(tmp_path, name, gzip.compress(data))
    assert (document.source, document.title, document.metadata["format"]) == (name, title, kind)
    assert document.blocks[-1].text == "words"


def test_several_streams_are_one_file(tmp_path: Path) -> None:
    (document,) = documents(tmp_path, "a.txt.gz", gzip.compress(b"one ") + gzip.compress(b"two\n"))
    assert document.blocks[0].text == "one two"


def test_a_pdf_that_is_packed(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    pdf.new_page().insert_text((72, 72), "words")
    (document,) = documents(tmp_path, "a.pdf.gz", gzip.compress(pdf.tobytes()))
    assert (document.blocks[0].text, document.blocks[0].page) == ("words", 1)


@pytest.mark.parametrize("name", ["a.tar.gz", "a.txt.gz.gz", "a.bin.gz", "syslog.2.gz"])
def test_other_kinds_are_skipped(tmp_path: Path, name: str) -> None:
    assert reason(tmp_path, name, gzip.compress(b"words\n")) == "unsupported"


def test_damage_is_told(tmp_path: Path) -> None:
    whole = gzip.compress(b"words " * 1000)
    for data in (b"no gzip at all", whole[:30], whole[:20] + b"\xff" * 20 + whole[40:]):
        assert reason(tmp_path, "a.txt.gz", data) == "broken"


def test_a_bomb_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpack_limits, "FLOOR", 1 << 20)
    assert reason(tmp_path, "a.txt.gz", gzip.compress(b"a" * (8 << 20))) == "too_large"


def test_no_more_is_unpacked_than_the_reader_takes(tmp_path: Path) -> None:
    lines = b"".join(b"x%d = %d\n" % (at, at) for at in range(2_000_000))
    assert len(lines) > 1 << 25
    assert reason(tmp_path, "a.toml.gz", gzip.compress(lines, 1)) == "too_large"
