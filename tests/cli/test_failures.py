from __future__ import annotations

import asyncio
import signal
import warnings
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest
import typer
from langgraph.graph import START, StateGraph

from anabranch.cli.failures import exit_code, guarded, innermost, interruptible, paragraph
from anabranch.errors import ModelError, QuestionError
from anabranch.safety.operator import environment


def test_ours_are_told_with_their_hint_on_one_line() -> None:
    assert paragraph(QuestionError("The question\nis empty.", hint="Ask one.")) == "The question is empty. Ask one."


@pytest.mark.parametrize(
    ("error", "code"), [(QuestionError("x"), 2), (ModelError("x"), 1), (OSError("x"), 1), (ValueError("x"), 1)]
)
def test_exit_codes(error: Exception, code: int) -> None:
    assert exit_code(error) == code


def test_a_group_is_opened() -> None:
    group = ExceptionGroup("branches", [ExceptionGroup("inner", [ValueError("y"), QuestionError("no words")])])
    assert exit_code(group) == 2
    assert paragraph(group) == "no words"


def test_a_wrapped_error_of_ours_is_found() -> None:
    wrapped = RuntimeError("node failed")
    wrapped.__cause__ = QuestionError("no words")
    assert isinstance(innermost(wrapped), QuestionError)


def test_ours_is_not_replaced_by_its_cause() -> None:
    error = ModelError("down")
    error.__cause__ = ConnectionError("refused")
    assert paragraph(error) == "down"


def test_a_bug_says_how_to_see_more() -> None:
    assert "KeyError: 'x'" in paragraph(KeyError("x"))
    assert "ANABRANCH_DEBUG=1" in paragraph(KeyError("x"))


def test_missing_modules_point_to_the_doctor() -> None:
    assert "anabranch doctor" in paragraph(ModuleNotFoundError("No module named 'anabranch.agent.nodes'"))


def warned(around: AbstractContextManager[None]) -> set[str]:
    """Press Ctrl-C while a step of a graph waits for another; return what is warned of."""

    async def step(_: dict[str, Any]) -> None:
        signal.raise_signal(signal.SIGINT)
        await asyncio.Event().wait()

    steps = StateGraph(dict).add_node("one", step).add_node("two", step)
    graph = steps.add_edge(START, "one").add_edge(START, "two").compile()

    async def run() -> None:
        async for _ in graph.astream({}, {"max_concurrency": 1}):
            pass

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with pytest.raises(KeyboardInterrupt), around:
            asyncio.run(run())
    return {str(each.message) for each in seen}


def test_ctrl_c_shows_nothing_of_the_steps_that_langgraph_drops() -> None:
    assert warned(nullcontext()) == {"coroutine 'arun_with_retry' was never awaited"}
    assert warned(interruptible()) == set()


def test_a_coroutine_of_our_own_that_nobody_awaits_is_warned_of() -> None:
    async def forgotten() -> None: ...

    with interruptible(), pytest.warns(RuntimeWarning, match="forgotten"):
        forgotten()


def failing(error: BaseException) -> None:
    raise error


def test_no_traceback_unless_it_was_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for debug, expected in (("", False), ("0", False), ("1", True)):
        monkeypatch.setenv("ANABRANCH_DEBUG", debug)
        environment.cache_clear()  # as in a process of its own
        with pytest.raises(typer.Exit) as caught:
            guarded(failing)(QuestionError("no words"))
        out, err = capsys.readouterr()
        assert (caught.value.exit_code, out) == (2, "")
        assert "error: no words" in err
        assert ("Traceback" in err) is expected


def test_ctrl_c_has_its_own_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as caught:
        guarded(failing)(KeyboardInterrupt())
    assert caught.value.exit_code == 130
    assert "Interrupted" in capsys.readouterr().err


def test_escape_sequences_in_messages_do_not_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit):
        guarded(failing)(ModelError("\x1b[31mred\x1b[0m \x1b]0;title\x07"))
    assert "\x1b" not in capsys.readouterr().err
