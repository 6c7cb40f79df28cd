"""Anybody's text that joins other text is words there: no link, no picture, no tag, one line, and still readable."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.safety.link_removal import MOST_LINE, break_live, escape_marks, make_plain, name_source, strip_links
from anabranch.text.normalization import INVISIBLE, clean
from tests.safety.hostile_text import HOSTILE, find_live
from tests.safety.rendering import RENDERERS
from tests.safety.test_rendering import TEXTS

PLACES = [
    "{}",
    "[1] {}",
    "- {}: {}",
    "> {}",
    "| {} | {} |\n|---|---|\n| {} | {} |",
    "**{}**: {}",
    "[1] {}\n[2] {}",
    "([a] {})",
]


def only_words(text: str) -> None:
    line = make_plain(text)
    assert make_plain(line) == strip_links(line) == line
    assert len(line) <= MOST_LINE
    assert "\n" not in line
    assert not INVISIBLE.search(line)
    assert find_live(break_live(clean(text))) == []
    assert break_live(break_live(text)) == break_live(text)
    for place in PLACES:
        for each in (line, escape_marks(line)):
            assert find_live(place.replace("{}", each)) == []


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_only_words(text: str) -> None:
    only_words(text)
    assert "Works" in make_plain(text) or "evil" in make_plain(text)


@given(TEXTS)
def test_any_text_is_only_words(text: str) -> None:
    only_words(text)


@pytest.mark.parametrize(
    "text",
    [
        "report_[2021].pdf",
        "__init__.py",
        "*.pdf and ~/.profile",
        "C:\\temp\\a_b",
        "R&D: AT&T",
        "a < b <= c",
        "f(x)[i] and a[0]",
        "`ls -l` in a shell",
        "1. The first",
        "Ada & Bob (2020), p. 3",
        "東京都 [東京]",
        "10:30 and 3/4",
        "#1 of _all_",
        "a_b_c",
    ],
)
def test_a_renderer_shows_the_characters_that_were_written(text: str) -> None:
    assert make_plain(text) == text
    page = RENDERERS[0].render(f"[1] {escape_marks(text)}")
    shown = page.strip().removeprefix("<p>").removesuffix("</p>")
    for entity, letter in (("&lt;", "<"), ("&quot;", '"'), ("&amp;", "&")):
        shown = shown.replace(entity, letter)
    assert shown == f"[1] {text}"


def test_words_stay_and_what_was_live_shows_what_it_was() -> None:
    assert make_plain("![t](https://a.example/t.png)") == "![t] (https: // a.example/t.png)"
    assert make_plain("<b>vector<int></b>") == "< b>vector< int>< /b>"
    assert make_plain("one\n\n# two\u200b") == "one # two"
    assert make_plain("word " * 200).endswith("word ...")
    assert make_plain("x" * 500, 20) == f"{'x' * 16} ..."
    assert name_source("https://a.example/page?b") == "https://a.example/page?b"
    assert escape_marks("https://a.example/~ada/_b, *c*") == "https://a.example/~ada/_b, \\*c\\*"
    assert name_source("rows.jsonl#https://a.example") == "rows.jsonl#https: // a.example"


@given(st.text(max_size=40))
def test_what_joins_it_may_be_cut_anywhere(text: str) -> None:
    line = make_plain(text)
    assert all(find_live(f"[1] {line[:end]}") == [] for end in range(len(line)))


@pytest.mark.parametrize("piece", ["<", "<a", "[", "[[", "_", "\\", "<a@", "`", "&#", "https://", "mailto:", "\n", "é"])
def test_work_is_bounded(piece: str) -> None:
    started = time.process_time()
    escape_marks(make_plain(piece * 100_000))
    escape_marks(make_plain(piece * 100_000, 100_000))
    assert time.process_time() - started < 2.0
