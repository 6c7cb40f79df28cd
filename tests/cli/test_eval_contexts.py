from __future__ import annotations

from typing import Any

import pytest

from anabranch.cli.eval_settings import context_of, measured_too_far, settings_of, settings_shown
from anabranch.errors import CollectionError
from anabranch.evaluation.score_tables import ScoreTable
from nodes.settings import Context


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
        ({"alpha": 7}, r"t: the configuration 'a' cannot be used: alpha: .*less than or equal to 1"),
        ({"beta": 1}, r"beta: extra"),
        ({"retrievers": "bm25"}, "retrievers"),
        ({"corpus": "mine"}, "names a corpus"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(CollectionError, match=said):
        settings_of(table(configurations={"a": settings}), {}, reproducible=True, where="t")


def test_settings_are_shown_as_far_as_they_differ() -> None:
    defaults = {"depth": Context.model_fields["depth"].default}
    assert settings_shown({**defaults, "top_k": 30, "retrievers": ["bm25"]}) == 'retrievers=["bm25"], top_k=30'
    assert settings_shown({}) == "the defaults"
    assert len(settings_shown({"create_prompt": "x" * 1000})) < 100


def test_a_metric_that_looks_further_than_what_is_kept_is_said() -> None:
    short = table(settings={}, configurations={"a": {"top_k": 19}, "b": {"top_k": 20}})
    found = settings_of(short, {}, reproducible=True, where="t")
    assert list(measured_too_far(short, found)) == ["a keeps 19 passages (top_k), fewer than R@20 looks at"]
