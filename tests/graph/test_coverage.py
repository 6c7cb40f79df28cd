"""Whole documents and whole corpora: all that is in scope is read, counted and said, or it is said why not."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from anabranch.agent.nodes import survey
from anabranch.agent.nodes.settings import Context
from anabranch.extracts import whole_documents
from anabranch.ingestion.pipeline import ingest
from anabranch.safety.operator import environment
from anabranch.store.passage_reader import Passages
from anabranch.store.protocol import Scope
from anabranch.store.stores import open_corpus
from anabranch.synthesis.coverage import BEYOND, CUT, FAILED, GONE, REVIEWED
from tests.graph.inside import build, graph
from tests.graph.replies import model, passages_in, step_of
from tests.servers.calls import Request
from tests.servers.loopback import Reply, Script
from tests.servers.openai_stub import OpenAIStub

LOGS, ENTRIES = 6, 20
LEAKS = [number for number in range(LOGS * ENTRIES) if number % 3 == 0]
LEAK = re.compile(r"Incident (\d+) is a leak at pump \d+\.")
SMALL: dict[str, Any] = {"window_tokens": 150, "strategy": "none"}
QUESTION = "How many leaks were there?"


def is_rows(request: Request) -> bool:
    return "List every hit" in request.user


def reader(request: Request) -> Reply:
    """List the leaks that stand in the passages of the request, and read nothing else."""
    found = [
        f"leak {hit[1]} | [{number}] | {hit[0]}"
        for number, text in passages_in(request).items()
        for hit in LEAK.finditer(text)
    ]
    return Reply("\n".join(found) or "NONE")


def script(otherwise: Script | None = None, *, rows: Script = reader) -> Script:
    """Return a script that lists rows where they are asked for, and else does what a well-behaved model does."""
    usual = otherwise or model()
    return lambda request: rows(request) if is_rows(request) else usual(request)


def write_logs(folder: Path) -> None:
    folder.mkdir()
    for log in range(LOGS):
        entries = [
            f"## Entry {n}\n\nIncident {n} is a {'leak' if n in LEAKS else 'spark'} at pump {n}. The crew repaired it."
            for n in range(log * ENTRIES, (log + 1) * ENTRIES)
        ]
        (folder / f"log{log}.md").write_text(f"# Log {log}\n\n" + "\n\n".join(entries) + "\n")


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Six logs of twenty incidents, of which every third is a leak."""
    folder = tmp_path_factory.mktemp("logs")
    write_logs(folder / "documents")
    ingest([folder / "documents"], folder / "corpus")
    return str(folder / "corpus")


HOSTED: dict[str, Any] = {"model": "openai:gpt-4o-mini", "base_url": None}


def stand_in(monkeypatch: pytest.MonkeyPatch, stub: OpenAIStub) -> None:
    """Put a stub where the provider is, so that nobody gives a `base_url`."""
    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    monkeypatch.setenv("OPENAI_API_BASE", stub.base_url)


async def ask(stub: OpenAIStub, corpus: str, question: str = QUESTION, **settings: Any) -> dict[str, Any]:
    filters = settings.pop("filters", None)
    given = {"model": "openai:stub", "base_url": stub.base_url, **settings}
    context = Context(corpus=corpus, model_retries=0, **given)
    state: dict[str, Any] = await graph.ainvoke({"question": question, "filters": filters}, context=context)
    return state


def rows_of(state: dict[str, Any]) -> set[str]:
    return {citation["claim"] for citation in state["citations"]}


