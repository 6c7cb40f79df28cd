"""The documents as LangChain tools: what they return, within which tags, and what becomes of mistakes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.messages import ToolMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from anabranch import SettingsError, as_tools, ingest
from anabranch.retrieval.result_size import TOKENS
from anabranch.safety.operator import environment
from anabranch.store.protocol import Scope
from anabranch.store.stores import open_corpus

QUESTION = "Who built the Halden weir?"
NAMES = ["list_documents", "search", "grep", "read", "ask"]
FAMILY = "The spare key is under the third stone."


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two notes, one of which is for the tag `family`."""
    home = tmp_path_factory.mktemp("house")
    (home / "boiler.md").write_text("# Boiler\n\nThe boiler is serviced every October.\n", encoding="utf-8")
    (home / "key.md").write_text(f"# Key\n\n{FAMILY}\n", encoding="utf-8")
    ingest(home / "boiler.md", home / "corpus")
    ingest(home / "key.md", home / "corpus", access=["family"])
    return str(home / "corpus")


def by_name(tools: Sequence[BaseTool]) -> dict[str, BaseTool]:
    return {tool.name: tool for tool in tools}


def call(tool: BaseTool, **arguments: Any) -> ToolMessage:
    message = tool.invoke({"type": "tool_call", "id": "1", "name": tool.name, "args": arguments})
    assert isinstance(message, ToolMessage)
    return message


def test_the_tools_have_the_names_descriptions_and_arguments_that_a_model_reads(river: str) -> None:
    tools = as_tools(river, about="They are about the river.", prefix="river_")
    assert [tool.name for tool in tools] == [f"river_{name}" for name in NAMES]
    assert all(tool.description.endswith("They are about the river.") for tool in tools)
    offered = [convert_to_openai_tool(tool)["function"] for tool in tools]
    arguments = {each["name"]: each["parameters"]["properties"] for each in offered}
    assert list(arguments["river_read"]) == ["document", "from", "to", "cursor"]
    assert all("description" in each for properties in arguments.values() for each in properties.values())


def test_the_tools_show_the_same_passage_under_the_same_id(river: str) -> None:
    tools = by_name(as_tools(river))
    found = json.loads(tools["search"].invoke({"query": QUESTION, "limit": 2}))
    assert len(found["items"]) == 2
    best = found["items"][0]
    place = {"document": best["document_id"], "from": best["number"], "to": best["number"]}
    assert json.loads(tools["read"].invoke(place))["items"] == [best]
    ids = [each["passage_id"] for each in json.loads(tools["grep"].invoke({"pattern": "Ida Marrow"}))["items"]]
    assert best["passage_id"] in ids
    following = json.loads(tools["search"].invoke({"query": QUESTION, "limit": 2, "cursor": found["cursor"]}))
    assert not {each["passage_id"] for each in found["items"]} & {each["passage_id"] for each in following["items"]}
    assert "weir.md" in {each["source"] for each in json.loads(tools["list_documents"].invoke({}))["items"]}


async def test_ask_answers_with_sources_and_its_artifact_is_the_whole_result(river: str) -> None:
    tool = by_name(as_tools(river, top_k=1, retrievers=["bm25"]))["ask"]
    message = call(tool, question=QUESTION)
    shown = json.loads(message.text)
    assert "Ida Marrow" in shown["answer"]
    assert "Ida Marrow" in shown["sources"][0]["quote"]
    assert message.artifact["citations"][0]["chunk_id"] == shown["sources"][0]["passage_id"]
    source = shown["sources"][0]
    place = {"document": source["document_id"], "from": source["number"], "to": source["number"]}
    # The quote begins there, also where it is of a larger passage.
    (begun,) = call(by_name(as_tools(river))["read"], **place).artifact["items"]
    assert source["quote"].startswith(begun["text"].strip()) or source["quote"] in begun["text"]
    assert message.artifact["citations"][0]["grade"] in ("quoted", "found")
    assert shown["remarks"] == [each["reason"] for each in message.artifact["degraded"]]
    nothing = json.loads(await tool.ainvoke({"question": "zyzzyva qwertzu?"}))
    assert (nothing["status"], nothing["abstained"], nothing["sources"]) == ("not_found", True, [])


