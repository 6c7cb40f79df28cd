"""Anabranch answers questions over your own documents and shows its work.

    from anabranch import answer, ingest

    ingest("notes", "notes.corpus")
    print(answer("When is the boiler serviced?", corpus="notes.corpus")["answer"])

The names in `__all__` are the public API; everything else may change without notice. Each name is imported when it is
first used, so that `import anabranch` is fast.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anabranch.agent.graph.agent_tools import as_tools
    from anabranch.agent.graph.answer import aanswer, answer, build, graph
    from anabranch.agent.graph.retrieval import HybridRetriever, asearch, search
    from anabranch.agent.nodes.settings import Context
    from anabranch.errors import (
        AnabranchError,
        ClientFaultError,
        CollectionError,
        CorpusDamagedError,
        CorpusEmptyError,
        CorpusLockedError,
        CorpusNotFoundError,
        CorpusUnreachableError,
        DocumentNotFoundError,
        EmbedderMismatchError,
        IndexDamagedError,
        LimitReachedError,
        MissingExtraError,
        MissingKeyError,
        ModelError,
        NotAllowedError,
        NotAuthenticatedError,
        OperationError,
        QuestionError,
        ReadingError,
        RequestRefusedError,
        SettingsError,
        ThreadStateError,
        UserError,
    )
    from anabranch.ingestion.crawl_limits import CrawlLimits
    from anabranch.ingestion.ingest_report import IngestReport
    from anabranch.ingestion.pipeline import ingest
    from anabranch.models.embedder import Embedder
    from anabranch.models.rerankers import Reranker
    from anabranch.readers.document import Chunk, Document
    from anabranch.store.maintenance.remove import remove
    from anabranch.store.protocol import CorpusReader, Scope
    from anabranch.store.stores import open_corpus, open_writer
    from anabranch.store.writer_protocol import CorpusWriter

__version__ = "0.1.0"

# Before anybody imports onnxruntime, which otherwise keeps an id of the machine in the home folder and reports what the
# machine is to Microsoft. Processes that read files inherit it.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

__all__ = [
    "AnabranchError",
    "Chunk",
    "ClientFaultError",
    "CollectionError",
    "Context",
    "CorpusDamagedError",
    "CorpusEmptyError",
    "CorpusLockedError",
    "CorpusNotFoundError",
    "CorpusReader",
    "CorpusUnreachableError",
    "CorpusWriter",
    "CrawlLimits",
    "Document",
    "DocumentNotFoundError",
    "Embedder",
    "EmbedderMismatchError",
    "HybridRetriever",
    "IndexDamagedError",
    "IngestReport",
    "LimitReachedError",
    "MissingExtraError",
    "MissingKeyError",
    "ModelError",
    "NotAllowedError",
    "NotAuthenticatedError",
    "OperationError",
    "QuestionError",
    "ReadingError",
    "RequestRefusedError",
    "Reranker",
    "Scope",
    "SettingsError",
    "ThreadStateError",
    "UserError",
    "__version__",
    "aanswer",
    "answer",
    "as_tools",
    "asearch",
    "build",
    "graph",
    "ingest",
    "open_corpus",
    "open_writer",
    "remove",
    "search",
]

_PLACES = {
    "IngestReport": "anabranch.ingestion.ingest_report",
    "ingest": "anabranch.ingestion.pipeline",
    "CrawlLimits": "anabranch.ingestion.crawl_limits",
    "Embedder": "anabranch.models.embedder",
    "Reranker": "anabranch.models.rerankers",
    "Chunk": "anabranch.readers.document",
    "Document": "anabranch.readers.document",
    "remove": "anabranch.store.maintenance.remove",
    "CorpusReader": "anabranch.store.protocol",
    "Scope": "anabranch.store.protocol",
    "open_corpus": "anabranch.store.stores",
    "open_writer": "anabranch.store.stores",
    "CorpusWriter": "anabranch.store.writer_protocol",
    "aanswer": "anabranch.agent.graph.answer",
    "answer": "anabranch.agent.graph.answer",
    "build": "anabranch.agent.graph.answer",
    "graph": "anabranch.agent.graph.answer",
    "as_tools": "anabranch.agent.graph.agent_tools",
    "HybridRetriever": "anabranch.agent.graph.retrieval",
    "asearch": "anabranch.agent.graph.retrieval",
    "search": "anabranch.agent.graph.retrieval",
    "Context": "anabranch.agent.nodes.settings",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401  # whatever has that name
    if name not in __all__:
        msg = f"module 'anabranch' has no attribute {name!r}"
        raise AttributeError(msg)
    place = _PLACES.get(name, "anabranch.errors")
    found = globals()[name] = getattr(import_module(place), name)
    return found


def __dir__() -> list[str]:
    return __all__
