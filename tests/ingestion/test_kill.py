"""A run killed at any moment loses no committed document and leaves a corpus that opens."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from anabranch.errors import CorpusEmptyError, CorpusNotFoundError
from anabranch.ingestion.pipeline import ingest
from anabranch.store.maintenance import verify
from anabranch.store.protocol import Scope
from anabranch.store.stores import open_corpus

RUN = """
import sys
from pathlib import Path
from anabranch.ingestion.pipeline import ingest
from anabranch.ingestion.isolation import process_pool as pool
pool._HERE_BYTES = int(sys.argv[3])
print("ready", flush=True)
ingest([Path(sys.argv[1])], Path(sys.argv[2]), sizes=(64, 32, 16))
"""
HOURS = 6


def write_day(folder: Path, day: int, edition: int) -> None:
    said = " ".join(f"On day {day} in hour {hour} of edition {edition} the gauge stood still." for hour in range(HOURS))
    (folder / f"day{day:02}.txt").write_text(said, encoding="utf-8")


def documents(corpus: Path) -> dict[str, str]:
    """The whole text of every committed document."""
    if not (corpus / "corpus.db").is_file():
        return {}
    connection = sqlite3.connect(f"file:{corpus}/corpus.db?mode=ro", uri=True)
    try:
        found = connection.execute("SELECT doc_id, source FROM documents").fetchall()
        leaves = "SELECT text FROM chunks WHERE doc_id = ? AND level = 2 ORDER BY start"
        return {source: "".join(row[0] for row in connection.execute(leaves, (doc_id,))) for doc_id, source in found}
    except sqlite3.OperationalError as error:
        assert "no such table" in str(error)
        return {}
    finally:
        connection.close()


def searched(corpus: Path) -> set[str]:
    async def work() -> set[str]:
        store = await open_corpus(corpus)
        (ranked,) = await store.search("bm25", ["gauge"], 10_000, Scope())
        return {chunk.source for chunk in (await store.chunks(ranked["ids"], Scope())).values()}

    return asyncio.run(work())


def test_killed_at_random_moments(tmp_path: Path) -> None:
    folder, corpus = tmp_path / "d", tmp_path / "c"
    folder.mkdir()
    dice = random.Random(7)
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    committed: dict[str, str] = {}
    for run in range(2):  # tests/faults kills as often as one likes
        for day in range(40):
            if run == 0 or dice.random() < 0.2:
                write_day(folder, day, run)
        here = (1 << 16, 0)[run]  # bytes that need no process of their own to be read
        command = [sys.executable, "-c", RUN, str(folder), str(corpus), str(here)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(dice.uniform(0.0, 1.2))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        found = documents(corpus)
        assert set(committed) <= set(found)
        for text in found.values():
            assert text.count("stood still.") == HOURS
            assert len({part[0] for part in text.split("edition ")[1:]}) == 1
        committed = found
        try:
            assert searched(corpus) == set(found)
        except (CorpusEmptyError, CorpusNotFoundError):
            assert not found
    ingest([folder], corpus, sizes=(64, 32, 16))
    assert verify(corpus) == []
    assert searched(corpus) == {f"day{day:02}.txt" for day in range(40)}
    assert documents(corpus) == {path.name: path.read_text("utf-8") for path in folder.iterdir()}
