"""Looking after a corpus, for the command line."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from anabranch.cli.output import notes, results, say, write_json
from anabranch.cli.progress import bars
from anabranch.corpus.opening import open_corpus
from anabranch.corpus.reading.cleaning import squeeze
from anabranch.corpus.store import CorpusInfo
from anabranch.corpus.truth import DATABASE
from anabranch.corpus.upkeep import rebuild, verify

MAX_SHOWN = 100


def show_stats(folder: Path, *, as_json: bool) -> None:
    """Print counts and the list of documents."""
    info = asyncio.run(_info(folder))
    sources = documents_of(folder)
    if as_json:
        write_json({**asdict(info), "sources": sources})
        return
    console = results()
    _print_info(console, info)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("source", "title", "chunks", "tokens", "access"):
        table.add_column(name, justify="right" if name in ("chunks", "tokens") else "left", overflow="fold")
    for row in sources[:MAX_SHOWN]:
        cells = (row["source"], row["title"], row["chunks"], row["tokens"], ", ".join(row["access"]))
        table.add_row(*(Text(squeeze(str(cell))) for cell in cells))
    console.print(table)
    if len(sources) > MAX_SHOWN:
        say(console, f"... and {len(sources) - MAX_SHOWN} more; --json lists them all.")


async def _info(folder: Path) -> CorpusInfo:
    return await (await open_corpus(folder)).info()


def documents_of(folder: Path) -> list[dict[str, Any]]:
    """Return every document of a corpus, by source, whatever its access tags: this is its owner's view."""
    sql = (
        "SELECT d.source, d.title, d.key, d.access, d.tokens, count(c.chunk_id) FROM documents d "
        "LEFT JOIN chunks c USING (doc_id) GROUP BY d.doc_id ORDER BY d.source"
    )
    with closing(
        sqlite3.connect(f"file:{quote(str(folder.absolute() / DATABASE))}?mode=ro", uri=True, timeout=30)
    ) as read:
        return [
            {
                "source": source,
                "title": title,
                "key": key,
                "access": json.loads(access),
                "tokens": tokens,
                "chunks": chunks,
            }
            for source, title, key, access, tokens, chunks in read.execute(sql)
        ]


def _print_info(console: Console, info: CorpusInfo) -> None:
    say(console, info.path, style="bold")
    say(
        console,
        f"{info.documents} documents, {info.tokens:,} tokens, {info.chunks} chunks, {info.leaves} of them leaves",
    )
    size = f"{info.bytes / 1e6:.1f} MB on disk"
    say(console, f"generation {info.generation}, embedder {info.embedder} ({info.dimension} dimensions), {size}")


def show_verdict(folder: Path, *, as_json: bool) -> bool:
    """Print what is wrong, and return whether nothing is."""
    problems = verify(folder)
    if as_json:
        write_json({"sound": not problems, "problems": problems})
        return not problems
    for problem in problems:
        say(results(), f"- {problem}", style="red")
    say(results(), f"{folder} is sound." if not problems else "Mend it: anabranch corpus rebuild.")
    return not problems


def rebuild_shown(folder: Path, embedder: str | None, base_url: str | None) -> None:
    """Make the indexes anew under a progress bar."""
    with bars() as progress:
        tasks = {stage: progress.add_task(label, total=None, visible=False) for stage, label in STAGES.items()}

        def told(stage: str, done: int, total: int) -> None:
            progress.update(tasks[stage], completed=done, total=total, visible=True)

        manifest = rebuild(folder, embedder=embedder, base_url=base_url, progress=told)
    said = f"{manifest.documents} documents, {manifest.leaves} passages, generation {manifest.number}"
    say(notes(), f"{folder}: {said}, embedder {manifest.embedder}.")


STAGES = {"passages": "passages embedded", "index": "index"}
