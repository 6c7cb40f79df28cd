"""An intake without the index that `ingest` makes at its end, with an embedder that costs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from functools import cache
from pathlib import Path

import numpy as np

from anabranch.ingestion.ingest_report import IngestReport
from anabranch.ingestion.intake import Intake
from anabranch.ingestion.isolation.process_limits import Limits
from anabranch.ingestion.sources import gather
from anabranch.models.embedder import Vectors
from anabranch.models.wordpiece_tokenizer import MINILM_TOKENIZER, WordPieces
from anabranch.readers import PLAIN, ReadOptions
from anabranch.store.local_store import LocalWriter

SIZES = (64, 32, 16)


# Loaded once: it takes as long as the run of a few small files.
_pieces = cache(WordPieces)


class Flat:
    """Embeds everything alike, and counts as the bundled model does."""

    name = "flat"
    dimension = 4

    def __init__(self, tokenizer: Path | None = None) -> None:
        if tokenizer is not None:
            self.tokenizer = tokenizer

    def count(self, texts: Sequence[str]) -> list[int]:
        return _pieces().count(texts)

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return _pieces().offsets(text)

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.full((len(texts), 4), 0.5, dtype=np.float32)


class Recording(Flat):
    """Remembers what it embedded."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.batches.append(list(texts))
        return super().embed(texts)


def silent(stage: str, done: int, total: int, detail: str = "") -> None:
    """Show nothing."""


def take_in(
    paths: Sequence[Path],
    corpus: Path,
    *,
    embedder: Flat | None = None,
    options: ReadOptions = PLAIN,
    limits: Limits | None = None,
    access: Sequence[str] = (),
    progress: object = silent,
) -> IngestReport:
    corpus.mkdir(exist_ok=True)
    report = IngestReport()
    embedder = embedder or Flat(MINILM_TOKENIZER)
    with closing(LocalWriter(corpus)) as writer, gather(paths) as found:
        intake = Intake(
            writer,
            embedder,
            SIZES,
            access,
            report,
            progress,
            options,
            limits=limits,  # type: ignore[arg-type]
        )
        intake.take(found)
        intake.fill_report(found)
    return report
