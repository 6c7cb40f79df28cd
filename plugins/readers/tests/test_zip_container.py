import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from lxml.etree import XMLSyntaxError

from anabranch.errors import ReadingError
from anabranch.readers.inert_xml import local_name, parse_xml
from anabranch_readers.zip_container import ZipFormat, attribute, elements, open_archive

KIND = ZipFormat("test file", "the old format", ".new")


def packed(path: Path, *, method: int = zipfile.ZIP_DEFLATED, **entries: bytes) -> Path:
    with zipfile.ZipFile(path, "w", compression=method) as file:
        for name, data in entries.items():
            file.writestr(name, data)
    return path


def reason(path: Path) -> str:
    with pytest.raises(ReadingError) as caught, open_archive(path, "a", KIND) as archive:
        for name in archive.names:
            archive.read(name)
    return caught.value.reason


def test_entries_are_read_whole_and_in_a_stream(tmp_path: Path) -> None:
    with open_archive(packed(tmp_path / "a", one=b"first", two=b"second"), "a", KIND) as archive:
        assert archive.names == {"one", "two"}
        assert archive.read("one") == b"first"
        assert archive.size("two") == 6
        with archive.stream("two") as stream:
            assert stream.read() == b"second"


def test_a_missing_part_is_said(tmp_path: Path) -> None:
    with (
        open_archive(packed(tmp_path / "a", one=b""), "a", KIND) as archive,
        pytest.raises(ReadingError, match=r"gone\.xml"),
    ):
        archive.read("gone.xml")


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anabranch_readers.zip_container.MOST_UNPACKED", 1_000_000)
    assert reason(packed(tmp_path / "a", one=b"0" * 600_000, two=b"0" * 600_000)) == "too_large"


def test_a_header_that_lies_about_the_size_unpacks_to_no_more(tmp_path: Path) -> None:
    path = packed(tmp_path / "a", one=b"0" * 5_000_000)
    data = path.read_bytes()
    told = (5_000_000).to_bytes(4, "little")
    assert data.count(told) == 2
    path.write_bytes(data.replace(told, (1000).to_bytes(4, "little")))
    with open_archive(path, "a", KIND) as archive, pytest.raises(zipfile.BadZipFile), archive.stream("one") as stream:
        while chunk := stream.read(100):
            assert len(chunk) <= 100
    assert archive.size("one") == 1000


def test_what_is_taken_into_memory_is_bounded_over_all_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anabranch_readers.zip_container.MOST_PARSED", 1000)
    with open_archive(packed(tmp_path / "a", one=b"0" * 600, two=b"0" * 600), "a", KIND) as archive:
        archive.read("one")
        with pytest.raises(ReadingError) as caught:
            archive.read("two")
    assert caught.value.reason == "too_large"


def test_what_cannot_be_unpacked_says_why(tmp_path: Path) -> None:
    path = tmp_path / "a"
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 600
    for data, expected in [
        (b"plain", "broken"),
        (b"PK\x03\x04cut", "broken"),
        (ole, "unsupported"),
        (ole + "EncryptedPackage".encode("utf-16-le"), "encrypted"),
    ]:
        path.write_bytes(data)
        assert reason(path) == expected
    assert reason(packed(path, method=zipfile.ZIP_LZMA, one=b"x")) == "broken"


def test_an_encrypted_entry_needs_a_password(tmp_path: Path) -> None:
    path = packed(tmp_path / "a", method=zipfile.ZIP_STORED, one=b"x")
    data = bytearray(path.read_bytes())
    data[data.find(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    assert reason(path) == "encrypted"


def test_a_format_without_a_predecessor_is_only_broken(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 600)
    with pytest.raises(ReadingError) as caught, open_archive(path, "a", ZipFormat("e-book")):
        pass
    assert caught.value.reason == "broken"


LAUGHS = b"""<!DOCTYPE a [<!ENTITY a0 "ha">%s]><a>&a9;</a>""" % b"".join(
    b'<!ENTITY a%d "%s">' % (level, b"&a%d;" % (level - 1) * 10) for level in range(1, 10)
)


@pytest.mark.work(20)
def test_entities_are_not_expanded(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    outside = f'<!DOCTYPE a [<!ENTITY x SYSTEM "{secret.as_uri()}">]><a>&x;</a>'.encode()
    assert "".join(parse_xml(outside).itertext("a")) == ""
    assert [element.text for element in elements(BytesIO(outside), "a")] == [None]


@pytest.mark.work(20)
def test_entities_that_multiply_are_refused_or_left_alone() -> None:
    for read in (parse_xml, lambda data: next(elements(BytesIO(data), "a"))):
        try:
            text = read(LAUGHS).text
        except XMLSyntaxError:
            continue
        assert text is None


def test_elements_stream_and_are_dropped() -> None:
    data = b"<r xmlns='urn:x'>" + b"<i n='1'>t</i>" * 1000 + b"</r>"
    seen = [(local_name(element), element.get("n"), element.text) for element in elements(BytesIO(data), "i")]
    assert seen == [("i", "1", "t")] * 1000


def test_attributes_are_found_in_whatever_namespace() -> None:
    element = parse_xml(b"<a id='plain' xmlns:r='urn:r' r:id='related' r:grid='other'/>")
    assert attribute(element, "id") == "related"
    assert attribute(element, "none", "default") == "default"
