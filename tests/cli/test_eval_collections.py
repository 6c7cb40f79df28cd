from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.cli.eval_settings import Selection, collections_of
from anabranch.errors import CollectionError, SettingsError
from anabranch.evaluation.score_tables import ScoreTable
from tests.evaluation.made import make_collection

TABLE = ScoreTable.model_validate(
    {"title": "T", "metrics": ["R@5"], "configurations": {"bm25": {}, "rrf": {}}, "collections": ["x", "y"]}
)


@pytest.mark.parametrize(
    ("patterns", "taken"),
    [
        ((), ["x/bm25", "x/rrf", "y/bm25", "y/rrf"]),
        (("x",), ["x/bm25", "x/rrf"]),
        (("bm*",), ["x/bm25", "y/bm25"]),
        (("y/rrf",), ["y/rrf"]),
        (("*/rrf", "x"), ["x/bm25", "x/rrf", "y/rrf"]),
    ],
)
def test_what_only_takes(patterns: tuple[str, ...], taken: list[str]) -> None:
    selection = Selection(patterns)
    assert [f"{c}/{k}" for c in "xy" for k in selection.of(c, TABLE.configurations)] == taken


def test_a_pattern_that_takes_nothing_is_misspelled() -> None:
    with pytest.raises(SettingsError, match=r"'z\*' takes nothing\. Collections: x, y\. Configurations: bm25, rrf\."):
        Selection(("x", "z*")).check(["x", "y"], list(TABLE.configurations))


def test_collections_here_and_not_here(tmp_path: Path) -> None:
    make_collection(tmp_path / "x")
    make_collection(tmp_path / "far" / "away")
    found = collections_of(TABLE, tmp_path, [], Selection())
    assert ([each.name for each in found.here], found.absent) == (["x"], ("y",))
    found = collections_of(TABLE, None, [f"y={tmp_path}/far/away", f"new={tmp_path}/x"], Selection())
    assert ([each.name for each in found.here], found.absent) == (["y", "new"], ("x",))
    found = collections_of(TABLE, tmp_path, [], Selection(("x",)))
    assert found.absent == ()


@pytest.mark.parametrize(
    ("data", "given"), [(None, []), ("nowhere", []), (None, ["x"]), (None, ["=x"]), (None, ["x="])]
)
def test_mistakes(tmp_path: Path, data: str | None, given: list[str]) -> None:
    with pytest.raises(SettingsError):
        collections_of(TABLE, tmp_path / data if data else None, given, Selection())


def test_a_folder_that_was_named_has_to_be_a_collection(tmp_path: Path) -> None:
    with pytest.raises(CollectionError):
        collections_of(TABLE, None, [f"x={tmp_path}"], Selection())
