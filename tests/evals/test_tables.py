"""The tables in evals/ can be run as they are, by anybody."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from anabranch_evaluation.eval_settings import settings_of
from anabranch_evaluation.score_tables import AnswerTable, read_table
from tests.shared_fixtures import REPOSITORY

EVERY = sorted((REPOSITORY / "evals").glob("*.yaml"))
TABLES = [path for path in EVERY if not isinstance(read_table(path), AnswerTable)]


def test_there_are_tables() -> None:
    assert {"retrieval", "ablation", "alpha"} <= {path.stem for path in TABLES}


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_a_table_is_valid_with_the_settings_of_today(path: Path) -> None:
    table = read_table(path)
    assert not isinstance(table, AnswerTable)
    assert settings_of(table, {}, reproducible=True, where=path.name).keys() == table.configurations.keys()
    assert table.baseline in table.configurations


def test_the_table_of_answers_is_valid() -> None:
    table = read_table(REPOSITORY / "evals" / "answers.yaml")
    assert "tutorials" in table.collections
    assert table.settings == {}  # what is measured is the default


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem)
def test_a_table_names_no_place_on_somebodys_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not any(word in text for word in ("/work", "/home", "/tmp", "shared/", "../"))


def test_the_tables_in_the_guide_can_be_run(tmp_path: Path) -> None:
    guide = (REPOSITORY / "docs" / "evaluation.md").read_text(encoding="utf-8")
    named = []
    for block in re.findall(r"^```yaml\n(.*?)^```$", guide, flags=re.MULTILINE | re.DOTALL):
        (tmp_path / "table.yaml").write_text(block, encoding="utf-8")
        # Those with `passages` are of evals.merging, which has a test of its own.
        if "passages:" not in block:
            table = read_table(tmp_path / "table.yaml")
            named.append(set(settings_of(table, {}, reproducible=True, where="guide")))
    assert named == [{"ranks", "scores"}, {"default", "multilingual"}, {"stuff", "refine"}, {"default", "bm25"}]


def test_the_table_of_answers_in_the_guide_can_be_run(tmp_path: Path) -> None:
    guide = (REPOSITORY / "docs" / "experiments.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```yaml\n(.*?)^```$", guide, flags=re.MULTILINE | re.DOTALL)
    (tmp_path / "answers.yaml").write_text(block, encoding="utf-8")
    assert read_table(tmp_path / "answers.yaml").collections == ("experiments", "handbook")
