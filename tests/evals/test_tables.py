"""The tables in evals/ can be run as they are, by anybody."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from anabranch.cli.eval_contexts import settings_of
from anabranch.evaluation.tables import read_table
from tests.conftest import REPOSITORY

TABLES = sorted((REPOSITORY / "evals").glob("*.yaml"))


def test_there_are_tables() -> None:
    assert {"retrieval", "ablation", "alpha"} <= {path.stem for path in TABLES}


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_a_table_is_valid_with_the_settings_of_today(path: Path) -> None:
    table = read_table(path)
    assert settings_of(table, {}, reproducible=True, where=path.name).keys() == table.configurations.keys()
    assert table.baseline in table.configurations


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_a_table_names_no_place_on_somebodys_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not any(word in text for word in ("/work", "/home", "/tmp", "shared/", "../"))


def test_the_table_in_the_guide_is_one(tmp_path: Path) -> None:
    guide = (REPOSITORY / "docs" / "evaluation.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```yaml\n(.*?)^```$", guide, flags=re.MULTILINE | re.DOTALL)
    (tmp_path / "table.yaml").write_text(block, encoding="utf-8")
    table = read_table(tmp_path / "table.yaml")
    assert settings_of(table, {}, reproducible=True, where="guide").keys() == {"ranks", "scores"}