@pytest.mark.loopback
@pytest.mark.parametrize("planned", [True, False])
async def test_every_hit_is_listed_and_counted_by_the_program(
    logs: str, planned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planned by a hosted model, or asked for by settings: the same rows."""
    settings: dict[str, Any] = {**SMALL, "coverage": "corpus", "synthesis": "rows"}
    if planned:
        settings = {"window_tokens": 150, "answer_form": "plain"}
    with OpenAIStub(script(model(rewrite="pump leak\nREAD: rows"))) as stub:
        if planned:
            stand_in(monkeypatch, stub)
            settings |= HOSTED
        state = await ask(stub, logs, **settings)
    assert rows_of(state) == {f"leak {number}" for number in LEAKS}
    assert state["answer"].startswith(f"Rows: {len(LEAKS)}. Places: {len(LEAKS)}. Documents: {LOGS}.")
    assert f"Read {LOGS * ENTRIES} of {LOGS * ENTRIES} passages of {LOGS} documents." in state["answer"]
    assert state["status"] == "answered"
    assert len(state["windows"]) > 5
    # Each row has a quote at its place.
    assert all(f"Incident {c['claim'].split()[1]} is a leak" in c["quote"] for c in state["citations"])
    assert state["degraded"] == []


@pytest.mark.loopback
async def test_without_coverage_the_best_passages_alone_are_read(logs: str) -> None:
    with OpenAIStub(script()) as stub:
        state = await ask(stub, logs, synthesis="rows", top_k=12, **SMALL)
    assert 0 < len(rows_of(state)) <= 12
    assert "passages of" not in state["answer"]


@pytest.mark.loopback
async def test_a_setting_is_stronger_than_the_plan(logs: str) -> None:
    """A model that is not asked how much to read may say it all the same."""
    with OpenAIStub(script(model(rewrite="pump leak\nREAD: rows"))) as stub:
        state = await ask(stub, logs, coverage="passages", top_k=6)
    assert state["coverage"]["leaves"] == 0
    assert len({leaf for passage in state["passages"] for leaf in passage["leaves"]}) == 6
    assert "passages of" not in state["answer"]


@pytest.mark.loopback
async def test_a_model_of_ones_own_server_does_not_plan_how_much_is_read(logs: str) -> None:
    with OpenAIStub(script(model(rewrite="pump leak\nREAD: rows"))) as stub:
        state = await ask(stub, logs, top_k=6)
        (planned,) = [call.request.system for call in stub.calls if step_of(call.request) == "rewrite"]
    assert "READ:" not in planned
    assert len({leaf for passage in state["passages"] for leaf in passage["leaves"]}) == 6


@pytest.mark.loopback
async def test_filters_narrow_what_is_read(logs: str) -> None:
    with OpenAIStub(script()) as stub:
        state = await ask(
            stub, logs, coverage="corpus", synthesis="rows", filters={"source": {"in": ["log1.md", "log4.md"]}}, **SMALL
        )
    expected = [n for n in LEAKS if n // ENTRIES in (1, 4)]
    assert rows_of(state) == {f"leak {number}" for number in expected}
    assert f"Read {2 * ENTRIES} of {2 * ENTRIES} passages of 2 documents." in state["answer"]


@pytest.mark.loopback
async def test_documents_that_the_caller_may_not_read_are_not_counted(tmp_path: Path) -> None:
    write_logs(tmp_path / "documents")
    (tmp_path / "documents" / "log0.md").rename(tmp_path / "secret.md")
    ingest([tmp_path / "documents"], tmp_path / "corpus")
    ingest([tmp_path / "secret.md"], tmp_path / "corpus", access=["board"])
    seen = {}
    for tags in ((), ("board",)):
        with OpenAIStub(script()) as stub:
            seen[tags] = await ask(
                stub, str(tmp_path / "corpus"), coverage="corpus", synthesis="rows", access=tags, **SMALL
            )
    assert seen[()]["coverage"]["documents"] == LOGS - 1
    assert seen[()]["coverage"]["leaves"] == (LOGS - 1) * ENTRIES
    assert "secret" not in json.dumps(seen[()]["coverage"]) + seen[()]["answer"]
    assert len(rows_of(seen["board",])) == len(LEAKS)


@pytest.mark.loopback
async def test_one_document_is_read_and_named(logs: str) -> None:
    """The document of the best passages, where the filters leave several."""
    with OpenAIStub(script()) as stub:
        state = await ask(stub, logs, "Sum up log 3", coverage="document", **SMALL)
        read = {int(n) for call in stub.calls for n in re.findall(r"Incident (\d+) ", call.request.user)}
    assert read >= set(range(3 * ENTRIES, 4 * ENTRIES))
    assert state["coverage"]["source"] == "log3.md"
    assert state["answer"].endswith(f"Read {ENTRIES} of {ENTRIES} passages of log3.md.")
    assert state["route"]["name"] == "map_reduce"
    assert state["citations"]
    assert {citation["source"] for citation in state["citations"]} == {"log3.md"}


@pytest.mark.loopback
async def test_a_summary_is_joined_also_for_a_model_that_sets_no_markers(logs: str) -> None:
    with OpenAIStub(script()) as stub:
        state = await ask(stub, logs, "Sum up", coverage="corpus", fan_in=8, **SMALL)
        steps = [step_of(call.request) for call in stub.calls]
    assert steps.count("create") == len(state["windows"])
    assert steps.count("reduce") > 1
    assert state["coverage"]["read"] == LOGS * ENTRIES


@pytest.mark.loopback
@pytest.mark.parametrize("limits", [{"max_model_calls": 1}, {"max_model_calls": 5}, {"max_tokens": 3_000}])
async def test_what_is_too_expensive_is_not_started(logs: str, limits: dict[str, int]) -> None:
    events: list[dict[str, Any]] = []
    with OpenAIStub(script()) as stub:
        context = Context(
            corpus=logs, model="openai:stub", base_url=stub.base_url, coverage="corpus", **SMALL, **limits
        )
        async for mode, event in graph.astream(
            {"question": QUESTION}, context=context, stream_mode=["custom", "values"]
        ):
            if mode == "custom":
                events.append(event)
            else:
                state = event
        assert stub.calls == []
    assert state["status"] == "not_found"
    (name,) = limits
    assert state["answer"].startswith("Nothing was read: reading all 120 passages takes up to")
    assert f"{name} leaves" in state["answer"]
    (estimate,) = [event for event in events if event["status"] == "estimate"]
    assert estimate["calls"] == state["coverage"]["calls"] > 5
    # The limit that the message names is enough.
    needed = int(re.search(r"set it to (\d+)", state["answer"])[1])  # type: ignore[index]
    with OpenAIStub(script()) as stub:
        assert (await ask(stub, logs, coverage="corpus", **SMALL, **{name: needed}))["status"] == "answered"
        assert len(stub.calls) <= state["coverage"]["calls"]


@pytest.mark.loopback
async def test_the_price_is_an_upper_bound_where_the_hits_have_room(logs: str) -> None:
    with OpenAIStub(script()) as stub:
        state = await ask(stub, logs, coverage="corpus", synthesis="rows", **SMALL)
    assert state["usage"]["calls"] == state["coverage"]["calls"]
    assert state["usage"]["prompt_tokens"] + state["usage"]["output_tokens"] <= state["coverage"]["tokens"]


@pytest.mark.loopback
async def test_a_window_that_fails_is_counted_as_not_read(logs: str) -> None:
    def broken(request: Request) -> Reply:
        return Reply("no", status=500) if "Incident 7 " in request.user else reader(request)

    with OpenAIStub(script(rows=broken)) as stub:
        state = await ask(stub, logs, coverage="corpus", synthesis="rows", **SMALL)
    unread = state["coverage"]["unread"][FAILED]
    assert 0 < unread < 20
    assert state["coverage"]["read"] == LOGS * ENTRIES - unread
    assert f"Not read: {unread} ({FAILED})." in state["answer"]
    assert {item["step"].partition(":")[0] for item in state["degraded"]} == {"map"}


@pytest.mark.loopback
@pytest.mark.parametrize("useless", ["", "I found no leaks here."])
async def test_a_reply_that_is_no_list_is_counted_as_not_read(logs: str, useless: str) -> None:
    def chatty(request: Request) -> Reply:
        return Reply(useless) if "Incident 7 " in request.user else reader(request)

    with OpenAIStub(script(rows=chatty)) as stub:
        state = await ask(stub, logs, coverage="corpus", synthesis="rows", **SMALL)
    unread = state["coverage"]["unread"][FAILED]
    assert 0 < unread < 20
    assert state["coverage"]["read"] == LOGS * ENTRIES - unread
    assert f"Not read: {unread} ({FAILED})." in state["answer"]
    assert {item["step"].partition(":")[0] for item in state["degraded"]} == {"map"}


@pytest.mark.loopback
async def test_half_a_window_without_a_list_leaves_the_rows_of_the_other_half(logs: str) -> None:
    def half(request: Request) -> Reply:
        passages = passages_in(request)
        if "Incident 7 " not in request.user or len(passages) == 1:
            return Reply("No list.") if "Incident 7 " in request.user else reader(request)
        choice = {"index": 0, "message": {"role": "assistant", "content": "x"}, "finish_reason": "length"}
        body = {"id": "x", "object": "chat.completion", "created": 0, "model": "stub", "choices": [choice]}
        return Reply(raw=json.dumps(body).encode())

    with OpenAIStub(script(rows=half)) as stub:
        state = await ask(stub, logs, coverage="corpus", synthesis="rows", window_tokens=400, strategy="none")
    # Incident 7 stands in a passage with the seven before it.
    assert rows_of(state) == {f"leak {number}" for number in LEAKS if number > 7}
    assert state["coverage"]["unread"] == {FAILED: 8}
    assert [item["step"] for item in state["degraded"]] == ["map:1"]


@pytest.mark.loopback
@pytest.mark.parametrize(("synthesis", "window"), [("rows", 150), ("auto", 150), ("auto", 30_000)])
async def test_where_the_model_reads_no_window_the_program_reads_all(logs: str, synthesis: Any, window: int) -> None:
    def broken(request: Request) -> Reply:
        return Reply("no", status=500) if passages_in(request) else reader(request)

    with OpenAIStub(broken) as stub:
        given = {**SMALL, "synthesis": synthesis, "window_tokens": window}
        state = await ask(stub, logs, coverage="corpus", **given)
    assert state["route"]["name"] == "compose"
    assert (state["coverage"]["read"], state["coverage"]["unread"]) == (LOGS * ENTRIES, {})
    assert state["answer"].endswith(f"Read 120 of 120 passages of {LOGS} documents.")
    assert "model_did_not_write" in {item.get("code") for item in state["degraded"]}


async def test_documents_beyond_the_bound_are_said(logs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey, "MOST_DOCUMENTS", LOGS - 2)
    state = await graph.ainvoke({"question": "leaks"}, context=Context(corpus=logs, coverage="corpus"))
    assert [item["step"] for item in state["degraded"]] == ["coverage"]
    assert state["coverage"]["documents"] == LOGS - 1


@pytest.mark.parametrize(("reach", "total"), [("document", ENTRIES), ("corpus", LOGS * ENTRIES)])
async def test_passages_beyond_the_bound_are_all_counted(
    logs: str, reach: Any, total: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ids of no more leaves are fetched than are read, but for those of one document."""
    fetched = 0
    leaves = Passages.leaves

    async def counting(self: Passages, *given: Any) -> dict[str, list[str]]:
        nonlocal fetched
        found: dict[str, list[str]] = await leaves(self, *given)
        fetched += sum(map(len, found.values()))
        return found

    monkeypatch.setattr(Passages, "leaves", counting)
    monkeypatch.setattr(survey, "MOST_LEAVES", 12)
    state = await graph.ainvoke({"question": "log 3"}, context=Context(corpus=logs, coverage=reach))
    assert (state["coverage"]["read"], state["coverage"]["leaves"]) == (12, total)
    assert state["coverage"]["unread"] == {BEYOND: total - 12}
    assert state["coverage"]["documents"] == (1 if reach == "document" else LOGS)
    assert fetched <= 13


@pytest.mark.loopback
async def test_a_reply_that_had_no_room_is_asked_for_in_halves(logs: str) -> None:
    """What a server cuts off is not lost: the rows of a window come in as many replies as they need."""

    def narrow(request: Request) -> Reply:
        whole = reader(request).text.splitlines()
        cut = len(whole) > 2
        text = "\n".join(whole[:2])
        choice = {
            "index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "length" if cut else "stop",
        }  # fmt: skip
        body = {"id": "x", "object": "chat.completion", "created": 0, "model": "stub", "choices": [choice]}
        return Reply(raw=json.dumps(body).encode())

    with OpenAIStub(script(rows=narrow)) as stub:
        state = await ask(stub, logs, coverage="corpus", synthesis="rows", window_tokens=400, strategy="none")
        assert len(stub.calls) > len(state["windows"])
    assert len(rows_of(state)) == len(LEAKS)
    assert state["coverage"]["unread"] == {}
    assert state["degraded"] == []
    # Without calls to spare, it is said.
    with OpenAIStub(script(rows=narrow)) as stub:
        exact = {"max_model_calls": len(state["windows"]), "window_tokens": 400, "strategy": "none"}
        short = await ask(stub, logs, coverage="corpus", synthesis="rows", **exact)
    assert short["coverage"]["unread"][CUT] > 0
    assert CUT in short["answer"]


@pytest.mark.loopback
@pytest.mark.parametrize("synthesis", ["rows", "auto"])
async def test_a_corpus_may_change_while_it_is_read(tmp_path: Path, synthesis: Any) -> None:
    """A document that is removed after the passages were listed is not read, and that is said."""
    write_logs(tmp_path / "documents")
    corpus = tmp_path / "corpus"
    ingest([tmp_path / "documents"], corpus)
    compiled = build().compile(checkpointer=InMemorySaver(), interrupt_after=["pack"])
    config: Any = {"configurable": {"thread_id": "changing"}}
    with OpenAIStub(script()) as stub:
        context = Context(
            corpus=str(corpus),
            model="openai:stub",
            base_url=stub.base_url,
            coverage="corpus",
            synthesis=synthesis,
            **SMALL,
        )
        await compiled.ainvoke({"question": QUESTION}, config, context=context)
        (tmp_path / "documents" / "log2.md").unlink()
        ingest([tmp_path / "documents"], corpus)
        state = await compiled.ainvoke(None, config, context=context)
    if synthesis == "rows":
        assert rows_of(state) == {f"leak {number}" for number in LEAKS if number // ENTRIES != 2}
    assert state["coverage"]["unread"] == {GONE: ENTRIES}
    assert f"Not read: {ENTRIES} ({GONE})." in state["answer"]


async def test_a_person_may_leave_out_passages_which_is_said(logs: str) -> None:
    compiled = build().compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "reviewed"}}
    context = Context(corpus=logs, coverage="corpus", review="sources")
    paused = await compiled.ainvoke({"question": "leak"}, config, context=context)
    kept = paused["passages"][0]
    # A person decides by the first words.
    assert kept["preview"].startswith("Log 0")
    state = await compiled.ainvoke(Command(resume=[kept["id"]]), config, context=context)
    assert state["coverage"]["read"] == len(kept["leaves"])
    assert state["coverage"]["unread"] == {REVIEWED: LOGS * ENTRIES - len(kept["leaves"])}


