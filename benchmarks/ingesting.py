"""How fast documents are taken in, and how much of that is embedding."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

from anabranch.ingest.pipeline import IngestReport, ingest
from anabranch.models.embedder import Vectors
from anabranch.models.embedders import load_embedder
from benchmarks.report import Table
from benchmarks.scale import Scale

COLUMNS = ("run", "files", "passages embedded", "seconds", "passages/s", "embedding")


def measure(scale: Scale, corpus: Path) -> Table:
    """Make `corpus` from the project's own guide, twice."""
    rows = tuple(_row(name, *_timed(scale, corpus)) for name in ("a new corpus", "again, nothing changed"))
    return Table("ingest", "Ingesting the project's guide", COLUMNS, rows)


def _timed(scale: Scale, corpus: Path) -> tuple[IngestReport, float]:
    """Ingest, and return the report with the seconds spent in the embedder; loading its model is not in them."""
    embedder = load_embedder("minilm")
    embedder.embed(["warm"])
    original, spent = embedder.embed, 0.0

    def embed(texts: Sequence[str]) -> Vectors:
        nonlocal spent
        began = time.perf_counter()
        try:
            return original(texts)
        finally:
            spent += time.perf_counter() - began

    with patch.object(embedder, "embed", embed):
        report = ingest(scale.documents, corpus)
    return report, spent


def _row(name: str, report: IngestReport, embedding: float) -> tuple[str, ...]:
    speed = f"{report.embedded / report.seconds:.0f}" if report.embedded else "-"
    share = f"{embedding / report.seconds:.0%}"
    return (name, str(len(report.rows)), str(report.embedded), f"{report.seconds:.2f}", speed, share)
