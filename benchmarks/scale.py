"""How much is measured: enough for steady figures, or just enough to see that everything works."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Scale:
    """The size of a run.

    Attributes:
        name: What the tables call it.
        documents: Files and folders to ingest.
        savers: Checkpointers to keep threads in, 'memory' and 'SQLite'; the last one is SQLite.
        repeats: Turns per route and checkpointer; the one with the median wall time is reported.
        leaves: Sizes of the corpora to search.
        searches: Queries per corpus.
        together: Questions asked at once.
        delay: Seconds that the model server takes for each reply.
    """

    name: str
    documents: tuple[Path, ...]
    savers: tuple[str, ...]
    repeats: int
    leaves: tuple[int, ...]
    searches: int
    together: int
    delay: float


FULL = Scale("full", (ROOT / "docs",), ("memory", "SQLite"), 5, (1_000, 10_000), 200, 16, 0.2)
QUICK = Scale("quick", (ROOT / "docs" / "index.md",), ("SQLite",), 1, (200,), 10, 2, 0.06)
