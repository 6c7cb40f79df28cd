"""Every Python block of the README and of the guide runs, page by page, in a folder with two notes."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

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


def pages() -> list[Path]:
    found = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
    return [page for page in found if BLOCK.search(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
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


def test_the_readme_and_the_guide_have_blocks_that_run() -> None:
    assert {"README.md", "code.md"} <= {page.name for page in pages()}
