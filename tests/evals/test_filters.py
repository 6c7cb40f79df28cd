"""What the table of filters measures: papers that are what their questions say, and proposals of each group."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from evals.filters import __main__ as filters
from evals.filters.made_papers import GROUPS, PER_GROUP, make_papers, make_questions


def test_the_papers_are_the_same_each_time_and_do_not_say_their_metadata() -> None:
    papers = make_papers(random.Random(1))
    assert papers == make_papers(random.Random(1))
    for paper in papers:
        if paper["kind"] != "handbook":
            assert paper["kind"] not in paper["text"]
    texts = {paper["id"]: paper for paper in papers}
    questions = list(make_questions(papers, random.Random(2)))
    assert {group: sum(each.group == group for each in questions) for group in GROUPS} == dict.fromkeys(
        GROUPS, PER_GROUP
    )
    for each in questions:
        assert each.gold <= texts.keys()
        assert each.gold
        assert bool(each.proposed) == (each.group != "none")


@pytest.mark.slow
def test_a_filter_helps_where_it_is_right_and_is_gone_where_it_is_wrong(tmp_path: Path) -> None:
    corpus, questions = filters._make_corpus(tmp_path)
    first = {group: next(each for each in questions if each.group == group) for group in GROUPS}
    stood = {group: filters._measure(question, corpus) for group, question in first.items()}
    rows = list(filters._rows(list(stood.values())))
    assert [row[1] for row in rows] == ["1"] * len(GROUPS)
    assert [narrowed["inferred_filter"] != "" for _, _, narrowed in stood.values()][1:4] == [False] * 3
    assert [row[-1] for row in rows][:4] == ["0"] * 4
