"""An exported corpus comes back as it was, beside what is there already; a bad line costs what is on it."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anabranch.errors import CorpusEmptyError, CorpusLockedError, EmbedderMismatchError, SettingsError, UserError
from anabranch.ingestion.pipeline import ingest
from anabranch.store.maintenance import remove, verify
from anabranch.store.protocol import Scope
from anabranch.store.stores import open_corpus
from anabranch.store.write_lock import hold_write_lock
from anabranch_copies.export import ImportReport, export_corpus, import_corpus, line_import
from anabranch_copies.export import corpus_import as importing
from anabranch_copies.export.json_lines import line_of, record_of
from plugins.copies.tests.export.conftest import rows_of, vectors_of
from tests.faults.models import make_model

Record = dict[str, Any]


def exported(corpus: Path, *, vectors: bool = False) -> list[Record]:
    out = io.BytesIO()
    assert export_corpus(corpus, out, vectors=vectors).is_complete
    return [record_of(line) for line in out.getvalue().splitlines(keepends=True)]


def file_of(records: list[Record]) -> io.BytesIO:
    return io.BytesIO(b"".join(map(line_of, records)))


def imported(records: list[Record], folder: Path, **options: Any) -> ImportReport:
    return import_corpus(file_of(records), folder, **options)


def found(corpus: Path) -> object:
    async def work() -> object:
        store = await open_corpus(corpus)
        scopes = [Scope(), Scope(access=("board",)), Scope(filters={"year": {"gte": 2003}})]
        return [
            sorted(zip(ranked["ids"], ranked["scores"], strict=True))
            for scope in scopes
            for arm in ("bm25", "dense")
            for ranked in await store.search(arm, ["heron at dawn", "the gauge", "swift owl"], 100, scope)
        ]

    return asyncio.run(work())


@pytest.mark.parametrize("vectors", [True, False])
def test_it_comes_back_as_it_was(corpus: Path, documents: Path, tmp_path: Path, vectors: bool) -> None:
    report = imported(exported(corpus, vectors=vectors), tmp_path / "new")
    assert (report.added, report.updated, report.unchanged, report.files, report.bad) == (8, 0, 0, 4, [])
    assert report.embedded == (0 if vectors else len(vectors_of(corpus)))
    assert rows_of(tmp_path / "new") == rows_of(corpus)
    assert vectors_of(tmp_path / "new").keys() == vectors_of(corpus).keys()
    if vectors:
        assert vectors_of(tmp_path / "new") == vectors_of(corpus)
        assert found(tmp_path / "new") == found(corpus)
    assert verify(tmp_path / "new") == []
    if vectors:
        assert exported(tmp_path / "new", vectors=vectors) == exported(corpus, vectors=vectors)
    assert ingest([documents], tmp_path / "new").count("unchanged") == 4


def test_the_real_documents_come_back_as_they_were(shared: Path, tmp_path: Path) -> None:
    kinds = {"*.pdf": 2, "*.docx": 2, "*.html": 2, "*.md": 2, "*.txt": 2}
    files = [file for kind, most in kinds.items() for file in sorted((shared / "data" / "awkward").rglob(kind))[:most]]
    small = [file for file in files if file.stat().st_size < 60_000]
    # Hundreds of passages, of which the text matters here and not what they mean.
    model = str(make_model(tmp_path / "model"))
    ingest(small, tmp_path / "c", embedder=model)
    assert rows_of(tmp_path / "c")["documents"]
    report = imported(exported(tmp_path / "c", vectors=True), tmp_path / "new", embedder=model)
    assert report.bad == []
    assert rows_of(tmp_path / "new") == rows_of(tmp_path / "c")


def test_a_second_time_nothing_changes(corpus: Path) -> None:
    before, name = rows_of(corpus), (corpus / "CURRENT").read_text()
    report = imported(exported(corpus), corpus)
    assert (report.added, report.updated, report.unchanged, report.embedded) == (0, 0, 8, 0)
    assert rows_of(corpus) == before
    assert (corpus / "CURRENT").read_text() == name


def test_it_joins_what_is_there(corpus: Path, tmp_path: Path) -> None:
    records = exported(corpus, vectors=True)
    other = tmp_path / "other"
    (other / "deep").mkdir(parents=True)
    (other / "a.md").write_text("# Herons\n\nSomething else about herons.\n", encoding="utf-8")
    (other / "b.md").write_text("# Bitterns\n\nBitterns boom.\n", encoding="utf-8")
    new = tmp_path / "new"
    ingest([other], new, sizes=(256, 64, 32))
    report = imported(records, new)
    assert (report.added, report.updated, report.unchanged, report.bad) == (7, 1, 0, [])
    sources = {row[2] for row in rows_of(new)["documents"]}
    assert sources == {row[2] for row in rows_of(corpus)["documents"]} | {"b.md"}
    texts = "".join(row[11] or "" for row in rows_of(new)["chunks"])
    assert "Herons fish at dawn." in texts
    assert "Something else" not in texts
    assert verify(new) == []


def test_the_embedding_cache_is_used(corpus: Path) -> None:
    records = exported(corpus)
    before = rows_of(corpus)
    for record in records:
        if record["kind"] == "document":
            record["path"] = f"/elsewhere{record['path']}"
    report = imported(records, corpus)
    assert (report.updated, report.embedded) == (8, 0)
    assert rows_of(corpus)["chunks"] == before["chunks"]


Damage = Callable[[Record], object]
BAD: dict[str, tuple[Damage, str]] = {
    "no text": (lambda line: line.pop("text"), "text: Field required"),
    "a number for a title": (lambda line: line.update(title=7), "title: Input should be a valid string"),
    "no source": (lambda line: line.update(source=" "), "source: String should match"),
    "other text": (lambda line: line.update(text=line["text"] + "x"), "missing at character"),
    "no access": (lambda line: line.pop("access"), "access: Field required"),
    "access for everybody": (lambda line: line.update(access="[]"), "access: Input should be a valid list"),
    "an empty tag": (lambda line: line.update(access=[""]), "access.0: String should match"),
    "metadata that is a list": (lambda line: line.update(metadata=[]), "metadata: Input should be a valid dictionary"),
    "no chunks": (lambda line: line.update(chunks=[]), "missing at character 0"),
    "chunks that are none": (lambda line: line.update(chunks=[1]), "chunks.0: Input should be a valid tuple"),
    "a chunk of no level": (
        lambda line: line["chunks"][0].__setitem__(0, 3),
        "chunks.0.0: Input should be less",
    ),
    "a negative start": (
        lambda line: line["chunks"][0].__setitem__(1, -1),
        "chunks.0.1: Input should be greater",
    ),
    "a bool": (lambda line: line["chunks"][0].__setitem__(3, True), "chunks.0.3: Input should be a valid integer"),
    "a gap": (lambda line: line["chunks"].pop(), "missing at character"),
    "an overlap": (lambda line: line["chunks"][-1].__setitem__(1, 1), "missing at character"),
    "a heading that hides something": (lambda line: line["chunks"][0].__setitem__(6, "a\u202eb"), "invisible"),
    "text that hides something": (lambda line: line.update(text="\u200b" + line["text"][1:]), "invisible"),
    "a control character": (lambda line: line.update(title="a\x1b[2Jb"), "invisible"),
    "pages out of order": (lambda line: line.update(pages=[[9, 1], [3, 2]]), "out of order"),
    "pages beyond the end": (lambda line: line.update(pages=[[10**6, 1]]), "out of order"),
    "pages that are none": (lambda line: line.update(pages=["x"]), "pages.0: Input should be a valid tuple"),
    "vectors that are too few": (lambda line: line.update(vectors="AAAA"), "vectors"),
    "vectors that are none": (lambda line: line.update(vectors="?"), ""),
    "vectors that are not numbers": (
        lambda line: line.update(vectors=base64.b64encode(np.full(384, np.nan, "<f4").tobytes()).decode()),
        "do not have length 1",
    ),
    "no kind that is known": (lambda line: line.update(kind="folder"), "does not match any of the expected tags"),
    "a second first line": (lambda line: line.update(kind="corpus"), "does not match any of the expected tags"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_line_is_told_of_and_the_others_are_taken_in(corpus: Path, tmp_path: Path, name: str) -> None:
    damage, said = BAD[name]
    records = exported(corpus, vectors=True)
    place = next(place for place, line in enumerate(records) if line.get("source") == "n.jsonl#3")
    damage(records[place])
    report = imported(records, tmp_path / "new")
    assert report.added == 7
    assert report.bad[0].line == place + 1
    assert said in report.bad[0].reason
    assert verify(tmp_path / "new") == []
    # Its file is read again by the next run that meets it: it has lost a document on the way.
    digests = {row[1]: row[2] for row in rows_of(tmp_path / "new")["files"]}
    assert [source for source, digest in digests.items() if not digest] == ["n.jsonl"]


@pytest.mark.parametrize(
    "line",
    [b"{", b"[]", b"null", b'{"kind": "document"}', b"\xff\xfe", b'{"kind": 1}', b"[" * 100_000, b'{"a": NaN}'],
    ids=["cut", "a list", "null", "no checksum", "no text", "no kind", "deep", "NaN"],
)
def test_a_line_that_is_none_is_told_of(corpus: Path, tmp_path: Path, line: bytes) -> None:
    records = exported(corpus, vectors=True)
    lines = [line_of(record) for record in records]
    file = io.BytesIO(b"".join([*lines[:3], line + b"\n", b"\n", *lines[3:]]))
    report = import_corpus(file, tmp_path / "new")
    assert (report.added, [bad.line for bad in report.bad]) == (8, [4])
    assert verify(tmp_path / "new") == []


def test_a_flipped_bit_is_told_of(corpus: Path, tmp_path: Path) -> None:
    lines = [bytearray(line_of(record)) for record in exported(corpus, vectors=True)]
    for line in lines[1:-1]:
        line[len(line) // 2] ^= 1
    report = import_corpus(io.BytesIO(b"".join(lines)), tmp_path / "new")
    assert report.added + report.files == 0
    assert len(report.bad) == len(lines) - 2 + 1
    assert report.bad[-1].reason == "the export has 8 documents, but 0 were found"


def test_a_document_that_stands_twice_counts_once(corpus: Path, tmp_path: Path) -> None:
    records = exported(corpus, vectors=True)
    report = imported([*records[:3], records[2], *records[3:]], tmp_path / "new")
    assert report.added == 8
    assert [(bad.line, bad.source) for bad in report.bad] == [(4, records[2]["source"]), (len(records) + 1, "")]


def test_a_line_longer_than_any_document_is_told_of(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [line_of(record) for record in exported(corpus)]
    monkeypatch.setattr(importing, "LONGEST", max(map(len, lines)) + 1)
    lines.insert(2, b'{"kind": "document", "text": "' + b"x" * 1_000_000 + b'"}\n')
    report = import_corpus(io.BytesIO(b"".join(lines)), tmp_path / "new")
    assert (report.added, [bad.line for bad in report.bad]) == (8, [3])


@pytest.mark.parametrize("left", [2, 5, -1])
def test_an_export_that_is_cut_off_is_told_of(corpus: Path, tmp_path: Path, left: int) -> None:
    records = exported(corpus, vectors=True)[:left]
    report = imported(records, tmp_path / "new")
    assert report.added == sum(record["kind"] == "document" for record in records)
    assert [bad.reason for bad in report.bad] == ["the export is cut off here"]


@pytest.mark.parametrize(
    "content", [b"", b"hello\n", b'{"id": "1", "text": "a document"}\n', b"\xff", b'{"kind": "document"}\n']
)
def test_what_is_no_export_makes_no_corpus(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(UserError, match="not an exported corpus"):
        import_corpus(io.BytesIO(content), tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "change", [{"version": 2}, {"format": "other"}, {"embedder": None}, {"sizes": [1, 2]}, {"dimension": "384"}]
)
def test_a_first_line_of_another_kind_is_refused(corpus: Path, tmp_path: Path, change: Record) -> None:
    records = exported(corpus)
    with pytest.raises(UserError, match="not an exported corpus"):
        imported([records[0] | change, *records[1:]], tmp_path / "new")


def test_vectors_of_another_embedder_are_refused(corpus: Path, own_model: Path, tmp_path: Path) -> None:
    records = exported(corpus, vectors=True)
    with pytest.raises(EmbedderMismatchError, match="without --vectors"):
        imported(records, tmp_path / "new", embedder=str(own_model))
    foreign = [records[0] | {"embedder": "openai:text-embedding-3-small"}, *records[1:]]
    for folder in (corpus, tmp_path / "new"):
        with pytest.raises(EmbedderMismatchError, match="--embedder openai:text-embedding-3-small"):
            imported(foreign, folder)


def test_without_vectors_any_embedder_will_do_if_it_is_named(corpus: Path, own_model: Path, tmp_path: Path) -> None:
    report = imported(exported(corpus), tmp_path / "new", embedder=str(own_model))
    assert (report.added, report.embedded) == (8, len(vectors_of(corpus)))
    assert verify(tmp_path / "new") == []
    records = exported(corpus)
    foreign = [records[0] | {"embedder": "openai:text-embedding-3-small"}, *records[1:]]
    with pytest.raises(EmbedderMismatchError, match="Name the embedder"):
        imported(foreign, tmp_path / "other")
    assert imported(foreign, tmp_path / "other", embedder="minilm").added == 8


def test_another_embedder_than_that_of_the_corpus_is_refused(corpus: Path, own_model: Path) -> None:
    with pytest.raises(EmbedderMismatchError, match="Leave --embedder out"):
        imported(exported(corpus), corpus, embedder=str(own_model))


def test_other_sizes_or_another_language_are_refused(corpus: Path) -> None:
    records = exported(corpus)
    for change in ({"sizes": [2048, 512, 128]}, {"language": "dutch"}):
        with pytest.raises(SettingsError, match="into a new corpus"):
            imported([records[0] | change, *records[1:]], corpus)


def test_access_tags_still_hold(corpus: Path, tmp_path: Path) -> None:
    imported(exported(corpus, vectors=True), tmp_path / "new")

    async def seen(*access: str) -> set[str]:
        store = await open_corpus(tmp_path / "new")
        (ranked,) = await store.search("bm25", ["note"], 100, Scope(access=access))
        return {chunk.source for chunk in (await store.chunks(ranked["ids"], Scope(access=access))).values()}

    assert "n.jsonl#2" not in asyncio.run(seen())
    assert "n.jsonl#2" in asyncio.run(seen("audit"))


def test_a_file_that_has_other_documents_here_is_read_again(corpus: Path, documents: Path, tmp_path: Path) -> None:
    remove(corpus, ["n.jsonl#1"])
    records = exported(corpus, vectors=True)
    new = tmp_path / "new"
    ingest([documents], new, sizes=(256, 64, 32))
    assert imported(records, new).unchanged == 7
    assert {row[2] for row in rows_of(new)["documents"]} >= {"n.jsonl#1"}
    assert [row[1] for row in rows_of(new)["files"] if not row[2]] == ["n.jsonl"]
    assert ingest([documents], new).count("unchanged") == 4


def test_an_empty_corpus_stays_empty(corpus: Path, tmp_path: Path) -> None:
    remove(corpus, ["*"])
    assert imported(exported(corpus), tmp_path / "new").bad == []
    with pytest.raises(CorpusEmptyError):
        asyncio.run(open_corpus(tmp_path / "new"))


def test_a_second_writer_is_refused(corpus: Path) -> None:
    records = exported(corpus)
    with hold_write_lock(corpus), pytest.raises(CorpusLockedError):
        imported(records, corpus)


def test_an_interrupted_import_keeps_what_was_done(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_import, "PENDING_LEAVES", 1)

    def stop(stage: str, done: int, total: int) -> None:
        if stage == "documents" and done == 4:
            raise KeyboardInterrupt

    report = imported(exported(corpus, vectors=True), tmp_path / "new", progress=stop)
    assert report.interrupted
    assert len(rows_of(tmp_path / "new")["documents"]) == 3
    assert verify(tmp_path / "new") == []
    assert imported(exported(corpus, vectors=True), tmp_path / "new").unchanged == 3


RUN = """
import sys
from pathlib import Path
from anabranch_copies.export import import_corpus
from anabranch_copies.export import line_import
line_import.PENDING_LEAVES = 1
with open(sys.argv[1], "rb") as file:
    print("ready", flush=True)
    import_corpus(file, Path(sys.argv[2]))
