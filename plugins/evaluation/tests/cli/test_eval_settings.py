from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anabranch.agent.nodes.settings import Context
from anabranch.errors import CollectionError, SettingsError
from anabranch_evaluation.eval_settings import (
    Selection,
    collections_of,
    context_of,
    describe_settings,
    find_short_rankings,
    settings_of,
)
from anabranch_evaluation.score_tables import ScoreTable
from plugins.evaluation.tests.made import make_collection


def table(**changes: Any) -> ScoreTable:
    return ScoreTable.model_validate(
        {
            "title": "T",
            "metrics": ["nDCG@10", "R@20"],
            "settings": {"top_k": 50, "depth": 60},
            "configurations": {"a": {}, "b": {"top_k": 30}},
            **changes,
        }
    )


def test_own_settings_over_those_of_the_table_and_the_command_line_over_both() -> None:
    found = settings_of(table(), {"depth": 70}, reproducible=True, where="t")
    contexts = {name: context_of(values, "c") for name, values in found.items()}
    assert [(contexts[name].top_k, contexts[name].depth) for name in "ab"] == [(50, 70), (30, 70)]
    assert contexts["a"].corpus == "c"


def test_a_table_says_the_same_whatever_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person's own collection is measured as that person searches."""
    monkeypatch.setenv("ANABRANCH_FUSION", "dbsf")
    monkeypatch.setenv("ANABRANCH_MODEL", "openai:x")
    kept = context_of(settings_of(table(), {}, reproducible=True, where="t")["a"], "c")
    assert (kept.fusion, kept.model) == (Context.model_fields["fusion"].default, None)
    own = context_of(settings_of(table(), {}, reproducible=False, where="t")["a"], "c")
    assert (own.fusion, own.model) == ("dbsf", "openai:x")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"alpha": 7}, r"t: the configuration 'a' cannot be used: The setting 'alpha' .*less than or equal to 1"),
        ({"beta": 1}, "no setting 'beta'"),
        ({"retrievers": "bm25"}, "retrievers"),
        ({"corpus": "mine"}, "names a corpus"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(CollectionError, match=said):
        settings_of(table(configurations={"a": settings}), {}, reproducible=True, where="t")


def test_metrics_of_tokens_need_no_long_ranking() -> None:
    spans = table(metrics=["nDCG@10", "TokenR@3000"], collections=["c"], by_passage=["c"])
    assert list(find_short_rankings(spans, settings_of(spans, {}, reproducible=True, where="t"))) == []


def test_an_embedder_is_of_the_corpus_and_no_setting_of_a_search() -> None:
    named = table(settings={"embedder": "multilingual"}, configurations={"a": {}, "b": {"embedder": "minilm"}})
    assert [named.embedder(name) for name in "ab"] == ["multilingual", "minilm"]
    assert table().embedder("a") == ""
    found = settings_of(named, {}, reproducible=True, where="t")
    assert all("embedder" not in values for values in found.values())
    assert describe_settings(found["a"], named.embedder("a")) == 'embedder="multilingual"'


def test_settings_are_shown_as_far_as_they_differ() -> None:
    defaults = {"depth": Context.model_fields["depth"].default}
    assert describe_settings({**defaults, "top_k": 30, "retrievers": ["bm25"]}) == 'retrievers=["bm25"], top_k=30'
    assert describe_settings({}) == "the defaults"
    assert len(describe_settings({"create_prompt": "x" * 1000})) < 100


def test_a_metric_that_looks_further_than_what_is_kept_is_said() -> None:
    short = table(settings={}, configurations={"a": {"top_k": 19}, "b": {"top_k": 20}})
    found = settings_of(short, {}, reproducible=True, where="t")
    assert list(find_short_rankings(short, found)) == ["a keeps 19 passages (top_k), fewer than R@20 looks at"]


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
    assert [f"{c}/{k}" for c in "xy" for k in selection.select(c, TABLE.configurations)] == taken


def test_a_pattern_that_takes_nothing_is_misspelled() -> None:
    with pytest.raises(SettingsError, match=r"'z\*' matches nothing\. Collections: x, y\. Configurations: bm25, rrf\."):
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
