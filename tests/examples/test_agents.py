"""The agents of the guide, with a model that follows a script."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import typer
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field
from typer.testing import CliRunner

from anabranch.cli.failures import guarded
from anabranch.errors import UserError
from examples import agent, deep_agent
from tests.shared_fixtures import REPOSITORY

WEIR = REPOSITORY / "tests" / "samples" / "weir.md"
QUESTION = "Who built the Halden weir?"


class ScriptedModel(BaseChatModel):
    """Replies as a script says to the results of its calls; notes which tools it was offered."""

    script: Callable[[Sequence[ToolMessage]], AIMessage]
    offered: list[str] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> ScriptedModel:
        self.offered[:] = [tool.name for tool in tools]
        return self

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any) -> ChatResult:
        results = [each for each in messages if isinstance(each, ToolMessage)]
        return ChatResult(generations=[ChatGeneration(message=self.script(results))])


def call(tool: str, **arguments: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": tool, "args": arguments, "id": tool}])


def reader(prefix: str) -> Callable[[Sequence[ToolMessage]], AIMessage]:
    """Search, read what stands around the best passage, make a mistake, and answer with the passage's words."""

    def script(results: Sequence[ToolMessage]) -> AIMessage:
        if not results:
            return call(f"{prefix}search", query=QUESTION, limit=1)
        (best,) = json.loads(results[0].text)["items"]
        match len(results):
            case 1:
                near = {"from": max(best["number"] - 1, 1), "to": best["number"] + 1}
                return call(f"{prefix}read", document=best["document_id"], **near)
            case 2:
                return call(f"{prefix}read", document="of nobody")
            case 3:
                return call(f"{prefix}grep", pattern="built * Ida Marrow")
            case 4:
                return call(f"{prefix}ask", question=QUESTION)
        found = json.loads(results[3].text)["items"][0]
        return AIMessage(f"{found['text']} [{found['passage_id']}]")

    return script


@pytest.mark.parametrize(("module", "prefix"), [(agent, ""), (deep_agent, "documents_")], ids=["agent", "deep_agent"])
def test_an_agent_searches_reads_and_cites(
    module: ModuleType, prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if module is deep_agent:
        pytest.importorskip("deepagents", reason="the package deepagents is not installed: pip install deepagents")
    model = ScriptedModel(script=reader(prefix))
    monkeypatch.setattr(module, "open_model", lambda name, base_url: model)
    kept: list[Any] = []
    run = module.run
    monkeypatch.setattr(module, "run", lambda *given: kept.extend(run(*given)) or kept)
    app = typer.Typer()
    app.command()(module.main)
    given = [str(WEIR), "--question", QUESTION, "--model", "scripted:model", "--home", str(tmp_path)]
    printed = CliRunner().invoke(app, given, catch_exceptions=False).output
    own = [f"{prefix}{name}" for name in ("list_documents", "search", "grep", "read", "ask")]
    assert set(own) <= set(model.offered)
    results = [each for each in kept if isinstance(each, ToolMessage)]
    assert [each.name for each in results] == [f"{prefix}{name}" for name in ("search", "read", "read", "grep", "ask")]
    assert [each.status for each in results] == ["success", "success", "error", "success", "success"]
    assert "There is no document 'of nobody'" in results[2].text
    assert "Ida Marrow" in json.loads(results[4].text)["answer"]
    answer, passage = kept[-1].text[:-1].rsplit(" [", 1)
    # The words are verbatim, and stand in the passage that is named.
    assert "Ida Marrow" in answer
    assert passage in {each["passage_id"] for each in json.loads(results[1].text)["items"]}
    assert any(answer in each["text"] for each in json.loads(results[1].text)["items"] if each["passage_id"] == passage)
    assert "Ida Marrow" in printed.partition("Answer")[2]


@pytest.mark.loopback
@pytest.mark.parametrize("module", [agent, deep_agent], ids=["agent", "deep_agent"])
@pytest.mark.parametrize(
    ("changed", "code", "said"),
    [
        ({"--model": "openai:gpt-5-mini"}, 2, "The model 'openai:gpt-5-mini' needs a key"),
        ({"--model": "nonsense:x"}, 2, "there is no provider 'nonsense'"),
        ({"document": "nowhere.md"}, 2, "There is nothing at 'nowhere.md'"),
        ({"--base-url": "http://127.0.0.1:9/v1"}, 1, "no connection to http://127.0.0.1:9/v1"),
    ],
)
def test_an_agent_fails_in_words(
    module: ModuleType,
    changed: dict[str, str],
    code: int,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("COLUMNS", "500")
    monkeypatch.setitem(sys.modules, "deepagents", SimpleNamespace(create_deep_agent=create_agent_of_deep))
    given = {"document": str(WEIR), "--question": QUESTION, "--model": "openai:x", "--home": str(tmp_path), **changed}
    app = typer.Typer()
    app.command()(guarded(module.main))
    arguments = [given.pop("document"), *(part for option in given.items() for part in option)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == code
    assert said in result.stderr
    assert "This should not happen" not in result.stderr


def create_agent_of_deep(model: Any, *, tools: Any, system_prompt: str) -> Any:
    return create_agent(model, tools, system_prompt=system_prompt)


def test_an_agent_without_its_package_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "deepagents", None)
    with pytest.raises(UserError, match=r"deepagents is not installed\. Run pip install deepagents"):
        deep_agent.run(QUESTION, str(tmp_path), ScriptedModel(script=reader("documents_")))


def test_the_guide_names_both() -> None:
    guide = (REPOSITORY / "docs" / "embedding.md").read_text(encoding="utf-8")
    assert all(f"python -m {module.__name__}" in guide for module in (agent, deep_agent))
