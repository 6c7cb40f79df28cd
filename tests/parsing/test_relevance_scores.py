"""Judgements of relevance in every form, and what peers make of them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.parsing.relevance_scores import read_judgements


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
        "Doc: 2, Relevance: 6-8",
        "Doc: 2, Relevance: 6–8",
        "Doc: 2, Relevance: 6 to 8",
        "Doc: 2, Relevance: 6-8/10",
        "Doc: 2, Relevance: 7 out of 10",
        "Doc: 2, Relevance: 70 percent",
        "* __Doc 2__ — relevance: **7**",
        "• Doc 2: 7",
        "> Doc: 2, Relevance: 7",
        "Text 2, relevance 7",
        "Doc: 2\nRelevance:\n7",
        "| Rank | Doc | Relevance |\n|---:|---:|---:|\n| 1 | 2 | 7 |",
        "| Relevance | Document | Why |\n|---|---|---|\n| **7** | [2] | names 3 of 9 |",
        "Relevance | Passage\n--- | ---\n7/10 | Doc 2",
        '{"passage": 2, "text": "3 wonders", "relevance": 7}',
        '{"reason": "it names [1]", "relevant": true}\n{"doc": 2, "relevance": 7}',
    ],
)
def test_every_form_of_judgement_is_read(line: str):
    # LlamaIndex drops most of these
    assert read_judgements(line, 3).scores == {1: 7.0}


def test_decimals_are_not_cut():
    # LlamaIndex reads 7.5 as 7 and 0.9 as 0
    assert read_judgements("Doc: 1, Relevance: 7.5\nDoc: 2, Relevance: 0.9", 2).scores == {0: 7.5, 1: 0.9}


@pytest.mark.parametrize("bad", ["high", "n/a", "", "12", "-3", "7/0", "nan", "seven", "1e5", "99999999999999999999"])
def test_a_bad_judgement_is_skipped_and_shifts_no_other(bad: str):
    # LlamaIndex gives its number to the next document
    reply = f"Doc: 1, Relevance: {bad}\nDoc: 2, Relevance: 9\nDoc: 3, Relevance: 4"
    assert read_judgements(reply, 3).scores == {1: 9.0, 2: 4.0}


@pytest.mark.parametrize("bad", ["0", "-7", "4", "99999999999999999999", "x"])
def test_an_unknown_document_is_nobody(bad: str):
    # LlamaIndex: "Doc: 0" is the last document, "Doc: -7" raises
    assert read_judgements(f"Doc: {bad}, Relevance: 9\nDoc: 2, Relevance: 4", 3).scores == {1: 4.0}
    assert read_judgements(f'[{{"doc": "{bad}", "relevance": 9}}, {{"doc": 2, "relevance": 4}}]', 3).scores == {1: 4.0}


def test_repeated_documents_count_once_with_the_best_judgement():
    assert read_judgements("Doc: 1, Relevance: 3\nDoc: 1, Relevance: 8\nDoc: 1, Relevance: 5", 1).scores == {0: 8.0}


def test_a_reply_that_stops_midway_keeps_what_it_said():
    assert read_judgements("Doc: 1, Relevance: 8\nDoc: 2, Relevance: 6\nDoc: 3, Relev", 3).scores == {0: 8.0, 1: 6.0}


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
    assert read_judgements(prose, 10).scores == {}


def test_json_on_several_lines_is_read_line_by_line():
    assert read_judgements('{"doc": 1, "relevance": 3}\n{"doc": 2, "relevance": 8}\n{"doc": 3, "rel', 3).scores == {
        0: 3,
        1: 8,
    }


def test_a_json_list_that_stops_midway_keeps_what_it_said():
    assert read_judgements('[{"doc": 1, "relevance": 8}, {"doc": 3, "relevance": 3}, {"doc": 2, "rel', 3).scores == {
        0: 8,
        2: 3,
    }
    assert read_judgements('{"ranking": [[1, 8], [3, 3], [2', 3).scores == {0: 8, 2: 3}


@pytest.mark.parametrize("ranking", ["[2] > [1]", "2 > 1", "[1] > [2] > [3]", '{"ranking": [1, 2]}'])
def test_a_ranking_is_no_judgement(ranking: str):
    assert read_judgements(ranking, 3).scores == {}


# Each of the following reproduces a defect of a peer; what the peer makes of the same reply is said in the comment.


def test_llamaindex_r1_document_zero_is_not_the_last_one():
    # index -1, so the last document
    assert read_judgements("Doc: 0, Relevance: 9", 3) == ({}, 1, False)


def test_llamaindex_r2_an_unreadable_relevance_shifts_no_score():
    # ([2, 1, 3], [9.0, 7.0]): three documents, two scores
    assert read_judgements("Doc: 2, Relevance: 9\nDoc: 1, Relevance: high\nDoc: 3, Relevance: 7", 3).scores == {
        1: 9,
        2: 7,
    }


def test_llamaindex_r3_decimals_are_not_cut():
    # 7.5 is 7, and 0.9 is 0
    assert read_judgements("Doc: 1, Relevance: 7.5\nDoc: 2, Relevance: 0.9", 2).scores == {0: 7.5, 1: 0.9}


def test_llamaindex_r4_a_line_with_one_comma_more_is_kept():
    assert read_judgements("Doc: 1, a page, on weirs, Relevance: 7", 1).scores == {0: 7.0}


@pytest.mark.parametrize("line", ["Document 2, Relevance: 9", "[2] 9", "- Doc 2 (9)"])
def test_llamaindex_r5_other_forms_are_not_dropped(line: str):
    assert read_judgements(line, 2).scores == {1: 9.0}


def test_llamaindex_r6_a_repeated_document_is_one_document():
    assert read_judgements("Doc: 1, Relevance: 7\nDoc: 1, Relevance: 8", 2) == ({0: 8.0}, 1, False)


def test_llamaindex_a_negative_document_raises_nothing():
    # IndexError
    assert read_judgements("Doc: -7, Relevance: 9\nDoc: 2, Relevance: 4", 3) == ({1: 4.0}, 1, False)


@pytest.mark.parametrize(
    "reply",
    [
        "Doc: 1, Relevance:\nDoc: 2, Relevance: 7",
        "Doc: 1\nDoc: 2, Relevance: 7",
        "1. Doc: 1, Relevance:\n2. Doc: 2, Relevance: 7",
        "Doc: 1, Relevance:\n2: 7",
        "Doc: 1, Relevance: ?\n\nDoc: 2, Relevance: 7",
        "| Doc | Relevance |\n|---|---|\n| 1 | |\n| 2 | 7 |",
        '[{"doc": 1}, {"doc": 2, "relevance": 7}]',
        '{"1": null, "2": 7}',
    ],
)
def test_a_missing_relevance_shifts_no_score(reply: str):
    judged = read_judgements(reply, 2)
    assert judged.scores == {1: 7.0}
    assert judged.repairs >= 1


@pytest.mark.parametrize(
    ("reply", "repairs"),
    [
        ("Doc: 1, Relevance: 8\nDoc: 2, Relevance: 6", 0),
        ("Doc: 1, Relevance: 8\nDoc: 9, Relevance: 6", 1),
        ("Doc: 1, Relevance: 8\nDoc: 2, Relevance: 60", 1),
        ("Doc: 1, Relevance: 8\nDoc: 2, Relevance: high", 1),
        ("Doc: 1, Relevance: 8\nDoc: 1, Relevance: 3\nDoc: 0, Relevance: 3", 2),
        ("I cannot judge these.", 0),
        ('[{"doc": 1, "relevance": 8}, {"doc": 5, "relevance": 8}, {"doc": 2, "relevance": "?"}]', 2),
    ],
)
def test_what_was_left_out_is_counted(reply: str, repairs: int):
    assert read_judgements(reply, 3).repairs == repairs


@pytest.mark.parametrize(
    ("reply", "cut_off"),
    [
        ("Doc: 1, Relevance: 8\nDoc: 2, Relevance: 6\nDoc: 3, Relev", True),
        ("Doc: 1, Relevance: 8\nDoc", True),
        ("Doc: 1, Relevance: 8\nDoc: 2, Relevance: 6", False),
        ('{"ranking": [{"passage": 2, "relevance": 9}, {"pass', True),
        ('{"ranking": [{"passage": 2, "relevance": 9}]}', False),
        ('```json\n[{"doc": 1, "relevance": 8}, {"doc": 2, "relevance": 3}', True),
    ],
)
def test_a_reply_that_stops_midway_says_so(reply: str, cut_off: bool):
    judged = read_judgements(reply, 3)
    assert judged.cut_off is cut_off
    assert judged.scores


@given(st.dictionaries(st.integers(1, 20), st.integers(0, 100).map(lambda tenths: tenths / 10)))
def test_what_was_asked_for_is_read_back(judgements: dict[int, float]):
    reply = "\n".join(f"Doc: {doc}, Relevance: {score}" for doc, score in judgements.items())
    assert read_judgements(reply, 20).scores == {doc - 1: score for doc, score in judgements.items()}


PIECES = st.lists(
    st.sampled_from(
        ["Doc", ":", " ", "1", "2", "Relevance", "-", ".", ",", "\n", "[", "]", "{", "}", '"', "/", "²", "٣"]
    )
)


@given(st.one_of(st.text(), PIECES.map("".join)), st.integers(-1, 5))
def test_any_text_gives_judgements_in_range(reply: str, count: int):
    scores = read_judgements(reply, count).scores
    assert set(scores) <= set(range(max(count, 0)))
    assert all(0 <= score <= 10 for score in scores.values())


@pytest.mark.parametrize(
    "piece",
    ["Doc: 1, ", "[1] ", "1\n", "Doc 1 Relevance ", "Relevance: ", "9" * 50 + " ", "> 1 ", "[[1,7],", "1,", "doc 1 x"],
)
def test_work_is_bounded(piece: str):
    started = time.process_time()
    read_judgements(piece * (100_000 // len(piece)), 5)
    assert time.process_time() - started < 1.5
