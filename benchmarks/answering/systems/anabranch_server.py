"""Anabranch as docs/server.md sets it up: corpus, model and locks are in the environment, and callers name neither."""

from __future__ import annotations

import json
import os
from pathlib import Path

from benchmarks.answering.material import Asked
from benchmarks.answering.systems import anabranch

LOCKED = ("corpus", "model", "base_url", "model_kwargs", "rerank_model", "access", "file_links")


class System(anabranch.System):
    """The same graph over the same corpus, which Anabranch has made before."""

    def __init__(self, asked: Asked, folder: Path, base_url: str) -> None:
        """Set the environment: Anabranch reads it once per process, and this one has not asked anything yet."""
        super().__init__(asked, folder, base_url)
        fixed = {**super().given(), "file_links": "false", "lock": json.dumps(LOCKED)}
        os.environ.update({f"ANABRANCH_{name.upper()}": value for name, value in fixed.items()})

    def given(self) -> dict[str, str]:
        """Return nothing: a caller may not set what is locked."""
        return {}

    async def build(self) -> None:
        """Do nothing; the corpus is there."""