@pytest.mark.loopback
async def test_no_hit_is_an_answer_that_says_how_much_was_read(logs: str) -> None:
    with OpenAIStub(script(rows=lambda _: Reply("NONE"))) as stub:
        state = await ask(stub, logs, coverage="corpus", synthesis="rows", **SMALL)
    assert state["status"] == "not_found"
    assert state["answer"].endswith("Read 120 of 120 passages of 6 documents.")


@pytest.mark.loopback
@pytest.mark.parametrize(("strict", "status"), [(False, "not_confirmed"), (True, "not_found")])
async def test_rows_with_made_up_words_are_kept_apart(logs: str, strict: bool, status: str) -> None:
    with OpenAIStub(script(rows=lambda _: Reply("leak 999 | [1] | Incident 999 is a leak at pump 999."))) as stub:
        state = await ask(stub, logs, coverage="corpus", synthesis="rows", strict=strict, **SMALL)
    assert (state["status"], state["citations"]) == (status, [])
    assert [claim["text"] for claim in state["unconfirmed"]] == ([] if strict else ["leak 999"])


async def test_without_a_model_a_document_has_its_outline(logs: str) -> None:
    context = Context(corpus=logs, coverage="document")
    state = await graph.ainvoke({"question": "log 5"}, context=context)
    lines = re.findall(r"^- \*\*Entry (\d+)\*\*: Incident (\d+) is .*\. \[(\d+)\]$", state["answer"], re.MULTILINE)
    assert [int(entry) for entry, _, _ in lines] == list(range(5 * ENTRIES, 6 * ENTRIES))
    assert all(entry == incident for entry, incident, _ in lines)
    assert state["answer"].endswith("Read 20 of 20 passages of log5.md.")
    by_marker = {citation["marker"]: citation["quote"] for citation in state["citations"]}
    assert all(f"Incident {incident} " in by_marker[int(marker)] for _, incident, marker in lines)


