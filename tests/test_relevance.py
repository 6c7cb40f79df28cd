from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.relevance import parse_ranking, parse_relevance, rank_by_relevance


@pytest.mark.parametrize(
    "line",
    [
        "Doc: 2, Relevance: 7",
        "Doc:2,Relevance:7",
        "doc 2 relevance 7",
        "Document 2, Relevance: 7",
        "Document [2]: Relevance = 7",
        "Doc: #2, Relevance: 7",
        "Passage 2 (relevance: 7)",
        "Doc: 2, Relevance: 7/10",
        "Doc: 2, Relevance: 70/100",
        "Doc: 2, Relevance: 70%",
        "Doc: 2, Relevance: 7.0",
        "Doc: 2, Relevance: 7,0",
        "Doc: 2, Relevance Score: 7.",
        "Doc: 2, about prices, taxes, and so on, Relevance: 7",
        "Doc 2 is quite relevant (score: 7)",
        "**Doc: 2**, **Relevance: 7**",
        "- Doc 2 (7)",
        "- Doc 2: 7",
        "Doc: 2 - 7",
        "[2] 7",
        "[2]: 7",
        "[2] Relevance: 7",
        "2: 7",
        "2. 7",
        "2) 7/10",
        "| 2 | 7 |",
        "1. Doc: 2, Relevance: 7",
        "Doc: 2\nRelevance: 7",
        "<think>Doc: 1, Relevance: 9?</think>Doc: 2, Relevance: 7",
        '[{"doc": 2, "relevance": 7}]',
        '[{"document": "Doc 2", "score": "7/10"}]',
        '```json\n{"results": [{"id": 2, "rating": 7.0}]}\n```',
        "{'doc': 2, 'relevance': 7}",
        '{"2": 7}',
        '{"Doc 2": {"relevance": 7}}',
        "[[2, 7]]",
        '[{"doc": 2, "relevance": 7}, {"doc": 3, "rel',
    ],
)
def test_every_form_of_judgement_is_read(line: str):
    # LlamaIndex drops most of these
    assert parse_relevance(line, 3) == {1: 7.0}


def test_decimals_are_not_cut():
    # LlamaIndex reads 7.5 as 7 and 0.9 as 0
    assert parse_relevance("Doc: 1, Relevance: 7.5\nDoc: 2, Relevance: 0.9", 2) == {0: 7.5, 1: 0.9}


@pytest.mark.parametrize("bad", ["high", "n/a", "", "12", "-3", "7/0", "nan", "seven", "1e5", "99999999999999999999"])
def test_a_bad_judgement_is_skipped_and_shifts_no_other(bad: str):
    # LlamaIndex gives its number to the next document
    reply = f"Doc: 1, Relevance: {bad}\nDoc: 2, Relevance: 9\nDoc: 3, Relevance: 4"
    assert parse_relevance(reply, 3) == {1: 9.0, 2: 4.0}


@pytest.mark.parametrize("bad", ["0", "-7", "4", "99999999999999999999", "x"])
def test_an_unknown_document_is_nobody(bad: str):
    # LlamaIndex: "Doc: 0" is the last document, "Doc: -7" raises
    assert parse_relevance(f"Doc: {bad}, Relevance: 9\nDoc: 2, Relevance: 4", 3) == {1: 4.0}
    assert parse_relevance(f'[{{"doc": "{bad}", "relevance": 9}}, {{"doc": 2, "relevance": 4}}]', 3) == {1: 4.0}


def test_repeated_documents_count_once_with_the_best_judgement():
    assert parse_relevance("Doc: 1, Relevance: 3\nDoc: 1, Relevance: 8\nDoc: 1, Relevance: 5", 1) == {0: 8.0}


def test_a_reply_that_stops_midway_keeps_what_it_said():
    assert parse_relevance("Doc: 1, Relevance: 8\nDoc: 2, Relevance: 6\nDoc: 3, Relev", 3) == {0: 8.0, 1: 6.0}


@pytest.mark.parametrize(
    "prose",
    [
        "",
        "I think blue, score 90",
        "Doc 3 mentions 7 wonders",
        "None of them is relevant.",
        "[2] > [1] > [3]",
        "2021 9",
    ],
)
def test_prose_is_no_judgement(prose: str):
    assert parse_relevance(prose, 10) == {}


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


def test_unjudged_passages_come_after_relevant_ones_and_before_irrelevant_ones():
    ranking = rank_by_relevance(["a", "b", "c", "d", "e"], {1: 0.0, 2: 9.0, 4: 2.0})
    assert ranking == {"ids": ["c", "e", "a", "d", "b"], "scores": [9.0, 2.0, 0.0, 0.0, 0.0]}
    assert rank_by_relevance(["a", "b", "c"], {1: 3.0, 2: 9.0}, floor=4.0)["ids"] == ["c", "a", "b"]


def test_without_judgements_the_prior_order_stays():
    # LlamaIndex answers "Empty Response" here
    assert rank_by_relevance(["c", "a", "b"], {})["ids"] == ["c", "a", "b"]


@given(
    st.lists(st.text(max_size=3), unique=True, max_size=8),
    st.dictionaries(st.integers(-2, 9), st.floats(0, 10), max_size=10),
)
def test_ranking_loses_and_adds_no_passage(ids: list[str], scores: dict[int, float]):
    ranking = rank_by_relevance(ids, scores)
    assert sorted(ranking["ids"]) == sorted(ids)
    assert ranking["scores"] == sorted(ranking["scores"], reverse=True)


@given(st.dictionaries(st.integers(1, 20), st.integers(0, 100).map(lambda tenths: tenths / 10)))
def test_what_was_asked_for_is_read_back(judgements: dict[int, float]):
    reply = "\n".join(f"Doc: {doc}, Relevance: {score}" for doc, score in judgements.items())
    assert parse_relevance(reply, 20) == {doc - 1: score for doc, score in judgements.items()}


PIECES = st.lists(
    st.sampled_from(
        ["Doc", ":", " ", "1", "2", "Relevance", "-", ".", ",", "\n", "[", "]", "{", "}", '"', "/", "²", "٣"]
    )
)


@given(st.one_of(st.text(), PIECES.map("".join)), st.integers(-1, 5))
def test_any_text_gives_judgements_in_range(reply: str, count: int):
    scores = parse_relevance(reply, count)
    assert set(scores) <= set(range(max(count, 0)))
    assert all(0 <= score <= 10 for score in scores.values())
    assert sorted(parse_ranking(reply, count)) == list(range(count))


@pytest.mark.parametrize(
    "piece",
    ["Doc: 1, ", "[1] ", "1\n", "Doc 1 Relevance ", "Relevance: ", "9" * 50 + " ", "> 1 ", "[[1,7],", "1,", "doc 1 x"],
)
def test_work_is_bounded(piece: str):
    started = time.process_time()
    parse_relevance(piece * (100_000 // len(piece)), 5)
    parse_ranking(piece * (100_000 // len(piece)), 5)
    assert time.process_time() - started < 1.5
