"""Makes small test collections."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

ANIMALS = {
    "otters": "Otters hold hands while they sleep, so that they do not drift apart.",
    "owls": "Owls turn their heads by 270 degrees, because their eyes cannot move.",
    "bees": "The waggle dance tells other bees where the flowers are.",
    "moles": "Moles dig tunnels and eat earthworms, which they keep alive in larders.",
}
ASKED = {
    "q1": "How do otters sleep?",
    "q2": "How far can an owl turn its head?",
    "q3": "What is the waggle dance for?",
    "q4": "What do moles eat?",
}
JUDGED = [("q1", "otters", 1), ("q2", "owls", 1), ("q3", "bees", 1), ("q4", "moles", 1)]


def make_collection(
    folder: Path,
    documents: Mapping[str, str] | None = ANIMALS,
    queries: Mapping[str, str] = ASKED,
    judged: Iterable[tuple[str, str, int]] = JUDGED,
    *,
    header: str = "query-id\tcorpus-id\tscore\n",
) -> Path:
    """Write `corpus.jsonl` (unless there are no documents), `queries.jsonl` and `qrels.tsv`, as BEIR has them."""
    folder.mkdir(parents=True, exist_ok=True)
    if documents is not None:
        write_lines(folder / "corpus.jsonl", [{"_id": key, "title": "", "text": documents[key]} for key in documents])
    write_lines(folder / "queries.jsonl", [{"_id": key, "text": queries[key]} for key in queries])
    rows = "".join(f"{query}\t{document}\t{score}\n" for query, document, score in judged)
    (folder / "qrels.tsv").write_text(header + rows, encoding="utf-8")
    return folder


def write_lines(path: Path, rows: Iterable[object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