SUPPLIERS = ("Aldous", "Brandt", "Corvin", "Delmar", "Ostrava")
OF_KESTREL = {4, 17, 31}


def _write_paper(folder: Path, number: int) -> None:
    """Write one of forty papers, three of which name Kestrel; paper 17 names the place Wexmoor in another section."""
    supplier = "Kestrel" if number in OF_KESTREL else SUPPLIERS[number % len(SUPPLIERS)]
    sections = [
        f"This paper reports what the crew of unit {number} did in week {number + 1}. " * 4,
        f"The crew was thanked. The supplier {supplier} delivered part {number} late. Nobody was hurt.",
        f"The paper closes with a table of weeks. The yard is at {'Wexmoor' if number in (17, 20) else 'Halden'}.",
    ]
    text = "\n\n".join(f"## Section {at}\n\n{section}" for at, section in enumerate(sections, start=1))
    (folder / f"paper{number:02}.md").write_text(f"# Paper {number}\n\n{text}\n")


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("papers")
    for number in range(40):
        _write_paper(folder, number)
    ingest([folder], folder / "corpus")
    return str(folder / "corpus")


async def look_up(corpus: str, question: str, **settings: Any) -> tuple[dict[str, Any], list[str]]:
    """Return the state of a question about the whole corpus without a model, and the documents that it lists."""
    state = await graph.ainvoke({"question": question}, context=Context(corpus=corpus, coverage="corpus", **settings))
    await _check_quotes(corpus, state)
    return state, re.findall(r"^ *- (\w+\.\w+), .*\[\d+\]$", state["answer"], re.MULTILINE)


