"""What BM25 sees of a text."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.errors import SettingsError
from anabranch.text import analyzer
from anabranch.text.analyzer import Analyser, analyser

terms = analyser().terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Rivers were running", ["river", "run"]),
        ("2,000 and 2.5 and 1,234,567.89", ["2000", "2.5", "1234567.89"]),
        ("10-K", ["10k", "10", "k"]),
        ("C++ C# C", ["c++", "c#", "c"]),
        ("foo_bar", ["foo_bar", "foo", "bar"]),
        ("getUserName", ["getusernam", "get", "user", "name"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("__init__", ["init"]),
        ("LLMs LLM", ["llm", "llm"]),
        ("state-of-the-art", ["state", "art"]),
        ("John's don't", ["john"]),
        ("café Cafés CAFE", ["cafe", "cafe", "cafe"]),
        ("Straße STRASSE", ["strass", "strass"]),
        ("ﬁne ｆｕｌｌ", ["fine", "full"]),
        ("infor\u00admation", ["inform"]),
        ("日本語", ["日本", "本語"]),
        ("税", ["税"]),
        ("GPT模型", ["gpt", "模型"]),
        ("हिन्दी", ["हिन्द"]),
        (
            "HTTPServer2 parseHTTPResponse",
            ["httpserver2", "http", "server", "parsehttprespons", "pars", "http", "respons"],
        ),
        ("np.linalg.norm(x)", ["np.linalg.norm", "np", "linalg", "norm", "x"]),
        ("see src/app/main.py.", ["see", "src", "app", "main.py", "main", "py"]),
        ("__init__.py", ["__init__.py", "init", "py"]),
        (".env, .NET and ASP.NET", [".env", "env", ".net", "net", "asp.net", "asp", "net"]),
        ("tool --dry-run", ["tool", "--dry-run", "dri", "run"]),
        ("a pause--another", ["paus", "anoth"]),
        ("v1.2.3 or 1.2.3, Python3.11", ["1.2.3", "1.2.3", "python3.11", "python3", "11"]),
        ("http://192.168.0.1:8080", ["http", "192.168.0.1", "8080"]),
        ("2024-05-31T12:00", ["20240531", "2024", "05", "31", "t12", "00"]),
        ("$1,234.56 -5 (1,234) 12.5%", ["1234.56", "5", "1234", "12.5"]),
        ("gpt-4.1-mini", ["gpt4.1mini", "gpt", "4.1", "mini"]),
        ("C++17 F# g++", ["c++", "17", "f#", "g++"]),
        ("in plasma.To show... that.", ["plasma", "show"]),
        ("tuberculosis.IL-4", ["tuberculosi", "il4", "il", "4"]),
        ("the U.S. and U.K.", ["u", "s", "u", "k"]),
        ("O'Brien's", ["obrien", "brien"]),
        ("reading реки рек الكتاب كِتَاب", ["read", "рек", "рек", "كتاب", "كتاب"]),
        ("٢٠٢٤ २०२४ ２０２４", ["2024", "2024", "2024"]),
        ("שָׁלוֹם שלום", ["שלום", "שלום"]),
        ("œuvre Łódź ÆSIR", ["oeuvr", "lodz", "aesir"]),
        ("", []),
        ("the of and", []),
        ("!?… — *", []),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("one", "other"), [("2,000", "2000"), ("naïve", "naive"), ("GPT-4", "gpt4"), ("User’s", "user")]
)
def test_spellings_meet(one: str, other: str) -> None:
    assert set(terms(one)) & set(terms(other))


def test_a_french_apostrophe_parts_two_words() -> None:
    assert "homm" in Analyser("french").terms("l'homme")


def test_no_stemming_on_request() -> None:
    assert Analyser("none").terms("The rivers") == ["the", "rivers"]


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(SettingsError, match="'klingon'"):
        Analyser("klingon")


@given(st.text(max_size=200))
def test_terms_are_short_and_hold_no_white_space(text: str) -> None:
    found = terms(text)
    assert found == terms(text)
    assert all(term and len(term) <= 100 and not any(char.isspace() for char in term) for term in found)


@pytest.mark.parametrize("unit", ["a", "a-", "1,", "_", "aB", "日", "'a", "1-", "\u0301"])
@pytest.mark.work(60)  # quadratic work would take many minutes here
def test_time_stays_linear(unit: str) -> None:
    terms(unit * 100_000)


PIECES = [
    "--dry-run",
    ".env",
    "in plasma.To",
    "John's",
    "1,234.5",
    "2024-05-31,",
    "C++",
    "日本語",
    "हिन्दी",
    "(U.S.)",
    "x-",
    ".",
    "٢٠",
]


@given(
    st.lists(st.sampled_from(PIECES) | st.text(max_size=20), max_size=9), st.sampled_from([" ", "\n", "\u2028", "\x1c"])
)
def test_words_between_spaces_are_looked_up_as_a_whole_and_mean_the_same(pieces: list[str], space: str) -> None:
    text, long = space.join(pieces), "ж" * 61
    # Beside a stretch that is too long to be kept, the whole text is gone through token by token.
    assert terms(f"{text}{space}{long}") == terms(text) + terms(long)


def test_words_that_were_met_are_not_gone_through_again(monkeypatch: pytest.MonkeyPatch) -> None:
    words = Analyser("german")
    expected = words.terms("Die Mühlen am Wehr, (erbaut 1805)")
    monkeypatch.setattr(analyzer, "_TOKEN", None)
    assert words.terms("(erbaut 1805) Die Mühlen am Wehr,") == expected[-2:] + expected[:-2]


def test_threads_get_the_same_terms() -> None:
    text = " ".join(f"walking{n} flies tries nations{n}ally" for n in range(2_000))
    fresh = Analyser()
    with ThreadPoolExecutor(8) as pool:
        assert len({tuple(found) for found in pool.map(fresh.terms, [text] * 8)}) == 1
