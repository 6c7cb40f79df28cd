"""The answer graph without a chat model, on a real corpus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from anabranch.agent.nodes.settings import Context
from anabranch.extracts.best_passages import MOST_CHARS
from anabranch.text.normalization import squeeze
from tests.graph.inside import build, graph


async def _ask(question: str, river: str, **settings: Any) -> dict[str, Any]:
    return await graph.ainvoke({"question": question}, context=Context(corpus=river, **settings))


@pytest.mark.parametrize(
    ("question", "answer", "source"),
    [
        ("Who built the Halden weir?", "Ida Marrow", "weir.md"),
        ("How many salmon were counted in the best year?", "1,412", "weir.md"),
        ("What is the diameter of the water wheel?", "5.5 metres", "mill.md"),
        ("At which level does the gauge at Brannock give an alarm?", "2.8 metres", "flood.md"),
        ("How long did the movable barrier take to close in the test?", "eleven minutes", "notes.jsonl#n2"),
    ],
)
async def test_answers_are_verbatim_and_cited(question: str, answer: str, source: str, river: str) -> None:
    state = await _ask(question, river)
    assert answer in state["answer"]
    assert not state["abstained"]
    assert state["route"]["name"] == "compose"
    assert source in {citation["source"] for citation in state["citations"]}
    assert all(squeeze(citation["claim"]).rstrip(".") in squeeze(citation["quote"]) for citation in state["citations"])
    assert state["usage"]["calls"] == 0
    assert state["degraded"] == []


async def test_every_citation_is_words_of_its_passage(river: str) -> None:
    from anabranch.store.protocol import Scope
    from anabranch.store.stores import open_corpus

    state = await _ask("What measures protect the town from floods?", river)
    corpus = await open_corpus(river)
    chunks = await corpus.chunks([citation["chunk_id"] for citation in state["citations"]], Scope())
    for citation in state["citations"]:
        chunk = chunks[citation["chunk_id"]]
        assert citation["quote"] in chunk.text
        assert chunk.text[citation["start"] - chunk.start : citation["end"] - chunk.start] == citation["quote"]
        assert f"[{citation['marker']}]" in state["answer"]


async def test_an_off_topic_question_is_shown_passages_that_are_said_to_match_weakly(river: str) -> None:
    state = await _ask("What is the capital gains tax rate in Portugal for cryptocurrency?", river)
    assert "They match weakly" in state["answer"].splitlines()[0]


async def test_a_question_for_which_nothing_is_found_is_not_answered(river: str) -> None:
    state = await _ask("zyzzyva qwertzu?", river, retrievers=("bm25",))
    assert state["abstained"]
    assert state["citations"] == []
    assert "did not find" in state["answer"]
    assert "Looked for" in state["answer"]


async def test_the_trace_names_every_step_once_and_in_order(river: str) -> None:
    state = await _ask("Who built the Halden weir?", river)
    nodes = [step["node"] for step in state["trace"]]
    assert nodes == [
        "begin", "rewrite", "retrieve", "retrieve", "fuse", "rerank", "merge", "grade", "pack", "create", "cite",
        "finish",
    ]  # fmt: skip
    assert set(state["usage"]["ms"]) == set(nodes) - {"finish"}


async def test_state_is_json_but_for_the_messages(river: str) -> None:
    state = await _ask("Who built the Halden weir?", river)
    state.pop("messages")
    assert json.loads(json.dumps(state, allow_nan=False)) == state


async def test_without_a_context_the_environment_decides(river: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_CORPUS", river)
    state = await graph.ainvoke({"question": "Who built the Halden weir?"})
    assert "Ida Marrow" in state["answer"]


def test_sync_invoke_gives_the_same_answer(river: str) -> None:
    state = graph.invoke({"question": "Who built the Halden weir?"}, context=Context(corpus=river))
    assert "Ida Marrow" in state["answer"]
    again = graph.invoke({"question": "Who built the Halden weir?"}, context=Context(corpus=river))
    assert again["answer"] == state["answer"]


async def test_messages_in_and_out(river: str) -> None:
    state = await graph.ainvoke(
        {"messages": [HumanMessage("Who built the Halden weir?")]}, context=Context(corpus=river)
    )
    assert [message.type for message in state["messages"]] == ["human", "ai"]
    assert "Ida Marrow" in state["messages"][-1].text
    assert state["messages"][-1].response_metadata["sources"][0]["source"].endswith("weir.md")


async def test_two_turns_never_mix_their_lists(river: str) -> None:
    compiled = build().compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "two"}}
    context = Context(corpus=river)
    first = await compiled.ainvoke({"question": "Who built the Halden weir?"}, config, context=context)
    second = await compiled.ainvoke({"question": "What is the diameter of the water wheel?"}, config, context=context)
    told = [*first["messages"], HumanMessage("What is the diameter of the water wheel?")]
    fresh = await graph.ainvoke({"messages": told}, context=context)
    # Only what follows something has to be made to stand alone.
    assert [step["node"] for step in second["trace"] if step["node"] != "condense"] == [
        s["node"] for s in first["trace"]
    ]
    assert len(second["trace"]) == len(first["trace"]) + 1
    assert [c["id"] for c in second["candidates"]] == [c["id"] for c in fresh["candidates"]]
    assert "5.5" in second["answer"]
    assert [message.type for message in second["messages"]] == ["human", "ai", "human", "ai"]


async def test_a_follow_up_is_understood_and_searched_as_asked_too(river: str) -> None:
    compiled = build().compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "follow"}}
    context = Context(corpus=river)
    await compiled.ainvoke({"question": "Who built the Halden weir?"}, config, context=context)
    state = await compiled.ainvoke({"question": "When did she rebuild the abutment?"}, config, context=context)
    assert "1899" in state["answer"]
    kinds = [query["kind"] for query in state["queries"]]
    assert kinds == ["together", "asked"]
    assert state["queries"][1]["text"] == "When did she rebuild the abutment?"


async def test_a_messages_turn_after_a_question_turn_takes_the_new_question(river: str) -> None:
    compiled = build().compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "mixed"}}
    context = Context(corpus=river)
    await compiled.ainvoke({"question": "Who built the Halden weir?"}, config, context=context)
    state = await compiled.ainvoke(
        {"messages": [HumanMessage("What is the diameter of the water wheel?")]}, config, context=context
    )
    assert state["turn"]["question"] == "What is the diameter of the water wheel?"


async def test_checkpoints_stay_small(river: str, tmp_path: Any) -> None:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "threads.db")) as saver:
        compiled = build().compile(checkpointer=saver)
        config: Any = {"configurable": {"thread_id": "size"}}
        sizes, said, results = [], [], []
        for question in ("What measures protect the town from floods?", "Who built the Halden weir?", "Who was fined?"):
            await compiled.ainvoke({"question": question}, config, context=Context(corpus=river))
            sql = "SELECT max(length(checkpoint)), sum(length(checkpoint)), count(*) FROM checkpoints"
            sizes.append(next(iter(await saver.conn.execute_fetchall(sql))))
            values = (await compiled.aget_state(config)).values
            said.append(len(saver.serde.dumps_typed(values["messages"])[1]))
            result = {name: values[name] for name in ("answer", "claims", "citations")}
            results.append(len(saver.serde.dumps_typed(result)[1]))
    # SQLite keeps the whole state at every step. A step of a later turn has what was said before in it as well; but for
    # that it costs no more from turn to turn, or lists would pile up.
    (_, first, steps), (_, two, more_steps), (largest, three, most_steps) = sizes
    # What a turn says, whole passages here, is in the checkpoints of the next: taken off at its size when the turn
    # before had ended. The rest is a multiple of what one answer may show.
    assert largest - said[2] < 7 * MOST_CHARS, (sizes, said)
    assert first < 40 * MOST_CHARS, sizes
    assert two - first - said[0] * (more_steps - steps) < 60 * MOST_CHARS, (sizes, said)
    per_step = [first / steps, (two - first) / (more_steps - steps), (three - two) / (most_steps - more_steps)]
    # The first checkpoint of a turn still holds the result of the one before.
    carried = results[0] / (more_steps - steps)
    assert per_step[1] - said[0] - carried < 1.4 * per_step[0], (per_step, said, results)
    assert per_step[2] - said[1] < 1.1 * (per_step[1] - said[0]), (per_step, said)
    assert max(said[0], said[1] - said[0], said[2] - said[1]) < 3.5 * MOST_CHARS, said


async def test_filters_narrow_and_do_not_stay_for_the_next_turn(river: str) -> None:
    compiled = build().compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "filter"}}
    context = Context(corpus=river)
    narrow = await compiled.ainvoke(
        {"question": "What happened to the oak piles?", "filters": {"year": 2011}}, config, context=context
    )
    assert {passage["source"] for passage in narrow["passages"]} == {"notes.jsonl#n1"}
    wide = await compiled.ainvoke({"question": "Who built the Halden weir?"}, config, context=context)
    assert len({passage["source"] for passage in wide["passages"]}) > 1


async def test_access_tags_keep_a_document_from_those_without_them(river: str) -> None:
    question = "What did Ida Marrow bury under the eastern abutment?"
    stranger = await _ask(question, river)
    family = await _ask(question, river, access=("family",))
    assert "time capsule" not in json.dumps({k: v for k, v in stranger.items() if k != "messages"})
    assert "time capsule" in family["answer"]


async def test_the_answer_is_streamed_and_nothing_else_is(river: str) -> None:
    pieces: list[str] = []
    final: list[str] = []
    steps: list[str] = []
    async for mode, item in graph.astream(
        {"question": "Who built the Halden weir?"},
        context=Context(corpus=river),
        stream_mode=["messages", "custom", "values"],
    ):
        if mode == "messages":
            assert item[0].type in ("ai", "AIMessageChunk")
            pieces.append(item[0].text)
        elif mode == "custom":
            steps.append(item["step"])
        elif item.get("messages") and isinstance(item["messages"][-1], AIMessage):
            final.append(item["messages"][-1].text)
    assert "".join(pieces) == final[-1]
    assert steps[0] == "begin"
    assert steps[-1] == "finish"


async def test_one_retriever_alone(river: str) -> None:
    for retriever in ("bm25", "dense"):
        state = await _ask("Who built the Halden weir?", river, retrievers=(retriever,))
        assert "Ida Marrow" in state["answer"]


@pytest.mark.parametrize("fusion", ["rrf", "convex", "z_score", "dbsf"])
async def test_every_fusion(fusion: str, river: str) -> None:
    state = await _ask("Who built the Halden weir?", river, fusion=fusion)
    assert "Ida Marrow" in state["answer"]


async def test_a_quote_is_cited_with_its_own_page(tmp_path: Path) -> None:
    import pymupdf

    from anabranch.ingestion.pipeline import ingest

    with pymupdf.open() as pdf:
        for name, year in (("Alder", 1801), ("Birch", 1802), ("Cedar", 1803)):
            pdf.new_page().insert_text((72, 72), f"The {name} bridge over the river was opened in {year} by the town.")
        pdf.save(tmp_path / "bridges.pdf")
    ingest([tmp_path / "bridges.pdf"], tmp_path / "corpus")
    state = await _ask("When was the Cedar bridge opened?", str(tmp_path / "corpus"))
    cited = next(citation for citation in state["citations"] if "1803" in citation["quote"])
    assert cited["page"] == 3


async def test_a_documents_own_references_do_not_become_citations(tmp_path: Path) -> None:
    from anabranch.ingestion.pipeline import ingest

    (tmp_path / "paper.md").write_text(
        "# Otters\n\nOtters sleep on their backs in kelp [12], as Marlowe showed [3, 7].\n"
    )
    ingest([tmp_path / "paper.md"], tmp_path / "corpus")
    state = await _ask("How do otters sleep?", str(tmp_path / "corpus"))
    assert state["answer"].endswith("**Otters sleep on their backs in kelp, as Marlowe showed.**")
    quote = "Otters sleep on their backs in kelp [12], as Marlowe showed [3, 7]."
    assert state["citations"][0]["quote"].endswith(quote)