async def _check_quotes(corpus: str, state: dict[str, Any]) -> None:
    reader = await open_corpus(corpus)
    chunks = await reader.chunks([each["chunk_id"] for each in state["citations"]], Scope())
    for each in state["citations"]:
        chunk = chunks[each["chunk_id"]]
        assert each["quote"] == chunk.text[each["start"] - chunk.start : each["end"] - chunk.start]


async def test_without_a_model_the_documents_that_hold_the_rarest_words_are_listed(papers: str) -> None:
    state, found = await look_up(papers, "Which papers name the supplier Kestrel?")
    assert found == ["paper04.md", "paper17.md", "paper31.md"]
    assert "(Kestrel): 3 of 40." in state["answer"]
    by_marker = {citation["marker"]: citation for citation in state["citations"]}
    for marker, number in enumerate(sorted(OF_KESTREL), start=1):
        quote = f"The supplier Kestrel delivered part {number} late."
        assert quote in by_marker[marker]["quote"]
        assert f", Paper {number} > Section 2: {quote} [{marker}]" in state["answer"]
    # The passages that match best follow, whole.
    assert "[4] paper" in state["answer"]
    assert state["answer"].endswith("passages of 40 documents.")
    assert state["coverage"]["read"] == state["coverage"]["leaves"]
    assert (state["status"], state["degraded"]) == ("answered", [])


