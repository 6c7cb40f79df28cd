"""The README and the guide keep their word: every Python block runs, and the first example is real."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from anabranch.cli.app import app
from tests.shared_fixtures import REPOSITORY

README = REPOSITORY / "README.md"

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
"""Blocks marked `python no-run` need a server; tests of their own stand for them."""

NOTES = {
    "boiler.md": """\
        # The boiler

        ## Service

        The boiler is serviced every October by the plumber. The landlord pays for the service of the boiler.

        ## Pressure

        The pressure of the boiler should stand between 1 and 1.5 bar when it is cold.
        """,
    "keys.md": """\
        # Keys

        The neighbour in number 12 has the spare key to the front door. The key to the shed hangs behind the kitchen
        door.
        """,
}


def pages_with_blocks() -> list[Path]:
    found = [README, *sorted((REPOSITORY / "docs").glob("*.md"))]
    return [page for page in found if BLOCK.search(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", pages_with_blocks(), ids=lambda page: page.name)
def test_the_python_blocks_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes").mkdir()
    for name, text in NOTES.items():
        (tmp_path / "notes" / name).write_text(textwrap.dedent(text), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": "__main__"}
    for found in BLOCK.finditer(text):
        line = text[: found.start(1)].count("\n")
        # Empty lines in front, so that a traceback names the line of the page.
        exec(compile("\n" * line + found[1], str(page), "exec"), names)
    shown = capsys.readouterr().out
    assert "October" in shown
    assert "neighbour" in shown


def test_no_example_of_putting_it_into_other_code_takes_more_than_twenty_lines() -> None:
    text = (REPOSITORY / "docs" / "embedding.md").read_text(encoding="utf-8")
    lengths = [len(block.strip().splitlines()) for block in BLOCK.findall(text)]
    assert len(lengths) >= 8
    assert max(lengths) <= 20


def test_the_small_picture_has_only_steps_of_the_graph() -> None:
    from anabranch.agent.graph.answer import graph

    (drawn,) = re.findall(r"^```mermaid\n(.*?)^```$", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    boxes = re.sub(r"\[.*?\]|-- .*? -->|-\. .*? \.->|graph LR", " ", drawn)
    steps = {name.rpartition(":")[2] for name in graph.get_graph(xray=1).nodes}
    assert set(re.findall(r"\w+", boxes)) - {"question", "bm25", "dense"} < steps


def test_the_readme_and_the_guide_have_blocks_that_run() -> None:
    assert {"README.md", "code.md"} <= {page.name for page in pages_with_blocks()}


SOME = ("answering.md", "getting-started.md", "index.md")
"""Pages that speak of what the example asks for; to embed all of them takes half a minute."""

MOST = 24_000
"""Characters of each of these that are read: the example asks for nothing behind them."""


def test_the_figures_of_the_small_model_are_those_of_the_table() -> None:
    page = (REPOSITORY / "evals" / "synthesis.md").read_text(encoding="utf-8")
    (line,) = [line for line in README.read_text(encoding="utf-8").splitlines() if "evals/synthesis.md" in line]
    for table in ("paragraph-marks", "test-marks"):
        right, *_, refused, marked, _ = _row(page, table, "Anabranch stuff")
        (few, all_of), (more, _) = (cell.split(" of ") for cell in (refused, marked))
        assert f"Anabranch {right} and {int(few) + int(more)} of {all_of}" in line
    right, _, _, refused, *_ = _row(page, "test", "LlamaIndex compact")
    assert f"LlamaIndex {right} and {refused}" in line


def _row(page: str, table: str, system: str) -> list[str]:
    """Return the cells of a system behind its name."""
    rows = page.partition(f"<!-- synthesis-{table} -->")[2].partition(f"<!-- /synthesis-{table} -->")[0].splitlines()
    (row,) = [row.strip("| ").split(" | ") for row in rows if row.startswith(f"| {system} |")]
    return row[1:]


@pytest.mark.slow
@pytest.mark.parametrize("pages", [SOME, pytest.param(("**/*.md",), marks=pytest.mark.exhaustive)], ids=len)
def test_the_first_example_is_what_make_ask_prints(
    pages: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`make ask` takes the guide in and asks the question of the Makefile."""
    for page in (found for pattern in pages for found in (REPOSITORY / "docs").glob(pattern)):
        place = tmp_path / page.relative_to(REPOSITORY)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(page.read_text(encoding="utf-8")[: MOST if pages == SOME else None], encoding="utf-8")
    (question,) = re.findall(r"^Q +\?= (.+)$", (REPOSITORY / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    (example,) = re.findall(r"^\$ make ask\n(.*?)^```$", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    for name in [name for name in os.environ if name.startswith("ANABRANCH_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    corpus = str(tmp_path / "corpus")
    done = CliRunner().invoke(app, ["ask", question, "--docs", "docs", "--corpus", corpus])
    assert done.exit_code == 0, done.output
    begin, omission, end = example.partition("[...]\n")
    assert "\n[1] " in begin and omission
    whole = f"{begin}{done.stdout[len(begin) : -len(end)]}{end}"
    assert done.stdout == whole, "the guide or the program has changed: put what it prints into README.md"
    # The next command of the README asks the corpus that the Makefile names after `docs`.
    (following,) = re.findall(
        r"^anabranch (ask .+) --corpus \.anabranch/docs$", README.read_text("utf-8"), re.MULTILINE
    )
    done = CliRunner().invoke(app, [*shlex.split(following), "--corpus", corpus])
    assert "[1]" in done.stdout, done.output


def test_the_makefile_says_what_takes_long_before_it_is_silent() -> None:
    lines = (REPOSITORY / "Makefile").read_text(encoding="utf-8").splitlines()
    silent = [number for number, line in enumerate(lines) if "pip install --quiet" in line]
    assert len(silent) == 5
    for number in silent:
        assert lines[number - 1].startswith('\t@echo "Installing')


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """What `make` does in a folder with this Makefile, in which everything that `make ask` needs is installed."""
    if (make := shutil.which("make")) is None:
        pytest.skip("make is not installed")
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copyfile(REPOSITORY / name, tmp_path / name)
    (tmp_path / "tests/servers").mkdir(parents=True)
    (tmp_path / "tests/servers/requirements.txt").touch()
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv/bin").symlink_to(Path(sys.executable).parent)
    (tmp_path / ".venv/.ask").touch()
    # The tests are themselves started by a `make`, which tells those within it what it was told.
    alone = {name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MAKELEVEL", "MFLAGS"}}
    return lambda *words: subprocess.run(
        [make, *words], cwd=tmp_path, env=alone, capture_output=True, text=True, check=False, timeout=120
    )


def test_the_development_server_installs_nothing_of_the_tests(
    made: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    # Without `--dry-run`, it would install.
    assert re.findall(r"-e '\.\[(\w+)\]'", made("--dry-run", "dev").stdout) == ["server"]
    assert re.findall(r"-e '\.\[(\w+)\]'", made("--dry-run", "test").stdout) == ["server", "dev"]


def test_a_folder_that_is_missing_is_not_said_to_be_ingested(
    made: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    done = made("ask", "DOCS=no-such-folder")
    assert done.returncode != 0
    assert done.stdout == ""
    assert "no-such-folder" in done.stderr
