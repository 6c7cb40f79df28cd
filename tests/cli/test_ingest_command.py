from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pymupdf
import pytest

from plugins.readers.tests.scanned import scan, stand_in
from plugins.sources.tests.web.site import page, serving
from tests.cli.conftest import Run
from tests.ingestion.archives.packing import zipped
from tests.servers.calls import Request
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import Reply


def test_the_table_names_every_file_and_the_reason(run: Run, documents: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    (tmp_path / "empty.md").write_text("")
    result = run("ingest", documents, tmp_path / "broken.pdf", tmp_path / "empty.md", "--corpus", tmp_path / "c")
    assert result.exit_code == 0
    for part in ("rivers.md", "cellar notes.txt", "broken.pdf", "empty.md", "3 added, 2 failed", "holds 3 documents"):
        assert part in result.stdout
    assert "empty:" in result.stdout


def test_one_of_a_kind_is_counted_as_one(run: Run, tmp_path: Path) -> None:
    (tmp_path / "otter.md").write_text("Otters are asleep.")
    told = run("ingest", tmp_path / "otter.md", "--corpus", tmp_path / "c").stdout
    assert "1 added; 1 passage embedded" in told
    assert "holds 1 document in 3 chunks." in told
    assert ": 1 document, 1 passage, " in " ".join(run("doctor", "--corpus", tmp_path / "c", "--json").stdout.split())


def test_a_second_run_changes_nothing_and_a_third_what_changed(run: Run, tmp_path: Path) -> None:
    folder, corpus = tmp_path / "d", tmp_path / "c"
    folder.mkdir()
    for name in ("a", "b", "c"):
        (folder / f"{name}.md").write_text(f"# {name}\n\nThe word of the day is {name}-{name}.\n")
    run("ingest", folder, "--corpus", corpus)
    again = run("ingest", folder, "--corpus", corpus)
    assert "3 unchanged; 0 passages embedded" in again.stdout
    assert "a.md" not in again.stdout
    (folder / "a.md").write_text("# a\n\nThe word of the day is otter.\n")
    (folder / "b.md").unlink()
    third = run("ingest", folder, "--corpus", corpus)
    assert "1 updated, 1 unchanged, 1 removed" in third.stdout


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_folder_that_is_empty_of_a_sudden_removes_nothing_unless_asked_to(
    run: Run, tmp_path: Path, form: tuple[str, ...]
) -> None:
    folder, corpus = tmp_path / "d", tmp_path / "c"
    folder.mkdir()
    for number in range(21):
        (folder / f"{number}.md").write_text(f"The word of day {number} is otter.\n")
    run("ingest", folder, "--corpus", corpus)
    for path in folder.iterdir():
        path.unlink()
    refused = run("ingest", folder, "--corpus", corpus, *form)
    assert refused.exit_code == 1
    assert "The files of 21 documents, more than half of the corpus, are missing, so these were kept" in " ".join(
        refused.stderr.split()
    )
    assert "--remove-missing" in refused.stderr
    assert run("search", "otter", "--corpus", corpus).exit_code == 0
    asked = run("ask", "Which word?", "--docs", folder, "--corpus", corpus)
    assert asked.exit_code != 0
    assert "--remove-missing" in asked.stderr
    removed = run("ingest", folder, "--corpus", corpus, "--remove-missing", *form)
    assert "21 removed" in removed.stdout or removed.stdout.count('"removed"') == 21
    assert "is empty" in removed.stderr


def test_json_is_the_list_of_files_and_nothing_else(run: Run, documents: Path, tmp_path: Path) -> None:
    (tmp_path / "x.md").write_text("")
    result = run("ingest", documents, tmp_path / "x.md", "--corpus", tmp_path / "c", "--json")
    rows = {row["source"]: row for row in json.loads(result.stdout)}
    assert rows["rivers.md"]["status"] == "added"
    assert rows["rivers.md"]["chunks"] > 1
    assert rows["x.md"]["status"] == "failed"
    assert rows["x.md"]["reason"].startswith("empty")
    assert set(rows["x.md"]) == {"source", "status", "reason", "documents", "chunks", "notes"}


def test_a_path_that_does_not_exist_is_the_users_mistake(run: Run, documents: Path, tmp_path: Path) -> None:
    result = run("ingest", documents, tmp_path / "missing", "--corpus", tmp_path / "c")
    assert result.exit_code == 2
    assert "missing" in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "c").exists()


