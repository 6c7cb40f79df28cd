"""What a caller may not read is nowhere: in no state, result, event, checkpoint or prompt, whatever they ask for."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from anabranch.agent.graph.answer import build
from anabranch.agent.nodes.settings import Context
from anabranch.ingestion.pipeline import ingest
from tests.graph.replies import model
from tests.servers.openai_stub import OpenAIStub

pytestmark = [pytest.mark.loopback, pytest.mark.slow]

TAGS = ("board", "staff", "family")
OWNERS: list[list[str]] = [[], ["board"], ["staff"], ["family"], ["board", "staff"], ["staff", "family"]]
BEASTS = ["heron", "otter", "pike", "swift", "badger", "owl"]

# What a caller might send to see more than they may.
WIDENING: list[dict[str, Any]] = [
    {"or": [{"kind": "note"}, {"access": "board"}]},
    {"not": {"kind": "none"}},
    {"access": {"exists": True}},
    {"source": {"glob": "*"}},
    {"doc_id": {"exists": True}},
    {"or": [{"key": {"glob": "doc*"}}, {"not": {"key": {"glob": "doc*"}}}]},
    {"title": "1' OR '1'='1"},
]


def lines() -> list[dict[str, Any]]:
    """Documents that answer the same questions, each with a word of its own; parts are long enough to be merged."""
    made = []
    for number in range(18):
        canary = f"canary{number:02}quill"
        said = " ".join(
            f"In part {part} the {BEASTS[number % 6]} of the weir was counted {number * 7 + part} times by {canary}."
            for part in range(12)
        )
        made.append({"id": f"doc{number:02}", "title": f"Count {canary}", "text": said, "kind": "note"})
        if OWNERS[number % 6]:
            made[-1]["access"] = OWNERS[number % 6]
    return made


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scope")
    (folder / "counts.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines()), encoding="utf-8")
    report = ingest([folder / "counts.jsonl"], folder / "corpus")
    assert report.count("added") == 1
    return folder / "corpus"


def foreign_to(corpus: Path, access: tuple[str, ...]) -> set[bytes]:
    """Every name by which a document that these tags do not open could show: ids, sources, its own word."""
    connection = sqlite3.connect(f"file:{corpus}/corpus.db?mode=ro", uri=True)
    names: set[bytes] = set()
    for doc_id, key, source, tags in connection.execute("SELECT doc_id, key, source, access FROM documents").fetchall():
        if json.loads(tags) and not set(json.loads(tags)) & set(access):
            chunks = connection.execute("SELECT chunk_id FROM chunks WHERE doc_id = ?", (doc_id,))
            names |= {doc_id.encode(), source.encode(), f"canary{key[3:]}quill".encode()}
            names |= {row[0].encode() for row in chunks}
    connection.close()
    return names


async def everything_said(corpus: Path, turns: list[tuple[str, Any]], wanted: dict[str, Any], database: Path) -> bytes:
    """Run turns of one caller on one thread; return all bytes that they left or sent anywhere."""
    seen: list[str] = []
    config: Any = {"configurable": {"thread_id": "t"}}
    with OpenAIStub(model()) as stub:
        if "synthesis" in wanted:
            wanted = {**wanted, "model": "openai:stub", "base_url": stub.base_url}
        async with AsyncSqliteSaver.from_conn_string(str(database)) as saver:
            compiled = build().compile(checkpointer=saver)
            for question, filters in turns:
                asked = {"question": question, **({"filters": filters} if filters else {})}
                context = Context(corpus=str(corpus), **wanted)
                modes: Any = ["values", "updates", "custom", "messages", "debug"]
                async for event in compiled.astream(asked, config, context=context, stream_mode=modes):
                    seen.append(repr(event))
        seen += [json.dumps(call.request.body) for call in stub.calls]
    kept = b"".join(path.read_bytes() for path in database.parent.glob(f"{database.name}*"))
    return kept + "\n".join(seen).encode()


routes = st.sampled_from(
    [
        {},
        {"synthesis": "refine"},
        {"synthesis": "map_reduce"},
        {"rerank": "llm", "synthesis": "auto"},
        {"rerank": "llm", "rerank_batch": 3, "synthesis": "auto"},
        {"retrievers": ["llm", "bm25"], "synthesis": "auto"},
    ]
)
questions = st.sampled_from([f"How often was the {beast} counted at the weir?" for beast in BEASTS])


@settings(
    max_examples=10,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    access=st.sets(st.sampled_from(TAGS), max_size=2).map(sorted).map(tuple),
    turns=st.lists(st.tuples(questions, st.none() | st.sampled_from(WIDENING)), min_size=1, max_size=2),
    wanted=routes,
    sizes=st.sampled_from([{}, {"merge_threshold": 0.1, "top_k": 40, "window_tokens": 400}]),
)
def test_no_foreign_word_or_id_is_anywhere(
    corpus: Path, access: tuple[str, ...], turns: list[tuple[str, Any]], wanted: dict[str, Any], sizes: dict[str, Any]
) -> None:
    foreign = foreign_to(corpus, access)
    assert len(foreign) > 20
    with TemporaryDirectory() as folder:
        caller = {**wanted, **sizes, "access": access}
        said = asyncio.run(everything_said(corpus, turns, caller, Path(folder) / "threads.db"))
    assert [name for name in foreign if name in said] == []


def test_the_words_of_ones_own_documents_are_found(corpus: Path, tmp_path: Path) -> None:
    turns = [("How often was the otter counted at the weir by canary01quill?", None)]
    said = asyncio.run(everything_said(corpus, turns, {"access": ("board",)}, tmp_path / "threads.db"))
    assert b"doc01" in said
    assert any(name in said for name in foreign_to(corpus, ()) - foreign_to(corpus, ("board",)))
