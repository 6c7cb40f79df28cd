"""The choice of how to write an answer."""

from __future__ import annotations

import pytest

from anabranch.choices import aggregative, choose, flat


def _choose(**changes: object) -> str:
    given: dict[str, object] = {"windows": 3, "question": "Who drove?", "sources": 1, "scores": [1.0, 0.2, 0.1]}
    return choose(**{**given, **changes}).name  # type: ignore[arg-type]


def test_one_window_needs_one_call() -> None:
    assert _choose(windows=1) == "create"
    assert _choose(windows=1, question="List all initiatives") == "create"


def test_focused_evidence_is_refined() -> None:
    assert _choose() == "refine"


@pytest.mark.parametrize(
    "question",
    ["List every initiative", "How many models were trained?", "Summarise the report", "Compare 2020 and 2021"],
)
def test_a_question_that_gathers_is_mapped(question: str) -> None:
    assert aggregative(question)
    assert _choose(question=question) == "map_reduce"


def test_evidence_spread_over_many_sources_is_mapped() -> None:
    spread = {"sources": 4, "scores": [1.0, 0.95, 0.9, 0.9, 0.85]}
    assert flat([1.0, 0.95, 0.9, 0.9, 0.85])
    assert _choose(**spread) == "map_reduce"
    assert _choose(**{**spread, "sources": 3}) == "refine"
    assert _choose(**{**spread, "scores": [1.0, 0.3, 0.2, 0.1, 0.1]}) == "refine"


def test_a_long_chain_is_not_walked() -> None:
    assert _choose(windows=6) == "refine"
    assert _choose(windows=7) == "map_reduce"


@pytest.mark.parametrize("synthesis", ["refine", "map_reduce"])
def test_an_explicit_choice_wins(synthesis: str) -> None:
    assert _choose(synthesis=synthesis, question="List all") == synthesis


def test_stuff_is_one_call() -> None:
    assert _choose(synthesis="stuff", windows=9) == "create"


def test_without_a_model_the_answer_is_composed_and_says_so() -> None:
    choice = choose(windows=5, question="x", sources=1, scores=[1.0], has_model=False)
    assert choice.name == "compose"
    assert "verbatim" in choice.reasons[0]


def test_reasons_are_given_for_every_route() -> None:
    for windows in (1, 3, 9):
        assert choose(windows=windows, question="Who?", sources=2, scores=[1.0, 0.1]).reasons
