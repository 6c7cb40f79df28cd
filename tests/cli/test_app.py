from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.models import CommandInfo

import anabranch
from anabranch.cli import main
from anabranch.cli.app import app
from anabranch.cli.failures import guarded
from anabranch.cli.output import results
from tests.cli.conftest import Run

COMMANDS = [
    "ingest",
    "ask",
    "search",
    "eval",
    "corpus",
    "corpus stats",
    "corpus verify",
    "corpus rebuild",
    "corpus remove",
    "chat",
    "threads",
    "threads list",
    "threads show",
    "threads delete",
    "threads export",
    "doctor",
]
HEAVY = ("langgraph", "langchain_core", "faiss", "onnxruntime", "numpy", "pydantic")


def cli(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "anabranch.cli", *arguments]


def test_the_version(run: Run) -> None:
    assert run("--version").stdout == f"anabranch {anabranch.__version__}\n"


def test_help_names_the_commands(run: Run) -> None:
    result = run("--help")
    assert result.exit_code == 0
    for command in ("ingest", "ask", "search", "corpus", "doctor"):
        assert command in result.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_an_example(run: Run, command: str) -> None:
    result = run(*command.split(), "-h")
    assert result.exit_code == 0
    if command not in ("corpus", "corpus verify", "threads"):
        assert "Example" in result.stdout
        assert f"anabranch {command}" in result.stdout


def test_no_command_shows_help_and_an_unknown_one_is_a_mistake(run: Run) -> None:
    assert "Usage" in run().stdout + run().stderr
    assert run("fly").exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "first"),
    [("search -h", ["search"]), ("eval -h", ["evaluate"]), ("key new -h", ["new"]), ("--help", ["ingest", "work"])],
)
def test_only_the_command_that_is_run_is_built(
    arguments: str, first: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    built, build = [], typer.main.get_command_from_info

    def noted(*, command_info: CommandInfo, **more: Any) -> Any:
        built.append(command_info.callback.__name__)
        return build(command_info=command_info, **more)

    monkeypatch.setattr(typer.main, "get_command_from_info", noted)
    monkeypatch.setattr(sys, "argv", ["anabranch", *arguments.split()])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert "Usage" in capsys.readouterr().out
    assert built[:2] == first
    assert len(app.registered_commands) > 5


def test_help_imports_nothing_heavy_and_ingest_nothing_of_langgraph(tmp_path: Path) -> None:
    (tmp_path / "weir.md").write_text("The weir was built in 1931.")
    probe = f"""
import sys, anabranch.cli
print([name for name in {HEAVY!r} if name in sys.modules])
anabranch.cli.app.app(["ingest", "weir.md", "--corpus", "c", "--json"], standalone_mode=False)
print([name for name in {HEAVY!r} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", probe], cwd=tmp_path, capture_output=True, text=True, check=False)
    help_alone, *_, ingested = done.stdout.splitlines()
    assert help_alone == "[]", done.stderr
    assert "faiss" in ingested, done.stderr
    assert "lang" not in ingested


def test_a_reader_that_has_gone_ends_it_quietly(corpus: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        cli("corpus", "stats", "--corpus", str(corpus), "--json"), stdout=writing, stderr=subprocess.PIPE, text=True
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


class Gone(io.StringIO):
    """Standard output whose reader has left, or one that is read while something else broke."""

    def __init__(self, *, is_read: bool) -> None:
        super().__init__()
        self._is_read = is_read

    def flush(self) -> None:
        if not self._is_read:
            raise BrokenPipeError


@pytest.mark.parametrize(("is_read", "code"), [(False, 0), (True, 1)])
def test_only_a_reader_that_has_gone_is_no_failure(monkeypatch: pytest.MonkeyPatch, is_read: bool, code: int) -> None:
    def breaks() -> None:
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr("sys.stdout", Gone(is_read=is_read))
    with pytest.raises(typer.Exit) as ended:
        guarded(breaks)()
    assert ended.value.exit_code == code


def test_a_table_ends_quietly_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", Gone(is_read=False))
    with pytest.raises(typer.Exit) as ended:
        guarded(lambda: results().print("a line"))()
    assert ended.value.exit_code == 0


def test_text_leaves_as_utf_8_whatever_the_locale(corpus: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    (tmp_path / "—río—").symlink_to(corpus)
    command = cli("corpus", "stats", "--corpus", str(tmp_path / "—río—"))
    done = subprocess.run(command, capture_output=True, env=environment, check=True)
    assert "—río—" in done.stdout.decode("utf-8")
