"""Where settings come from, and what a caller cannot make of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from anabranch.agent.graph.settings_precedence import locked_settings, resolve_settings
from anabranch.agent.nodes.settings import Context
from anabranch.errors import SettingsError
from anabranch.safety.operator import environment
from tests.graph.inside import build, graph

QUESTION = "Who built the Halden weir?"
SECRET = "hunter2-AKIAFAKEFAKEFAKE1234"
# What the constructor of pydantic-settings' class takes besides fields, which `Context` was once made with.
DOORS = [
    "__pydantic_self__", "_build_sources", "_case_sensitive", "_cli_avoid_json", "_cli_enforce_required",
    "_cli_exit_on_error", "_cli_flag_prefix_char", "_cli_hide_none_type", "_cli_ignore_unknown_args",
    "_cli_implicit_flags", "_cli_kebab_case", "_cli_parse_args", "_cli_parse_none_str", "_cli_prefix",
    "_cli_prog_name", "_cli_settings_source", "_cli_shortcuts", "_cli_show_env_vars",
    "_cli_use_class_docs_for_groups", "_env_file", "_env_file_depth", "_env_file_encoding",
    "_env_ignore_empty", "_env_nested_delimiter", "_env_nested_max_split", "_env_parse_enums",
    "_env_parse_none_str", "_env_prefix", "_env_prefix_target", "_nested_model_default_partial_update",
    "_secrets_dir",
]  # fmt: skip


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    """Files as an attacker hopes to find them: lines of NAME=value, and a folder with a file for each secret."""
    (tmp_path / ".env").write_text(f"AWS_SECRET_ACCESS_KEY={SECRET}\nANABRANCH_TOP_K={SECRET}\n", encoding="utf-8")
    (tmp_path / "ANABRANCH_CREATE_PROMPT").write_text(SECRET, encoding="utf-8")
    return tmp_path


def attacks(folder: Path) -> list[dict[str, Any]]:
    """Each parameter that a settings class of pydantic's takes besides its fields, with something to bite on."""
    bait: dict[str, Any] = {
        "_env_file": str(folder / ".env"),
        "_secrets_dir": str(folder),
        "_cli_parse_args": ["--help"],
        "_cli_exit_on_error": True,
        "_env_prefix": "AWS_",
    }
    return [{door: bait.get(door, True)} for door in DOORS] + [
        {"_cli_parse_args": ["--no-such-option"]},
        {"_env_file": str(folder / ".env"), "_env_prefix": "AWS_"},
    ]


async def test_a_context_knows_its_fields_and_no_door_of_the_library(secrets: Path, river: str) -> None:
    for attack in attacks(secrets):
        with pytest.raises(SettingsError) as caught:
            await graph.ainvoke({"question": QUESTION}, context={"corpus": river, **attack})  # type: ignore[arg-type]
        assert SECRET not in str(caught.value)


async def test_settings_kept_in_a_thread_open_no_door_either(secrets: Path, river: str) -> None:
    compiled = build().compile(checkpointer=InMemorySaver(), interrupt_before=["cite"])
    config: Any = {"configurable": {"thread_id": "t"}}
    await compiled.ainvoke({"question": QUESTION}, config, context=Context(corpus=river))
    # Each edit branches off here.
    checkpoint = (await compiled.aget_state(config)).config
    for attack in attacks(secrets):
        with pytest.raises(SettingsError, match="kept in this thread") as caught:
            turn = {**compiled.get_state(checkpoint).values["turn"], "settings": attack}
            await compiled.aupdate_state(checkpoint, {"turn": turn}, as_node="begin")
            await compiled.ainvoke(None, config, context=Context(corpus=river))
        assert SECRET not in f"{caught.value}{caught.value.__cause__}"


def test_what_is_wrong_in_a_thread_is_named_without_its_value() -> None:
    kept = {"top_k": "a secret of somebody else", "alpha": 0.5, "rerank": "nobody"}
    with pytest.raises(SettingsError, match=r"'rerank'.*'top_k'") as caught:
        resolve_settings(None, kept)
    assert "somebody else" not in str(caught.value)
    assert "nobody" not in str(caught.value)


