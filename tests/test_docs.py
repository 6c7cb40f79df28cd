"""The guide says what the code says."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from anabranch import errors
from anabranch.agent.nodes.settings import Context
from tests.shared_fixtures import REPOSITORY

DOCS = REPOSITORY / "docs"


def test_the_generated_parts_and_the_links_are_current() -> None:
    command = [sys.executable, str(REPOSITORY / "scripts" / "docs.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_setting_is_in_the_table_of_settings() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", (DOCS / "settings.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert [name for name in Context.model_fields if name not in rows] == []


def _error_types() -> list[type[errors.AnabranchError]]:
    found = [value for _, value in inspect.getmembers(errors, inspect.isclass)]
    return [value for value in found if issubclass(value, errors.AnabranchError)]


@pytest.mark.parametrize("error", _error_types(), ids=lambda error: error.__name__)
def test_every_error_is_in_the_table_of_errors(error: type[errors.AnabranchError]) -> None:
    table = [line for line in (DOCS / "troubleshooting.md").read_text(encoding="utf-8").splitlines() if line[:1] == "|"]
    assert any(f"`{error.code}`" in line and f"`{error.__name__}`" in line for line in table)


def test_every_setting_that_the_guide_names_exists() -> None:
    """Settings are written in the guide as `name=value`."""
    named = {
        name
        for page in DOCS.glob("*.md")
        for name in re.findall(r"(?:`|--set )'?([a-z_]+)=[^`\s]", page.read_text(encoding="utf-8"))
    }
    assert (
        named - {"context", "retrievers", "command", "input", "key", "name", "durability"} - set(Context.model_fields)
        == set()
    )
    assert len(named & set(Context.model_fields)) > 5


def test_the_tests_that_the_threat_model_names_exist() -> None:
    page = (DOCS / "threat-model.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:plugins/\w+/)?tests/[\w/.]+)`", page)
    assert len([name for name in named if name.startswith("plugins/")]) > 5
    assert [name for name in named if not (REPOSITORY / name).exists()] == []


def test_every_step_that_can_be_degraded_is_in_the_table() -> None:
    files = [*(REPOSITORY / "nodes").rglob("*.py"), *(REPOSITORY / "graph").rglob("*.py")]
    code = "\n".join(path.read_text(encoding="utf-8") for path in files)
    steps = set(re.findall(r"""degraded\(f?["']([a-z]+)""", code))
    assert {"model", "fuse", "cite", "refine"} <= steps
    guide = (DOCS / "troubleshooting.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^\| step \| what was done instead \|\n((?:\|.*\n)+)", guide, flags=re.MULTILINE)
    assert steps <= set(re.findall(r"`([a-z]+)(?::\w+)?`(?=[^|]*\|)", table))


RECORDS = sorted((DOCS / "adr").glob("*.md"))


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_a_decision_record_is_short_and_says_what_holds_today(record: Path) -> None:
    text = record.read_text(encoding="utf-8")
    headings = re.findall(r"^## (\w+)", text, flags=re.MULTILINE)
    assert {"Context", "Decision", "Consequences"} <= set(headings)
    assert len(text.splitlines()) <= 80
    (status,) = re.findall(r"^Status: (.+?)\n\n", text, flags=re.MULTILINE | re.DOTALL)
    assert status.startswith("accepted.") or "What holds today:" in status


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_the_files_that_a_decision_record_names_exist(record: Path) -> None:
    folders = "anabranch|plugins|graph|nodes|prompts|tests|evals|benchmarks"
    named = re.findall(rf"`((?:{folders})/[\w/.]*)`", record.read_text(encoding="utf-8"))
    assert [name for name in named if not (REPOSITORY / name).exists()] == []


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.name)
def test_every_code_block_is_closed_and_has_a_language(page: Path) -> None:
    fences = re.findall(r"^```(.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert all(fences[0::2])
    assert not any(fences[1::2])
    assert len(fences) % 2 == 0


ROW = re.compile(r"^\| .+ \[[^\]]+\]\(\.\./((?:evals|benchmarks)/\w[\w-]*\.md)\) \|$", re.MULTILINE)
FIGURE = re.compile(r"\d[\d.,]*(?: of \d+)?")


def test_the_figures_of_the_comparison_stand_in_the_tables_that_they_are_linked_to() -> None:
    found = list(ROW.finditer((DOCS / "why.md").read_text(encoding="utf-8")))
    assert len(found) >= 6
    for row in found:
        _, what, ours, theirs, *_ = [cell.strip() for cell in row[0].split("|")]
        table = (REPOSITORY / row[1]).read_text(encoding="utf-8")
        figures = FIGURE.findall(f"{ours} {theirs}")
        assert figures
        assert [each for each in figures if not re.search(rf"(?<![\d.]){re.escape(each)}(?![\d.]?\d)", table)] == [], (
            what
        )
