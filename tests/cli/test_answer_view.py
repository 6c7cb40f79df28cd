from __future__ import annotations

import re
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from anabranch.citations.verification import CHECKED
from anabranch.cli.answer_view import FURTHER, print_answer, remarks_on, source_lines
from anabranch.types import NO_COVERAGE


def citation(marker: int, quote: str, **changes: Any) -> dict[str, Any]:
    return {"marker": marker, "source": "a.pdf", "page": 2, "heading": "Sales", "quote": quote, **changes}


def state(**changes: Any) -> dict[str, Any]:
    route = {"name": "create", "reasons": []}
    return {"answer": "It rose [1].", "abstained": False, "citations": [], "route": route, "degraded": [], **changes}


def printed(values: dict[str, Any], **options: Any) -> str:
    console = Console(file=StringIO(), highlight=False, markup=False, width=40)
    print_answer(console, values, **options)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_one_entry_per_marker_in_order_with_each_quote_once() -> None:
    given = [citation(2, "b", page=None, heading=""), citation(1, "a"), citation(1, "c"), citation(1, "a")]
    assert list(source_lines(given)) == [("[1] a.pdf, p. 2, Sales", ["“a”", "“c”"], ""), ("[2] a.pdf", ["“b”"], "")]


def test_each_quote_of_a_marker_stands_below_its_own_place() -> None:
    given = [
        citation(1, "a", link="#page=2"),
        citation(2, "b"),
        citation(1, "c", page=3, heading="Plans", link="#page=3"),
        citation(1, "d"),
    ]
    assert list(source_lines(given)) == [
        ("[1] a.pdf, p. 2, Sales", ["“a”", "“d”"], "#page=2"),
        ("[1] a.pdf, p. 3, Plans", ["“c”"], "#page=3"),
        ("[2] a.pdf, p. 2, Sales", ["“b”"], ""),
    ]


def test_long_quotes_are_cut_at_a_word() -> None:
    ((_, (quote,), _),) = source_lines([citation(1, "word " * 200)])
    assert quote.endswith("word ...”")
    assert len(quote) < 410


def test_nothing_is_wrapped_where_a_program_reads() -> None:
    long = "A sentence that is longer than the forty columns of this console [1]."
    assert long in printed(state(answer=long))


def test_a_terminal_can_open_the_place_of_a_source() -> None:
    values = state(citations=[citation(1, "rose", link="file:///docs/a%20b.pdf#page=2"), citation(2, "fell")])
    console = Console(file=StringIO(), force_terminal=True, width=80, legacy_windows=False)
    print_answer(console, values)
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert ";file:///docs/a%20b.pdf#page=2\x1b\\[1] a.pdf, p. 2, Sales" in re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert "file:" not in printed(values)


def test_sources_can_be_left_to_another_screen() -> None:
    values = state(citations=[citation(1, "rose by 4 %")])
    assert "rose by 4 %" in printed(values)
    assert "rose by 4 %" not in printed(values, sources=False)


def test_escape_sequences_never_reach_the_terminal() -> None:
    values = state(
        answer="\x1b]0;owned\x07It rose\x1b[2J [1].",
        citations=[citation(1, "\x1b[31mrose", source="\x1b[1ma.pdf")],
        degraded=[{"step": "rerank", "reason": "\x1b[5mdown"}],
    )
    assert "\x1b" not in printed(values)
    assert "It rose" in printed(values)


def test_remarks() -> None:
    assert list(remarks_on(state())) == []
    composed = state(route={"name": "compose", "reasons": []}, degraded=[{"step": "create", "reason": "model\ndown"}])
    assert list(remarks_on(composed)) == ["degraded: create: model down"]
    assert list(remarks_on({**composed, "abstained": True, "degraded": []})) == []


@pytest.mark.parametrize(("effort", "remarks"), [("quick", [FURTHER]), ("normal", []), ("deep", []), (None, [])])
def test_after_a_quick_answer_there_is_an_offer_to_look_further(effort: str | None, remarks: list[str]) -> None:
    begin = {"node": "begin", "counts": {"effort": effort} if effort else {}}
    assert list(remarks_on(state(trace=[begin]))) == remarks


@pytest.mark.parametrize("changes", [{"reach": "corpus"}, {"reach": "document"}, {"rows": True}])
def test_who_had_whole_documents_read_is_offered_nothing_further(changes: dict[str, Any]) -> None:
    begin = {"node": "begin", "counts": {"effort": "quick"}}
    assert list(remarks_on(state(trace=[begin], coverage=NO_COVERAGE))) == [FURTHER]
    assert list(remarks_on(state(trace=[begin], coverage={**NO_COVERAGE, **changes}))) == []


def test_windows_that_failed_for_one_reason_share_a_line() -> None:
    steps = ["map:1", "retrieve:bm25", "retrieve:dense", "map:2", "map:2", "refine:4", "map:3"]
    degraded = [{"step": step, "reason": "no\nconnection"} for step in steps]
    assert list(remarks_on(state(degraded=[*degraded, {"step": "map:9", "reason": "too slow"}]))) == [
        "degraded: map (3 windows): no connection",
        "degraded: retrieve:bm25: no connection",
        "degraded: retrieve:dense: no connection",
        "degraded: refine:4: no connection",
        "degraded: map:9: too slow",
    ]


def test_a_claim_that_is_not_confirmed_is_said_with_what_is_known_of_it() -> None:
    bare = {"text": "It fell.", "reason": "", "nearest": ""}
    full = {"text": "It fell\nin 1912.", "reason": "1912 is in no passage", "nearest": "It rose\nin 1911."}
    answered = state(status="answered", unconfirmed=[bare, full])
    assert list(remarks_on(answered)) == [
        "Not confirmed: It fell.",
        "Not confirmed: It fell in 1912. (1912 is in no passage) Nearest words: “It rose in 1911.”",
    ]
    # The answer itself begins with it, and ends with the nearest passages.
    unconfirmed = state(status="not_confirmed", unconfirmed=[bare, full])
    assert [remark.partition(" (")[0] for remark in remarks_on(unconfirmed)] == ["Not confirmed: It fell in 1912."]


def test_no_more_is_said_than_was_checked() -> None:
    told = "".join(remarks_on(state(verification={"claims": 1, "checked": CHECKED})))
    assert "not what they say" in told
    composed = state(verification={"claims": 1, "checked": CHECKED}, route={"name": "compose", "reasons": []})
    assert list(remarks_on(composed)) == []


def composed_state() -> dict[str, Any]:
    answer = "No chat model.\n\n[1] a.pdf, p. 2\n\n**It rose.** It fell.\n\n```\n**x --y\n[1] **z**\n```"
    citations = [citation(1, "It rose. It fell.", link="file:///a.pdf#page=2"), citation(1, "more", link="file:///b")]
    return state(answer=answer, citations=citations, route={"name": "compose", "reasons": []})


def test_passages_that_are_shown_whole_are_not_listed_once_more() -> None:
    assert printed(composed_state()) == composed_state()["answer"] + "\n"


def test_a_terminal_shows_what_is_bold_and_opens_the_place_of_a_passage_but_leaves_code_alone() -> None:
    console = Console(file=StringIO(), force_terminal=True, width=80, legacy_windows=False, highlight=False)
    print_answer(console, composed_state())
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "\x1b[1mIt rose.\x1b[0m It fell." in shown
    assert ";file:///a.pdf#page=2\x1b\\" in shown
    assert "file:///b" not in shown
    plain = re.sub(r"\x1b(\[[0-9;]*m|\]8;[^\x1b]*\x1b\\)", "", shown)
    assert "**x --y\n[1] **z**" in plain
