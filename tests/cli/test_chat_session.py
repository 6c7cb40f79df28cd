from __future__ import annotations

import asyncio
import io
import signal
from pathlib import Path
from typing import Any

import pytest

from anabranch.agent.nodes.settings import Context
from anabranch.cli.ask_turn import Request, TurnResult, turn_of
from anabranch.cli.chat_session import COMMANDS, read_lines
from tests.cli.conftest import Run
from tests.servers.loopback import Reply
from tests.servers.openai_stub import OpenAIStub

QUESTION = "What is a distributary?"


def lines(*typed: str) -> str:
    return "".join(f"{line}\n" for line in typed)


def test_a_follow_up_is_understood_and_the_sources_come_when_asked_for(run: Run, corpus: Path) -> None:
    typed = lines(QUESTION, "Does it return to the main channel?", "/sources")
    result = run("chat", "--corpus", corpus, "--thread", "chat-follows", stdin=typed)
    assert result.exit_code == 0, result.stderr
    first, second, sources = f"\n{result.stdout}".split("\n> ")[1:]
    assert first.startswith(f"{QUESTION}\n")
    assert "A distributary leaves the main channel" in first
    assert "does not return" in second
    assert "[1] rivers.md" in sources
    assert f"anabranch chat --thread chat-follows --corpus {corpus}\n" in result.stderr
    shown = run("threads", "show", "chat-follows", "--corpus", corpus).stdout
    assert f"\n{shown}".count("\n> ") == 2


def test_the_way_of_the_last_answer(run: Run, corpus: Path) -> None:
    result = run("chat", "--corpus", corpus, stdin=lines(QUESTION, "/explain"))
    for part in ("Queries", "Passages", "rivers.md", "Claims"):
        assert part in result.stdout


@pytest.mark.loopback
def test_the_explanation_has_the_prompts_of_the_last_question_alone(run: Run, corpus: Path) -> None:
    with OpenAIStub(Reply("A distributary leaves the main channel.")) as stub:
        model = ("--model", "stub", "--base-url", stub.base_url, "--set", "strategy=none")
        typed = lines("Who decoded the waggle dance?", QUESTION, "/explain", "/explain prompts")
        said = run("chat", "--corpus", corpus, *model, stdin=typed).stdout
        whole = said.partition("> /explain prompts")[2]
        shown = said.partition("> /explain\n")[2].partition("> /explain")[0]
    assert "Prompt 1 of " in shown
    assert QUESTION in shown
    assert "A distributary leaves" in shown
    assert "Queries" in shown
    assert "Queries" not in whole
    # Of a passage more than its first line.
    assert "that of the Mississippi" in whole
    assert "that of the Mississippi" not in shown


def test_another_conversation_knows_nothing_of_the_one_before(run: Run, corpus: Path) -> None:
    typed = lines(QUESTION, "/new chat-fresh", "/sources", "Does it return to the main channel?")
    result = run("chat", "--corpus", corpus, "--thread", "chat-old", stdin=typed)
    assert "There is no answer yet." in result.stderr
    for thread in ("chat-old", "chat-fresh"):
        assert f"\n{run('threads', 'show', thread, '--corpus', corpus).stdout}".count("\n> ") == 1


def test_help_names_each_command_and_quit_leaves(run: Run, corpus: Path) -> None:
    result = run("chat", "--corpus", corpus, stdin=lines("/nonsense", "/help", "/quit", QUESTION))
    assert result.exit_code == 0
    assert "Unknown command: /nonsense." in result.stderr
    for command in COMMANDS:
        assert result.stderr.count(f"\n{command} ") == 2
    assert QUESTION not in result.stdout
    assert "To continue" not in result.stderr


def test_a_question_that_cannot_be_used_does_not_end_it(run: Run, corpus: Path) -> None:
    result = run("chat", "--corpus", corpus, stdin=lines("???", "", "x" * 20_000, QUESTION))
    assert result.stderr.count("error: ") == 2
    assert "leaves the main channel" in result.stdout


@pytest.mark.parametrize(
    "wrong", [["--corpus", "/nowhere"], ["--set", "topk=3"], ["--thread", "x" * 300], ["--set", "model=nobody:x"]]
)
def test_what_no_question_could_work_with_ends_it_at_once(
    run: Run, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("chat", *([] if "--corpus" in wrong else ["--corpus", corpus]), *wrong, stdin=lines(QUESTION))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_stops_the_answer_and_not_the_chat(run: Run, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    was_cancelled = []

    async def slow_at_first(request: Request, context: Context) -> TurnResult:
        if request.question == "Wait.":
            try:
                signal.raise_signal(signal.SIGINT)
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                was_cancelled.append(request.question)
                raise
        return await turn_of(request, context)

    monkeypatch.setattr("anabranch.cli.chat_session.turn_of", slow_at_first)
    result = run("chat", "--corpus", corpus, stdin=lines("Wait.", QUESTION))
    assert (result.exit_code, was_cancelled) == (0, ["Wait."])
    assert "Stopped." in result.stderr
    assert "leaves the main channel" in result.stdout
    assert "unfinished run" not in result.stderr


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_at_a_prompt_ctrl_c_drops_the_line_and_ctrl_d_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    typed: list[Any] = ["one", KeyboardInterrupt(), " two ", "", EOFError(), "never"]
    prompts = []

    def scripted(prompt: str) -> str:
        prompts.append(prompt)
        given = typed.pop(0)
        if isinstance(given, BaseException):
            raise given
        return str(given)

    monkeypatch.setattr("builtins.input", scripted)
    monkeypatch.setattr("sys.stdin", Terminal())
    assert list(read_lines()) == ["one", "two"]
    assert typed == ["never"]
    assert set(prompts) == {""}  # standard output is none
    typed[:] = [EOFError()]
    monkeypatch.setattr("sys.stdout", Terminal())
    assert list(read_lines()) == []
    assert prompts[-1] == "> "


def test_the_commands_to_copy_are_not_broken_by_a_narrow_terminal(
    run: Run, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes this for a terminal
    result = run("chat", "--corpus", corpus, "--thread", "narrow", stdin=lines(QUESTION))
    assert f"anabranch chat --thread narrow --corpus {corpus}" in result.stderr