"""


def test_a_killed_import_leaves_whole_documents(corpus: Path, tmp_path: Path) -> None:
    records = exported(corpus, vectors=True)
    file = tmp_path / "export.jsonl"
    # The same documents under many names, so that there is something to kill.
    many = [
        record | {"source": f"{n}/{record['source']}"} for n in range(15) for record in records
        if record["kind"] == "document"
    ]  # fmt: skip
    file.write_bytes(b"".join(map(line_of, [records[0], *many, {"kind": "end", "documents": len(many)}])))
    wanted = {record["source"] for record in many}
    for seconds in (0.3, 0.7, 1.1):
        process = subprocess.Popen(
            [sys.executable, "-c", RUN, str(file), str(tmp_path / "new")], stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    with file.open("rb") as again:
        report = import_corpus(again, tmp_path / "new")
    assert report.added + report.unchanged == len(many)
    assert {row[2] for row in rows_of(tmp_path / "new")["documents"]} == wanted
    assert verify(tmp_path / "new") == []
    shutil.rmtree(tmp_path / "new")


def test_a_record_is_one_line_whatever_is_in_it() -> None:
    record = {"kind": "document", "text": "a\nb\u2028c\x85d", "deep": [{"x": 1.5}, None, "\U0001f600"]}
    line = line_of(record)
    assert line.count(b"\n") == 1
    assert record_of(line) == record
    assert json.loads(line)["text"] == record["text"]
