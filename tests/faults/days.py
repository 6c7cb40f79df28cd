"""Documents that tell what became of them: each says of which day and edition it is, over and over."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

from anabranch.ingestion.pipeline import ingest
from anabranch.store.index.manifest import leftovers as unneeded
from anabranch.store.local_reader import LocalReader
from anabranch.store.maintenance import verify
from anabranch.store.protocol import Scope
from anabranch.store.records import embedded_text
from anabranch.text.analyzer import analyser

HOURS = 5
SIZES = (64, 32, 16)
ALL = 100_000


def name_of(day: int) -> str:
    return f"day{day:02}.txt"


def said(day: int, edition: int) -> str:
    return " ".join(f"On day {day} in hour {hour} of edition {edition} the gauge stood still." for hour in range(HOURS))


def tell(folder: Path, day: int, edition: int) -> None:
    """Write a file at once or not at all: what is tried here is what a corpus makes of a kill, not an editor."""
    fresh = folder.parent / f".{name_of(day)}"
    fresh.write_text(said(day, edition), encoding="utf-8")
    fresh.replace(folder / name_of(day))


def take_in(folder: Path, corpus: Path, model: Path) -> None:
    """Ingest as a person would."""
    ingest([folder], corpus, embedder=str(model), sizes=SIZES)


def made(ground: Path, model: Path, days: int) -> tuple[Path, Path]:
    """A folder, and a corpus of it with several segments and dead rows."""
    folder, corpus = ground / "d" / "d", ground / "template"
    folder.mkdir(parents=True)
    for edition in range(4):
        for day in range(days) if edition == 0 else (edition, edition + days // 2):
            tell(folder, day, edition)
        take_in(folder, corpus, model)
    return folder, corpus


def editions(corpus: Path) -> dict[str, int]:
    """The edition of every document in the database, each of them looked at for being whole."""
    return {source: _edition(text) for source, text in documents(corpus).items()}


def documents(corpus: Path) -> dict[str, str]:
    """The whole text of every document in the database."""
    if not (corpus / "corpus.db").is_file():
        return {}
    with closing(sqlite3.connect(f"file:{corpus}/corpus.db?mode=ro", uri=True)) as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'documents'").fetchone():
            return {}
        found = connection.execute("SELECT doc_id, source FROM documents").fetchall()
        leaves = "SELECT text FROM chunks WHERE doc_id = ? AND level = 2 ORDER BY start"
        return {source: "".join(row[0] for row in connection.execute(leaves, (doc_id,))) for doc_id, source in found}


def _edition(text: str) -> int:
    assert text.count("stood still.") == HOURS, f"half a document: {text!r}"
    (edition,) = {int(part.split()[0]) for part in text.split("edition ")[1:]}
    return edition


def leaves(corpus: Path) -> dict[str, str]:
    """What both arms see of every leaf in the database, by chunk id."""
    sql = (
        "SELECT c.chunk_id, d.title, c.heading, c.text FROM chunks c JOIN documents d USING (doc_id) WHERE c.level = 2"
    )
    with closing(sqlite3.connect(f"file:{corpus}/corpus.db?mode=ro", uri=True)) as connection:
        return {chunk_id: embedded_text(*parts) for chunk_id, *parts in connection.execute(sql)}


def found(store: LocalReader, query: str = "gauge") -> dict[str, dict[str, float]]:
    """All that each arm finds: chunk ids with their scores."""

    async def both() -> dict[str, dict[str, float]]:
        answer = {}
        for arm in ("bm25", "dense"):
            (ranked,) = await store.search(arm, [query], ALL, Scope())
            assert len(set(ranked["ids"])) == len(ranked["ids"])
            answer[arm] = dict(zip(ranked["ids"], ranked["scores"], strict=True))
        return answer

    return asyncio.run(both())


def texts_of(store: LocalReader, ids: list[str]) -> dict[str, str]:
    chunks = asyncio.run(store.chunks(ids, Scope()))
    return {chunk_id: chunk.text for chunk_id, chunk in chunks.items()}


def check_answers(corpus: Path, store: LocalReader) -> None:
    """Both arms find exactly what the database has, and give its text."""
    there = leaves(corpus)
    (gauge,) = analyser().terms("gauge")
    answer = found(store)
    assert set(answer["dense"]) == set(there)
    assert set(answer["bm25"]) == {chunk_id for chunk_id, text in there.items() if gauge in analyser().terms(text)}
    assert set(texts_of(store, list(there))) == set(there)


def problems(corpus: Path) -> list[str]:
    """What `corpus verify` says."""
    return verify(corpus)


def leftovers(corpus: Path) -> list[str]:
    """What lies in a corpus that no generation needs."""
    return [str(path.relative_to(corpus)) for path in unneeded(corpus)]


def size(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
