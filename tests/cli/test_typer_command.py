from __future__ import annotations

import pytest

from tests.cli.conftest import Run
from tests.cli.test_app import COMMANDS


@pytest.mark.parametrize("command", ["", *COMMANDS, "serve", "mcp", "work", "key new"])
def test_help_shows_a_flag_as_a_flag(run: Run, command: str) -> None:
    shown = run(*command.split(), "--help").stdout
    assert "--help" in shown
    assert "<bool>" not in shown
    assert "<int range>" not in shown


@pytest.mark.parametrize(
    ("option", "said"),
    [("--topk", "--set top_k=VALUE"), ("--fusoin", "--set fusion=VALUE"), ("--modle", "--model"), ("--zzz", "--zzz")],
)
def test_an_option_that_is_a_setting_gets_its_spelling(run: Run, option: str, said: str) -> None:
    for command in ("ask", "search", "chat"):
        result = run(command, "x", option, "3", env={"COLUMNS": "200"})
        assert result.exit_code == 2
        assert said in result.stderr
        assert ("--set" in result.stderr) == ("--set" in said)


def test_a_command_without_settings_suggests_none(run: Run) -> None:
    assert "--set" not in run("ingest", "x", "--topk", "3").stderr


@pytest.mark.parametrize("option", ["--set", "--corpus", "-k"])
def test_an_option_without_its_value_is_told_of(run: Run, option: str) -> None:
    result = run("search", "rent", option)
    assert result.exit_code == 2
    assert f"Option '{option}' requires an argument." in result.stderr


@pytest.mark.parametrize("command", ["ask", "search"])
def test_a_question_without_quotes_is_told_what_it_lacks(run: Run, command: str) -> None:
    result = run(command, "What", "is", "the", "rent", env={"COLUMNS": "200"})
    assert result.exit_code == 2
    assert "(is the rent). Put the question in quotes." in result.stderr
    assert "quotes" not in run("doctor", "is", "it").stderr