async def test_the_words_of_a_document_may_stand_in_several_passages_each_of_which_is_cited(papers: str) -> None:
    state, found = await look_up(papers, "Does a paper on Kestrel speak of Wexmoor?")
    assert found == ["paper17.md", "paper17.md"]
    assert ": 1 of 40." in state["answer"]
    quotes = [each["quote"] for each in state["citations"][:2]]
    assert {"Kestrel" in quotes[0], "Wexmoor" in quotes[1]} == {True}


async def test_where_no_document_holds_all_of_the_rarest_words_those_with_some_are_listed(papers: str) -> None:
    (only,) = [paper for paper in range(40) if paper == 20]
    state, found = await look_up(papers, "Kestrel, or Zzyzx, or unit 20?")
    assert f"paper{only}.md" in found
    assert {f"paper{number:02}.md" for number in OF_KESTREL} < set(found)
    assert state["answer"].startswith("No document holds all of the rarest words")
    # A word that no document has is named.
    assert "Missing: Zzyzx." in state["answer"]
    assert (await look_up(papers, "Zzyzx"))[0]["status"] == "not_found"


async def test_documents_that_are_hidden_or_filtered_out_are_not_listed_or_counted(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "secret").mkdir()
    for number in range(40):
        _write_paper(tmp_path / ("secret" if number == 17 else "open"), number)
    ingest([tmp_path / "open"], tmp_path / "corpus")
    ingest([tmp_path / "secret"], tmp_path / "corpus", access=["board"])
    state, found = await look_up(str(tmp_path / "corpus"), "Which papers name the supplier Kestrel?")
    assert found == ["paper04.md", "paper31.md"]
    assert "(Kestrel): 2 of 39." in state["answer"]
    assert "paper17" not in json.dumps([state["citations"], state["answer"], state["coverage"]])


