"""Writes threads that were left at every step into a file, for tests in which another version goes on with them.

The file beside this one was made by the code of commit fecb2fbd, whose state had no version yet, and stays as it is.
With the code of a later version, this makes a further file:

    python -m tests.graph.make_threads_of_before tests/graph/threads_of_before.db.xz
"""

from __future__ import annotations

import asyncio
import lzma
import os
import shutil
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

from anabranch.agent.graph.answer import build
from anabranch.agent.nodes.settings import Context
from anabranch.ingestion.pipeline import ingest
from tests.graph.replies import model
from tests.servers.openai_stub import OpenAIStub
from tests.shared_fixtures import REPOSITORY

QUESTION = "What measures protect the town from floods on the Halden?"
FOLLOW_UP = "Who built the weir there?"
UNKNOWN = "Quokkas?"
SMALL = {
    "window_tokens": 80, "merge_threshold": 1.0, "top_k": 5,
    "rerank": "llm", "rerank_depth": 6, "rerank_batch": 3, "fan_in": 2,
    "answer_form": "cited", "strategy": "none",
}  # fmt: skip
CORPUS = "river"
"""A path that is relative, because each test has the corpus elsewhere."""


class Recorder:
    """Leaves threads behind in one database."""

    def __init__(self, saver: AsyncSqliteSaver) -> None:
        self._saver = saver

    async def ask(self, thread: str, question: str, context: Context, *, leave_at: str = "") -> Sequence[str]:
        """Ask in a thread and leave it before a step, or in one of the search; return the steps that started."""
        started: list[str] = []
        # The steps of the search are another graph's, and are left where they have started, as by a kill.
        builder = build()
        before = [leave_at] if leave_at in builder.nodes else []
        stream = builder.compile(checkpointer=self._saver, interrupt_before=before).astream(
            {"question": question}, _named(thread), context=context, stream_mode="custom", subgraphs=True,
            durability="sync",
        )  # fmt: skip
        async for _, event in stream:
            if event.get("status") == "started":
                started.append(event["step"])
                if event["step"] == leave_at:
                    await stream.aclose()
                    break
        return started

    async def reply(self, thread: str, reply: Any) -> None:
        """Reply to the review that a thread waits for."""
        await build().compile(checkpointer=self._saver).ainvoke(Command(resume=reply), _named(thread))

    async def leave_at_each(self, prefix: str, question: str, context: Context, *, since: str = "begin") -> None:
        """Leave a thread at each kind of step of a turn, and one at its end: `prefix` and the name of the step."""
        steps = [*dict.fromkeys(await self.ask(f"{prefix} done", question, context))]
        for step in steps[steps.index(since) :]:
            await self.ask(f"{prefix} {step}", question, context, leave_at=step)


async def record(saver: AsyncSqliteSaver, base_url: str) -> None:
    """Leave the threads."""
    recorder = Recorder(saver)
    plain: dict[str, Any] = {"corpus": CORPUS}
    asking: dict[str, Any] = {**plain, "model": "openai:stub", "base_url": base_url, **SMALL}
    await recorder.leave_at_each("passages", QUESTION, Context(**plain))
    await recorder.leave_at_each("unknown", UNKNOWN, Context(**plain, retrievers=("bm25",)), since="grade")
    for synthesis, since in (("stuff", "begin"), ("refine", "pack"), ("map_reduce", "pack")):
        await recorder.leave_at_each(synthesis, QUESTION, Context(**asking, synthesis=synthesis), since=since)
    for thread, leave_at in (("follow-up done", ""), ("follow-up condense", "condense"), ("follow-up cite", "cite")):
        await recorder.ask(thread, QUESTION, Context(**asking))
        await recorder.ask(thread, FOLLOW_UP, Context(**asking), leave_at=leave_at)
    for review in ("queries", "sources"):
        await recorder.ask(f"review {review}", QUESTION, Context(**plain, review=review))
        await recorder.ask(f"review {review} again", QUESTION, Context(**plain, review=review))
        await recorder.reply(f"review {review} again", 5)


async def main(path: Path) -> None:
    """Write the file."""
    with _empty_folder(), OpenAIStub(model()) as stub:
        shutil.copytree(REPOSITORY / "tests" / "samples", "samples")
        ingest([Path("samples")], Path(CORPUS))
        async with AsyncSqliteSaver.from_conn_string("threads.db") as saver:
            await record(saver, stub.base_url)
        with sqlite3.connect("threads.db") as database:
            database.execute("PRAGMA journal_mode=DELETE")
            database.execute("VACUUM")
        database.close()
        path.write_bytes(lzma.compress(Path("threads.db").read_bytes(), preset=9 | lzma.PRESET_EXTREME))


@contextmanager
def _empty_folder() -> Iterator[None]:
    with TemporaryDirectory() as folder:
        before = Path.cwd()
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def _named(thread: str) -> Any:
    return {"configurable": {"thread_id": thread}}


if __name__ == "__main__":
    os.environ.setdefault("OPENAI_API_KEY", "none")
    asyncio.run(main(Path(sys.argv[1]).absolute()))