def test_nothing_taken_in_is_a_failure(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty.md").write_text("")
    result = run("ingest", tmp_path / "empty.md", "--corpus", tmp_path / "c")
    assert result.exit_code == 1
    assert "No file could be ingested" in result.stderr


def test_an_empty_folder_is_a_failure(run: Run, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    result = run("ingest", tmp_path / "d", "--corpus", tmp_path / "c")
    assert result.exit_code == 1
    assert "No file was found" in result.stderr


def test_failures_in_a_corpus_that_holds_something_are_no_failure(run: Run, documents: Path, tmp_path: Path) -> None:
    run("ingest", documents, "--corpus", tmp_path / "c")
    (tmp_path / "empty.md").write_text("")
    assert run("ingest", tmp_path / "empty.md", "--corpus", tmp_path / "c").exit_code == 0


def test_chunk_sizes_are_three_numbers(run: Run, documents: Path, tmp_path: Path) -> None:
    for sizes in ("128", "a,b,c", "1,2", "1,2,3,4", ""):
        result = run("ingest", documents, "--corpus", tmp_path / "c", "--chunk-sizes", sizes)
        assert result.exit_code == 2
        assert "--chunk-sizes" in result.stderr
    result = run("ingest", documents, "--corpus", tmp_path / "c", "--chunk-sizes", "128,64,32", "--json")
    assert result.exit_code == 0


def test_sizes_that_make_no_tree_are_the_users_mistake(run: Run, documents: Path, tmp_path: Path) -> None:
    result = run("ingest", documents, "--corpus", tmp_path / "c", "--chunk-sizes", "128,512,2048")
    assert result.exit_code == 2


def test_another_embedder_is_refused(run: Run, documents: Path, corpus: Path) -> None:
    result = run("ingest", documents, "--corpus", corpus, "--embedder", "nonsense")
    assert result.exit_code == 2
    assert "nonsense" in result.stderr


def test_access_tags_hide_documents_from_others(run: Run, documents: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("# Vault\n\nThe vault opens with the number 4711.\n")
    run("ingest", documents, "--corpus", tmp_path / "c")
    run("ingest", tmp_path / "secret.md", "--corpus", tmp_path / "c", "--access", "board")
    search = ("search", "the number that opens the vault", "--corpus", tmp_path / "c", "--json")
    assert "4711" not in run(*search).stdout
    assert "4711" in run(*search, "--set", 'access=["board"]').stdout


def test_the_corpus_may_come_from_the_environment(run: Run, documents: Path, tmp_path: Path) -> None:
    result = run("ingest", documents, env={"ANABRANCH_CORPUS": str(tmp_path / "from-env")})
    assert result.exit_code == 0
    assert (tmp_path / "from-env").is_dir()


def committed(corpus: Path) -> int:
    """Return how many documents are in the database by now."""
    try:
        with closing(sqlite3.connect(f"file:{corpus / 'corpus.db'}?mode=ro", uri=True)) as connection:
            return int(connection.execute("SELECT count(*) FROM documents").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


@pytest.mark.loopback
def test_ctrl_c_leaves_a_good_corpus_and_says_so(run: Run, tmp_path: Path) -> None:
    folder, corpus = tmp_path / "d", tmp_path / "c"
    folder.mkdir()
    # Several batches of embedding: the signal has to come while there is work left.
    files = 300
    for number in range(files):
        (folder / f"{number}.md").write_text(f"# Note {number}\n\n" + f"Fact {number} is about otters and owls. " * 3)
    interrupted = threading.Event()

    def embedding(_: Request) -> Reply:
        if committed(corpus) >= 2:
            interrupted.wait()
        return Reply()

    with OpenAIStub(embedding=embedding) as stub:
        arguments = ["ingest", str(folder), "--corpus", str(corpus), "--embedder", "openai:stub"]
        arguments += ["--embedder-url", stub.base_url]
        command = [sys.executable, "-m", "anabranch.cli", *arguments]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while committed(corpus) < 2 and process.poll() is None:
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        interrupted.set()
        _, said = process.communicate()
        assert process.returncode == 130
        assert "Interrupted. The corpus is intact" in said
        assert "Traceback" not in said
        done = committed(corpus)
        assert 2 <= done < files
        assert f"holds {done} documents; {files - done} files left" in said
        assert run("corpus", "verify", "--corpus", corpus).exit_code == 0
        again = run(*arguments)
        assert f"{files - done} added, {done} unchanged" in again.stdout


def test_archives_are_opened_when_asked_for(run: Run, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    zipped(tmp_path / "d" / "notes.zip", ("herons.md", b"# Herons\n\nHerons wait.\n"), ("../up.md", b"no"))
    closed = run("ingest", tmp_path / "d", "--corpus", tmp_path / "c", "--json")
    assert [row["status"] for row in json.loads(closed.stdout)] == ["skipped"]
    opened = run("ingest", tmp_path / "d", "--corpus", tmp_path / "c", "--archives", "--json")
    rows = {row["source"]: row["status"] for row in json.loads(opened.stdout)}
    assert rows == {"notes.zip!/herons.md": "added", "notes.zip!/../up.md": "failed"}


def test_links_out_of_the_folder_are_followed_when_asked_for(run: Run, documents: Path, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "out").symlink_to(documents)
    assert "no files" in run("ingest", tmp_path / "d", "--corpus", tmp_path / "c").stdout
    assert "3 added" in run("ingest", tmp_path / "d", "--corpus", tmp_path / "c", "--follow-links").stdout


@pytest.mark.loopback
def test_a_page_is_taken_in_by_its_address(run: Run, tmp_path: Path) -> None:
    with serving({"/a": page("<title>Herons</title><p>Herons wait.")}) as site:
        url = f"http://127.0.0.1:{site.port}/a"
        refused = run("ingest", url, "--corpus", tmp_path / "c", "--json")
        assert refused.exit_code == 1
        assert json.loads(refused.stdout)[0]["reason"].startswith("refused: ")
        taken = run("ingest", url, "--corpus", tmp_path / "c", "--allow-private-urls", "--json")
        assert [(row["source"], row["status"]) for row in json.loads(taken.stdout)] == [(url, "added")]


def test_an_address_that_is_none_of_the_web_is_the_users_mistake(run: Run, tmp_path: Path) -> None:
    for url in ("ftp://example.org/", "http://ann:secret@example.org/", "http://2130706433/"):
        result = run("ingest", url, "--corpus", tmp_path / "c")
        assert result.exit_code == 2
        assert "secret" not in result.stderr
    assert not (tmp_path / "c").exists()


def test_passwords_open_protected_files(run: Run, tmp_path: Path) -> None:
    text = pymupdf.open()
    text.new_page().insert_text((72, 72), "The vault opens with the number 4711.")
    text.save(tmp_path / "x.pdf", encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="open", owner_pw="own")
    closed = run("ingest", tmp_path / "x.pdf", "--corpus", tmp_path / "c", "--password", "wrong", "--json")
    assert json.loads(closed.stdout)[0]["reason"].startswith("encrypted")
    options = ("--password", "wrong", "--password", "open", "--json")
    opened = run("ingest", tmp_path / "x.pdf", "--corpus", tmp_path / "c", *options)
    assert json.loads(opened.stdout)[0]["status"] == "added"
    assert "open" not in opened.stdout + opened.stderr


def test_a_file_that_takes_too_long_is_given_up(run: Run, tmp_path: Path) -> None:
    with pymupdf.open() as long:
        for number in range(60):
            long.new_page().insert_text((72, 72), [f"Page {number} says that herons wait."] * 40)
        long.save(tmp_path / "long.pdf")
    result = run("ingest", tmp_path / "long.pdf", "--corpus", tmp_path / "c", "--time-limit", "0.001", "--json")
    assert json.loads(result.stdout)[0]["reason"].startswith("timeout")


def test_limits_that_no_file_could_keep_are_the_users_mistake(run: Run, documents: Path, tmp_path: Path) -> None:
    for option, value in (("--time-limit", "0"), ("--memory-limit", "1"), ("--memory-limit", "-1")):
        assert run("ingest", documents, "--corpus", tmp_path / "c", option, value).exit_code == 2
    assert not (tmp_path / "c").exists()


def test_reading_without_ocr_can_be_asked_for(run: Run, documents: Path, tmp_path: Path) -> None:
    options = ("--no-ocr", "--time-limit", "60", "--memory-limit", "1024")
    assert run("ingest", documents, "--corpus", tmp_path / "c", *options).exit_code == 0


@pytest.mark.skipif(sys.platform == "win32", reason="stands in for Tesseract with a shell script")
def test_the_language_of_scanned_pages_reaches_tesseract(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, "exit 1")  # it knows English alone
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pymupdf.open() as pdf:
        scan(pdf)
        pdf.save(tmp_path / "scan.pdf")
    options = ("--ocr-language", "deu", "--ocr-language", "eng")
    result = run("ingest", tmp_path / "scan.pdf", "--corpus", tmp_path / "c", *options, "--json")
    assert "no data for deu" in result.stdout


def test_many_files_that_are_skipped_alike_are_one_row(run: Run, documents: Path, tmp_path: Path) -> None:
    for number in range(57):
        song = tmp_path / f"disc{number % 3}" / f"song{number}.flac"
        song.parent.mkdir(exist_ok=True)
        song.write_bytes(b"x")
    (tmp_path / "sound.mp3").write_bytes(b"x")
    for number in range(3):
        (tmp_path / f"empty{number}.md").write_text("")
    result = run("ingest", documents, tmp_path, "--corpus", tmp_path / "c")
    (row,) = [line for line in result.stdout.splitlines() if line.startswith(" skipped")]
    assert "disc0/song0.flac and 57 more" in row
    assert "57 .flac, 1 .mp3" in row
    assert "58 skipped, 3 failed" in result.stdout
    # What failed is named one by one, and so is all of it for a program.
    assert sum(line.startswith(" failed") for line in result.stdout.splitlines()) == 3
    rows = json.loads(run("ingest", documents, tmp_path, "--corpus", tmp_path / "c", "--json").stdout)
    assert sum(row["status"] == "skipped" for row in rows) == 58


def test_a_row_that_a_program_reads_is_a_line_with_the_whole_name_and_the_remedy(run: Run, tmp_path: Path) -> None:
    name = f"{'a-long-name-' * 9}w_O-master.pdf"
    with pymupdf.open() as pdf:
        pdf.new_page().insert_text((72, 72), "The vault opens with the number 4711.")
        pdf.save(tmp_path / name, encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="open", owner_pw="own")
    result = run("ingest", tmp_path / name, "--corpus", tmp_path / "c")
    (row,) = [line for line in result.stdout.splitlines() if name in line]
    assert "encrypted: it is protected by a password. Give it with --password" in row


def test_leaves_that_the_embedder_reads_in_part_are_warned_of(run: Run, documents: Path, tmp_path: Path) -> None:
    result = run("ingest", documents, "--corpus", tmp_path / "c", "--chunk-sizes", "4096,2048,1024")
    assert result.exit_code == 0
    assert "Leaves may have 1024 tokens, but onnx:all-MiniLM" in result.stderr
    assert "reads only the first 256" in result.stderr
    assert "reads only the first" not in run("ingest", documents, "--corpus", tmp_path / "d").stderr


def test_an_old_office_file_says_what_to_save_it_as_and_other_kinds_are_not_listed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "old.docx").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 600)
    (tmp_path / "song.mp3").write_bytes(b"x")
    rows = json.loads(run("ingest", tmp_path, "--corpus", tmp_path / "c", "--json").stdout)
    remarks = {row["source"]: row["reason"] for row in rows}
    assert "Save it as .docx" in remarks["old.docx"]
    assert remarks["song.mp3"].endswith("is not of a kind that can be read.")