async def test_long_lists_of_documents_are_cut_and_counted(papers: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_documents, "MOST_ENTRIES", 10)
    state, found = await look_up(papers, "Which papers name the supplier?")
    assert found == [f"paper{number:02}.md" for number in range(10)]
    assert "(supplier): 40 of 40." in state["answer"]
    assert "\n- ... 30\n" in state["answer"]


async def test_documents_that_were_not_read_are_not_counted(papers: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, _ = await look_up(papers, "Which papers name the supplier Kestrel?")
    monkeypatch.setattr(survey, "MOST_LEAVES", whole["coverage"]["leaves"] // 2)
    state, found = await look_up(papers, "Which papers name the supplier Kestrel?")
    assert found == ["paper04.md", "paper17.md"]
    assert "(Kestrel): 2 of 20." in state["answer"]
    assert BEYOND in state["answer"]


async def test_rare_words_are_found_in_german(tmp_path: Path) -> None:
    (tmp_path / "berichte").mkdir()
    for number in range(30):
        supplier = "Kestrel" if number in OF_KESTREL else SUPPLIERS[number % len(SUPPLIERS)]
        text = f"Der Bericht über die Anlage {number}. Der Lieferant {supplier} lieferte das Teil zu spät. Ende gut."
        (tmp_path / "berichte" / f"bericht{number:02}.txt").write_text(text)
    ingest([tmp_path / "berichte"], tmp_path / "corpus")
    question = "Welche Berichte nennen den Lieferanten Kestrel?"
    state = await graph.ainvoke(
        {"question": question}, context=Context(corpus=str(tmp_path / "corpus"), coverage="corpus")
    )
    assert state["answer"].startswith("Dokumente mit allen seltensten Wörtern der Frage (Kestrel): 2 von 30.")
    assert [each["source"] for each in state["citations"][:2]] == ["bericht04.txt", "bericht17.txt"]


@pytest.mark.parametrize("headed", [False, True])
async def test_the_outline_of_a_text_without_headings_is_the_first_sentence_of_each_part(
    tmp_path: Path, headed: bool
) -> None:
    """A title around everything is no heading of a part."""
    sentences = [f"The people kept {n} records of that year, and they wrote them down with care." for n in range(840)]
    pages = [" ".join(sentences[page * 28 : page * 28 + 28]) for page in range(30)]
    (tmp_path / "notes").mkdir()
    title = "# Chronicle\n\n" if headed else ""
    (tmp_path / "notes" / f"chronicle.{'md' if headed else 'txt'}").write_text(title + "\n\n".join(pages) + "\n")
    ingest([tmp_path / "notes"], tmp_path / "corpus")
    question = "What does this document say, part by part?"
    state = await graph.ainvoke(
        {"question": question}, context=Context(corpus=str(tmp_path / "corpus"), coverage="document")
    )
    await _check_quotes(str(tmp_path / "corpus"), state)
    lines = re.findall(r"^- (.*) \[\d+\]$", state["answer"], re.MULTILINE)
    assert 20 <= len(lines) <= 60
    assert lines == [citation["quote"] for citation in state["citations"]]
    places = [sentences.index(line) for line in lines]
    # No part of the text, from its beginning to its end, is without a line.
    assert places[0] == 0
    assert all(0 < after - before <= 60 for before, after in pairwise([*places, len(sentences)]))


@pytest.mark.parametrize("reach", ["document", "corpus"])
async def test_a_filter_that_nothing_matches_is_said(logs: str, reach: Any) -> None:
    given = {"question": "Sum it up", "filters": {"source": "nowhere.md"}}
    state = await graph.ainvoke(given, context=Context(corpus=logs, coverage=reach))
    assert (state["status"], state["citations"]) == ("not_found", [])
    assert "no document that you may read matches" in state["answer"]


async def test_a_store_that_lists_no_documents_answers_from_the_best_passages(
    logs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(Passages, "outlines")
    state = await graph.ainvoke({"question": "leak at pump 3"}, context=Context(corpus=logs, coverage="corpus"))
    assert [item["step"] for item in state["degraded"]] == ["coverage"]
    assert state["coverage"]["reach"] == "passages"
    assert state["citations"]


async def test_no_checkpoint_holds_the_words_that_are_read(logs: str) -> None:
    saver = InMemorySaver()
    compiled = build().compile(checkpointer=saver, interrupt_after=["pack"])
    config: Any = {"configurable": {"thread_id": "words"}}
    await compiled.ainvoke({"question": "leaks"}, config, context=Context(corpus=logs, coverage="corpus"))
    kept = (await compiled.aget_state(config)).values
    assert len(kept["passages"]) > 5
    assert "Incident" not in json.dumps([kept["passages"], kept["windows"], kept["coverage"]])


@pytest.mark.loopback
async def test_each_window_that_is_read_is_in_the_audit_log_once(
    logs: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANABRANCH_AUDIT", str(tmp_path / "audit.jsonl"))
    environment.cache_clear()
    with OpenAIStub(script()) as stub:
        state = await ask(stub, logs, coverage="corpus", synthesis="rows", **SMALL)
    lines = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    read = [line for line in lines if line["event"] == "read" and line["step"] == "write"]
    assert len(read) == len(state["windows"])
