from __future__ import annotations

import csv
import io
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.errors import ReadingError
from anabranch.readers import document_parts as parts
from anabranch.readers.document import Document
from anabranch_readers import csv as delimited
from anabranch_readers.csv import Dialect, Records, dialect_of, read_delimited


def read(tmp_path: Path, data: str | bytes, name: str = "table.csv") -> Document:
    path = tmp_path / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    (document,) = read_delimited(path, name)
    return document


def texts(document: Document) -> list[str]:
    return [block.text for block in document.blocks]


def test_rows_stand_below_the_names_of_their_columns(tmp_path: Path) -> None:
    document = read(tmp_path, 'name,note\nAda,"first, of all"\nBob,"two\nlines"\n')
    assert texts(document) == ["| name | note |\n| Ada | first, of all |\n| Bob | two lines |"]
    assert (document.title, document.source, document.metadata) == ("table", "table.csv", {"format": "csv"})
    assert document.notes == ()


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_unicode_encodings(tmp_path: Path, codec: str) -> None:
    text = "Stadt;Straße\nKöln;Hauptstraße\nČeské Budějovice;Náměstí\n"
    assert texts(read(tmp_path, text.encode(codec))) == [
        "| Stadt | Straße |\n| Köln | Hauptstraße |\n| České Budějovice | Náměstí |"
    ]


def test_an_encoding_that_was_guessed_is_noted(tmp_path: Path) -> None:
    document = read(tmp_path, "Stadt,Straße\nKöln,Hauptstraße für alle schönen Häuser\n".encode("latin-1"))
    assert "Hauptstraße für alle schönen Häuser" in texts(document)[0]
    assert document.notes == ("no encoding given: read as cp1252",)


@pytest.mark.parametrize("name", ["a.tsv", "a.tab"])
def test_tabs(tmp_path: Path, name: str) -> None:
    document = read(tmp_path, "a\tb\n1, or 2\t3\n", name)
    assert texts(document) == ["| a | b |\n| 1, or 2 | 3 |"]
    assert document.metadata == {"format": "tsv"}


def test_the_delimiter_that_excel_writes_on_the_first_line(tmp_path: Path) -> None:
    assert texts(read(tmp_path, "\ufeffsep=^\r\na^b\r\n1^2\r\n")) == ["| a | b |\n| 1 | 2 |"]


def test_all_line_ends(tmp_path: Path) -> None:
    for end in ("\n", "\r\n", "\r"):
        assert texts(read(tmp_path, end.join(["a,b", "1,2", "3,4", ""]))) == ["| a | b |\n| 1 | 2 |\n| 3 | 4 |"]


def test_ragged_rows_keep_their_fields(tmp_path: Path) -> None:
    assert texts(read(tmp_path, "a,b,c\n1,2\n1,2,3,4\n")) == ["| a | b | c |  |\n| 1 | 2 |  |  |\n| 1 | 2 | 3 | 4 |"]


def test_a_quote_that_never_closes_is_noted(tmp_path: Path) -> None:
    document = read(tmp_path, 'a,b\n1,"open\n2,x\n')
    assert texts(document) == ['| a | b |\n| 1 | "open |\n| 2 | x |']
    assert document.notes == ("quotes that never close were taken for letters (1)",)


def test_stray_nul_bytes_go_and_are_counted(tmp_path: Path) -> None:
    document = read(tmp_path, b"name,number\nfoo\x00,1\n" + b"some more words,2\n" * 10)
    assert "| foo | 1 |" in texts(document)[0]
    assert document.notes == ("invisible characters were removed (1)",)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\n\n", "empty"),
        (b",,,\n,,,\n", "empty"),
        (b"PK\x03\x04" + bytes(range(256)), "broken"),
        (bytes(900), "broken"),
    ],
)
def test_what_is_no_table_says_why(tmp_path: Path, data: bytes, reason: str) -> None:
    with pytest.raises(ReadingError) as caught:
        read(tmp_path, data)
    assert caught.value.reason == reason


def test_a_line_without_an_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "_LONGEST_LINE", 1000)
    with pytest.raises(ReadingError) as caught:
        read(tmp_path, "a,b\n1," + "x" * 2000)
    assert caught.value.reason == "too_large"


