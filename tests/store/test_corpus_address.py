"""What a caller may give for a path, and for several."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anabranch.errors import UserError
from anabranch.ingestion.pipeline import ingest
from anabranch.store.corpus_handles import open_folder
from anabranch.store.maintenance import documents, examine, overview, rebuild, remove, verify
from anabranch_copies.export import export_corpus, import_corpus


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "notes").mkdir()
    for name in "ab":
        (tmp_path / "notes" / f"{name}.md").write_text(f"Herons {name}.", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return Path("notes")


@pytest.mark.parametrize(
    "paths", ["notes", Path("notes"), ["notes"], (Path("notes"),), ["notes/a.md", Path("notes/b.md")]]
)
@pytest.mark.parametrize("corpus", ["c", Path("c")])
def test_one_path_or_many_as_text_or_path(notes: Path, paths: Any, corpus: Any) -> None:
    assert ingest(paths, corpus).count("added") == 2
    assert open_folder(corpus).manifest.documents == 2


@pytest.mark.parametrize("paths", [None, 5, b"notes", [b"notes"], [None], {"notes": 1}.values()])
def test_what_is_no_path_is_refused(notes: Path, paths: Any) -> None:
    with pytest.raises(UserError, match="has to be text or a Path, not"):
        ingest(paths, "c")
    assert not Path("c").exists()


@pytest.mark.parametrize("corpus", [None, 5, b"c", ["c"]])
def test_what_is_no_path_of_a_corpus_is_refused(notes: Path, corpus: Any) -> None:
    for use in (lambda: ingest(notes, corpus), lambda: open_folder(corpus), lambda: verify(corpus)):
        with pytest.raises(UserError, match="has to be text or a Path, not"):
            use()


CARE: list[Callable[[Any], Any]] = [examine, overview, rebuild, verify]


@pytest.mark.parametrize("care", CARE)
def test_a_corpus_is_cared_for_by_its_name(notes: Path, care: Callable[[Any], Any]) -> None:
    ingest(notes, "c")
    care("c")
    assert [each.source for each in documents("c")] == ["a.md", "b.md"]


def test_a_corpus_is_moved_by_its_name(notes: Path) -> None:
    ingest(notes, "c")
    out = io.BytesIO()
    export_corpus("c", out)
    out.seek(0)
    assert import_corpus(out, "d").added == 2
    assert remove("d", "a.md") == 1
    assert remove("d", ["b.md"]) == 1