def test_the_environment_is_read_once_however_many_steps_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_TOP_K", "7")
    monkeypatch.setenv("anabranch_alpha", "0.25")
    assert [resolve_settings().top_k for _ in range(20)] == [7] * 20
    assert resolve_settings(Context(top_k=3)).alpha == 0.25
    assert environment.cache_info().misses == 1


async def test_a_turn_with_the_environment_of_a_server_reads_it_once(
    river: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANABRANCH_CORPUS", river)
    monkeypatch.setenv("ANABRANCH_LOCK", '["corpus", "model", "access"]')
    state = await graph.ainvoke({"question": QUESTION})
    assert "Ida Marrow" in state["answer"]
    assert environment.cache_info().misses == 1


def test_a_path_is_as_good_as_its_name(tmp_path: Path) -> None:
    assert Context(corpus=tmp_path).corpus == str(tmp_path)  # type: ignore[arg-type]


@pytest.mark.parametrize("lock", ['["acess", "Corpus"]', '["corpus", "nothing"]', '["_env_file"]', '["explicit"]'])
async def test_a_misspelt_lock_locks_everybody_out(lock: str, river: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_LOCK", lock)
    with pytest.raises(SettingsError, match="which is not a setting") as caught:
        await graph.ainvoke({"question": QUESTION}, context=Context(corpus=river, access=("board",)))
    assert "acess" not in lock or "'access'" in caught.value.hint


@pytest.mark.parametrize("lock", ["access", '"access"', "[access]", "{}", "[1]", ""])
async def test_a_lock_that_cannot_be_read_locks_everybody_out(
    lock: str, river: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANABRANCH_LOCK", lock)
    with pytest.raises(SettingsError, match="ANABRANCH_LOCK"):
        await graph.ainvoke({"question": QUESTION}, context=Context(corpus=river))


def test_every_setting_can_be_locked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_LOCK", json.dumps(sorted(Context.model_fields)))
    assert set(locked_settings()) == set(Context.model_fields)
    assert resolve_settings(Context()).top_k == Context.model_fields["top_k"].default


async def test_results_say_what_the_caller_gave_and_not_what_the_operator_set(
    river: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANABRANCH_CORPUS", river)
    monkeypatch.setenv("ANABRANCH_MODEL_TIMEOUT", "17")
    compiled = build().compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    state = await compiled.ainvoke({"question": QUESTION}, config, context=Context(top_k=5))
    assert state["turn"]["settings"] == {"top_k": 5}
    assert river not in json.dumps({name: value for name, value in state.items() if name != "messages"})


async def test_as_a_subgraph_under_a_context_of_somebody_elses(river: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph around this one has choices of its own; they choose nothing here, whatever they are called."""

    @dataclass
    class Theirs:
        tenant: str
        corpus: str = "/nowhere"

    class Asked(TypedDict, total=False):
        question: str
        answer: str

    class Mapped(TypedDict):
        corpus: str

    monkeypatch.setenv("ANABRANCH_CORPUS", river)
    for schema, context in ((Theirs, Theirs(tenant="x")), (Mapped, {"corpus": "/nowhere"}), (None, None)):
        around = StateGraph(Asked, context_schema=schema)  # type: ignore[type-var, arg-type]
        around.add_node("rag", graph)
        around.add_edge(START, "rag")
        around.add_edge("rag", END)
        state = await around.compile().ainvoke({"question": QUESTION}, context=context)  # type: ignore[arg-type]
        assert "Ida Marrow" in state["answer"]


def test_a_bad_variable_is_not_quoted_to_a_caller_whose_own_value_covers_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_BASE_URL", f"ftp://user:{SECRET}@x")
    monkeypatch.setenv("ANABRANCH_LOCK", '["corpus"]')
    with pytest.raises(SettingsError, match="ANABRANCH_BASE_URL") as caught:
        resolve_settings(Context(base_url="http://x/v1"))
    assert SECRET not in str(caught.value)
