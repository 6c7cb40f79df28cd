"""One window of passages, judged together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.parsing.relevance import read_listwise
from anabranch.retrieval.relevance_order import rank_by_relevance

IDS = ["a", "b", "c", "d"]


def _order(reply: str) -> str:
    return "".join(rank_by_relevance(IDS, read_listwise(reply, len(IDS)).scores)["ids"])


@pytest.mark.parametrize(
    "reply",
    [
        '{"ranking": [{"passage": 3, "relevance": 9}, {"passage": 1, "relevance": 6}]}',
        '{"ranking": [[3, 9], [1, 6]]}',
        '{"ranking": [[3, 9], [1, 6], [2',
        '{"ranking": [3, 1]}',
        '{"ranking": ["3", "[1]"]}',
        '```json\n{"ranking": [3, 1, 99, 0, -2]}\n```',
        '{"ranking": [{"passage": 3, "relevance": 9}, {"passage": 1, "relevance": 6}, {"pass',
        "[3] > [1]",
        "[3] > [1] > [3]",
        "Doc: 3, Relevance: 9\nDoc: 1, Relevance: 6",
        "Doc: 1, Relevance: 6\nDoc: 3, Relevance: 9",
        "| Passage | Relevance |\n|---|---|\n| 3 | 9 |\n| 1 | 6 |",
        "<think>[2] > [4]</think>\n3, 1",
        "Passage 3 is best, then passage 1.",
    ],
)
def test_every_form_puts_the_named_first_and_loses_none(reply: str) -> None:
    assert _order(reply) == "cabd"


@pytest.mark.parametrize(
    "reply",
    [
        '{"ranking": [2, 1]}',
        '{"why": "7 of 9", "ranking": [{"doc": 2, "why": "names 3"}, {"doc": 1}]}',
        '["[2]", "[1]"]',
        "[2, 1, 3]",
        "[2] > [1] > [3]",
        "**[2]** > [1]",
        "2 > 1 > 3",
        "2, 1, 3",
        "Ranking: 2 > 1 > 3",
        "Passage 2 is best, then passage 1.",
        "[2] [2] [0] [-1] [9] [1]",
        '{"ranking": [2, 99, -1, 0, 1]}',
        "[2] > [99] > [-1] > [1]",
        "<think>[3] > [1]</think>[2] > [1]",
    ],
)
def test_every_form_of_ranking_is_read(reply: str) -> None:
    # LangChain's listwise reranker: an id out of range raises, a negative one is another document
    assert _order(reply) == "bacd"


def test_equal_scores_stay_in_the_order_listed() -> None:
    assert _order('{"ranking": [{"passage": 4, "relevance": 9}, {"passage": 2, "relevance": 9}]}') == "dbac"


def test_an_explicit_zero_is_a_verdict_and_silence_is_none() -> None:
    assert _order('{"ranking": [{"passage": 2, "relevance": 7}, {"passage": 1, "relevance": 0}]}') == "bcda"


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I cannot rank these.",
        "{}",
        '{"ranking": []}',
        "[99]",
        "Relevance: high",
        "Relevance: 3",
        '{"ranking": "unknown"}',
        "2021 was good",
    ],
)
def test_llamaindex_r7_an_unreadable_reply_loses_nothing(reply: str) -> None:
    # all candidates are gone, and the answer is "Empty Response"
    assert read_listwise(reply, len(IDS)).scores == {}
    assert _order(reply) == "abcd"


def test_rankgpt_an_order_alone_gets_scores_from_the_best_down() -> None:
    assert read_listwise("[2] > [3] > [1]", 3).scores == {1: 10.0, 2: 5.5, 0: 1.0}
    assert read_listwise("[2] > [9] > [2]", 3) == ({1: 10.0}, 2, False)


@given(st.permutations(range(1, 21)), st.integers(0, 20))
def test_the_order_in_the_reply_is_the_order_of_the_scores(order: list[int], length: int) -> None:
    named = order[:length]
    for reply in (" > ".join(f"[{n}]" for n in named), ", ".join(map(str, named)), f'{{"ranking": {named}}}'):
        scores = read_listwise(reply, 20).scores
        assert sorted(scores, key=lambda index: -scores[index]) == [n - 1 for n in named]


@given(st.text(), st.integers(-1, 5))
def test_any_text_gives_judgements_in_range(reply: str, count: int) -> None:
    scores = read_listwise(reply, count).scores
    assert set(scores) <= set(range(max(count, 0)))
    assert all(0 <= score <= 10 for score in scores.values())
