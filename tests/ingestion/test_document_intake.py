"""Texts and LangChain Documents, taken in without a file."""

from __future__ import annotations

import datetime
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from langchain_core.documents import Document

from anabranch import SettingsError, UserError, answer, ingest, remove, search
from anabranch.ingestion.document_intake import GivenText

WEIR = "The Halden weir was built by Ida Marrow in 1931."
MILL = "The paper mill at Cray was closed by Otto Lindqvist in 1974."


def statuses(report: Any) -> list[str]:
    return [row.status for row in report.rows]


def found(corpus: Path, query: str, **settings: Any) -> list[str]:
    return [passage.page_content for passage in search(query, corpus=corpus, **settings)]


def test_texts_are_found_cited_and_known_again(tmp_path: Path) -> None:
    report = ingest(documents=[WEIR, MILL], corpus=tmp_path / "c")
    assert statuses(report) == ["added", "added"]
    assert (report.left, report.embedded) == (0, 2)
    assert statuses(ingest(documents=[MILL, WEIR], corpus=tmp_path / "c")) == ["unchanged", "unchanged"]
    result = answer("Who built the Halden weir?", corpus=tmp_path / "c")
    assert "Ida Marrow" in result["answer"]
    assert (result["citations"][0]["quote"], result["citations"][0]["link"]) == (WEIR, "")


def test_one_text_by_itself_is_one_document(tmp_path: Path) -> None:
    ingest(documents=WEIR, corpus=tmp_path / "c")
    assert found(tmp_path / "c", "weir") == [WEIR]


def test_a_document_keeps_its_metadata_source_and_page(tmp_path: Path) -> None:
    day = datetime.date(1931, 5, 1)
    page = {"source": "report.pdf", "page": 0, "total_pages": 2, "kind": "dam", "day": day}
    ingest(documents=[Document(WEIR, id="w", metadata=page), Document(MILL, id="m")], corpus=tmp_path / "c")
    (passage,) = search("who was it", corpus=tmp_path / "c", filters={"kind": "dam"})
    assert (passage.metadata["source"], passage.metadata["page"]) == ("report.pdf#w", 1)
    assert found(tmp_path / "c", "who was it", filters={"day": "1931-05-01"}) == [WEIR]


def test_access_tags_of_a_document_and_of_a_run(tmp_path: Path) -> None:
    ingest(documents=[Document(WEIR, id="w", metadata={"access": ["board"]})], corpus=tmp_path / "c")
    ingest(documents=[Document(MILL, id="m")], corpus=tmp_path / "c", access=["staff"])
    ingest(documents=[Document(f"{MILL} It burned.", id="m")], corpus=tmp_path / "c")  # what was protected stays so
    ingest(documents=["The ferry is public."], corpus=tmp_path / "c")
    assert found(tmp_path / "c", "weir mill ferry") == ["The ferry is public."]
    assert len(found(tmp_path / "c", "weir mill ferry", access=("staff",))) == 2
    assert len(found(tmp_path / "c", "weir mill ferry", access=("staff", "board"))) == 3


def test_updated_and_removed_by_id(tmp_path: Path) -> None:
    corpus = tmp_path / "c"
    ingest(documents=[Document(WEIR, id="w", metadata={"source": "dams"}), Document(MILL, id="m")], corpus=corpus)
    changed = Document(WEIR.replace("1931", "1932"), id="w", metadata={"source": "weirs"})
    assert statuses(ingest(documents=[changed], corpus=corpus)) == ["updated"]
    assert sorted(found(corpus, "weir mill")) == sorted([changed.page_content, MILL])
    assert remove(corpus, "w") == 1
    assert found(corpus, "weir mill") == [MILL]
    assert statuses(ingest(documents=[changed], corpus=corpus)) == ["added"]


def test_beside_files_which_do_not_remove_them(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/w.md").write_text(WEIR)
    assert statuses(ingest(tmp_path / "notes", tmp_path / "c", documents=[Document(MILL, id="w.md")])) == ["added"] * 2
    (tmp_path / "notes/w.md").unlink()
    ingest(tmp_path / "notes", tmp_path / "c")
    assert found(tmp_path / "c", "weir mill") == [MILL]


def test_one_that_cannot_be_used_costs_no_other(tmp_path: Path) -> None:
    bad = [
        Document("  ", id="empty"),
        Document(WEIR, id="tags", metadata={"access": "board"}),
        Document(WEIR, id="nan", metadata={"depth": float("nan")}),
        Document(MILL, id="m"),
        Document(WEIR, id="m"),
    ]
    report = ingest(documents=bad, corpus=tmp_path / "c")
    assert [(row.source, row.status) for row in report.rows] == [
        ("empty", "failed"),
        ("tags", "failed"),
        ("nan", "failed"),
        ("m", "added"),
        ("m", "failed"),
    ]
    assert [row.reason.partition(":")[0] for row in report.rows if row.reason] == ["broken"] * 3 + ["duplicate"]
    assert found(tmp_path / "c", "weir mill") == [MILL]


def test_what_is_no_document_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not PurePosixPath"):
        ingest(documents=[PurePosixPath("notes")], corpus=tmp_path / "c")  # type: ignore[list-item]
    with pytest.raises(SettingsError, match="embedder has to be"):
        ingest(documents=[WEIR], corpus=tmp_path / "c", embedder=3)  # type: ignore[arg-type]


def test_a_text_in_another_language_is_found_by_its_words(tmp_path: Path) -> None:
    text = "Das Wehr an der Halden wurde 1931 von Ida Marrow gebaut."
    ingest(documents=[text, "Die Mühle wurde 1974 geschlossen."], corpus=tmp_path / "c", language="german")
    assert found(tmp_path / "c", "gebautes Wehr", retrievers=("bm25",)) == [text]


def test_a_file_that_is_called_as_a_document_is_stays(tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("The bin is emptied on Mondays.")
    GivenText(note, "note", is_copy=True).discard()
    assert note.is_file()
