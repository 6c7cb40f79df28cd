"""What the guide shows of the command line is what the program prints.

A block of a page is run where `<!-- a test runs this -->` stands before it, in a folder with `notes` and, unless the
block ingests, a corpus of them: `$ anabranch` and `$ python -m` are run, and what `$ cat` shows is written to that
file. A line `...` stands for any lines, and the lines of a chat that begin with `> ` are what is typed. Where a block
has a model of this machine, a stub says what is written here.
"""

from __future__ import annotations

import re
import shlex
import shutil
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from anabranch.cli.app import app
from anabranch.safety.operator import environment
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import route
from tests.shared_fixtures import REPOSITORY
from tests.test_readme import NOTES

BLOCK = re.compile(r"^<!-- a test runs this -->\n```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECONDS = re.compile(r"\d+\.\d s\b")
TYPED = re.compile(r"^> (.*)$", re.MULTILINE)

OLLAMA = "http://127.0.0.1:11434/v1"
WRITTEN = (
    "The landlord pays for the service of the boiler. The plumber services the boiler each October. "
    "It costs 120 euros a year."
)
"""An answer with a claim of each grade."""
QUERIES = "Who pays for servicing the boiler?"


def blocks() -> list[pytest.param]:  # type: ignore[valid-type]
    found = []
    for page in sorted((REPOSITORY / "docs").glob("*.md")):
        for number, block in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")), start=1):
            # A server that is not there is asked on this machine.
            marks = [pytest.mark.loopback] if "--base-url" in block else []
            found.append(pytest.param(block, id=f"{page.name}-{number}", marks=marks))
    return found


@pytest.fixture(scope="module")
def noted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `notes`, two more files that cannot be read, and a corpus of the notes."""
    from anabranch.ingestion.pipeline import ingest

    folder = tmp_path_factory.mktemp("console")
    (folder / "notes").mkdir()
    for name, text in NOTES.items():
        (folder / "notes" / name).write_text(textwrap.dedent(text), encoding="utf-8")
    ingest(folder / "notes", folder / "notes.corpus")
    for name in ("empty.pdf", "movie.mp4"):
        (folder / "notes" / name).touch()
    return folder


def lines_of(text: str) -> list[str]:
    lines = [line.rstrip() for line in SECONDS.sub("N s", text).splitlines()]
    return "\n".join(lines).strip("\n").splitlines()


def is_as_shown(printed: list[str], shown: list[str]) -> bool:
    """Tell whether the lines are those shown; `...` in these stands for any number of lines."""
    if not shown:
        return not printed
    if shown[0] == "...":
        return any(is_as_shown(printed[at:], shown[1:]) for at in range(len(printed) + 1))
    return bool(printed) and printed[0] == shown[0] and is_as_shown(printed[1:], shown[1:])


@contextmanager
def with_its_model(block: str) -> Iterator[str]:
    """Yield the block with a stub in the place of the model that it has on this machine."""
    if OLLAMA not in block:
        yield block
        return
    with OpenAIStub(route({"You answer a question": WRITTEN}, default=QUERIES)) as stub:
        yield block.replace(OLLAMA, stub.base_url)


@pytest.mark.parametrize("block", blocks())
def test_a_block_is_what_the_program_prints(
    block: str, noted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(noted, tmp_path, dirs_exist_ok=True)
    if "$ anabranch ingest" in block:
        shutil.rmtree(tmp_path / "notes.corpus")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    with with_its_model(block) as asked:
        run_steps(re.split(r"^\$ ", asked, flags=re.MULTILINE)[1:])


def run_steps(steps: list[str]) -> None:
    assert any(not step.startswith("cat ") for step in steps)
    for step in steps:
        command, _, shown = step.partition("\n")
        program, *arguments = shlex.split(command)
        if program == "cat":
            (file,) = arguments
            Path(file).parent.mkdir(exist_ok=True)
            Path(file).write_text(shown, encoding="utf-8")
            continue
        environment.cache_clear()
        printed = printed_by(program, arguments, shown)
        assert is_as_shown(lines_of(printed), lines_of(shown)), f"{command} prints:\n{printed}"


def printed_by(program: str, arguments: list[str], shown: str) -> str:
    """Run a command within this process; a module by the function that its command line is made of."""
    if program == "python":
        flag, module, *arguments = arguments
        assert flag == "-m"
        commands = typer.Typer()
        commands.command()(import_module(module).main)
        return CliRunner().invoke(commands, arguments).stdout
    assert program == "anabranch"
    typed = "".join(f"{line}\n" for line in TYPED.findall(shown)) if arguments[0] == "chat" else None
    return CliRunner().invoke(app, arguments, input=typed).output


def test_every_console_block_of_the_guide_is_run() -> None:
    pages = {page.name: page.read_text(encoding="utf-8") for page in (REPOSITORY / "docs").rglob("*.md")}
    for name, text in pages.items():
        assert len(BLOCK.findall(text)) == text.count("```console"), name
    assert len(blocks()) == sum(text.count("```console") for text in pages.values()) >= 9


def test_lines_that_are_left_out_are_any_and_the_others_are_not() -> None:
    assert is_as_shown(["a", "b", "c"], ["a", "...", "c"])
    assert is_as_shown(["a"], ["...", "a", "..."])
    assert not is_as_shown(["a", "b"], ["a"])
    assert not is_as_shown(["a", "b"], ["...", "a"])
