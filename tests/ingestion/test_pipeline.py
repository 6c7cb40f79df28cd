"""From files to a corpus: what changed and nothing else, whatever goes wrong."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from anabranch.errors import EmbedderMismatchError, SettingsError, UserError
from anabranch.ingestion.pipeline import IngestReport, ingest
from anabranch.store.index.manifest import current_name
from anabranch.store.maintenance import verify
from anabranch.store.maintenance.remove import remove
from anabranch.store.protocol import Scope
from anabranch.store.stores import open_corpus
from tests.ingestion.archives.packing import zipped


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    home = tmp_path / "documents"
    home.mkdir()
    (home / "weir.md").write_text("# The weir\n\nThe weir was built in 1848.\n", encoding="utf-8")
    (home / "mill.txt").write_text("The mill grinds corn all year.\n", encoding="utf-8")
    return home


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return tmp_path / "corpus"


def statuses(report: IngestReport) -> dict[str, str]:
    return {row.source: row.status for row in report.rows}


def lines(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def found(corpus: Path, query: str, *access: str, arm: str = "bm25") -> list[str]:
    async def search() -> list[str]:
        store = await open_corpus(corpus)
        scope = Scope(access=access)
        (ranked,) = await store.search(arm, [query], 50, scope)  # type: ignore[arg-type]
        chunks = await store.chunks(ranked["ids"], scope)
        return [chunks[chunk_id].source for chunk_id in ranked["ids"] if chunk_id in chunks]

    return asyncio.run(search())


def rows(corpus: Path, sql: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(f"file:{corpus}/corpus.db?mode=ro", uri=True)
    result = connection.execute(sql).fetchall()
    connection.close()
    return result


def test_a_folder_is_taken_in(folder: Path, corpus: Path) -> None:
    report = ingest([folder], corpus)
    assert sorted(path.name for path in corpus.iterdir()) == [
        "CURRENT",
        "corpus.db",
        "generations",
        "segments",
        "write.lock",
    ]
    assert statuses(report) == {"weir.md": "added", "mill.txt": "added"}
    assert all((row.documents, row.chunks) == (1, 3) for row in report.rows)
    assert report.embedded == 2
    assert report.seconds > 0
    assert found(corpus, "corn") == ["mill.txt"]
    assert verify(corpus) == []


def test_what_did_not_change_is_left_alone(folder: Path, corpus: Path) -> None:
    ingest([folder], corpus)
    before = current_name(corpus)
    report = ingest([folder], corpus)
    assert set(statuses(report).values()) == {"unchanged"}
    assert report.embedded == 0
    assert current_name(corpus) == before


def test_a_touched_file_is_unchanged(folder: Path, corpus: Path) -> None:
    ingest([folder], corpus)
    os.utime(folder / "weir.md", (1, 1))
    assert statuses(ingest([folder], corpus))["weir.md"] == "unchanged"


def test_exactly_what_changed_is_updated(folder: Path, corpus: Path) -> None:
    ingest([folder], corpus)
    mill = rows(corpus, "SELECT chunk_id FROM chunks JOIN documents USING (doc_id) WHERE source = 'mill.txt'")
    (folder / "weir.md").write_text("# The weir\n\nThe weir was rebuilt in 1911.\n", encoding="utf-8")
    (folder / "bees.md").write_text("# Bees\n\nBees dance.\n", encoding="utf-8")
    report = ingest([folder], corpus)
    assert statuses(report) == {"weir.md": "updated", "mill.txt": "unchanged", "bees.md": "added"}
    assert report.embedded == 2
    assert found(corpus, "1911") == ["weir.md"]
    assert found(corpus, "1848") == []
    assert mill == rows(corpus, "SELECT chunk_id FROM chunks JOIN documents USING (doc_id) WHERE source = 'mill.txt'")
    assert verify(corpus) == []


def test_text_that_moves_is_not_embedded_again(folder: Path, corpus: Path) -> None:
    lines(folder / "a.jsonl", {"id": "1", "title": "T", "text": "A sentence about herons."})
    ingest([folder], corpus)
    shutil.move(folder / "a.jsonl", folder / "b.jsonl")
    report = ingest([folder], corpus)
    assert report.embedded == 0
    assert statuses(report)["b.jsonl"] == "added"
    assert found(corpus, "herons") == ["b.jsonl#1"]


def test_gone_files_are_removed_and_their_vectors_with_them(folder: Path, corpus: Path) -> None:
    ingest([folder], corpus)
    (folder / "weir.md").unlink()
    report = ingest([folder], corpus)
    assert statuses(report) == {"mill.txt": "unchanged", "weir.md": "removed"}
    assert found(corpus, "weir") == []
    assert rows(corpus, "SELECT count(*) FROM vectors") == [(1,)]
    assert verify(corpus) == []


@pytest.mark.parametrize("prune", [True, False])
def test_a_folder_that_was_renamed_tells_what_left_the_corpus(folder: Path, corpus: Path, prune: bool) -> None:
    ingest([folder], corpus)
    (folder / "weir.md").rename(folder / "Wehr.md")
    folder = folder.rename(folder.with_name("Unterlagen"))
    report = ingest([folder], corpus, prune=prune)
    assert [(row.source, row.status, row.documents) for row in report.rows] == [
        ("Wehr.md", "added", 1),
        ("mill.txt", "added", 1),
        ("mill.txt", "removed", 1),
    ]
    assert report.rows[-1].reason == "the file is gone, and another one has its name"
    # What bears another name now is another document, and its file lay where this run did not look.
    assert rows(corpus, "SELECT source FROM documents ORDER BY source") == [("Wehr.md",), ("mill.txt",), ("weir.md",)]
    assert set(statuses(ingest([folder], corpus)).values()) == {"unchanged"}
    assert verify(corpus) == []


def test_pruning_can_be_left_out(folder: Path, corpus: Path) -> None:
    ingest([folder], corpus)
    (folder / "weir.md").unlink()
    assert statuses(ingest([folder], corpus, prune=False)) == {"mill.txt": "unchanged"}
    assert found(corpus, "weir") == ["weir.md"]


@pytest.mark.parametrize(
    ("documents", "missing", "kept"), [(24, 24, 24), (24, 13, 13), (24, 12, 0), (21, 21, 21), (20, 20, 0)]
)
def test_most_of_a_corpus_is_not_removed_because_its_files_are_missing(
    folder: Path, corpus: Path, documents: int, missing: int, kept: int
) -> None:
    # One file of many documents beside files of one: documents count, not files.
    many = lines(folder / "n.jsonl", *({"id": str(n), "text": f"Gauge {n} stood."} for n in range(missing)))
    for path in (folder / "weir.md", folder / "mill.txt"):
        path.unlink()
    for number in range(documents - missing):
        (folder / f"{number}.md").write_text(f"Heron {number} fished.", encoding="utf-8")
    ingest([folder], corpus)
    many.unlink()
    for _ in range(2):
        report = ingest([folder], corpus)
        assert report.missing == kept
        assert report.count("removed") == (kept == 0 and _ == 0)
        assert rows(corpus, "SELECT count(*) FROM documents WHERE path LIKE '%.jsonl'") == [(kept,)]
        assert [f"{kept} documents" in warning for warning in report.warnings if "missing" in warning] == [True] * (
            kept > 0
        )
    report = ingest([folder], corpus, remove_missing=True)
    assert (report.missing, report.count("removed")) == (0, int(kept > 0))
    assert rows(corpus, "SELECT count(*) FROM documents") == [(documents - missing,)]
    assert verify(corpus) == []


def test_files_that_moved_are_not_missing_where_one_is_deleted(folder: Path, corpus: Path) -> None:
    for number in range(30):
        (folder / f"{number}.md").write_text(f"Heron {number} fished.", encoding="utf-8")
    ingest([folder], corpus)
    kept = len(list(folder.iterdir())) - 1
    (folder / "new").mkdir()
    for number in range(1, 30):
        (folder / f"{number}.md").rename(folder / "new" / f"{number}.md")
    (folder / "0.md").unlink()
    report = ingest([folder], corpus)
    assert (report.missing, rows(corpus, "SELECT count(*) FROM documents")) == (0, [(kept,)])


def test_a_large_folder_that_was_renamed_is_not_missing(folder: Path, corpus: Path) -> None:
    for number in range(30):
        (folder / f"{number}.md").write_text(f"Heron {number} fished.", encoding="utf-8")
    ingest([folder.parent / "documents"], corpus)
    (folder.parent / "whole").mkdir()
    moved = folder.rename(folder.parent / "whole" / "Unterlagen")
    report = ingest([moved], corpus)
    assert (report.missing, report.count("added"), report.count("removed")) == (0, 32, 32)


def test_only_the_folders_given_are_pruned(folder: Path, corpus: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "bees.md").write_text("# Bees\n\nBees dance.\n", encoding="utf-8")
    ingest([folder, other], corpus)
    (folder / "weir.md").unlink()
    assert statuses(ingest([other], corpus)) == {"bees.md": "unchanged"}
    assert found(corpus, "weir") == ["weir.md"]


def test_a_file_that_is_there_but_not_found_is_kept(folder: Path, corpus: Path) -> None:
    ingest([folder], corpus)
    report = ingest([folder / "mill.txt"], corpus)
    assert statuses(report) == {"mill.txt": "unchanged"}
    (folder / "weir.md").rename(folder / ".weir.md")
    os.link(folder / ".weir.md", folder / "weir.md")
    assert statuses(ingest([folder], corpus))["weir.md"] == "unchanged"


def test_a_bad_file_is_reported_and_stops_nothing(folder: Path, corpus: Path) -> None:
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 nothing more")
    (folder / "empty.md").write_bytes(b"")
    (folder / "photo.raw").write_bytes(b"\x00\x01")
    report = ingest([folder], corpus)
    assert statuses(report) == {
        "broken.pdf": "failed",
        "empty.md": "failed",
        "photo.raw": "skipped",
        "weir.md": "added",
        "mill.txt": "added",
    }
    reasons = {row.source: row.reason for row in report.rows}
    assert "unsupported" in reasons["photo.raw"]
    assert "empty" in reasons["empty.md"]


def test_a_file_that_turns_bad_keeps_its_old_version(folder: Path, corpus: Path) -> None:
    ingest([folder], corpus)
    (folder / "weir.md").write_bytes(b"")
    assert statuses(ingest([folder], corpus))["weir.md"] == "failed"
    assert found(corpus, "1848") == ["weir.md"]
    assert statuses(ingest([folder], corpus))["weir.md"] == "failed"


def test_lines_are_updated_one_by_one(folder: Path, corpus: Path) -> None:
    file = folder / "notes.jsonl"
    lines(file, *({"id": str(n), "title": "N", "text": f"Note number {n}."} for n in range(20)))
    ingest([folder], corpus)
    lines(file, *({"id": str(n), "title": "N", "text": f"Note number {n}{'!' * (n == 7)}."} for n in range(1, 21)))
    report = ingest([folder], corpus)
    assert statuses(report)["notes.jsonl"] == "updated"
    assert report.embedded == 2
    known = {source for (source,) in rows(corpus, "SELECT source FROM documents")}
    assert known == {"weir.md", "mill.txt", *(f"notes.jsonl#{n}" for n in range(1, 21))}


def test_a_bad_line_is_reported_each_time_and_loses_no_document(folder: Path, corpus: Path) -> None:
    good = [{"id": str(n), "text": f"Note number {n}."} for n in range(3)]
    file = lines(folder / "notes.jsonl", *good)
    ingest([folder], corpus)
    lines(file, *good[:2])
    file.write_text(file.read_text() + '{"id": "2", "text": \n', encoding="utf-8")
    for _ in range(2):
        report = ingest([folder], corpus)
        assert statuses(report)["notes.jsonl:3"] == "failed"
        assert found(corpus, "note 2") != []
        assert len(rows(corpus, "SELECT * FROM documents WHERE source LIKE 'notes.jsonl#%'")) == 3


def test_two_files_of_one_name_stay_apart(tmp_path: Path, corpus: Path) -> None:
    for name, text in (("one", "Herons fish."), ("two", "Swifts sleep in the air.")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "README.md").write_text(text, encoding="utf-8")
        ingest([tmp_path / name], corpus)
    assert len(found(corpus, "herons")) == len(found(corpus, "swifts")) == 1
    assert found(corpus, "herons") != found(corpus, "swifts")
    assert {row.status for row in ingest([tmp_path / "one"], corpus).rows} == {"unchanged"}
    assert {row.status for row in ingest([tmp_path / "two"], corpus).rows} == {"unchanged"}


def test_a_tree_taken_in_from_further_up_is_not_taken_in_twice(folder: Path, corpus: Path) -> None:
    ingest([folder], corpus)
    report = ingest([folder.parent], corpus)
    assert {row.status for row in report.rows} == {"unchanged"}
    assert len(rows(corpus, "SELECT * FROM documents")) == 2


def test_the_corpus_is_not_taken_in_itself(folder: Path) -> None:
    inside = folder / "corpus"
    ingest([folder], inside)
    assert set(statuses(ingest([folder], inside))) == {"weir.md", "mill.txt"}


def test_a_corpus_below_the_folder_is_left_out_with_one_remark(folder: Path, tmp_path: Path) -> None:
    ingest([folder], folder / "inside")
    report = ingest([folder], tmp_path / "corpus")
    assert statuses(report) == {"weir.md": "added", "mill.txt": "added", "inside": "skipped"}
    (row,) = [row for row in report.rows if row.source == "inside"]
    assert "is a corpus" in row.reason
    (folder / "inside.threads.db").write_bytes(b"SQLite format 3\0")
    assert statuses(ingest([folder], folder / "inside")) == {"weir.md": "unchanged", "mill.txt": "unchanged"}


def test_a_folder_that_has_a_file_of_that_name_is_no_corpus(folder: Path, corpus: Path) -> None:
    (folder / "mine").mkdir()
    (folder / "mine" / "corpus.db").write_bytes(b"SQLite format 3\0")
    (folder / "mine" / "bees.md").write_text("Bees dance.", encoding="utf-8")
    assert statuses(ingest([folder], corpus))["mine/bees.md"] == "added"


def test_a_folder_is_not_taken_into_itself(folder: Path, corpus: Path) -> None:
    before = sorted(folder.iterdir())
    for into in (folder, folder / ".." / folder.name):
        with pytest.raises(UserError, match="itself") as caught:
            ingest([folder], into)
        assert "--corpus documents.corpus" in caught.value.hint
    with pytest.raises(UserError, match="holds other files"):
        ingest([folder / "weir.md"], folder)
    with pytest.raises(UserError, match="holds other files"):
        asyncio.run(open_corpus(folder))
    (corpus.parent / "empty").mkdir()
    with pytest.raises(UserError, match="itself"):
        ingest([corpus.parent / "empty"], corpus.parent / "empty")
    assert sorted(folder.iterdir()) == before


def test_a_corpus_is_no_folder_of_documents(folder: Path, corpus: Path, tmp_path: Path) -> None:
    ingest([folder], corpus)
    for into in (corpus, tmp_path / "other"):
        with pytest.raises(UserError, match="corpus"):
            ingest([corpus], into)
    assert not (tmp_path / "other").exists()


def test_what_was_removed_or_could_not_be_read_is_added_when_it_comes(folder: Path, corpus: Path) -> None:
    (folder / "bees.md").touch()
    (folder / "lines.jsonl").write_text("no JSON\n", encoding="utf-8")
    assert statuses(ingest([folder], corpus))["bees.md"] == "failed"
    remove(corpus, "weir.md")
    (folder / "bees.md").write_text("# Bees\n\nBees dance.\n", encoding="utf-8")
    again = statuses(ingest([folder], corpus))
    assert (again["weir.md"], again["mill.txt"], again["bees.md"]) == ("added", "unchanged", "added")
    assert again["lines.jsonl"] == "unchanged"  # it gave nothing before, either


def test_access_tags_are_kept_until_others_are_given(folder: Path, corpus: Path) -> None:
    ingest([folder], corpus, access=("board",))
    assert found(corpus, "corn") == []
    assert found(corpus, "corn", "board") == ["mill.txt"]
    (folder / "mill.txt").write_text("The mill grinds corn and rye.\n", encoding="utf-8")
    ingest([folder], corpus)
    assert found(corpus, "corn") == []
    assert found(corpus, "rye", "board") == ["mill.txt"]
    report = ingest([folder], corpus, access=("staff",))
    assert statuses(report)["weir.md"] == "updated"
    assert report.embedded == 0
    assert found(corpus, "weir", "board") == []
    assert found(corpus, "weir", "staff") == ["weir.md"]


def tags(corpus: Path) -> dict[str, list[str]]:
    return {source: json.loads(access) for source, access in rows(corpus, "SELECT source, access FROM documents")}


def remarks(report: IngestReport) -> dict[str, str]:
    return {row.source: "; ".join(row.notes) for row in report.rows if row.notes}


def test_a_renamed_file_keeps_its_access_tags(folder: Path, corpus: Path, tmp_path: Path) -> None:
    ingest([folder], corpus, access=("board", "audit"))
    (folder / "mill.txt").rename(folder / "mill at the river.txt")
    (folder / "deep").mkdir()
    (folder / "weir.md").rename(folder / "deep" / "weir.md")
    report = ingest([folder], corpus)
    assert tags(corpus) == {"mill at the river.txt": ["audit", "board"], "deep/weir.md": ["audit", "board"]}
    assert remarks(report)["mill at the river.txt"] == "it keeps the access tags audit, board of mill.txt"
    assert remarks(ingest([folder], corpus)) == {}
    other = tmp_path / "other"
    other.mkdir()
    (folder / "mill at the river.txt").rename(other / "mill.txt")
    ingest([other], corpus)
    assert tags(corpus)["mill.txt"] == ["audit", "board"]


def test_what_a_renamed_file_keeps_can_be_changed(folder: Path, corpus: Path) -> None:
    ingest([folder], corpus, access=("board",))
    (folder / "mill.txt").rename(folder / "b.txt")
    assert remarks(ingest([folder], corpus, access=("staff",))) == {}
    assert tags(corpus) == {"b.txt": ["staff"], "weir.md": ["staff"]}


def test_a_copy_of_a_file_with_tags_is_public_and_that_is_told(folder: Path, corpus: Path, tmp_path: Path) -> None:
    ingest([folder], corpus, access=("board",))
    elsewhere = tmp_path / "public"
    elsewhere.mkdir()
    shutil.copy(folder / "mill.txt", elsewhere / "copy.txt")
    shutil.copy(folder / "mill.txt", folder / "copy.txt")
    report = ingest([folder, elsewhere], corpus)
    assert tags(corpus)["public/copy.txt"] == tags(corpus)["documents/copy.txt"] == []
    assert set(remarks(report)) == {"documents/copy.txt"}
    assert "everybody may read it" in remarks(report)["documents/copy.txt"]


def test_new_files_that_became_public_beside_files_with_tags_are_told_of(folder: Path, corpus: Path) -> None:
    for year in ("2023", "2024"):
        (folder / "board" / year).mkdir(parents=True)
    (folder / "board/2023/minutes.md").write_text("Decided.", encoding="utf-8")
    assert remarks(ingest([folder / "board"], corpus, access=("board",))) == {}
    (folder / "open").mkdir()
    (folder / "open/plan.md").write_text("A plan.", encoding="utf-8")
    ingest([folder], corpus)
    (folder / "board/2024/minutes.md").write_text("Decided again.", encoding="utf-8")
    (folder / "open/more.md").write_text("More of the plan.", encoding="utf-8")
    report = ingest([folder], corpus)
    assert set(remarks(report)) == {"board/2024/minutes.md"}
    assert tags(corpus)["board/2024/minutes.md"] == []
    assert remarks(ingest([folder], corpus)) == {}
    (folder / "board/2024/more.md").write_text("Decided for good.", encoding="utf-8")
    assert remarks(ingest([folder / "board/2024/more.md"], corpus)) == {}  # beside it, nothing has tags


def test_a_new_member_of_an_archive_gets_the_tags_of_the_others(folder: Path, corpus: Path) -> None:
    zipped(folder / "z.zip", ("a.md", b"One."))
    ingest([folder], corpus, access=("board",), archives=True)
    zipped(folder / "z.zip", ("a.md", b"One."), ("b.md", b"Two."), ("deep/c.md", b"Three."))
    report = ingest([folder], corpus, archives=True)
    assert [each for source, each in tags(corpus).items() if "z.zip" in source] == [["board"]] * 3
    assert remarks(report)["z.zip!/b.md"] == "it gets all access tags of the other files in the archive: board"
    (folder / "z.zip").rename(folder / "y.zip")
    ingest([folder], corpus, archives=True)
    assert {source: each for source, each in tags(corpus).items() if "y.zip" in source} == {
        "y.zip!/a.md": ["board"], "y.zip!/b.md": ["board"], "y.zip!/deep/c.md": ["board"],
    }  # fmt: skip


def test_a_line_that_names_its_own_readers_gets_no_others(folder: Path, corpus: Path) -> None:
    records = [{"id": "1", "text": "About herons.", "access": ["legal"]}, {"id": "2", "text": "About swifts."}]
    lines(folder / "n.jsonl", *records)
    ingest([folder], corpus, access=("staff",))
    assert found(corpus, "herons", "staff") == []
    assert found(corpus, "herons", "legal") == ["n.jsonl#1"]
    assert found(corpus, "swifts", "staff") == ["n.jsonl#2"]


def test_another_embedder_or_other_sizes_are_refused(folder: Path, corpus: Path, own_model: Path) -> None:
    ingest([folder], corpus, sizes=(256, 64, 32))
    with pytest.raises(EmbedderMismatchError, match="corpus rebuild --corpus CORPUS --embedder"):
        ingest([folder], corpus, embedder=str(own_model))
    with pytest.raises(SettingsError, match="chunks"):
        ingest([folder], corpus, sizes=(512, 128, 64))
    assert set(statuses(ingest([folder], corpus)).values()) == {"unchanged"}


@pytest.mark.parametrize("sizes", [(1, 2, 3), (2048, 512, 8), (16, 16, 16)])
def test_impossible_sizes_are_refused_before_anything_is_made(
    folder: Path, corpus: Path, sizes: tuple[int, int, int]
) -> None:
    with pytest.raises(SettingsError, match="sizes"):
        ingest([folder], corpus, sizes=sizes)
    assert not corpus.exists()


def test_an_unknown_embedder_or_path_makes_nothing(folder: Path, corpus: Path) -> None:
    with pytest.raises(SettingsError, match="nonsense"):
        ingest([folder], corpus, embedder="nonsense")
    with pytest.raises(UserError, match="nothing at"):
        ingest([folder / "absent"], corpus)
    assert not corpus.exists()


def test_a_corpus_path_that_is_a_file_is_refused(folder: Path, corpus: Path) -> None:
    corpus.write_text("x")
    with pytest.raises(UserError, match="not a folder"):
        ingest([folder], corpus)


def test_an_empty_folder_makes_no_generation(tmp_path: Path, corpus: Path) -> None:
    (tmp_path / "nothing").mkdir()
    assert ingest([tmp_path / "nothing"], corpus).rows == []
    assert current_name(corpus) is None


def test_a_corpus_that_became_empty_has_no_generation(folder: Path, corpus: Path) -> None:
    ingest([folder], corpus)
    for file in folder.iterdir():
        file.unlink()
    assert set(statuses(ingest([folder], corpus)).values()) == {"removed"}
    assert current_name(corpus) is None
    assert verify(corpus) == []


SMALL = (64, 32, 16)


MANY = 40


def many(folder: Path) -> Path:
    """Files of eight leaves each at the sizes SMALL, so that a run of them commits several times."""
    for n in range(MANY):
        said = " ".join(f"On day {n} in hour {hour} the gauge stood at {n * hour} hands." for hour in range(8))
        (folder / f"day{n:02}.txt").write_text(said, encoding="utf-8")
    return folder


@pytest.mark.parametrize(("stage", "at"), [("files", 36), ("passages", 64), ("files", 0), ("index", 322)])
def test_ctrl_c_keeps_what_was_finished(folder: Path, corpus: Path, stage: str, at: int) -> None:
    def stop(told: str, done: int, total: int, detail: str = "") -> None:
        if told == stage and done == at:
            raise KeyboardInterrupt

    report = ingest([many(folder)], corpus, sizes=SMALL, progress=stop)
    assert report.interrupted
    assert verify(corpus) == []
    kept = len(rows(corpus, "SELECT * FROM documents"))
    assert len(report.rows) == kept
    assert report.left == MANY + 2 - kept
    if stage != "passages":  # then it depends on which passages were embedded first
        assert (kept > 0) == (at > 0)
    again = ingest([folder], corpus)
    assert (again.count("added"), again.count("unchanged")) == (MANY + 2 - kept, kept)
    (distinct,) = rows(corpus, "SELECT count(DISTINCT vector_key) FROM chunks")
    assert (report.embedded + again.embedded,) == distinct


def test_ctrl_c_in_a_long_document_keeps_the_files_before_it(folder: Path, corpus: Path) -> None:
    said = " ".join(f"In hour {hour} the gauge stood at {hour} hands." for hour in range(1000))
    (folder / "zz.txt").write_text(said, encoding="utf-8")

    def stop(told: str, done: int, total: int, detail: str = "") -> None:
        if told == "passages" and detail == "zz.txt":
            raise KeyboardInterrupt

    report = ingest([folder], corpus, sizes=SMALL, progress=stop)
    assert report.interrupted
    assert report.left == 1
    assert statuses(report) == {"weir.md": "added", "mill.txt": "added"}
    assert found(corpus, "corn") == ["mill.txt"]
    assert verify(corpus) == []


def test_documents_committed_by_a_run_that_died_are_indexed_by_the_next(folder: Path, corpus: Path) -> None:
    ingest([folder / "mill.txt"], corpus)
    before = (corpus / "CURRENT").read_text()
    ingest([folder], corpus)
    (corpus / "CURRENT").write_text(before)
    report = ingest([folder], corpus)
    assert set(statuses(report).values()) == {"unchanged"}
    assert found(corpus, "weir") == ["weir.md"]


def test_a_failing_embedder_loses_nothing_that_was_committed(
    folder: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from anabranch.errors import ModelError
    from anabranch.models.onnx_embedder import OnnxEmbedder

    embed = OnnxEmbedder.embed

    def failing(self: OnnxEmbedder, texts: list[str]) -> Any:
        if any("1848" in text for text in texts):
            raise ModelError("The server is down.")
        return embed(self, texts)

    monkeypatch.setattr(OnnxEmbedder, "embed", failing)
    with pytest.raises(ModelError):
        ingest([many(folder)], corpus, sizes=SMALL)
    monkeypatch.undo()
    kept = len(rows(corpus, "SELECT * FROM documents"))
    assert kept > 0
    assert verify(corpus) == []
    again = ingest([folder], corpus)
    assert (again.count("added"), again.count("unchanged")) == (MANY + 2 - kept, kept)


def test_file_names_that_are_no_utf8_are_taken_in(folder: Path, corpus: Path) -> None:
    name = os.fsencode(folder) + b"/caf\xe9.md"
    with open(name, "w", encoding="utf-8") as file:
        file.write("# Coffee\n\nEspresso is strong.\n")
    assert sorted(statuses(ingest([folder], corpus)).values()) == ["added"] * 3
    assert len(found(corpus, "espresso")) == 1
    assert set(statuses(ingest([folder], corpus)).values()) == {"unchanged"}


def test_the_folder_is_for_its_owner_alone(folder: Path, corpus: Path) -> None:
    ingest([folder], corpus)
    assert corpus.stat().st_mode & 0o077 == 0


def test_progress_is_told(folder: Path, corpus: Path) -> None:
    told: list[tuple[str, int, int]] = []
    ingest([folder], corpus, progress=lambda stage, done, total, detail="": told.append((stage, done, total)))
    assert {stage for stage, _, _ in told} == {"files", "passages", "index"}
    assert ("files", 2, 2) in told


PLAIN_TEXTS = {"txt": "Espresso.", "csv": "kind,cups\nespresso,2\n", "html": "<p>Espresso.</p>", "md": "Espresso."}


@pytest.mark.parametrize("kind", PLAIN_TEXTS)
def test_a_name_that_is_no_utf8_can_be_the_title(folder: Path, corpus: Path, kind: str) -> None:
    with open(os.fsencode(folder) + b"/caf\xe9." + kind.encode(), "w", encoding="utf-8") as file:
        file.write(PLAIN_TEXTS[kind])
    assert sorted(statuses(ingest([folder], corpus)).values()) == ["added"] * 3
    assert len(found(corpus, "espresso")) == 1
    assert rows(corpus, "SELECT title FROM documents WHERE source NOT IN ('weir.md', 'mill.txt')") == [("caf\\udce9",)]
    assert set(statuses(ingest([folder], corpus)).values()) == {"unchanged"}


def test_a_folder_too_deep_to_be_named_is_reported_and_stops_nothing(folder: Path, corpus: Path) -> None:
    deep = os.open(folder, os.O_RDONLY)
    for _ in range(24):
        os.mkdir("n" * 200, dir_fd=deep)
        deeper = os.open("n" * 200, os.O_RDONLY, dir_fd=deep)
        os.close(deep)
        deep = deeper
    os.close(os.open("lost.md", os.O_CREAT | os.O_WRONLY, dir_fd=deep))
    os.close(deep)
    for expected in ("added", "unchanged"):
        report = ingest([folder], corpus)
        (row,) = [row for row in report.rows if row.source not in ("weir.md", "mill.txt")]
        assert row.status == "failed"
        assert "too long" in row.reason
        assert set(statuses(report).values()) == {expected, "failed"}
    with pytest.raises(UserError, match="too long"):
        ingest([folder.joinpath(*["n" * 200] * 24)], corpus)


def test_nothing_to_ingest_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nothing to ingest"):
        ingest(corpus=tmp_path / "corpus")
    assert not list(tmp_path.iterdir())
    # An empty list of documents is what a program may have.
    assert ingest(corpus=tmp_path / "corpus", documents=[]).rows == []


def test_an_empty_path_is_not_the_current_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="path is empty"):
        ingest("", corpus=tmp_path / "corpus")
    assert not list(tmp_path.iterdir())
