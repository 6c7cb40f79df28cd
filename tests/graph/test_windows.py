"""What goes into a window, what does not, and what a question may cost, through the whole graph."""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from anabranch.agent.graph.retrieval import asearch
from anabranch.agent.nodes.settings import Context
from anabranch.errors import SettingsError
from anabranch.ingestion.pipeline import ingest
from anabranch.models.wordpiece_tokenizer import WordPieces
from anabranch.store.protocol import Scope
from anabranch.store.stores import open_corpus
from anabranch.synthesis.token_bound import bound_tokens
from anabranch.text.sentences import spans
from tests.graph.inside import graph
from tests.graph.replies import at_once, model, step_of
from tests.servers.loopback import Reply
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import together

pytestmark = pytest.mark.loopback

QUESTION = "What measures protect the town from floods on the Halden?"
SMALL = {"window_tokens": 64, "strategy": "none", "merge_threshold": 1.0, "top_k": 6}


async def _ask(stub: OpenAIStub, corpus: str, **settings: Any) -> dict[str, Any]:
    context = Context(corpus=corpus, model="openai:stub", base_url=stub.base_url, model_retries=0, **settings)
    return await graph.ainvoke({"question": QUESTION}, context=context)


def _by_step(stub: OpenAIStub) -> Counter[str]:
    return Counter(step_of(call.request) for call in stub.calls)


def _packed(state: dict[str, Any]) -> dict[str, Any]:
    return next(step["counts"] for step in state["trace"] if step["node"] == "pack")


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A corpus of two documents that say nearly the same, and of one whose sections merge into parents."""
    folder = tmp_path_factory.mktemp("long")
    said = [f"Flood measure {n} protects the town on the Halden with gate {n} and dam {n + 70}." for n in range(60)]
    (folder / "measures.md").write_text("# Measures\n\n" + "\n\n".join(said))
    note = "The town keeps three hundred sandbags against floods of the Halden in the old mill by the bridge."
    (folder / "a.md").write_text(f"# Sandbags\n\n{note}\n")
    (folder / "b.md").write_text(f"# Sandbags\n\n{note.upper()}\n")
    ingest([folder], folder / "corpus")
    return str(folder / "corpus")


@pytest.mark.parametrize("synthesis", ["stuff", "refine", "map_reduce"])
async def test_no_prompt_overruns_the_models_context(synthesis: str, long: str) -> None:
    pieces, room = WordPieces(), 1200
    with OpenAIStub(model()) as stub:
        state = await _ask(
            stub, long, strategy="none", synthesis=synthesis, context_tokens=room, answer_tokens=100, top_k=30
        )
        for call in stub.calls:
            prompt = f"{call.request.system}\n{call.request.user}"
            assert bound_tokens(prompt, pieces.count([prompt])[0]) + 100 <= room
        assert len(state["windows"]) == (1 if synthesis == "stuff" else len(state["windows"]))
        assert len(stub.calls) >= len(state["windows"])


async def test_a_parent_larger_than_a_window_is_split_where_its_children_begin(long: str) -> None:
    with OpenAIStub(model()) as stub:
        # The parent fits window_tokens, so it comes in; the model's own context is smaller.
        state = await _ask(
            stub, long, strategy="none", synthesis="map_reduce", context_tokens=1200, answer_tokens=100, top_k=30
        )
    corpus = await open_corpus(long)
    ids = [passage["id"] for passage in state["passages"]]
    known, children = await corpus.chunks(ids, Scope()), await corpus.children(ids, Scope())
    split = Counter(excerpt["id"] for window in state["windows"] for excerpt in window)
    (parent,) = [one for one in ids if split[one] > 1 and children.get(one)]
    begins = {chunk.start for chunk in (await corpus.chunks(children[parent], Scope())).values()}
    pieces = sorted((e["start"], e["end"]) for window in state["windows"] for e in window if e["id"] == parent)
    assert pieces[0][0] == known[parent].start
    assert pieces[-1][1] == known[parent].end
    assert all(before[1] == after[0] for before, after in pairwise(pieces))
    assert {start for start, _ in pieces[1:]} <= begins


async def test_no_passage_is_cut_within_a_sentence_unless_it_is_said(river: str) -> None:
    with OpenAIStub(model()) as stub:
        state = await _ask(stub, river, synthesis="refine", **SMALL)
    corpus = await open_corpus(river)
    known = await corpus.chunks([passage["id"] for passage in state["passages"]], Scope())
    torn = _packed(state).get("cut", [])
    for excerpt in (excerpt for window in state["windows"] for excerpt in window):
        chunk = known[excerpt["id"]]
        ends = {chunk.start, *(chunk.start + end for _, end in spans(chunk.text))}
        assert excerpt["id"] in torn or {excerpt["start"], excerpt["end"]} <= ends


@pytest.mark.parametrize("synthesis", ["stuff", "refine"])
async def test_a_budget_smaller_than_one_passage_loses_nothing_silently(synthesis: str, river: str) -> None:
    with OpenAIStub(model()) as stub:
        state = await _ask(stub, river, synthesis=synthesis, **{**SMALL, "top_k": 12})
    corpus = await open_corpus(river)
    known = await corpus.chunks([passage["id"] for passage in state["passages"]], Scope())
    assert max(chunk.tokens for chunk in known.values()) > SMALL["window_tokens"]
    out = {item["id"]: item for item in _packed(state)["dropped"]}
    for chunk_id, chunk in known.items():
        read = [(e["start"], e["end"]) for window in state["windows"] for e in window if e["id"] == chunk_id]
        covered = {place for start, end in read for place in range(start, end)}
        if chunk_id in out:
            covered |= set(range(out[chunk_id]["start"], out[chunk_id]["end"]))
        assert covered == set(range(chunk.start, chunk.end))
    if synthesis == "stuff":
        assert len(state["windows"]) == 1
        assert any("no room for" in item["reason"] for item in state["degraded"])


def _duplicates(state: dict[str, Any]) -> list[dict[str, str]]:
    (found,) = [step["counts"].get("duplicates", []) for step in state["trace"] if step["node"] == "rerank"]
    return found


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A corpus of one page in two formats, and of four others."""
    folder = tmp_path_factory.mktemp("copied")
    note = "Three **hundred** sandbags are the measures that protect the town from floods on the Halden."
    (folder / "page.md").write_text(f"# Floods\n\n{note}\n")
    (folder / "page.txt").write_text(f"{note.replace('*', '').upper()}\n")
    for name in ("gate", "dam", "wall", "pump"):
        (folder / f"{name}.md").write_text(f"# The {name}\n\nThe {name} protects a part of the town.\n")
    ingest([folder], folder / "corpus")
    return str(folder / "corpus")


