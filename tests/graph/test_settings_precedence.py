"""What a server that tells its callers apart keeps to itself: whatever names a place or an address, listed or not."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables.config import set_config_context

from anabranch.agent.graph.bindings import GraphBindings
from anabranch.agent.graph.settings_precedence import locked_settings, resolve_settings
from anabranch.agent.nodes.settings import REACHING, Context
from anabranch.errors import NotAllowedError, SettingsError
from anabranch.identity import AUTH_USER, User, as_operator
from anabranch.models import local_servers
from anabranch.models.embedders import load_embedder
from anabranch.models.entailment import load_entailment
from anabranch.models.local_servers import SERVERS, LocalModel
from anabranch.safety.operator import environment
from anabranch_onnx.cross_encoder import CrossEncoderReranker
from tests.shared_fixtures import REPOSITORY

PERSON = User(identity="bob", roles=frozenset({"ask"}))
GIVEN: dict[str, Any] = {
    "corpus": "/etc",
    "model": "openai:gpt-5",
    "base_url": "http://169.254.169.254/",
    "model_kwargs": {"top_p": 0.5},
    "rerank_model": "/etc",
    "verify_model": "/etc",
    "file_links": False,
}
# Text that names neither: who holds a tag is looked at by itself, and a retriever has been registered by the operator.
OTHERWISE_CHECKED = {"access", "retrievers", "hop_retrievers"}


@pytest.fixture(autouse=True)
def _several_people(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_AUTH", "auth.yaml")


def choose(**given: Any) -> Context:
    """Return what is in force for a person who gives something."""
    with set_config_context({"configurable": {AUTH_USER: PERSON}}) as within:
        found: Context = within.run(resolve_settings, Context(**given))
    return found


def _takes_any_text(schema: dict[str, Any]) -> bool:
    """Tell whether a caller can put words, or a whole object, of their own into a setting."""
    parts: Iterator[dict[str, Any]] = iter([schema, *schema.get("anyOf", []), schema.get("items", {})])
    return any(part.get("type") in ("string", "object") and "enum" not in part for part in parts)


def test_whatever_takes_text_of_the_callers_own_is_known_to_name_a_place_or_an_address() -> None:
    fields = Context.model_json_schema()["properties"]
    taking = {name for name, schema in fields.items() if _takes_any_text(schema)}
    prompts = {name for name in taking if fields[name].get("langgraph_type") == "prompt"}
    assert taking - prompts - OTHERWISE_CHECKED <= set(REACHING)
    assert taking >= OTHERWISE_CHECKED
    assert set(GIVEN) == set(REACHING)


def test_whatever_its_description_says_of_folders_and_machines_is_locked_settings() -> None:
    words = ("folder", "address", "files on this machine", "paths", "://", "server")
    told = {
        name
        for name, field in Context.model_fields.items()
        if any(word in str(field.description).lower() for word in words)
    }
    # How long a model call may take says what is usual at a server of one's own.
    assert told - {"model_timeout"} <= set(REACHING)


def test_the_guide_names_all_of_them() -> None:
    guide = (REPOSITORY / "docs" / "settings.md").read_text(encoding="utf-8")
    told = guide.partition("without being in the list: ")[2].partition(".")[0]
    assert set(re.findall(r"`(\w+)`", told)) == set(REACHING)


@pytest.mark.parametrize("lock", [None, "[]", '["top_k"]', '["base_url"]'])
@pytest.mark.parametrize("name", sorted(GIVEN))
def test_they_stay_locked_whatever_else_the_operator_locks(
    name: str, lock: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if lock is not None:
        monkeypatch.setenv("ANABRANCH_LOCK", lock)
    with pytest.raises(SettingsError, match=f"'{name}' is fixed"):
        choose(**{name: GIVEN[name]})


def test_a_thread_opens_none_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_LOCK", '["top_k"]')
    with set_config_context({"configurable": {AUTH_USER: PERSON}}) as within:
        for name, value in GIVEN.items():
            with pytest.raises(SettingsError, match=f"'{name}' is fixed"):
                within.run(resolve_settings, None, {name: value})


def test_each_is_freed_by_its_name_and_no_other_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_UNLOCK", '["model"]')
    assert choose(model="openai:gpt-5").model == "openai:gpt-5"
    assert set(locked_settings()) == set(REACHING) - {"model"}
    monkeypatch.setenv("ANABRANCH_LOCK", '["model"]')
    environment.cache_clear()
    assert "model" in locked_settings()


def test_settings_are_resolved_once_and_again_where_anything_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANABRANCH_AUTH")
    environment.cache_clear()
    given, kept = Context(model="auto", effort="quick"), {"top_k": 5}
    first = resolve_settings(given, kept)
    # Equal settings of the thread, as another step reads them.
    assert resolve_settings(given, dict(kept)) is first
    assert resolve_settings(Context(model="auto", effort="quick"), kept) is not first
    assert resolve_settings(given, {"top_k": 6}).top_k == 6
    assert resolve_settings(given, kept, bindings=GraphBindings({"depth": 7})).depth == 7
    monkeypatch.setattr(local_servers, "_found", {local_servers.SERVERS: LocalModel("small", SERVERS[0])})
    # Without a model there is no effort to choose.
    assert (first.strategy, resolve_settings(given, kept).strategy) == ("multi", "none")
    monkeypatch.setenv("ANABRANCH_DEPTH", "9")
    environment.cache_clear()
    assert resolve_settings(given, kept).depth == 9
    with pytest.raises(SettingsError, match="cannot be used"):
        resolve_settings(given, {"top_k": object()})


def test_each_user_has_settings_of_their_own() -> None:
    given = Context()
    for tag in ("red", "green"):
        user = User(identity=tag, access=(tag,), roles=frozenset({"ask"}))
        with set_config_context({"configurable": {AUTH_USER: user}}) as within:
            assert within.run(resolve_settings, given).access == (tag,)
    nobody = User(identity="eve", roles=frozenset())
    with set_config_context({"configurable": {AUTH_USER: nobody}}) as within, pytest.raises(NotAllowedError):
        within.run(resolve_settings, given)


@pytest.mark.parametrize("unlock", ['["modle"]', '["top_k"]', '["corpus"]', '["access"]', "model", "{}", ""])
def test_what_cannot_be_freed_is_said_to_everybody(unlock: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_UNLOCK", unlock)
    with pytest.raises(SettingsError, match="ANABRANCH_UNLOCK") as caught:
        choose()
    assert unlock != '["modle"]' or "'model'" in caught.value.hint


def test_whoever_uses_their_own_machine_chooses_for_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    with as_operator():
        assert resolve_settings(Context(**GIVEN)).verify_model == "/etc"
    monkeypatch.delenv("ANABRANCH_AUTH")
    environment.cache_clear()
    assert resolve_settings(Context(**GIVEN)).verify_model == "/etc"
    assert locked_settings() == ()
    monkeypatch.setenv("ANABRANCH_LOCK", json.dumps(["top_k"]))
    environment.cache_clear()
    assert locked_settings() == ("top_k",)


@pytest.mark.parametrize("through_a_link", [False, True])
def test_a_model_that_somebody_sent_is_never_run(tmp_path: Path, *, through_a_link: bool) -> None:
    folder = tmp_path / ".anabranch" / "uploads" / "0f" / "m"
    folder.mkdir(parents=True)
    for name in ("model.onnx", "tokenizer.json", "config.json"):
        (folder / name).write_text("sent by a caller")
    if through_a_link:
        (tmp_path / "models").symlink_to(folder)
        folder = tmp_path / "models"
    for load in (load_entailment, CrossEncoderReranker, load_embedder):
        with pytest.raises(SettingsError, match="people send"):
            load(str(folder))