@pytest.mark.parametrize("access", [(), ("staff",)])
def test_what_a_caller_may_not_read_is_shown_by_no_tool(house: str, access: tuple[str, ...]) -> None:
    own, others = by_name(as_tools(house, access=("family",))), by_name(as_tools(house, access=access))
    key = next(each for each in call(own["list_documents"]).artifact["items"] if each["title"] == "Key")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("list_documents", {}),
        ("search", {"query": "Where is the spare key?"}),
        ("grep", {"pattern": "spare key"}),
        ("grep", {"pattern": "spare", "document": key["document_id"]}),
        ("read", {"document": key["document_id"]}),
        ("read", {"document": "key.md"}),
        ("ask", {"question": "Where is the spare key?"}),
    ]
    for name, arguments in calls:
        shown = call(own[name], **arguments)
        assert FAMILY in shown.text or key["document_id"] in shown.text
        hidden = call(others[name], **arguments)
        assert "third stone" not in hidden.text
        assert key["document_id"] not in hidden.text.replace(str(arguments.get("document")), "")
    absent, hidden = (call(others["read"], document=each) for each in ("0" * 16, key["document_id"]))
    assert hidden.text.replace(key["document_id"], "0" * 16) == absent.text
    assert (hidden.status, absent.status) == ("error", "error")


def test_filters_of_the_tools_and_of_a_call_both_narrow(house: str) -> None:
    tools = by_name(as_tools(house, access=("family",), filters={"source": "boiler.md"}))
    assert [each["title"] for each in call(tools["list_documents"]).artifact["items"]] == ["Boiler"]
    assert call(tools["list_documents"], filters={"title": "Key"}).artifact["items"] == []
    wide = {"or": [{"title": "Key"}, {"title": {"glob": "*"}}]}
    assert FAMILY not in call(tools["search"], query="spare key", filters=wide).text
    assert call(tools["grep"], pattern="spare key").artifact["items"] == []
    assert "There is no document" in call(tools["read"], document="key.md").text
    assert FAMILY not in call(tools["ask"], question="Where is the spare key?").text


def test_mistakes_are_told_to_the_model_on_one_line(house: str) -> None:
    tools = by_name(as_tools(house))
    mistakes: list[tuple[str, dict[str, Any], str]] = [
        ("read", {"document": "boiler.md", "from": 0}, "`from`: Input should be greater"),
        ("read", {"document": "boiler.md", "from": 2, "to": 1}, "no passages from 2 to 1"),
        ("read", {}, "`document`: Field required"),
        ("search", {"query": "boiler", "limit": 21}, "`limit`: Input should be less"),
        ("search", {"query": "boiler", "top_k": 3}, "`top_k`: Extra inputs"),
        ("search", {"query": ""}, "The query of the search is empty"),
        ("search", {"query": "boiler", "filters": {"year": {"near": 3}}}, "unknown operator 'near'"),
        ("search", {"query": "boiler", "cursor": "x"}, "cursor is not of this call"),
        ("grep", {"pattern": "*"}, "nothing to look for"),
        ("list_documents", {"cursor": "x"}, "cursor is not of this call"),
        ("ask", {"question": "x" * 10_001}, "10,000 is the most"),
    ]
    for name, arguments, message in mistakes:
        told = call(tools[name], **arguments)
        assert (told.status, "\n" in told.text, len(told.text) < 400) == ("error", False, True)
        assert message in told.text


def test_a_corpus_that_is_not_there_and_a_model_that_is_not_there_are_told(tmp_path: Path, house: str) -> None:
    tools = by_name(as_tools(tmp_path / "none"))
    for name, arguments in (("list_documents", {}), ("search", {"query": "x"}), ("ask", {"question": "What is it?"})):
        assert "There is no corpus" in call(tools[name], **arguments).text
    alone = call(by_name(as_tools(house, model="openai:none", base_url="http://127.0.0.1:9"))["search"], query="boiler")
    assert alone.status == "success"
    assert "No chat model" in call(by_name(as_tools(house))["ask"], question="When is the boiler serviced?").text
    paused = call(by_name(as_tools(house, review="queries"))["ask"], question="When is the boiler serviced?")
    assert (paused.status, "review" in paused.text) == ("error", True)


def test_a_field_that_no_document_has_is_told_of(house: str) -> None:
    unknown, known = {"sorce": "boiler.md"}, {"source": "boiler.md"}
    usual, narrow = (by_name(as_tools(house, filters=each)) for each in (known, unknown))
    for name, given in (("list_documents", {}), ("search", {"query": "boiler"}), ("grep", {"pattern": "boiler"})):
        found = call(narrow[name], **given).artifact
        assert found["items"] == []
        assert "A field that no document has matches nothing" in found["note"]
        assert call(usual[name], **given).artifact["note"] == ""
    for name, given in (("list_documents", {}), ("search", {"query": "boiler"})):
        assert call(usual[name], **given, filters=unknown).artifact["note"] == found["note"]