async def test_a_copy_takes_no_place_and_is_named(copied: str) -> None:
    with OpenAIStub(model()) as stub:
        state = await _ask(stub, copied, strategy="none", top_k=3)
    (copy,) = _duplicates(state)
    candidates = state["candidates"]
    assert copy["of"] == candidates[0]["id"]
    assert copy["id"] not in {candidate["id"] for candidate in candidates}
    # The next one takes its place, with the rank that it had.
    assert [candidate["fused"] for candidate in candidates] == [1, 3, 4]
    assert state["degraded"] == []


async def test_a_reranker_reads_no_copy(copied: str) -> None:
    with OpenAIStub(model()) as stub:
        state = await _ask(stub, copied, strategy="none", top_k=2, rerank="late_interaction", rerank_depth=3)
    assert len(_duplicates(state)) == 1
    assert len(state["candidates"]) == 2
    assert {candidate["fused"] for candidate in state["candidates"]} < {1, 3, 4}


async def test_a_search_ranks_every_copy(copied: str) -> None:
    found = await asearch(QUESTION, corpus=copied, strategy="none", top_k=3)
    assert {document.metadata["source"] for document in found[:2]} == {"page.md", "page.txt"}
    assert len(found) == 3


async def test_a_copy_is_found_by_those_who_may_not_read_the_other(tmp_path: Path) -> None:
    note = "The town keeps three hundred sandbags against floods of the Halden in the old mill by the bridge."
    lines = [{"id": "open", "text": note}, {"id": "board", "title": "Floods", "text": note, "access": ["board"]}]
    (tmp_path / "notes.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    ingest([tmp_path / "notes.jsonl"], tmp_path / "corpus")
    with OpenAIStub(model()) as stub:
        anybody = await _ask(stub, str(tmp_path / "corpus"), strategy="none")
        board = await _ask(stub, str(tmp_path / "corpus"), strategy="none", access=("board",))
    assert [passage["source"] for passage in anybody["passages"]] == ["notes.jsonl#open"]
    assert _duplicates(anybody) == []
    assert len(board["passages"]) == len(_duplicates(board)) == 1


async def test_what_repeats_a_merged_passage_is_left_out_of_the_windows(tmp_path: Path) -> None:
    said = [f"Flood gate {name} protects the mill on the Halden from high water in spring." for name in "abcdefgh"]
    (tmp_path / "gates.md").write_text("# Measures to protect the town from floods\n\n" + "\n\n".join(said))
    (tmp_path / "notes.txt").write_text("\n\n".join(said[2:4]))
    ingest([tmp_path / "gates.md", tmp_path / "notes.txt"], tmp_path / "corpus")
    with OpenAIStub(model()) as stub:
        state = await _ask(stub, str(tmp_path / "corpus"), strategy="none")
    excerpts = [excerpt["id"] for window in state["windows"] for excerpt in window]
    sources = {passage["id"]: passage["source"] for passage in state["passages"]}
    assert {sources[each] for each in excerpts} == {"gates.md"}


async def test_a_context_that_holds_no_passage_is_refused_with_what_to_change(river: str) -> None:
    with OpenAIStub(model()) as stub, pytest.raises(SettingsError, match="context of 900 tokens") as raised:
        await _ask(stub, river, strategy="none", context_tokens=900)
    assert "answer_tokens" in raised.value.hint


LIMITS = [
    {"max_model_calls": 6},
    {"max_model_calls": 3},
    {"max_model_calls": 1},
    {"max_tokens": 6000},
    {"max_tokens": 2500},
    {"max_tokens": 1500},
]


FREE: dict[str, dict[str, Any]] = {}
"""What a turn without limits comes to, by synthesis."""


# Each route with limits of both kinds, and each limit with some route; the rest is for `make exhaustive`.
@pytest.mark.parametrize(
    ("synthesis", "limits"),
    [
        pytest.param(
            synthesis, limits, id=f"{synthesis}-{limits}", marks=[] if (at + number) % 2 else pytest.mark.exhaustive
        )
        for at, synthesis in enumerate(["auto", "refine", "map_reduce"])
        for number, limits in enumerate(LIMITS)
    ],
)
async def test_what_a_question_may_cost_is_kept_and_what_that_changes_is_said(
    limits: dict[str, int], synthesis: str, river: str
) -> None:
    settings = {"synthesis": synthesis, "answer_form": "cited", "answer_tokens": 200, **SMALL}
    with OpenAIStub(model()) as stub:
        free = FREE[synthesis] = FREE.get(synthesis) or await _ask(stub, river, **settings)
        first = await _ask(stub, river, **limits, **settings)
    with OpenAIStub(together(model(), *at_once(first))) as stub:
        state = await _ask(stub, river, **limits, **settings)
        used = state["usage"]
        assert used["calls"] == len(stub.calls) <= limits.get("max_model_calls", math.inf)
        assert used["rounds"] == stub.rounds()
        assert used["prompt_tokens"] + used["output_tokens"] <= limits.get("max_tokens", math.inf)
    assert state["citations"]
    (limit,) = limits
    if state["route"]["name"] != free["route"]["name"] or len(state["windows"]) < len(free["windows"]):
        assert any(limit in reason for reason in state["route"]["reasons"])
    if len(state["windows"]) < len(free["windows"]):
        unread = [item for item in _packed(state)["dropped"] if item["why"] == "not_read"]
        assert unread
        assert any(limit in item["reason"] for item in state["degraded"] if item["step"] == "pack")


async def test_steps_before_the_answer_leave_a_call_for_it(river: str) -> None:
    with OpenAIStub(model()) as stub:
        state = await _ask(stub, river, grade="llm", rerank="llm", max_model_calls=1)
        assert _by_step(stub) == {"create": 1}
    assert {item["step"] for item in state["degraded"]} == {"rewrite", "rerank", "grade"}
    assert all("max_model_calls" in item["reason"] for item in state["degraded"])
    assert state["citations"]


async def test_steps_before_the_answer_leave_tokens_for_it(river: str) -> None:
    settings = {"grade": "llm", "rerank": "llm", "answer_tokens": 200, "max_tokens": 1500}
    with OpenAIStub(model()) as stub:
        state = await _ask(stub, river, **settings)
        assert _by_step(stub) == {"create": 1}
    assert state["usage"]["prompt_tokens"] + state["usage"]["output_tokens"] <= 1500
    assert {item["step"] for item in state["degraded"]} == {"rewrite", "rerank", "grade"}
    assert state["citations"]


async def test_a_model_that_fails_at_two_windows_is_not_asked_for_the_others(river: str) -> None:
    with OpenAIStub(model(refine=Reply("", status=500))) as stub:
        state = await _ask(stub, river, synthesis="refine", **SMALL)
        assert len(state["windows"]) > 4
        assert _by_step(stub) == {"create": 1, "refine": 2}
    assert [item["step"] for item in state["degraded"]] == ["refine:2", "refine:3"]
    assert state["citations"]


async def test_windows_left_unread_by_an_early_stop_are_counted(river: str) -> None:
    with OpenAIStub(model(refine="KEEP")) as stub:
        state = await _ask(stub, river, synthesis="refine", **SMALL)
    unread = [step["counts"].get("unread", 0) for step in state["trace"] if step["node"] == "refine"]
    assert unread == [0, len(state["windows"]) - 3]
