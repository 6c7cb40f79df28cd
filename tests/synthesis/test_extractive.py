"""Answers made of verbatim sentences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anabranch.synthesis.english_question_type import asks_in_english
from anabranch.synthesis.extractive import Sentence, pick, shortlist
from anabranch.synthesis.question_type import asks_of


def _sentences(texts: list[str]) -> list[Sentence]:
    return [Sentence(n + 1, text, tuple(text.lower().split()), n, n) for n, text in enumerate(texts)]


def _bag(texts: list[str], words: list[str]) -> np.ndarray:
    rows = np.array([[text.lower().split().count(word) for word in words] for text in texts], np.float32) + 1e-3
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


TEXTS = [
    "the models were trained on two trillion tokens",
    "the weather in paris was fine that year",
    "training used a cluster of many machines",
    "the models were trained on two trillion tokens",
]


FILLERS = ["the mill turned slowly", "herons nest by the meadow", "flour was sold in the yard", "salmon came back"]


def _pick(question: str, texts: list[str] = TEXTS, limit: int = 4) -> list[Sentence]:
    words = sorted({word for text in [*texts, question] for word in text.lower().split()})
    vectors = _bag(texts, words)
    return pick(_sentences(texts), question.split(), _bag([question], words)[0], vectors, limit=limit)


def test_the_sentence_that_answers_comes_first_and_is_not_repeated() -> None:
    chosen = _pick("how many tokens were the models trained on")
    assert chosen[0].text == TEXTS[0]
    assert [sentence.text for sentence in chosen].count(TEXTS[0]) == 1


def test_what_has_nothing_to_do_with_the_question_stays_out() -> None:
    assert TEXTS[1] not in [sentence.text for sentence in _pick("how many tokens were the models trained on")]


def test_a_row_that_is_called_what_is_asked_for_comes_before_one_that_only_has_the_word() -> None:
    texts = ["cost of revenue 2021 1,649", "revenue 2021 3,208", *FILLERS]
    asked = ["revenue", "2021"]
    words = sorted({word for text in texts for word in text.split()})
    vectors, question = _bag(texts, words), _bag(["cost of revenue 2021"], words)[0]
    plain = [replace(each, rank=0) for each in _sentences(texts)]
    # By words and meaning alone, the row that is nearer in meaning comes first.
    assert pick(plain, asked, question, vectors, limit=1)[0].text == texts[0]
    labels = [{"cost", "revenue"}, {"revenue"}, *([set[str]()] * len(FILLERS))]
    rows = [replace(each, label=frozenset(label)) for each, label in zip(plain, labels, strict=True)]
    assert pick(rows, asked, question, vectors, limit=1)[0].text == texts[1]
    assert shortlist(rows, asked, limit=1) == [1]
    # Of two rows of one name, that of the company that the question names.
    twice = [replace(each, terms=rows[1].terms, label=rows[1].label) for each in rows[:2]]
    named = [twice[0], replace(twice[1], about=frozenset({"lyft"}))]
    assert shortlist([*named, *rows[2:]], [*asked, "lyft"], limit=1) == [1]


def test_no_sentence_gives_no_answer() -> None:
    assert pick([], ["x"], np.ones(3, np.float32), np.zeros((0, 3), np.float32)) == []


@given(st.lists(st.text("abc ", min_size=1, max_size=20), min_size=1, max_size=12), st.integers(1, 5))
def test_the_choice_is_bounded_verbatim_and_in_reading_order(texts: list[str], limit: int) -> None:
    texts = [f"{text.strip()} x" for text in texts]
    chosen = _pick("a b", texts, limit)
    assert 1 <= len(chosen) <= limit
    assert all(sentence.text in texts for sentence in chosen)
    assert [s.order for s in chosen] == sorted(s.order for s in chosen)
    assert len({s.order for s in chosen}) == len(chosen)


def test_a_question_for_a_figure_prefers_a_sentence_with_one() -> None:
    texts = ["she rebuilt the abutment again", "in 1899 she rebuilt the abutment with a much wider foot", *FILLERS]
    question = "when was the abutment rebuilt"
    words = sorted({word for text in [*texts, question] for word in text.split()})
    arguments = (_sentences(texts), question.split(), _bag([question], words)[0], _bag(texts, words))
    assert pick(*arguments, limit=1)[0].text == texts[0]
    assert pick(*arguments, asks=asks_in_english(question), limit=1)[0].text == texts[1]


def test_a_question_for_a_name_prefers_a_sentence_with_one() -> None:
    texts = ["the weir was built by an engineer", "the weir was built by Ida Marrow", *FILLERS]
    question = "who built the weir"
    words = sorted({word for text in [*texts, question] for word in text.lower().split()})
    arguments = (_sentences(texts), question.split(), _bag([question], words)[0], _bag(texts, words))
    assert pick(*arguments, limit=1)[0].text == texts[0]
    assert pick(*arguments, asks=asks_in_english(question), limit=1)[0].text == texts[1]


def test_a_title_counts_as_words_of_its_sentences() -> None:
    texts = ["he was born in a mill", "she was born in a mill", "the herons nest"]
    words = ["born", "mill", "herons"]
    sentences = _sentences(texts)
    sentences[1] = replace(sentences[1], about=frozenset({"marrow"}))
    arguments = (["marrow", "born"], _bag(["born"], words)[0], _bag(texts, words))
    assert pick(sentences, *arguments, limit=1) == [sentences[1]]


def test_rare_words_that_are_still_missing_weigh_more() -> None:
    texts = ["marrow grew marrow", "year fell here", "abutment fell here", *FILLERS]
    words = ["marrow", "abutment", "year", "mill", "herons", "flour", "salmon"]
    arguments = (_sentences(texts), words[:3], _bag([" ".join(words[:3])], words)[0], _bag(texts, words))
    assert [sentence.text for sentence in pick(*arguments, limit=2)] == [texts[0], texts[1]]
    rare = {"marrow": 9.0, "abutment": 5.0, "year": 0.2}
    assert [sentence.text for sentence in pick(*arguments, idf=rare, limit=2)] == [texts[0], texts[2]]


def test_what_only_repeats_the_question_is_no_answer() -> None:
    texts = ["ida marrow", "ida marrow rebuilt the mill"]
    assert [sentence.text for sentence in _pick("ida marrow", texts)] == texts[1:]
    assert _pick("ida marrow", texts[:1]) == []


def test_a_sentence_of_the_questions_own_words_may_tell_that_it_is_so() -> None:
    texts, words = ["broadband is included.", "the herons of the meadow"], ["is", "broadband", "included.", "herons"]
    given = (_sentences(texts), words[:3], _bag([" ".join(words[:3])], words)[0], _bag(texts, words))
    for question, there in (("Is broadband included?", True), ("What is included?", False)):
        assert (texts[0] in [each.text for each in pick(*given, asks=asks_of(question, "english"))]) is there


def test_another_document_is_quoted_only_for_a_telling_word_that_is_missing() -> None:
    texts = ["marrow built the weir of stone", "the herons nest and marrow likes that", "the abutment is of oak"]
    words = ["marrow", "built", "weir", "abutment", "year"]
    apart = [replace(each, document=name, rank=0) for each, name in zip(_sentences(texts), "abc", strict=True)]
    question = ["marrow", "built", "weir", "abutment", "the"]
    arguments = (question, _bag([" ".join(question)], words)[0], _bag(texts, words))
    weights = {"marrow": 5.0, "built": 4.0, "weir": 5.0, "abutment": 6.0, "the": 0.2}
    assert [each.document for each in pick(apart, *arguments, idf=weights)] == ["a", "c"]
    assert [each.document for each in pick(apart, *arguments, idf={**weights, "abutment": 0.2})] == ["a"]


def test_two_statements_that_share_words_of_a_passage_are_not_both_quoted() -> None:
    texts = ["marrow built the weir and the mill", "the weir and the mill in time"]
    spans = [(0, 40), (10, 40)]
    inside = [replace(each, number=1, span=span) for each, span in zip(_sentences(texts), spans, strict=True)]
    words = ["marrow", "built", "weir", "mill"]
    chosen = pick(inside, ["marrow", "weir", "mill"], _bag(["marrow weir mill"], words)[0], _bag(texts, words))
    assert len(chosen) == 1


def test_the_shortlist_has_what_the_question_asks_for_though_its_passage_ranks_low() -> None:
    texts = [*FILLERS * 3, "the weir was rebuilt in 1899"]
    asks = asks_in_english("When was the weir rebuilt?")
    (place,) = shortlist(_sentences(texts), ["weir", "rebuilt"], asks=asks, limit=1)
    assert place == len(texts) - 1


def test_a_question_for_a_number_prefers_one_beside_what_is_counted() -> None:
    texts = ["in 12 of its yards there were many millers", "the weir had 87 millers", *FILLERS]
    question = "how many millers"
    words = sorted({word for text in [*texts, question] for word in text.split()})
    arguments = (_sentences(texts), ["miller"], _bag([question], words)[0], _bag(texts, words))
    assert pick(*arguments, asks=asks_in_english(question), limit=1)[0].text == texts[1]


def test_a_german_question_is_answered_by_relevance_alone() -> None:
    texts = ["das wehr baute eine ingenieurin", "1899 kamen zwölf reiher nach Halden", *FILLERS]
    for question in (
        "Wann wurde das Wehr gebaut",
        "Wie viele bauten das Wehr",
        "Wer baute das Wehr",
        "Was ist ein Wehr",
    ):
        asks = asks_in_english(f"{question}?")
        assert asks.kind == ""
        words = sorted({word for text in [*texts, question] for word in text.lower().split()})
        arguments = (_sentences(texts), question.lower().split(), _bag([question], words)[0], _bag(texts, words))
        assert pick(*arguments, asks=asks) == pick(*arguments)
        assert pick(*arguments, asks=asks, limit=1)[0].text == texts[0]
