"""Corpora of a few real documents, made once and copied for each test."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from anabranch.ingestion.pipeline import ingest

WORDS = [
    "heron",
    "swift",
    "owl",
    "river",
    "weir",
    "dawn",
    "gauge",
    "flood",
    "stone",
    "reed",
    "marsh",
    "ferry",
    "bridge",
]

HERONS = "# Herons\n\nHerons fish at dawn.\n\n## Nests\n\nIn trees, “high up”.\n"


def write_pdf(path: Path, pages: int) -> None:
    with pymupdf.open() as pdf:
        for number in range(1, pages + 1):
            page = pdf.new_page()
            page.insert_text((72, 72), f"Page {number} of the survey", fontsize=20)
            page.insert_text((72, 120), f"On page {number} the gauge stood at {number * 7} centimetres.")
        pdf.save(path)


@pytest.fixture(scope="session")
def _home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("portable")
    folder = home / "d"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.md").write_text(
        "# Herons\n\nHerons fish at dawn.\n\n## Nests\n\nIn trees, “high up”.\n", encoding="utf-8"
    )
    (folder / "deep" / "long.md").write_text(
        "# Rivers\n\n" + "\n\n".join(f"## Part {n}\n\n{' '.join(WORDS * 3)} {n}." for n in range(12)), encoding="utf-8"
    )
    write_pdf(folder / "survey.pdf", 3)
    rows: list[dict[str, Any]] = [
        {
            "id": str(n),
            "title": f"Löss {n}",
            "text": f"Note {n} on the {WORDS[n]}.",
            "year": 2000 + n,
            "deep": {"x": [1.5]},
        }
        for n in range(5)
    ]
    rows[2]["access"] = ["board", "audit"]
    (folder / "n.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    ingest([folder], home / "c", sizes=(256, 64, 32))
    return home


@pytest.fixture
def corpus(_home: Path, tmp_path: Path) -> Path:
    """Eight documents of four files, which are at `documents`."""
    return Path(shutil.copytree(_home / "c", tmp_path / "c"))


@pytest.fixture
def documents(_home: Path) -> Path:
    """The files of `corpus`; not to be changed."""
    return _home / "d"


TABLES = {
    "documents": "doc_id, path, source, key, title, digest, metadata, access, tokens, pages",
    "chunks": 'chunk_id, doc_id, parent_id, level, position, start, "end", page, page_end, heading, tokens, text, '
    "vector_key",
    "files": "path, source, sha256, access",
}


def rows_of(corpus: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Everything that a corpus holds, but for the order in which it came."""
    with closing(sqlite3.connect(corpus / "corpus.db")) as connection:
        return {
            table: connection.execute(f"SELECT {columns} FROM {table} ORDER BY 1").fetchall()
            for table, columns in TABLES.items()
        }


def vectors_of(corpus: Path) -> dict[str, bytes]:
    with closing(sqlite3.connect(corpus / "corpus.db")) as connection:
        return dict(connection.execute("SELECT vector_key, vector FROM vectors"))