@pytest.mark.parametrize(
    "given", [{"topk": 1}, {"top_k": 0}, {"max_tokens": -1}, {"filters": {"a": {"b": 1}}}, {"k": 3}]
)
def test_a_mistake_of_the_program_is_told_when_the_tools_are_made(house: str, given: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        as_tools(house, **given)


async def test_a_long_answer_keeps_to_the_bound() -> None:
    from anabranch.retrieval.asked_answer import show_answer

    await asyncio.to_thread(ingest, documents=["The heron was counted."], corpus="memory:bound")
    corpus = await open_corpus("memory:bound")
    tokens = corpus.embedder
    citation = {"marker": 1, "title": "t" * 900, "source": "s", "page": 1, "heading": "h" * 900, "quote": "heron " * 90,
                "grade": "quoted", "chunk_id": "c" * 16, "start": 0}  # fmt: skip
    claim = {"text": "otter " * 100, "reason": "", "nearest": "pike " * 100}
    state = {"answer": "heron " * 9_000, "status": "answered", "abstained": False, "citations": [citation] * 100,
             "unconfirmed": [claim] * 100, "degraded": [{"reason": "why " * 900}] * 30}  # fmt: skip
    for answer in ("heron " * 9_000, "heron " * 500, ""):
        shown = await show_answer({**state, "answer": answer}, corpus, Scope())
        assert tokens.count([json.dumps(shown, ensure_ascii=False, indent=2)])[0] <= TOKENS
        assert answer.startswith(shown["answer"])
        assert any("left out" in each for each in shown["remarks"])
    assert "cut" in " ".join((await show_answer(state, corpus, Scope()))["remarks"])
    assert len((await show_answer({**state, "answer": ""}, corpus, Scope()))["sources"]) > 5


class Contacts(BaseRetriever):
    """Finds one person, in no corpus."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return [Document("The plumber, Jo Fields, answers on weekdays.\u202e", metadata={"source": "contacts"})]


@pytest.mark.parametrize("words", ["thanks", "Hallo!", "Good morning"])
def test_a_greeting_is_searched_for_like_other_words(house: str, words: str) -> None:
    found = call(by_name(as_tools(house))["search"], query=words)
    assert found.status == "success"
    assert [each["document"] for each in found.artifact["items"]] == ["Boiler"]


def test_a_retriever_of_the_program_is_searched_too(house: str) -> None:
    tools = by_name(as_tools(house, retrievers={"contacts": Contacts()}))
    found = call(tools["search"], query="plumber").artifact["items"]
    (theirs,) = [each for each in found if each["document"] == "contacts"]
    assert theirs["text"] == "The plumber, Jo Fields, answers on weekdays."
    assert theirs["number"] is None
    assert "Jo Fields" in call(tools["ask"], question="Who is the plumber?").text


def test_a_corpus_of_an_embedder_of_the_program(tmp_path: Path) -> None:
    embedder = DeterministicFakeEmbedding(size=8)
    ingest(documents=["The chimney is swept in March."], corpus=tmp_path / "corpus", embedder=embedder)
    tools = by_name(as_tools(tmp_path / "corpus", embedder=embedder))
    calls = {
        "search": {"query": "chimney"},
        "grep": {"pattern": "swept * march"},
        "ask": {"question": "When is it swept?"},
    }
    for name, arguments in calls.items():
        assert "swept in March" in call(tools[name], **arguments).text


def test_what_is_shown_is_in_the_audit_log(house: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_AUDIT", str(tmp_path / "audit.jsonl"))
    environment.cache_clear()
    tools = by_name(as_tools(house))
    calls = {"search": {"query": "boiler"}, "grep": {"pattern": "boiler"}, "read": {"document": "boiler.md"}}
    for name, arguments in calls.items():
        assert call(tools[name], **arguments).status == "success"
    lines = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    assert "found" in {line["event"] for line in lines}
    shown = [line for line in lines if line["event"] == "document"]
    assert [line["tool"] for line in shown] == ["grep", "read"]
    assert all([each["source"] for each in line["documents"]] == ["boiler.md"] for line in shown)
    monkeypatch.setenv("ANABRANCH_AUDIT", str(tmp_path / "none" / "audit.jsonl"))
    environment.cache_clear()
    assert "cannot be written" in call(tools["read"], document="boiler.md").text
