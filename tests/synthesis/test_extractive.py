"""Answers made of verbatim sentences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anabranch.synthesis.english_question_type import asks_in_english
from anabranch.synthesis.extractive import Sentence, pick, without_references


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


def test_a_documents_own_references_are_no_citations() -> None:
    assert without_references("As shown before [12], this holds [3, 7].") == "As shown before, this holds."
    assert without_references("Nothing to do [here].") == "Nothing to do [here]."
