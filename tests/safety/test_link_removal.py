from __future__ import annotations

import re
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from anabranch.safety.link_removal import NO_NONCE, REMOVED, LinkFilter, strip_links
from anabranch.safety.prompt_envelope import new_nonce


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("See [the report](https://evil.example/?q=secret).", "See the report."),
        ("See [the report](https://evil.example 'title') now", "See the report now"),
        ("A ![chart](https://evil.example/x.png?d=secret) here", "A  here"),
        ("![](https://evil.example)", ""),
        ("[![logo](https://evil.example/l.png)](https://evil.example)", ""),
        ("[Foo](https://en.wikipedia.org/wiki/Foo_(bar))", "Foo"),
        ("[rel](/path) and [js](javascript:alert(1))", "rel and js"),
        ("At https://evil.example/a?b=c, they say", f"At {REMOVED}, they say"),
        ("(http://evil.example)", f"({REMOVED})"),
        ("WWW.evil.example/x", REMOVED),
        ("<https://evil.example>", REMOVED),
        ("<mailto:a@evil.example>", REMOVED),
        ("请看https://evil.example/x。谢谢", f"请看{REMOVED}。谢谢"),
        ("<img src='https://evil.example'>", f"<img src='{REMOVED}'>"),
        ('see <a href="https://evil.example">this</a>.', f'see <a href="{REMOVED}">this</a>.'),
        ("<script>x</script>", "<script>x</script>"),
        ("[1]: https://evil.example", f"[1] : {REMOVED}"),
        ("[1]: //evil.example", "[1] : // evil.example"),
        ("h&#116;tps&colon;//evil.example", REMOVED),
        ("https\\:\\/\\/evil.example https:/evil.example", f"{REMOVED} {REMOVED}"),
        ("cut off [here](https://evil.exa", "cut off here"),
        ("cut off <img src=https://evil.exa", f"cut off <img src={REMOVED}"),
    ],
)
def test_links_go(text: str, left: str):
    assert strip_links(text) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("tool ingest https://a.example/b?c --crawl", "tool ingest https: // a.example/b?c --crawl"),
        ("<https://a.example>, www.a.example", "< https: // a.example>, www .a.example"),
        ("[words](https://a.example), ![](https://a.example/p.png)", "words, "),
    ],
)
def test_an_address_of_a_document_stays_as_words(text: str, left: str):
    assert strip_links(text, keep_addresses=True) == left
    assert strip_links(left) == left


@pytest.mark.parametrize(
    "text",
    [
        "Revenue rose [1]. Costs fell [2][3], see [1, 2].",
        "- **Lyft** [1]\n- a * b\n\n| a | b |\n|---|---|",
        "if a < b and c > d then x <= y << 3",
        "at 10:30, ratio 3:1, e.g. this; and/or that; C:\\temp; note: x",
        "[a] (b) and f(x)[i]",
        "日本語の文です[1]。",
        "",
    ],
)
def test_the_rest_stays(text: str):
    assert strip_links(text) == text


def test_a_marker_that_was_made_a_link_is_a_marker_again():
    assert strip_links("Up [1](https://a.example) and [[2]](#p2).") == "Up [1] and [2]."
    assert strip_links("Up [1](2020) and [2](see below)") == "Up [1] (2020) and [2] (see below)"


@pytest.mark.parametrize(
    "around", ["{}", "passage-{}", "({})", "the mark {}.", "a {}, b", "x={}", "{}\n", "[{}]", "0 {} 1"]
)
@pytest.mark.parametrize("size", [1, 3, 16, 100])
def test_the_nonce_of_an_envelope_is_never_shown(around: str, size: int):
    nonce = new_nonce()
    text = around.format(nonce)
    assert strip_links(text) == around.format(NO_NONCE)
    shown = LinkFilter()
    pieces = [shown.feed(text[at : at + size]) for at in range(0, len(text), size)]
    assert "".join([*pieces, shown.finish()]) == around.format(NO_NONCE)
    assert not any(nonce in piece for piece in pieces)


def test_other_words_of_the_same_make_stay_and_hide_no_link():
    assert strip_links("commit 0123456789abcdef") == "commit 0123456789abcdef"
    assert strip_links(f"x{new_nonce()}") != f"x{NO_NONCE}"
    assert "evil" not in strip_links("abcdefabcdefabcd://evil.example/x")


@pytest.mark.parametrize(
    "text",
    [
        "http:[/](y)/evil.example",
        "ww[w](y).evil.example",
        "h[t](y)tp://evil.example",
        "[http](y)://evil.example",
        "http:![](y)//evil.example",
        "<[img](y) src=x>",
        "<<img>img src=x>",
        "<scr<script>ipt>",
        "[x][(](y)https://evil.example)",
        "[a[b[c](d)](e)](https://evil.example)",
        "[" + "x" * 300 + "](https://evil.example)",
        "[x](https://evil.example/" + "y" * 900 + ")",
        "<img src='" + "x" * 900 + "'>",
        "!http://a](https://evil.example)",
        "[x]<img>(https://evil.example)",
    ],
)
def test_no_link_grows_from_the_remains_of_others(text: str):
    left = strip_links(text)
    assert "](" not in left
    assert not re.search(r"[a-z]://", left)
    assert "www." not in left
    assert strip_links(left) == left


PIECES = st.lists(
    st.sampled_from(
        [
            "[",
            "]",
            "(",
            ")",
            "!",
            "<",
            ">",
            "/",
            ":",
            "://",
            "http",
            "www.",
            "img",
            "a",
            "script",
            " ",
            ".",
            "1",
            "\n",
            "x=",
            "src=",
            '"',
            "é",
            "文",
            "[1]",
            "](",
            "y" * 90,
        ]
    ),
    max_size=25,
).map("".join)


@settings(max_examples=400)
@given(st.one_of(PIECES, st.text()))
@example("[[a](b)](c)")
def test_stripping_twice_changes_nothing_and_leaves_no_link(text: str):
    left = strip_links(text)
    assert strip_links(left) == left
    assert "](" not in left
    assert not re.search(r"[a-z]://", left)


@settings(max_examples=400)
@given(st.one_of(PIECES, st.text()), st.data())
def test_pieces_add_up_to_the_whole(text: str, data: st.DataObject):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=12)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    stream = LinkFilter()
    assert "".join(map(stream.feed, pieces)) + stream.finish() == strip_links(text)


@settings(max_examples=200)
@given(st.one_of(PIECES, st.text()))
def test_single_characters_add_up_to_the_whole(text: str):
    stream = LinkFilter()
    assert "".join(map(stream.feed, text)) + stream.finish() == strip_links(text)


def test_little_is_held_back():
    stream = LinkFilter()
    assert stream.feed("Revenue rose by five percent [1]. And ") == "Revenue rose by five percent [1]. And "
    assert stream.feed("then [") == "then "
    assert stream.feed("2]") == ""
    assert stream.feed(" it fell") == "[2] it "
    assert len(stream.feed("[" + "x" * 2000)) >= 1600


@pytest.mark.parametrize(
    "piece",
    [
        "[",
        "](",
        "[a](",
        "<img ",
        "http://",
        "www.",
        "<a",
        "![",
        "[a](b)",
        "(",
        "a.",
        "[a[b]",
        "<",
        "!",
        "&",
        "&a",
        "&amp;",
        "<1",
        "/",
        "\\",
        "h:",
        "w",
        "]",
        "\x1b",
        "é",
    ],
)
def test_work_is_bounded(piece: str):
    started = time.process_time()
    strip_links(piece * (100_000 // len(piece)))
    assert time.process_time() - started < 2.0
