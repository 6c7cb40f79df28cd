from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.citations.deep_links import link_to

QUOTE = "The Halden weir was built by Ida Marrow in 1850, of oak."


@pytest.mark.parametrize(
    ("path", "page", "link"),
    [
        ("/docs/my report.pdf", 12, "file:///docs/my%20report.pdf#page=12"),
        ("/docs/report.PDF", None, "file:///docs/report.PDF"),
        ("/docs/weir.md", None, "file:///docs/weir.md#char=10,66"),
        ("/docs/a#b?.txt", None, "file:///docs/a%23b%3F.txt#char=10,66"),
        ("/docs/weir.html", None, "file:///docs/weir.html#:~:text=The%20Halden%20weir%20was,in%201850%2C%20of%20oak."),
        (
            "https://a.example/weir#top",
            None,
            "https://a.example/weir#:~:text=The%20Halden%20weir%20was,in%201850%2C%20of%20oak.",
        ),
        ("https://a.example/x.pdf?v=2", 3, "https://a.example/x.pdf?v=2#page=3"),
        ("/docs/all.zip!/in/weir.pdf", 3, "file:///docs/all.zip"),
        ("javascript://x/%0aalert(1)", None, ""),
        ("https://[::1/bad", None, ""),
        ("/docs/\udc80.txt", None, "file:///docs/%80.txt#char=10,66"),
        ("weir.md", None, ""),
        ("", None, ""),
    ],
)
def test_where_words_are(path: str, page: int | None, link: str) -> None:
    assert link_to(path, page=page, quote=QUOTE, start=10, end=10 + len(QUOTE)) == link


def test_a_short_quote_is_looked_for_whole_and_its_dashes_are_no_syntax() -> None:
    link = link_to("https://a.example/", page=None, quote="well-known, 5 %", start=0, end=9)
    assert link == "https://a.example/#:~:text=well%2Dknown%2C%205%20%25"


@given(st.text(max_size=60), st.text(min_size=1, max_size=200), st.sampled_from(["/d/", "https://a.example/", ""]))
def test_an_address_is_one_word_of_ascii(name: str, quote: str, folder: str) -> None:
    link = link_to(f"{folder}{name}", page=1, quote=quote, start=0, end=len(quote))
    assert link.isascii()
    assert not any(char.isspace() or char in '<>"' for char in link)
    assert not link or link.startswith(("file:///", "https://a.example", "http"))
