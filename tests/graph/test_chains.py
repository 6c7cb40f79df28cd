"""Questions that need a value found first: each further query is made of one, and nothing found before is lost."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langgraph.checkpoint.memory import InMemorySaver

from anabranch import Scope, open_corpus
from anabranch.agent.nodes.settings import Context
from anabranch.errors import SettingsError
from anabranch.ingestion.pipeline import ingest
from anabranch.store.memory import forget
from anabranch.types import NO_CHAIN
from evals.chains.scripted_model import WorldReader
from evals.chains.worlds import MadeQuestion, World, make_world
from tests.graph.inside import build, graph
from tests.graph.replies import model, passages_in, step_of
from tests.servers.calls import Request
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import BROKEN, Reply, Script

pytestmark = pytest.mark.loopback

CONFIG: Any = {"configurable": {"thread_id": "t"}}
FEW: dict[str, Any] = {"top_k": 6, "merge_threshold": 1.0, "model_retries": 0}
"""So few passages that the look-alikes keep the last one out of the first search."""


@pytest.fixture(scope="module")
def towns() -> Iterator[dict[str, tuple[str, World]]]:
    """A corpus in memory of each kind of made world."""
    found = {}
    for kind in ("two steps", "three steps", "a false bridge"):
        world, address = make_world(kind, 40), f"memory:chains {kind}"
        ingest(documents=world.documents, corpus=address)
        found[kind] = (address, world)
    yield found
    for address, _ in found.values():
        forget(address)


def reading(world: World, **changes: Script | Reply | str) -> Script:
    """Return the script of a model that reads the passages of a world."""
    reader = WorldReader(world)

    def read(request: Request) -> Reply:
        return Reply(reader(request.system, request.user))

    return model(**{"rewrite": read, "follow": read, "create": read, **changes})


async def ask(stub: OpenAIStub, corpus: str, question: MadeQuestion | str, **settings: Any) -> dict[str, Any]:
    text = question if isinstance(question, str) else question.text
    context = Context(corpus=corpus, model="openai:stub", base_url=stub.base_url, **{**FEW, **settings})
    state: dict[str, Any] = await graph.ainvoke({"question": text}, context=context)
    return state


def asked_of(stub: OpenAIStub) -> Counter[str]:
    return Counter(step_of(call.request) for call in stub.calls)


def nodes_of(state: dict[str, Any]) -> list[str]:
    return [step["node"] for step in state["trace"] if step["node"] != "retrieve"]


async def texts_of(corpus: str, ids: list[str]) -> list[str]:
    found = await (await open_corpus(corpus)).chunks(ids, Scope())
    return [found[each].text for each in ids]


def late(world: World) -> MadeQuestion:
    """Return a question whose last passage the first search does not find."""
    return world.questions[20]


async def test_a_value_that_was_found_makes_the_next_query(towns: dict[str, tuple[str, World]]) -> None:
    corpus, world = towns["two steps"]
    question = late(world)
    with OpenAIStub(reading(world)) as stub:
        before = await ask(stub, corpus, question, hops=0)
        state = await ask(stub, corpus, question)
    assert question.key not in before["answer"]
    assert question.answer in state["answer"]
    (link,) = state["chain"]["links"]
    name = question.answer.split(" lived")[0]
    assert (link["value"], link["hop"]) == (name, 1)
    assert link["query"] == f"In which house number did {name} live?"
    assert state["queries"][-1] == {"text": link["query"], "weight": 1.0, "kind": "followed"}
    (source,) = await texts_of(corpus, [link["chunk_id"]])
    assert source == question.gold[0]
    assert source[link["start"] : link["end"]] == name
    hop = ["fuse", "rerank", "merge", "grade"]
    assert nodes_of(state) == ["begin", "rewrite", *hop, "follow", *hop, "pack", "create", "cite", "finish"]
    assert state["chain"]["before"] == []
    assert state["degraded"] == []


async def test_the_answer_names_the_values_and_cites_where_they_stand(towns: dict[str, tuple[str, World]]) -> None:
    corpus, world = towns["three steps"]
    question = late(world)
    with OpenAIStub(reading(world)) as stub:
        state = await ask(stub, corpus, question)
    person, town = (link["value"] for link in state["chain"]["links"])
    line = re.search(r"\n\nBy way of: (.+) \[(\d+)\] → (.+) \[(\d+)\]$", state["answer"])
    assert line
    assert (line[1], line[3]) == (person, town)
    cited = {citation["marker"]: citation for citation in state["citations"]}
    for place, value, gold in ((2, person, question.gold[0]), (4, town, question.gold[1])):
        citation = cited[int(line[place])]
        assert citation["claim"] == value
        assert citation["quote"] == gold
        (source,) = await texts_of(corpus, [citation["chunk_id"]])
        assert source[citation["start"] : citation["end"]] == gold


async def test_three_steps_are_two_further_searches(towns: dict[str, tuple[str, World]]) -> None:
    corpus, world = towns["three steps"]
    question = late(world)
    with OpenAIStub(reading(world)) as stub:
        state = await ask(stub, corpus, question)
        assert asked_of(stub) == {"rewrite": 1, "follow": 2, "create": 1}
        assert question.answer in state["answer"]
        once = await ask(stub, corpus, question, hops=1)
    assert [link["hop"] for link in state["chain"]["links"]] == [1, 2]
    assert state["usage"]["calls"] == 4
    assert len(once["chain"]["links"]) == 1


async def test_two_values_make_two_queries_of_one_round(towns: dict[str, tuple[str, World]]) -> None:
    corpus, world = towns["a false bridge"]
    question = late(world)
    with OpenAIStub(reading(world)) as stub:
        state = await ask(stub, corpus, question)
        assert asked_of(stub) == {"rewrite": 1, "follow": 1, "create": 1}
    values = [link["value"] for link in state["chain"]["links"]]
    assert len(values) == 2
    assert [link["hop"] for link in state["chain"]["links"]] == [1, 1]
    found = await texts_of(corpus, [candidate["id"] for candidate in state["candidates"]])
    for value in values:
        assert any(text.startswith(value) for text in found)
    assert question.answer in state["answer"]
    # A value that nothing of the answer stands on is not named.
    assert state["answer"].rpartition("By way of: ")[2].count("[") == 1


async def test_a_model_that_names_more_values_is_held_to_two(towns: dict[str, tuple[str, World]]) -> None:
    corpus, world = towns["two steps"]

    def names(request: Request) -> Reply:
        found = [re.search(r"designed by (\w+ \w+)", text) for text in passages_in(request).values()]
        return Reply("\n".join(match[1] for match in found if match) + "\nUtopia Ridge\nthe designer")

    with OpenAIStub(reading(world, follow=names)) as stub:
        state = await ask(stub, corpus, late(world))
    assert len(state["chain"]["links"]) == 2


@pytest.mark.parametrize("settings", [{"hops": 0}, {"strategy": "none"}, {"n_queries": 1}])
async def test_switched_off_there_is_no_plan_and_no_call(
    settings: dict[str, Any], towns: dict[str, tuple[str, World]]
) -> None:
    corpus, world = towns["two steps"]
    with OpenAIStub(reading(world)) as stub:
        state = await ask(stub, corpus, late(world), **settings)
        assert asked_of(stub)["follow"] == 0
        planning = [call.request for call in stub.calls if step_of(call.request) == "rewrite"]
    assert not any("FIRST" in request.system or "{found}" in request.system for request in planning)
    assert state["chain"] == NO_CHAIN


async def test_without_a_model_there_is_no_chain(towns: dict[str, tuple[str, World]]) -> None:
    corpus, world = towns["two steps"]
    state = await graph.ainvoke({"question": late(world).text}, context=Context(corpus=corpus, **FEW))
    assert state["chain"] == NO_CHAIN
    assert "follow" not in nodes_of(state)


def found_in(state: dict[str, Any]) -> dict[str, Any]:
    """Return what a search found, and what the model is shown of it."""
    return {name: state[name] for name in ("queries", "candidates", "passages", "windows", "evidence")}


async def test_an_ordinary_question_costs_and_finds_what_it_did(river: str) -> None:
    questions = ["Who built the Halden weir?", "What measures protect the town from floods on the Halden?"]
    for question in questions:
        with OpenAIStub(model()) as off, OpenAIStub(model()) as on:
            before = await ask(off, river, question, hops=0)
            after = await ask(on, river, question)
            assert asked_of(off) == asked_of(on)
            assert len(off.calls) == before["usage"]["calls"] == after["usage"]["calls"]
        assert found_in(before) == found_in(after)
        assert before["answer"] == after["answer"]
        assert after["chain"] == NO_CHAIN


@pytest.mark.parametrize("value", ["None", "", "Halden", "oak", "no such word 77", "Ida Marrow\nHalden weir"])
async def test_a_plan_where_none_is_needed_costs_one_call_and_no_passage(value: str, river: str) -> None:
    question = "Who built the Halden weir?"
    plan = "weir builder\nHalden engineer\nweir history"
    needless = f"{plan}\nFIRST: Which river is it?\nTHEN: Who built the weir on {{found}}?"
    settings: dict[str, Any] = {"top_k": 5, "merge_threshold": 0.5, "window_tokens": 200}
    with OpenAIStub(model(rewrite=plan)) as off, OpenAIStub(model(rewrite=needless, follow=value)) as on:
        before = await ask(off, river, question, **settings)
        after = await ask(on, river, question, **settings)
        assert len(on.calls) - len(off.calls) <= 1
    shown = {excerpt["id"] for window in before["windows"] for excerpt in window}
    assert {candidate["id"] for candidate in before["candidates"]} <= {each["id"] for each in after["candidates"]}
    still = {leaf for passage in after["passages"] for leaf in (passage["id"], *passage["leaves"])}
    assert {leaf for passage in before["passages"] for leaf in passage["leaves"]} <= still
    assert len(after["windows"]) <= len(before["windows"])
    read = {excerpt["id"] for window in after["windows"] for excerpt in window}
    parents = {passage["id"]: set(passage["leaves"]) for passage in after["passages"] if passage["id"] in read}
    kept = {leaf for passage in before["passages"] if passage["id"] in shown for leaf in passage["leaves"]}
    assert kept <= read | {leaf for leaves in parents.values() for leaf in leaves}
    assert before["citations"][0]["quote"] == after["citations"][0]["quote"]


async def test_what_the_first_search_found_fits_the_window_as_before(towns: dict[str, tuple[str, World]]) -> None:
    corpus, world = towns["two steps"]
    question = late(world)
    settings: dict[str, Any] = {"top_k": 12, "window_tokens": 120}
    with OpenAIStub(reading(world)) as stub:
        before = await ask(stub, corpus, question, hops=0, **settings)
        after = await ask(stub, corpus, question, **settings)
    first, later = ({each["id"] for window in state["windows"] for each in window} for state in (before, after))
    assert len(after["windows"]) == len(before["windows"])
    assert len(first) < len(before["passages"]) or len(before["windows"]) > 1
    assert first <= later
    assert question.answer in after["answer"]


async def test_a_model_that_fails_to_follow_degrades_and_answers(towns: dict[str, tuple[str, World]]) -> None:
    corpus, world = towns["two steps"]
    with OpenAIStub(reading(world, follow=BROKEN)) as stub:
        state = await ask(stub, corpus, late(world))
    assert "follow" in {each["step"] for each in state["degraded"]}
    assert state["chain"]["ended"] == "the model failed"
    assert state["answer"]
    assert len(state["candidates"]) == FEW["top_k"]


@pytest.mark.parametrize(
    ("calls", "expected"),
    [(1, {"create": 1}), (2, {"rewrite": 1, "create": 1}), (3, {"rewrite": 1, "follow": 1, "create": 1})],
)
async def test_the_answer_has_its_call_before_the_chain_has_one(
    calls: int, expected: dict[str, int], towns: dict[str, tuple[str, World]]
) -> None:
    corpus, world = towns["three steps"]
    with OpenAIStub(reading(world, create="A mill stands in the town.")) as stub:
        state = await ask(stub, corpus, late(world), max_model_calls=calls)
        assert asked_of(stub) == expected
    assert state["usage"]["calls"] == calls


class Service(BaseRetriever):
    """A retriever of another service, which keeps what it is sent."""

    sent: list[str]

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        self.sent.append(query)
        return [Document(page_content="Nothing of the kind.", metadata={"source": "s"})]


@pytest.mark.parametrize("names", [("bm25", "dense"), ("service",), ("bm25", "dense", "service")])
async def test_another_service_gets_no_words_of_passages_unless_it_is_named(
    names: tuple[str, ...], towns: dict[str, tuple[str, World]]
) -> None:
    corpus, world = towns["two steps"]
    question = late(world)
    service = Service(sent=[])
    compiled = build(retrievers={"service": service}).compile()
    with OpenAIStub(reading(world)) as stub:
        context = Context(
            corpus=corpus, model="openai:stub", base_url=stub.base_url, retrievers=("bm25", "dense", "service"),
            hop_retrievers=names, **FEW,
        )  # fmt: skip
        state = await compiled.ainvoke({"question": question.text}, context=context)
    (link,) = state["chain"]["links"]
    assert (link["query"] in service.sent) is ("service" in names)
    assert any(link["value"] in query for query in service.sent) is ("service" in names)
    later = [step["counts"]["retriever"] for step in state["trace"] if step["node"] == "retrieve"][3:]
    assert sorted(later) == sorted(names)


async def test_a_chain_ends_where_no_retriever_may_be_asked(towns: dict[str, tuple[str, World]]) -> None:
    corpus, world = towns["two steps"]
    with OpenAIStub(reading(world)) as stub:
        await ask(stub, corpus, late(world), retrievers=("bm25",), hop_retrievers=("dense",))
        assert asked_of(stub)["follow"] == 0
        with pytest.raises(SettingsError, match="nowhere"):
            await ask(stub, corpus, late(world), hop_retrievers=("nowhere",))


async def test_each_hop_has_its_checkpoints_without_words_of_passages(towns: dict[str, tuple[str, World]]) -> None:
    corpus, world = towns["three steps"]
    question = late(world)
    saver = InMemorySaver()
    compiled = build().compile(checkpointer=saver)
    with OpenAIStub(reading(world)) as stub:
        context = Context(corpus=corpus, model="openai:stub", base_url=stub.base_url, **FEW)
        await compiled.ainvoke({"question": question.text}, CONFIG, context=context, durability="sync")
    kept = [each.checkpoint["channel_values"] for each in saver.list(None)]
    links = Counter(len(values["chain"]["links"]) for values in kept if values.get("chain"))
    # follow, retrieve, fuse, rerank, merge and grade of each hop.
    assert min(links[1], links[2]) >= 5
    for values in kept:
        text = json.dumps(values.get("chain", NO_CHAIN), ensure_ascii=False)
        assert "was designed by" not in text
        assert "had two brothers" not in text


async def test_a_thread_asks_on_with_a_chain_of_its_own(towns: dict[str, tuple[str, World]]) -> None:
    corpus, world = towns["two steps"]
    compiled = build().compile(checkpointer=InMemorySaver())
    with OpenAIStub(reading(world, condense=lambda request: Reply(world.questions[7].text))) as stub:
        context = Context(corpus=corpus, model="openai:stub", base_url=stub.base_url, **FEW)
        first = await compiled.ainvoke({"question": late(world).text}, CONFIG, context=context)
        second = await compiled.ainvoke({"question": world.questions[7].text}, CONFIG, context=context)
    assert world.questions[7].answer in second["answer"]
    assert len(second["chain"]["links"]) == 1
    assert second["chain"]["links"] != first["chain"]["links"]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A corpus in which only the board may read who designed the bridge, and where that person lives."""
    folder = tmp_path_factory.mktemp("guarded")
    rows: list[dict[str, Any]] = [
        {"id": "a", "text": "The Ashby bridge was designed by Canary Quill and opened in 1911.", "access": ["board"]},
        {"id": "b", "text": "Canary Quill lived in house number 7 on Cedar Street.", "access": ["board"]},
        {"id": "c", "text": "The Ashby bridge has four arches of granite and a toll house."},
        {"id": "d", "text": "In house number 7 lived a designer whom nobody in the valley remembers."},
    ]
    (folder / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    ingest([folder / "rows.jsonl"], folder / "corpus")
    return str(folder / "corpus")


PLAN = "Ashby bridge\nFIRST: Who designed the Ashby bridge?\nTHEN: In which house number did {found} live?"
ASKED = "In which house number did the designer of the Ashby bridge live?"


@pytest.mark.parametrize(("access", "is_found"), [((), False), (("staff",), False), (("board",), True)])
async def test_a_value_of_a_passage_that_the_caller_may_not_read_makes_no_query(
    access: tuple[str, ...],
    is_found: bool,
    guarded: str,
) -> None:
    """Even if the model says it, as one that knew it from elsewhere would."""
    with OpenAIStub(model(rewrite=PLAN, follow="Canary Quill")) as stub:
        state = await ask(stub, guarded, ASKED, access=access)
        prompts = "".join(call.request.user for call in stub.calls)
    assert ("Canary" in prompts) is is_found
    assert ("Canary" in str(state)) is is_found
    assert [link["value"] for link in state["chain"]["links"]] == (["Canary Quill"] if is_found else [])


async def test_a_document_that_changes_between_two_hops_leaves_no_wrong_citation(tmp_path: Path) -> None:
    rows = {
        "a": "The Ashby bridge was designed by Mira Solano and opened in 1911.",
        "b": "Mira Solano lived in house number 7 on Cedar Street.",
        **{f"c{n}": f"Person {n} lived in house number {n + 20} on Linden Street." for n in range(12)},
    }

    def write(**changes: str) -> None:
        lines = (json.dumps({"id": key, "text": text}) for key, text in {**rows, **changes}.items())
        (tmp_path / "rows.jsonl").write_text("\n".join(lines), encoding="utf-8")
        ingest([tmp_path / "rows.jsonl"], tmp_path / "corpus")

    write()

    def follow(_: Request) -> Reply:
        write(a="The Ashby bridge was drawn by somebody of whom nothing is known.")
        return Reply("Mira Solano")

    with OpenAIStub(model(rewrite=PLAN, follow=follow, create="Mira Solano lived in house number 7. [1]")) as stub:
        state = await ask(stub, str(tmp_path / "corpus"), ASKED, top_k=4)
    assert state["answer"].startswith("Mira Solano lived in house number 7.")
    chunks = await (await open_corpus(str(tmp_path / "corpus"))).chunks(
        [citation["chunk_id"] for citation in state["citations"]], Scope()
    )
    for citation in state["citations"]:
        # What is still there is quoted as it stands; what has gone is not of the corpus that is open now.
        if chunk := chunks.get(citation["chunk_id"]):
            assert chunk.text[citation["start"] : citation["end"]] == citation["quote"]
    assert state["chain"]["links"][0]["value"] == "Mira Solano"
