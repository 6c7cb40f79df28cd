from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.errors import CorpusNotFoundError
from anabranch.evaluation.evidence_patterns import whole_documents
from anabranch.ingest.pipeline import ingest

TEXTS = {
    "a.txt": "\n\n".join(f"Chapter {n} tells how heron number {n} came to the weir and left it." for n in range(30)),
    "b.txt": "One line.",
}


def test_a_whole_document_is_what_its_leaves_tile(tmp_path: Path) -> None:
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    ingest([tmp_path / name for name in TEXTS], tmp_path / "corpus", access=["family"])
    found = {document.source: document for document in whole_documents(tmp_path / "corpus")}
    assert {source: document.text for source, document in found.items()} == TEXTS
    assert len(found["a.txt"].leaves) == len(found["a.txt"].starts) > 3
    assert found["a.txt"].starts[0] == 0
    assert list(found["a.txt"].starts) == sorted(found["a.txt"].starts)


def test_without_a_corpus_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(CorpusNotFoundError):
        list(whole_documents(tmp_path / "nowhere"))
