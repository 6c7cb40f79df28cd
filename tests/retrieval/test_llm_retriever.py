"""The retriever that has the chat model read a small corpus: against a stub server, over a real corpus."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from anabranch.agent.prompts import RETRIEVE
from anabranch.errors import ModelError, SettingsError
from anabranch.ingestion.pipeline import ingest
from anabranch.models.chat import ChatSettings, load_chat
from anabranch.models.rerankers.rerank_calls import judge_all
from anabranch.models.usage import Meter, metered
from anabranch.parsing.relevance_scores import Judgements
from anabranch.retrieval.llm_retriever import Reach, read_all
from anabranch.store.protocol import CorpusReader, RankedList, Scope
from anabranch.store.stores import open_corpus
from tests.graph.replies import passages_in
from tests.servers import scripts
from tests.servers.calls import Request
from tests.servers.loopback import Reply
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import together

pytestmark = pytest.mark.loopback

BEASTS = ["heron", "otter", "pike", "swift", "badger", "owl", "hare", "newt"]
EVERYTHING = Scope(access=("board",))


def _made(folder: Path, lines: Sequence[dict[str, Any]], **files: str) -> Path:
    folder.mkdir()
    (folder / "beasts.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    for name, text in files.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    ingest([folder], folder / "corpus")
    return folder / "corpus"


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight documents of one passage each, without summaries; one of them is for the board."""
    lines = [{"id": beast, "title": beast, "text": f"The {beast} was seen at the weir."} for beast in BEASTS]
    lines[3]["access"] = ["board"]  # type: ignore[assignment]
    return _made(tmp_path_factory.mktemp("plain") / "documents", lines)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three long documents, two of which have a summary: one from its JSONL line, one from its front matter."""
    lines = [
        {"id": beast, "title": f"Book {number}", "text": " ".join(_sentence(beast, year) for year in range(60)), **more}
        for number, (beast, more) in enumerate([("heron", {"summary": "All about herons."}), ("otter", {})])
    ]
    body = "\n\n".join(_sentence("pike", year) for year in range(60))
    front = f"---\ntitle: Book 2\nsummary: All about pikes.\n---\n\n{body}\n"
    return _made(tmp_path_factory.mktemp("told") / "documents", lines, pike=front)


def _sentence(beast: str, year: int) -> str:
    return f"In the year {1800 + year} a {beast} was seen {year + 2} times below the old weir by the miller."


def chooser(*words: str) -> Any:
    """Judge texts by the first of the words that they have: 9 for the first word, 8 for the second, and so on."""

    def judge(request: Request) -> Reply:
        assert "choose which of the numbered texts help" in request.system
        lines = [
            f"Doc: {number}, Relevance: {9 - place}"
            for number, text in passages_in(request).items()
            for place, word in enumerate(words)
            if word in text
        ]
        return Reply("\n".join(lines) or "None")

    return judge


async def _read(
    corpus: Path, script: Any, scope: Scope = EVERYTHING, *, batch: int = 3, calls: int = 20, depth: int = 50
) -> tuple[RankedList, OpenAIStub, CorpusReader, Meter]:
    store = await open_corpus(corpus)
    with OpenAIStub(script) as stub, metered() as meter:
        chat = await load_chat(ChatSettings("openai:stub", stub.base_url, timeout=60.0, retries=0))

        async def ask(batches: Sequence[Sequence[str]]) -> Sequence[Judgements | None]:
            return await judge_all(chat, RETRIEVE, "Which?", batches, asyncio.Semaphore(8))

        return await read_all(store, scope, ask, Reach(batch, calls, depth)), stub, store, meter


async def _texts(store: CorpusReader, ranked: RankedList) -> list[str]:
    found = await store.chunks(ranked["ids"], EVERYTHING)
    return [found[chunk_id].text for chunk_id in ranked["ids"]]


async def test_every_passage_is_read_once_and_in_parallel(plain: Path) -> None:
    ranked, stub, store, meter = await _read(plain, together(chooser("pike", "heron"), 3))
    assert [text.split()[1] for text in await _texts(store, ranked)] == ["pike", "heron"]
    assert ranked["scores"] == [9.0, 8.0]
    shown = [text for call in stub.calls for text in passages_in(call.request).values()]
    assert len(shown) == len(set(shown)) == len(BEASTS)
    assert len(stub.calls) == meter.calls == 3
    assert stub.rounds() == 1


async def test_equal_relevance_stays_in_document_order_and_the_list_is_as_long_as_asked(plain: Path) -> None:
    ranked, _, store, _ = await _read(plain, chooser("weir"), depth=5)
    assert [text.split()[1] for text in await _texts(store, ranked)] == sorted(BEASTS)[:5]


async def test_nothing_out_of_scope_is_read(plain: Path) -> None:
    _, stub, _, _ = await _read(plain, chooser("swift"), Scope())
    assert not [call for call in stub.calls if "swift" in call.request.user]
    _, stub, _, _ = await _read(plain, chooser("pike"), Scope(filters={"key": {"in": ["pike", "swift"]}}))
    assert [sorted(passages_in(call.request)) for call in stub.calls] == [[1]]
    ranked, stub, _, _ = await _read(plain, chooser("pike"), Scope(filters={"key": "nobody"}))
    assert (ranked["ids"], stub.calls) == ([], [])


async def test_more_than_the_calls_allow_is_refused_before_any_call(plain: Path) -> None:
    with OpenAIStub(scripts.unexpected) as stub:
        with pytest.raises(SettingsError, match="at most 6 texts"):
            await _read(plain, stub.script, batch=3, calls=2)
        assert stub.calls == []


async def test_the_peer_reads_in_sequence_without_order_and_we_do_not_llamaindex_s8(plain: Path) -> None:
    # SummaryIndexLLMRetriever: no async, no top_n, no sort
    ranked, stub, _, _ = await _read(plain, together(chooser("pike", "weir"), len(BEASTS)), batch=1, depth=4)
    assert stub.rounds() == 1
    assert ranked["scores"] == [9.0, 8.0, 8.0, 8.0]


async def test_documents_are_chosen_by_their_summaries_first(told: Path) -> None:
    ranked, stub, store, _ = await _read(told, together(chooser("pikes", "pike"), 1, 2), batch=6)
    assert len(stub.calls) == 3
    first, *then = stub.calls
    herons, otters, pikes = passages_in(first.request).values()
    assert (herons, pikes) == ("Book 0\nAll about herons.", "Book 2\nAll about pikes.")
    assert "a otter was seen" in otters
    assert stub.rounds() == 2
    assert then
    assert all("heron" not in call.request.user and "otter" not in call.request.user for call in then)
    assert all("pike" in text for text in await _texts(store, ranked))
    outlines = await store.outlines(EVERYTHING, 9)
    assert [len(ranked["ids"])] == [one.leaves for one in outlines if one.title == "Book 2"]


async def test_no_document_helps_and_none_is_read(told: Path) -> None:
    ranked, stub, _, meter = await _read(told, "None", batch=6)
    assert (ranked["ids"], len(stub.calls), meter.failures) == ([], 1, [])


async def test_what_fits_one_call_is_read_at_once(told: Path) -> None:
    _, stub, _, _ = await _read(told, chooser("pike"), batch=200)
    assert len(stub.calls) == 1
    assert len(passages_in(stub.calls[0].request)) > 20


async def test_of_the_documents_chosen_no_more_is_read_than_the_calls_allow(told: Path) -> None:
    ranked, stub, store, meter = await _read(told, chooser("heron", "pike", "otter"), batch=6, calls=3)
    assert len(stub.calls) == 3
    assert all("heron" in text for text in (await _texts(store, ranked))[:6])
    assert "first 12 passages" in meter.failures[0]
    with pytest.raises(SettingsError, match="3 documents"):
        await _read(told, chooser("heron"), batch=6, calls=1)


async def test_one_failing_call_leaves_the_others_and_all_failing_is_an_error(plain: Path) -> None:
    def one_fails(request: Request) -> Reply:
        return scripts.BROKEN if "pike" in request.user else chooser("heron", "owl")(request)

    ranked, _, _, meter = await _read(plain, one_fails)
    assert 1 <= len(ranked["ids"]) <= 2
    assert "1 of 3 calls failed" in meter.failures[0]
    with pytest.raises(ModelError):
        await _read(plain, scripts.BROKEN)
