"""A corpus as lines of JSON."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from anabranch.errors import CorpusNotFoundError
from anabranch.store.maintenance import remove
from anabranch_copies.export import ExportReport, export_corpus
from anabranch_copies.export.json_lines import checksum
from plugins.copies.tests.export.conftest import rows_of


def exported(corpus: Path, **options: Any) -> tuple[ExportReport, list[dict[str, Any]]]:
    out = io.BytesIO()
    report = export_corpus(corpus, out, **options)
    return report, [json.loads(line) for line in out.getvalue().decode("utf-8").splitlines()]


def test_a_corpus_is_readable_by_eye(corpus: Path) -> None:
    told: list[tuple[str, int, int]] = []
    report, (header, *lines, end) = exported(corpus, progress=lambda *step: told.append(step))
    assert (report.documents, report.files, report.torn, report.is_complete) == (8, 4, [], True)
    assert told[-1] == ("documents", 8, 8)
    assert header | {"embedder": "", "line_sha256": ""} == {
        "kind": "corpus", "format": "anabranch", "version": 1, "embedder": "", "dimension": 384,
        "sizes": [256, 64, 32], "leaf_unit": "wordpiece", "language": "english", "documents": 8, "vectors": False,
        "line_sha256": "",
    }  # fmt: skip
    assert end.pop("line_sha256")
    assert end == {"kind": "end", "documents": 8, "files": 4}
    by_source = {line["source"]: line for line in lines if line["kind"] == "document"}
    heron = by_source["a.md"]
    assert list(heron)[:6] == ["kind", "source", "title", "key", "access", "metadata"]
    assert heron["text"] == "Herons\n\nHerons fish at dawn.\n\nNests\n\nIn trees, “high up”."
    assert heron["chunks"][0][:3] == [0, 0, len(heron["text"])]
    assert by_source["n.jsonl#2"]["access"] == ["audit", "board"]
    assert by_source["n.jsonl#1"]["metadata"]["deep"] == {"x": [1.5]}
    assert [page for _, page in by_source["survey.pdf"]["pages"]] == [1, 2, 3]
    files = [line["source"] for line in lines if line["kind"] == "file"]
    assert files == ["a.md", "deep/long.md", "n.jsonl", "survey.pdf"]


def test_each_line_has_its_checksum(corpus: Path) -> None:
    _, lines = exported(corpus, vectors=True)
    for line in lines:
        assert line.pop("line_sha256") == checksum(line)


def test_vectors_are_written_if_asked_for(corpus: Path) -> None:
    _, (header, *lines) = exported(corpus, vectors=True)
    assert header["vectors"] is True
    documents = [line for line in lines if line["kind"] == "document"]
    assert all(line["vectors"] for line in documents)
    assert not any("vectors" in line for line in exported(corpus)[1][1:])


def test_nothing_of_this_machine_that_could_send_words_elsewhere_is_written(corpus: Path) -> None:
    _, (header, *_) = exported(corpus)
    assert not {"spec", "base_url"} & set(header)


def test_an_empty_corpus_is_exported(corpus: Path) -> None:
    remove(corpus, ["*"])
    report, lines = exported(corpus, vectors=True)
    assert (report.documents, report.is_complete) == (0, True)
    assert [line["kind"] for line in lines if line["kind"] != "file"] == ["corpus", "end"]


def test_an_export_changes_nothing(corpus: Path) -> None:
    before, rows = {path: path.read_bytes() for path in corpus.rglob("*") if path.is_file()}, rows_of(corpus)
    exported(corpus)
    assert rows_of(corpus) == rows
    assert {path: path.read_bytes() for path in before} == before


def test_no_corpus_there(tmp_path: Path) -> None:
    with pytest.raises(CorpusNotFoundError):
        export_corpus(tmp_path / "absent", io.BytesIO())
