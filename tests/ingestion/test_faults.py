"""Whatever one file raises, while it is read, cut, embedded or stored, costs that file alone, and is said in words."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from anabranch.errors import ClientFaultError, ModelError, RequestRefusedError
from anabranch.ingestion import intake, write_batch
from anabranch.ingestion.directory_walk import FoundFile
from anabranch.ingestion.ingest_report import IngestReport
from anabranch.ingestion.isolation import process_pool
from anabranch.ingestion.isolation.read_and_chunk import read_and_chunk
from anabranch.ingestion.pipeline import ingest
from anabranch.models.embedder import Vectors
from anabranch.models.wordpiece_tokenizer import MINILM_TOKENIZER
from anabranch.readers import READERS
from anabranch.readers.document import Failure
from anabranch.store.local_store import LocalWriter
from anabranch_sources.web import Fetcher
from tests.ingestion.archives.packing import zipped
from tests.ingestion.ingest_runs import Flat, take_in

FAULTS = [
    StopIteration(),
    KeyError("Root"),
    RecursionError("maximum recursion depth exceeded"),
    MemoryError(),
    AssertionError(),
    OSError("no number"),
    ExceptionGroup("several", [ValueError("one")]),
]
READER = """
from anabranch.readers.document import Block, Document

def read_odd(path, source, options):
    said = path.read_text("utf-8")
    exec(said, globals())
    yield Document(source, "Odd", (Block("The pump was replaced."),))
    yield eval(said.partition("#")[2] or "None")

def read_eager(path, source, options):
    raise StopIteration
"""
ENTRY_POINTS = "[anabranch.readers]\n.odd = odd_reader:read_odd\n.eager = odd_reader:read_eager\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three notes; whatever the test breaks, it breaks 'b.md'."""
    home = tmp_path / "documents"
    home.mkdir()
    for name in "abc":
        (home / f"{name}.md").write_text(f"# Note {name}\n\nHerons fish in {name}.\n", encoding="utf-8")
    return home


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return tmp_path / "corpus"


