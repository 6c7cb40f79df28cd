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


@pytest.mark.parametrize(
    ("command", "ways"),
    [
        ("ask q --no-inferred-filter --set infer_filter=true", ("--no-inferred-filter", "--set infer_filter=")),
        ("chat --no-inferred-filter --set infer_filter=true", ("--no-inferred-filter", "--set infer_filter=")),
        ("ask q -k 3 --set top_k=5", ("-k", "--set top_k=")),
        ("search q -k 3 --set top_k=5", ("-k", "--set top_k=")),
        ("ask q --effort quick --set effort=deep", ("--effort", "--set effort=")),
        ("ask q --coverage corpus --set coverage=document", ("--coverage", "--set coverage=")),
        ("ask q --rows rows.csv --set synthesis=create", ("--rows", "--set synthesis=")),
        ("ask q --docs . --set corpus=other", ("--docs", "--set corpus=")),
        ("search q --set top_k=5 --set top_k=2", ("--set top_k=",)),
        ("ask --questions q --out a -k 3 --set top_k=2", ("-k", "--set top_k=")),
        ("eval . --set top_k=5 --set top_k=2", ("--set top_k=",)),
    ],
)
def test_a_setting_given_twice_is_refused_in_one_line(run: Run, command: str, ways: tuple[str, ...]) -> None:
    result = run(*command.split())
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert "is given twice" in result.stderr
    assert all(way in result.stderr for way in ways)


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("search q -k 3 -k 5", "-k"),
        ("ask q --corpus a -c b", "--corpus/-c"),
        ("ingest . --prune --no-prune", "--prune/--no-prune"),
        ("corpus stats --json --json", "--json"),
        ("threads list -c a -c a", "--corpus/-c"),
        ("serve --port 1 --port 2", "--port"),
    ],
)
def test_an_option_given_twice_is_refused(run: Run, command: str, option: str) -> None:
    result = run(*command.split(), env={"COLUMNS": "200"})
    assert result.exit_code == 2
    assert f"The option {option} is given twice." in result.stderr


def test_an_option_that_may_be_repeated_is_taken_as_often_as_it_is_given(run: Run) -> None:
    result = run("search", "q", "--corpus", "none", "--set", "top_k=3", "--set", "alpha=0.5")
    assert "twice" not in result.stderr
