"""The systems that are measured, each behind the same few methods; a peer imports nothing of Anabranch."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from benchmarks.at_scale.material import Material

K = 10
"""Results of a search."""


class System(Protocol):
    """A system on one folder of its own.

    Attributes:
        arms: What can be searched with.
        agrees: Whether its BM25 is said to have the scores of `rank_bm25`.
    """

    arms: tuple[str, ...]
    agrees: bool

    def filtered(self, share: float) -> Sequence[str]:
        """Return the arms to search with a filter that lets this share pass."""
        ...

    def prepare(self) -> None:
        """Load what is not the corpus, such as a model."""
        ...

    async def build(self) -> None:
        """Take in all passages and write the folder."""
        ...

    async def open(self) -> None:
        """Be ready to search the folder."""
        ...

    async def search(self, arm: str, question: str, share: float | None = None) -> Any:  # noqa: ANN401  # its own
        """Search, with the filter for `share` or without one; the best 10 results, in whatever form it has."""
        ...

    async def ready(self, number: int) -> None:
        """Do what goes before adding a document and is not timed."""
        ...

    async def add(self, number: int) -> bool:
        """Add a document; return whether both arms find it."""
        ...

    async def save(self) -> None:
        """Write to disk what was added, where `add` has not."""
        ...

    async def rows(self, found: Sequence[Any]) -> list[list[int]]:
        """Return the row of each result in the material; not timed."""
        ...


NAMES = {"anabranch": "Anabranch", "langchain": "LangChain", "llama_index": "LlamaIndex"}
"""What tables call each module here."""

REQUIREMENTS = {
    "anabranch": ("faiss-cpu", "onnxruntime"),
    "langchain": ("langchain-community", "langchain-classic", "faiss-cpu", "rank-bm25"),
    "llama_index": (
        "llama-index-core", "llama-index-vector-stores-faiss", "llama-index-retrievers-bm25", "bm25s", "faiss-cpu",
    ),
}  # fmt: skip
"""Packages whose versions are told."""


def system_of(name: str, material: Material, folder: Path, settings: dict[str, Any]) -> System:
    """Import a system and give it its folder; `settings` are those of hybrid search: depth."""
    if name not in NAMES:
        raise ValueError(f"unknown system {name!r}; known are {', '.join(NAMES)}")
    made: System = import_module(f"{__name__}.{name}").System(material, folder, settings)
    return made
