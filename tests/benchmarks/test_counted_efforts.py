"""The figures of the table of efforts: of the efforts that there are, and counted as what was asked."""

from __future__ import annotations

import json
from pathlib import Path

from anabranch.agent.nodes.efforts import EFFORTS
from anabranch.ingestion.pipeline import ingest
from benchmarks.efforts import REPORT, list_questions, measure
from tests.shared_fixtures import REPOSITORY


def test_the_table_has_figures_of_every_effort_and_quick_is_one_short_call() -> None:
    figures = json.loads(REPORT.read_text("utf-8"))
    assert list(figures) == ["questions", *EFFORTS]
    assert figures["questions"] == 25
    assert figures["quick"]["calls"] == figures["quick"]["most_calls"] == 1
    assert figures["quick"]["prompt_tokens"] < 1_300


def test_calls_and_tokens_are_those_of_the_prompts(tmp_path: Path) -> None:
    ingest([REPOSITORY / "tests" / "samples"], tmp_path / "corpus")
    figures = measure(str(tmp_path / "corpus"), ["Who built the Halden weir?"], lambda text: len(text.split()))
    assert figures["quick"]["most_calls"] == 1
    assert figures["normal"]["most_calls"] == 2
    assert figures["deep"]["most_calls"] > 3
    firsts = [figures[effort]["first_tokens"] for effort in EFFORTS]
    assert firsts == sorted(firsts)
    assert firsts[0] > 50


def test_questions_are_headings_spread_over_the_guide() -> None:
    questions = list_questions(REPOSITORY / "docs")
    assert len(set(questions)) == 25
    assert all(question.startswith("How ") and question.endswith("?") for question in questions)