def test_a_long_file_comes_in_parts_and_does_not_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "MOST_CHARACTERS", 20_000)
    monkeypatch.setattr(delimited, "_WHOLE", 1 << 16)
    monkeypatch.setattr(delimited, "_SAMPLE", 1 << 14)
    path = tmp_path / "long.csv"
    path.write_text("number,word\n" + "".join(f"{number},wörd {number}\n" for number in range(20_000)))
    tracemalloc.start()
    try:
        rows = parts_read = 0
        for document in read_delimited(path, "long.csv"):
            parts_read += 1
            assert document.source == f"long.csv#part-{parts_read}"
            assert all(block.text.startswith("| number | word |\n") for block in document.blocks)
            rows += sum(block.text.count("wörd") for block in document.blocks)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert rows == 20_000
    assert parts_read > 10
    assert peak < path.stat().st_size


def test_an_encoding_that_shows_late_in_a_large_file_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "_WHOLE", 1 << 14)
    monkeypatch.setattr(delimited, "_SAMPLE", 1 << 12)
    plain = b"number,street\n" + b"1,High Street\n" * 3000
    umlauts = "2,Hauptstraße für alle schönen Häuser\n".encode("cp1252") * 50
    document = read(tmp_path, plain + umlauts + b"3,Low Street\n" * 3000)
    joined = "\n".join(texts(document))
    assert joined.count("Hauptstraße für alle schönen Häuser") == 50
    assert document.notes == ("no encoding given: read as cp1252",)


FIELD = st.text(st.characters(codec="utf-8", exclude_characters="\r\x00", exclude_categories=["Cs"]), max_size=8)


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


@given(st.lists(st.lists(FIELD, min_size=2, max_size=4), min_size=1, max_size=6), st.sampled_from(",;\t|"))
def test_what_the_csv_module_writes_comes_back(rows: list[list[str]], delimiter: str) -> None:
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter=delimiter, lineterminator="\n").writerows(rows)
    buffer.seek(0)
    found = Records(buffer, Dialect(delimiter, '"'))
    assert list(found) == rows
    assert found.unclosed == 0


@given(st.text(st.sampled_from('a",;\n\t|'), max_size=60))
def test_any_text_gives_records_that_keep_its_letters(text: str) -> None:
    source = io.StringIO(text, newline="")
    found = list(Records(source, dialect_of(lines(text), ",")))
    assert sum(field.count("a") for record in found for field in record) == text.count("a")


def test_a_quote_that_never_closes_costs_no_line() -> None:
    found = Records(lines('a,b\nc,"open\nd,e\nf,"g"\n'), Dialect(",", '"'))
    assert list(found) == [["a", "b"], ["c", '"open'], ["d", "e"], ["f", "g"]]
    assert found.unclosed == 1


def test_a_closed_quote_at_the_end_may_span_lines() -> None:
    found = Records(lines('a,b\nc,"two\nlines"'), Dialect(",", '"'))
    assert list(found) == [["a", "b"], ["c", "two\nlines"]]
    assert found.unclosed == 0


def test_quotes_that_never_close_are_given_up_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "_LONGEST_RECORD", 1000)
    monkeypatch.setattr(delimited, "_MOST_WASTED", 5000)
    block = ['0,"open\n', *(f"{number},plain\n" for number in range(200))]
    found = Records(block * 20, Dialect(",", '"'))
    assert list(found) == [line.rstrip().split(",") for line in block] * 20
    assert 3 <= found.unclosed <= 8


def test_a_long_field_is_no_error() -> None:
    (record,) = Records(['a,"' + "x" * 1_000_000 + '"\n'], Dialect(",", '"'))
    assert len(record[1]) == 1_000_000


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("Name;Preis\nApfel;1,50\nBirne;2,20\n", ";"),
        ("1,5;2,5\n3,5;4,5\n", ";"),
        ("a\tb, c\n1\t2\n", "\t"),
        ("film,genres\nHeat,Action|Crime\nUp,Animation|Comedy\n", ","),
        ("a|b|c\n1|2|3\n", "|"),
        ("Report on the year, in short\nname;city;age\nAda;London;36\nBob;Rome;44\nEve;Oslo;29\n", ";"),
        ("no delimiter\nat all\n", ","),
        ("", ","),
    ],
)
def test_the_delimiter_is_found(text: str, delimiter: str) -> None:
    assert dialect_of(lines(text), ",").delimiter == delimiter


def test_single_quotes_count_where_they_are_used_throughout() -> None:
    assert dialect_of(lines("'a','b'\n'x, y','2'\n"), ",").quote == "'"
    assert dialect_of(lines("a,b\nit's,2\n'tis,3\n"), ",").quote == '"'
