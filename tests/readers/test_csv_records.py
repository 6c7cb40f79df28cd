import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.readers import csv_records as records
from anabranch.readers.csv_records import Dialect, Records, dialect_of

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
    monkeypatch.setattr(records, "_LONGEST_RECORD", 1000)
    monkeypatch.setattr(records, "_MOST_WASTED", 5000)
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
