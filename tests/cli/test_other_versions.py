"""The command line over threads that another version left: they are listed and asked further, and not resumed."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from anabranch.agent.graph.answer import build
from anabranch.agent.nodes.settings import Context
from anabranch.cli import ask_turn
from anabranch.cli.threads import thread_config, thread_file, threads_of
from anabranch.ingestion.pipeline import ingest
from tests.cli.conftest import Run, rows_of
from tests.graph.make_threads_of_before import FOLLOW_UP, QUESTION
from tests.graph.test_other_versions import BEFORE, LEFT, THREADS

REFUSED = "Another version of Anabranch began this run, and this version cannot go on with it."
NOT_BEGUN = "was stopped before its question was saved"


@pytest.fixture(scope="module")
def left(documents: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus whose threads another version left."""
    folder = tmp_path_factory.mktemp("left") / "corpus"
    ingest([documents], folder)
    thread_file(str(folder)).write_bytes(BEFORE)
    return folder


def test_they_are_listed_shown_and_exported(run: Run, left: Path, tmp_path: Path) -> None:
    rows = json.loads(run("threads", "list", "--corpus", left, "--json").stdout)
    assert sorted(row["thread"] for row in rows) == sorted(THREADS)
    assert run("threads", "list", "--corpus", left).exit_code == 0
    assert run("threads", "export", "--corpus", left, "--output", tmp_path / "all.jsonl").exit_code == 0
    exported = {row["thread"]: row["turns"] for row in rows_of(tmp_path / "all.jsonl")}
    for thread in THREADS:
        shown = run("threads", "show", thread, "--corpus", left)
        assert shown.exit_code == 0
        assert [f"> {turn['question']}" in shown.stdout for turn in exported[thread]] == [True] * len(exported[thread])
    done = exported["follow-up done"]
    assert [turn["question"] for turn in done] == [QUESTION, FOLLOW_UP]
    assert all(turn["answer"] and turn["sources"] for turn in done)


@pytest.mark.parametrize("thread", LEFT)
def test_what_was_left_is_refused_in_a_sentence(thread: str, run: Run, left: Path) -> None:
    options: list[list[str]] = [[], ["--reply", "true"]] if thread.startswith("review") else [[]]
    for more in options:
        result = run("ask", "--thread", thread, "--resume", "--corpus", left, *more)
        assert result.exit_code == 2
        said = " ".join(result.stderr.split())
        assert (NOT_BEGUN if thread.endswith("begin") else REFUSED) in said
        assert "Traceback" not in said
        assert not result.stdout


def test_the_rows_of_a_finished_one_are_not_read_by_other_rules(run: Run, left: Path, tmp_path: Path) -> None:
    rows = ["--rows", tmp_path / "rows.csv"]
    result = run("ask", "--thread", "stuff done", "--resume", "--corpus", left, *rows)
    assert (result.exit_code, REFUSED in " ".join(result.stderr.split())) == (2, True)


def test_they_are_asked_further(run: Run, left: Path) -> None:
    for thread in ("review sources", "stuff create", "follow-up done"):
        asked = run("ask", "Who decoded the waggle dance?", "--thread", thread, "--corpus", left)
        assert (asked.exit_code, "Karl von Frisch" in asked.stdout) == (0, True)
        shown = run("threads", "show", thread, "--corpus", left).stdout
        assert shown.index(f"> {QUESTION}") < shown.index("> Who decoded the waggle dance?")
    chatted = run("chat", "--thread", "map_reduce gather", "--corpus", left, stdin="Who decoded the waggle dance?\n")
    assert (chatted.exit_code, "Karl von Frisch" in chatted.stdout) == (0, True)


def test_a_thread_at_a_step_that_is_no_more_is_not_said_to_be_finished(run: Run, left: Path) -> None:
    async def leave() -> None:
        record = {"question": QUESTION, "version": 99}
        # The fields of its sources are others, too.
        answered = AIMessage("In 1912. [1]", response_metadata={"sources": [{"place": "weir.md"}]})
        values = {"turn": record, "messages": [HumanMessage("When?"), answered, HumanMessage(QUESTION)]}
        async with threads_of(str(left)) as saver:
            builder = build()
            builder.add_node("before", lambda _: {})
            builder.add_node("gone", lambda _: {})
            builder.add_edge("before", "gone")
            graph = builder.compile(checkpointer=saver)
            await graph.ainvoke({"question": "Hello"}, thread_config("later"), context=Context(corpus=str(left)))
            await graph.aupdate_state(thread_config("later"), values, as_node="before")

    asyncio.run(leave())
    result = run("ask", "--thread", "later", "--resume", "--corpus", left)
    assert (result.exit_code, REFUSED in " ".join(result.stderr.split())) == (2, True)
    shown = run("threads", "show", "later", "--corpus", left)
    assert (shown.exit_code, "In 1912. [1]" in shown.stdout) == (0, True)


def test_a_reply_from_the_terminal_is_to_the_review_that_was_shown(
    run: Run, left: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a person thinks, another one asks something else in the same thread."""
    replies: list[dict[str, Any]] = []

    def think(_: Any, waiting: dict[str, Any]) -> bool:
        replies.append(waiting)
        monkeypatch.setattr(ask_turn, "can_ask", lambda: False)
        other = ["What is a distributary?", "--thread", "both", "--set", "review=sources"]
        assert run("ask", *other, "--corpus", left).exit_code == 0
        return True

    monkeypatch.setattr(ask_turn, "can_ask", lambda: True)
    # The second command is run inside the event loop of the first one.
    monkeypatch.setattr(ask_turn, "ask_person", lambda *given: _in_a_thread(think, *given))
    result = run(
        "ask", "Who decoded the waggle dance?", "--thread", "both", "--set", "review=sources", "--corpus", left
    )
    assert (result.exit_code, len(replies)) == (2, 1)
    assert "waits for a reply: it was answered, or another question was asked" in " ".join(result.stderr.split())
    waiting = json.loads(run("ask", "--thread", "both", "--resume", "--json", "--corpus", left).stdout)["waiting"]
    assert waiting["question"] == "What is a distributary?"


def _in_a_thread(call: Any, *given: Any) -> Any:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call, *given).result()
