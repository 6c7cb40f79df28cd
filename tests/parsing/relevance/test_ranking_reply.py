"""Rankings without scores."""

from __future__ import annotations

import pytest

from anabranch.parsing.relevance import parse_ranking


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
        "1. [2]\n2. [1]\n3. [3]",
        "Passage 2 is best, then passage 1.",
        "[2] [2] [0] [-1] [9] [1]",
        "<think>[3] > [1]</think>[2] > [1]",
    ],
)
def test_every_form_of_ranking_is_read(reply: str):
    # LangChain's listwise reranker: an id out of range raises, a negative one is another document
    assert parse_ranking(reply, 4) == [1, 0, 2, 3]


@pytest.mark.parametrize("reply", ["", "I cannot rank these.", "{}", '{"ranking": "unknown"}', "[99]", "2021 was good"])
def test_an_unreadable_ranking_keeps_the_prior_order(reply: str):
    assert parse_ranking(reply, 3) == [0, 1, 2]


def test_langchain_l22_an_unknown_or_negative_document_is_nobody():
    # an id out of range raises IndexError, a negative one is counted from the end
    assert parse_ranking('{"ranking": [2, 99, -1, 0, 1]}', 3) == [1, 0, 2]
    assert parse_ranking("[2] > [99] > [-1] > [1]", 3) == [1, 0, 2]
