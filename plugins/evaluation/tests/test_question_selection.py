from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from anabranch_evaluation.collection import read_collection
from anabranch_evaluation.question_selection import Question, QuestionPool, choose_questions, pool_of, spread
from anabranch_evaluation.score_tables import AnswerTable
from plugins.evaluation.tests.made import ASKED, make_collection, write_lines

TABLE = AnswerTable(kind="answers", title="T", collections=("a", "b", "c"), questions=2, elsewhere=4, removed=1)


def _pool(name: str, count: int = 5) -> QuestionPool:
    own = tuple(Question(f"{name}{n}", f"{name} {n}?") for n in range(count))
    return QuestionPool(
        own, (Question("m", "?", "marked"),), {f"{name}1": ("d1",), f"{name}2": ("d1", "d2")}, documents=10
    )


def test_a_collection_is_asked_its_own_the_others_and_what_was_removed() -> None:
    pools = {name: _pool(name) for name in "abc"}
    asked = choose_questions("a", pools, TABLE)
    assert [each.id for each in asked if each.kind == "own"] == ["a0", "a2"]
    assert [each.id for each in asked if each.kind == "marked"] == ["m"]
    assert [each.id for each in asked if each.kind == "elsewhere"] == ["b/b0", "b/b2", "c/c0", "c/c2"]
    (removed,) = [each for each in asked if each.kind == "removed"]
    assert removed.filters == {"not": {"key": {"in": ["d1"]}}}  # two of ten documents would be too many
    assert asked == choose_questions("a", pools, TABLE)


def test_a_collection_alone_is_asked_nothing_of_others() -> None:
    asked = choose_questions("a", {"a": _pool("a")}, TABLE)
    assert {each.kind for each in asked} == {"own", "marked", "removed"}


def test_questions_that_say_so_have_no_answer(tmp_path: Path) -> None:
    folder = make_collection(tmp_path / "animals")
    rows = [{"_id": key, "text": text, "answer": "x"} for key, text in ASKED.items()]
    write_lines(folder / "queries.jsonl", [*rows, {"_id": "u", "text": "Who won?", "unanswerable": True}])
    pool = pool_of(read_collection(folder), documents=4)
    assert [each.id for each in pool.own] == list(ASKED)
    assert [each.id for each in pool.marked] == ["u"]
    assert pool.own[0].gold.answers == ("x",)
    assert pool.relevant["q1"] == ("otters",)


@given(st.lists(st.integers(), max_size=30), st.integers(0, 40))
def test_a_sample_is_spread_in_order_without_repetition(items: list[int], most: int) -> None:
    chosen = spread(list(enumerate(items)), most)
    assert len(chosen) == min(len(items), most)
    assert chosen == sorted(set(chosen))
