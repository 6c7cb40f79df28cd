from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from anabranch.agent.graph.answer import graph
from anabranch.cli.live_answer import LABELS, LiveAnswer, watching


def drawn(answer: LiveAnswer, *, height: int = 10) -> list[str]:
    console = Console(file=StringIO(), width=30, height=height)
    console.print(answer)
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined, no-any-return]


def test_tokens_are_put_together_above_the_status() -> None:
    answer = LiveAnswer()
    answer.token("It ro", "a")
    answer.token("se.", "a")
    answer.event({"step": "create", "status": "started"})
    lines = drawn(answer)
    assert lines[0].rstrip() == "It rose."
    assert "writing" in lines[-1]


def test_a_long_answer_shows_its_end() -> None:
    answer = LiveAnswer()
    answer.token("\n".join(f"line {number}" for number in range(100)), "a")
    lines = drawn(answer, height=10)
    assert len(lines) < 10
    assert "line 99" in lines[-2]


def test_a_refined_draft_takes_the_place_of_the_one_before() -> None:
    answer = LiveAnswer()
    answer.token("old", "a")
    answer.event({"step": "refine", "status": "revise", "answer": "new"})
    assert drawn(answer)[0].rstrip() == "new"


def test_another_message_takes_the_place_of_what_was_shown() -> None:
    answer = LiveAnswer()
    answer.token("It ro", "a")
    answer.event({"step": "create", "status": "draft", "answer": "It rose."})
    assert drawn(answer)[0].rstrip() == "It rose."
    answer.token("Verb", "b")
    answer.token("atim.", "b")
    assert drawn(answer)[0].rstrip() == "Verbatim."


def test_escape_sequences_are_not_drawn() -> None:
    answer = LiveAnswer()
    answer.token("\x1b[2Jboo", "a")
    assert not any("\x1b" in line for line in drawn(answer))


def test_every_step_has_words_for_it() -> None:
    steps = {name.split(":")[-1] for name in graph.get_graph(xray=1).nodes}
    steps = {name for name in steps if not name.startswith(("__", "review"))}
    assert steps <= set(LABELS)


def test_where_the_answer_goes_elsewhere_only_the_step_is_drawn() -> None:
    answer = LiveAnswer(shows_answer=False)
    answer.token("It rose.", "a")
    answer.event({"step": "create", "status": "started"})
    (line,) = drawn(answer)
    assert "writing" in line


def test_what_was_found_is_drawn_until_the_model_begins() -> None:
    answer = LiveAnswer()
    answer.event({"step": "create", "status": "waiting", "answer": "[1] weir.md"})
    assert drawn(answer)[0].rstrip() == "[1] weir.md"
    answer.token("It rose.", "a")
    assert drawn(answer)[0].rstrip() == "It rose."


def test_without_a_terminal_what_was_found_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    with watching(answer=True) as live:
        live.event({"step": "create", "status": "waiting", "answer": "[1] weir.md"})
        live.event({"step": "create", "status": "draft", "answer": "It rose."})
    assert capsys.readouterr() == ("", "[1] weir.md\n\n")


def test_without_a_terminal_nothing_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    with watching(answer=True) as live:
        live.token("It rose.", "a")
    assert capsys.readouterr() == ("", "")


def test_the_lists_are_counted_as_they_come_in() -> None:
    answer = LiveAnswer()
    search = {"step": "retrieve", "lists": 4}

    def status(*events: dict[str, object]) -> str:
        for event in events:
            answer.event(event)
        return drawn(answer)[-1]

    assert "of" not in status({"step": "retrieve", "status": "started"})
    assert "searching: 0 of 8 lists" in status({**search, "status": "searching"}, {**search, "status": "searching"})
    assert "searching: 4 of 8 lists" in status({**search, "status": "searched"})
    assert "lists" not in status({**search, "status": "searched"}, {"step": "grade", "status": "started"})
    # A second search.
    assert "searching: 0 of 4 lists" in status({**search, "status": "searching"})
