from __future__ import annotations

import asyncio
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from anabranch.retrieval.langchain_retriever import external_lists


class Shelf(BaseRetriever):
    """Brings the same documents for every query but those that it cannot bear."""

    documents: list[Document]
    unbearable: tuple[str, ...] = ()

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        if query in self.unbearable:
            raise ConnectionError(f"no line for {query}")
        return self.documents


def count(texts: Sequence[str]) -> list[int]:
    return [len(text) for text in texts]


def page_of(metadata: dict[str, Any]) -> int | None:
    shelf = Shelf(documents=[Document("The mill.", metadata={"source": "mill.pdf", **metadata})])
    _, chunks, _ = asyncio.run(external_lists(shelf, "shelf", ["mill"], 5, count))
    (chunk,) = chunks.values()
    return chunk["page"]


@pytest.mark.parametrize(
    ("metadata", "page"),
    [
        ({"page": 0, "page_label": "1", "total_pages": 2}, 1),  # PyPDFLoader
        ({"page": 1, "page_label": "2"}, 2),
        ({"page": 1, "page_label": "ii", "total_pages": 2}, 2),
        ({"page": 0, "total_pages": 2}, 1),  # PyMuPDFLoader, PDFPlumberLoader, PyPDFium2Loader, PDFMinerLoader
        ({"page": 1, "total_pages": 2}, 2),
        ({"page": 2, "total_pages": 2}, 2),  # cannot count from 0: there is no third page
        ({"page_number": 3}, 3),  # Unstructured
        ({"page_number": 3, "page": 2, "total_pages": 9}, 3),
        ({"page": 3}, 3),  # Textract, Document AI, Document Intelligence
        ({"page": 0}, None),
        ({"page": -1, "total_pages": 3}, None),
        ({"page": "3"}, None),
        ({"page": True}, None),
        ({}, None),
    ],
)
def test_pages_are_counted_from_1_however_a_loader_counts(metadata: dict[str, Any], page: int | None) -> None:
    assert page_of(metadata) == page


def test_pages_of_a_real_loader(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from langchain_community.document_loaders import PyMuPDFLoader

    with pymupdf.open() as pdf:
        for number in (1, 2):
            pdf.new_page().insert_text((72, 72), f"This is page {number}.")
        pdf.save(tmp_path / "two.pdf")
    loaded = PyMuPDFLoader(str(tmp_path / "two.pdf")).load()
    assert [page_of(document.metadata) for document in loaded] == [1, 2]


def test_tokens_are_counted_as_the_corpus_counts() -> None:
    shelf = Shelf(documents=[Document("水車は穀物を挽く。" * 20), Document("The mill grinds corn.")])
    _, chunks, _ = asyncio.run(external_lists(shelf, "shelf", ["mill"], 5, count))
    assert [chunk["tokens"] for chunk in chunks.values()] == [180, 21]


def test_a_query_that_fails_costs_its_own_list() -> None:
    shelf = Shelf(documents=[Document("The mill grinds corn.")], unbearable=("weir",))
    lists, chunks, failed = asyncio.run(external_lists(shelf, "shelf", ["mill", "weir", "corn"], 5, count))
    assert [len(ranked["ids"]) for ranked in lists] == [1, 0, 1]
    assert len(chunks) == 1
    assert [str(error) for error in failed] == ["no line for weir"]


def test_a_retriever_that_fails_at_every_query_has_failed() -> None:
    shelf = Shelf(documents=[], unbearable=("weir", "mill"))
    with pytest.raises(ConnectionError, match="no line for weir"):
        asyncio.run(external_lists(shelf, "shelf", ["weir", "mill"], 5, count))
