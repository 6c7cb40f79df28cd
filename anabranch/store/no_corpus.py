"""An empty corpus, for questions whose passages all come from other retrievers."""

from __future__ import annotations

from functools import cache

from anabranch.models.embedders import DEFAULT_EMBEDDER
from anabranch.store.memory import MemoryCorpus, MemoryWriter
from anabranch.store.memory_reader import MemoryReader


@cache
def no_corpus() -> MemoryReader:
    """Return the empty corpus of this process; it counts tokens and analyses words as a new corpus would."""
    corpus = MemoryCorpus()
    writer = MemoryWriter("memory:", corpus)
    writer.keep_meta({"spec": DEFAULT_EMBEDDER})
    return MemoryReader("memory:", writer, corpus.lend, generation=0)