@pytest.fixture
def readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install somebody else's package of readers, which run what their files say."""
    site = tmp_path / "site"
    (site / "odd_reader-1.0.dist-info").mkdir(parents=True)
    (site / "odd_reader.py").write_text(READER)
    (site / "odd_reader-1.0.dist-info/entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(site)
    READERS.__dict__.pop("_added", None)  # the registry looks once for each process, and this process changes
    yield
    READERS.__dict__.pop("_added", None)


def outcomes(report: IngestReport) -> dict[str, str]:
    """Return the status of each file, and what was said about the one that failed."""
    return {row.source: row.reason if row.status in ("failed", "skipped") else row.status for row in report.rows}


def refused(report: IngestReport, source: str = "b.md") -> str:
    """Return what was said of the one file that was refused, when all others were added."""
    found = outcomes(report)
    assert len(found) == len(report.rows), report.rows  # one row for each
    said = found.pop(source)
    assert set(found.values()) == {"added"}
    assert "Traceback" not in said
    assert "\n" not in said
    return said


@pytest.mark.parametrize("caption", ["Exhibit 23.1", "FORM 10-Q", "Table 1: A"])
def test_a_label_beside_a_table_ends_nothing(folder: Path, corpus: Path, caption: str) -> None:
    (folder / "b.md").write_text(f"# Filing\n\n{caption}\n\n| Name | Sum |\n|---|---|\n| Weir | 12 |\n", "utf-8")
    assert set(outcomes(ingest([folder], corpus)).values()) == {"added"}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
def test_a_file_that_cannot_be_cut_costs_itself(
    folder: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    def grow(document: Any, *rest: Any) -> Any:
        if document.source == "b.md":
            raise fault
        return grows(document, *rest)

    grows = intake.grow
    monkeypatch.setattr(intake, "grow", grow)
    said = refused(take_in([folder], corpus))
    assert "'b.md' cannot be cut into passages: " in said
    assert type(fault).__name__ in said


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
def test_a_small_note_that_cannot_be_read_costs_itself(
    folder: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    def read(path: Path, source: str, *rest: Any, **more: Any) -> Any:
        if source == "b.md":
            raise fault
        return read_and_chunk(path, source, *rest, **more)

    monkeypatch.setattr(process_pool, "read_and_chunk", read)
    said = refused(take_in([folder], corpus))
    assert type(fault).__name__ in said
    assert said.endswith("report it, and leave the file out.")


def test_ctrl_c_and_the_end_of_the_process_are_no_faults_of_a_file(
    folder: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind in (KeyboardInterrupt, SystemExit):
        monkeypatch.setattr(intake, "content_digest", lambda _, kind=kind: (_ for _ in ()).throw(kind))
        with pytest.raises(kind):
            take_in([folder], corpus)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("raise KeyError('Root')", "broken: 'b.odd' cannot be read: KeyError: 'Root'"),
        ("raise StopIteration", "StopIteration"),
        ("def f(): f()\nf()", "broken: 'b.odd' cannot be read: RecursionError: "),
        ("raise MemoryError", "memory: "),
        ("raise SystemExit('no more')", "crashed: "),
        ("#'no document'", "broken: "),
        ("#Document(source, None, (Block('x'),))", "broken: "),
        ("#Document(source, 'x', (Block(object()),))", "broken: "),
        ("#Document(source, 'x', (Block(5),))", "broken: "),
        ("#Document(source, 'x', (Block('Swifts.', page=object()),))", "crashed: "),
        ("#Document(None, 'x', (Block('Swifts.'),))", "broken: "),
        ("#Document(source + '2', 'x', (Block('Swifts.', page='\\udce9'),))", "broken: "),
        ("#Document(source + '2', 'x', (Block('Swifts.', heading=(3,)),))", "broken: "),
        ("#Document(source + '2', 'x', (Block('Swifts.'),), access=7)", "broken: "),
        ("#Document(source + '2', 'x', (Block('Swifts.'),), metadata=[7])", "broken: "),
    ],
)
@pytest.mark.usefixtures("readers")
def test_a_reader_of_somebody_s_that_fails_costs_its_file(folder: Path, corpus: Path, code: str, words: str) -> None:
    (folder / "b.odd").write_text(code, encoding="utf-8")
    report = take_in([folder], corpus)
    said = [row.reason for row in report.rows if row.status == "failed"]
    assert len(said) == 1, report.rows
    assert said[0].startswith(words) or words in said[0]
    assert "\n" not in said[0]
    assert [row.source for row in report.rows if row.status == "added"][:1] == ["a.md"]
    assert {"a.md", "b.md", "c.md"} <= {row.source for row in report.rows if row.status == "added"}


@pytest.mark.usefixtures("readers")
def test_a_name_that_is_no_text_is_written_as_text(folder: Path, corpus: Path) -> None:
    (folder / "b.odd").write_text("#Document('\\udce9', 'x', (Block('Swifts.'),))", encoding="utf-8")
    assert set(outcomes(take_in([folder], corpus)).values()) == {"added"}
    with closing(LocalWriter(corpus)) as writer:
        assert writer.named(r"\udce9") != []


@pytest.mark.usefixtures("readers")
def test_a_reader_that_is_no_generator_may_raise_what_ends_a_loop(folder: Path, corpus: Path) -> None:
    (folder / "b.eager").write_text("x", encoding="utf-8")
    assert "StopIteration" in refused(take_in([folder], corpus), "b.eager")


@pytest.mark.usefixtures("readers")
def test_the_trace_is_in_the_log_and_not_in_the_report(
    folder: Path, corpus: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "anabranch")
    (folder / "b.odd").write_text("raise KeyError('Root')", encoding="utf-8")
    said = refused(take_in([folder], corpus), "b.odd")
    assert "read_odd" not in said
    assert "b.odd" in caplog.text
    assert "in read_odd" in caplog.text  # the other process's trace


@pytest.mark.usefixtures("readers")
def test_the_command_line_shows_the_trace_where_it_was_asked_for(folder: Path, tmp_path: Path) -> None:
    (folder / "b.odd").write_text("raise KeyError('Root')", encoding="utf-8")
    command = [sys.executable, "-m", "anabranch.cli", "ingest", str(folder), "--corpus", str(tmp_path / "corpus")]
    for debug in "01":
        variables = os.environ | {"ANABRANCH_DEBUG": debug, "PYTHONPATH": str(tmp_path / "site")}
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
        assert ("in read_odd" in done.stderr) is (debug == "1")
        assert "Traceback" not in done.stdout


class Choosy(Flat):
    """Refuses what names the mill, or everything."""

    def __init__(self, error: Exception, word: str = "mill") -> None:
        super().__init__(MINILM_TOKENIZER)
        self.error, self.word, self.calls = error, word, 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        if any(self.word in text for text in texts):
            raise self.error
        return super().embed(texts)


@pytest.mark.parametrize(
    "fault", [*FAULTS, RequestRefusedError("it is filtered (400)"), ClientFaultError("an IndexError")], ids=repr
)
def test_what_the_embedder_refuses_costs_its_file(folder: Path, corpus: Path, fault: Exception) -> None:
    (folder / "b.md").write_text("# Note b\n\nThe mill stands still.\n", encoding="utf-8")
    said = refused(take_in([folder], corpus, embedder=Choosy(fault)))
    assert said.startswith("broken: 'b.md' cannot be embedded: ")
    # The next run asks for it alone, once the embedder takes it.
    report = take_in([folder], corpus)
    assert outcomes(report) == {"a.md": "unchanged", "b.md": "added", "c.md": "unchanged"}


def test_an_embedder_that_refuses_everything_ends_the_run(folder: Path, corpus: Path) -> None:
    for fault in (RequestRefusedError("no such model (400)"), ValueError("no weights")):
        with pytest.raises((RequestRefusedError, ValueError), match=r"no such model|no weights"):
            take_in([folder], corpus, embedder=Choosy(fault, ""))


def test_a_provider_that_is_down_ends_the_run_at_once(folder: Path, corpus: Path) -> None:
    (folder / "b.md").write_text("# Note b\n\nThe mill stands still.\n", encoding="utf-8")
    embedder = Choosy(ModelError("no connection"))
    with pytest.raises(ModelError):
        take_in([folder], corpus, embedder=embedder)
    assert embedder.calls == 1


def test_an_embedder_that_refuses_many_documents_keeps_the_others(folder: Path, corpus: Path) -> None:
    for number in range(2 * write_batch.MOST_REFUSED):
        (folder / f"d{number:03}.md").write_text(f"# Note {number}\n\nThe mill stood still.\n", encoding="utf-8")
    report = take_in([folder], corpus, embedder=Choosy(RequestRefusedError("too long (413)")))
    assert report.count("failed") == 2 * write_batch.MOST_REFUSED
    assert report.count("added") == 3


class Failing:
    """Somebody's source of documents, one of which it cannot list."""

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[FoundFile | Failure]:
        raise KeyError("page")

    def is_missing(self, identity: str) -> bool:
        return True  # it has not seen it


def test_a_source_that_fails_costs_its_addresses_and_removes_nothing(
    folder: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from anabranch.ingestion import sources

    monkeypatch.setattr(sources, "sources_of", lambda *_: {"https://example.org/": Failing()})
    taken: list[str] = []
    monkeypatch.setattr(Failing, "is_missing", lambda _, identity: taken.append(identity) or True)
    said = refused(ingest([folder, "https://example.org/"], corpus), "https://example.org/")
    assert "KeyError: 'page'" in said
    assert taken == []


def test_a_page_that_brings_out_a_fault_costs_itself(
    folder: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fetch(_: Fetcher, url: str, home: Path) -> Path:
        (home / "page.html").write_text("<p>Herons fish.</p>", encoding="utf-8")
        return home / "page.html" if "b" not in url.rpartition("/")[2] else {}["charset"]

    monkeypatch.setattr(Fetcher, "fetch", fetch)
    pages = [f"https://example.org/{name}" for name in "abc"]
    assert "KeyError: 'charset'" in refused(ingest([folder, *pages], corpus), pages[1])


def test_what_another_process_sends_that_is_no_document_costs_its_file(
    folder: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "".join(f'{{"id": "{number}", "text": "Note {number}."}}\n' for number in range(9))
    (folder / "b.jsonl").write_text(lines, encoding="utf-8")
    monkeypatch.setattr(process_pool, "_HERE_BYTES", -1)
    parse, odd = process_pool.parse_part, iter([False] * 5 + [True] + [False] * 9)
    monkeypatch.setattr(process_pool, "parse_part", lambda frame: {}["facts"] if next(odd) else parse(frame))
    report = take_in([folder], corpus)
    assert [(row.source, row.status) for row in report.rows if row.status == "failed"] == [("b.jsonl", "failed")]
    assert sum(row.documents for row in report.rows) == 3 + 8


def test_an_archive_that_fails_costs_itself(folder: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from anabranch.ingestion import archives

    zipped(folder / "b.zip", ("x.md", b"# X"))
    monkeypatch.setattr(archives, "parts_of", lambda _: {}["parts"])
    assert "KeyError: 'parts'" in refused(ingest([folder], corpus, archives=True), "b.zip")


def test_a_document_in_memory_that_fails_costs_itself(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = intake.content_digest
    monkeypatch.setattr(
        intake, "content_digest", lambda document: digest(document) if "Swifts" not in repr(document) else {}["x"]
    )
    report = ingest(corpus=corpus, documents=["Herons fish.", "Swifts sleep.", "Weirs hold."])
    assert [row.status for row in report.rows] == ["added", "failed", "added"]
