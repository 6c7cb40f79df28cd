"""Files read in processes of their own: in order, within limits, whatever they do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import BinaryIO

import pymupdf
import pytest

from anabranch.errors import OperationError, ReadingError
from anabranch.ingestion.isolation import process_pool as module
from anabranch.ingestion.isolation import reader_process as process
from anabranch.ingestion.isolation.process_limits import Limits
from anabranch.ingestion.isolation.process_pool import ReaderPool
from anabranch.ingestion.isolation.read_and_chunk import ChunkedDocument, read_and_chunk
from anabranch.ingestion.isolation.worker_protocol import Setup, Tag, receive_head
from anabranch.models.wordpiece_tokenizer import MINILM_TOKENIZER, WordPieces
from anabranch.readers import PLAIN, Failure, ReadOptions
from tests.ingestion.isolation.children import File, only_hangs, outcomes, pool_of, scripts

SIZES = (64, 32, 16)


def test_files_come_in_order_whoever_is_ready_first(tmp_path: Path) -> None:
    files = scripts(tmp_path, "sleep 1.5", *(f"say number {number}" for number in range(1, 20)))
    pool = pool_of(3)
    told = outcomes(pool, files)
    assert told == ["0.pdf:", "slept", *(line for n in range(1, 20) for line in (f"{n}.pdf:", f"number {n}"))]
    assert pool.processes > 1  # because the first file kept us waiting


def test_many_short_waits_call_for_another_process_like_one_long_one(tmp_path: Path) -> None:
    pool = pool_of(2)
    outcomes(pool, scripts(tmp_path, *["sleep 0.15"] * 12))
    assert pool.processes == 2


def test_a_taker_who_is_slower_than_one_process_gets_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A clock that moves only while the taker is at work: a busy machine, too, makes one wait.
    now = 0.0
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now))
    with pool_of(4) as pool:
        for _, parts in pool.read(scripts(tmp_path, *["many 20 10"] * 6)):
            now += module._PATIENCE_SECONDS
            assert len(list(parts)) == 20
    assert pool.processes == 1


def test_a_hang_costs_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only_hangs(monkeypatch, "1.pdf", after=1)
    told = outcomes(pool_of(seconds=0.5), scripts(tmp_path, "say one", "hang", "say three"))
    assert told[:4] == ["0.pdf:", "one", "1.pdf:", "before it hangs"]
    assert told[4:] == ["timeout: reading '1.pdf' took over 0.5 seconds without a result.", "2.pdf:", "three"]


def test_a_crash_costs_one_file(tmp_path: Path) -> None:
    told = outcomes(pool_of(), scripts(tmp_path, "fault", "exit", "killed", "say four"))
    assert told == [
        "0.pdf:",
        "crashed: the process that was reading '0.pdf' died (SIGSEGV).",
        "1.pdf:",
        "crashed: the process that was reading '1.pdf' died (exit code 3: no luck).",
        "2.pdf:",
        "crashed: the process that was reading '2.pdf' died (SIGKILL, usually for lack of memory).",
        "3.pdf:",
        "four",
    ]


def test_a_library_that_gives_up_for_want_of_memory_is_told_from_one_that_crashes(tmp_path: Path) -> None:
    told = outcomes(pool_of(), scripts(tmp_path, "abort"))
    assert told == ["0.pdf:", "memory: reading '0.pdf' took more than 1024 MB of memory."]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no bound on memory")
def test_a_bomb_costs_one_file(tmp_path: Path) -> None:
    told = outcomes(pool_of(megabytes=512), scripts(tmp_path, "say one", "blow", "say three"))
    assert told == [
        "0.pdf:",
        "one",
        "1.pdf:",
        "memory: reading '1.pdf' took more than 512 MB of memory.",
        "2.pdf:",
        "three",
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no bound on memory")
def test_a_real_file_that_is_too_large_costs_itself(tmp_path: Path) -> None:
    large, small = tmp_path / "large.html", tmp_path / "small.html"
    with large.open("wb") as file:
        file.truncate(900 << 20)
    small.write_text("<p>Herons fish.</p>", encoding="utf-8")
    files = [File(large, "large.html"), File(small, "small.html")]
    told = outcomes(ReaderPool(Setup(Limits(60, 256 << 20), PLAIN, str(MINILM_TOKENIZER), SIZES)), files)
    assert told == [
        "large.html:",
        "memory: reading 'large.html' took more than 256 MB of memory.",
        "small.html:",
        "Herons fish.",
    ]


def test_a_real_pdf_that_never_ends_costs_itself(tmp_path: Path, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only_hangs(monkeypatch, "hang.pdf")
    damaged = bytearray((shared / "data/awkward/scanned__jbig2.pdf").read_bytes())
    damaged[25088] = 0x1C
    (tmp_path / "hang.pdf").write_bytes(damaged)
    good = shared / "data/awkward/toc__toc.pdf"
    files = [File(tmp_path / "hang.pdf", "hang.pdf"), File(good, good.name)]
    setup = Setup(Limits(seconds=1), ReadOptions(ocr=False), str(MINILM_TOKENIZER), SIZES)
    told = outcomes(ReaderPool(setup, processes=2), files)
    assert told[:3] == [
        "hang.pdf:",
        "timeout: reading 'hang.pdf' took over 1 seconds without a result.",
        "toc__toc.pdf:",
    ]
    assert len(told) > 3


def test_a_file_is_not_to_blame_for_those_before_it(tmp_path: Path) -> None:
    told = outcomes(pool_of(), scripts(tmp_path, "say one", "fault-if-used", "fault-if-used"))
    assert told == ["0.pdf:", "one", "1.pdf:", "fresh", "2.pdf:", "fresh"]


def test_what_readers_print_disturbs_nothing(tmp_path: Path) -> None:
    assert outcomes(pool_of(), scripts(tmp_path, "print", "say two")) == ["0.pdf:", "''", "1.pdf:", "two"]


def test_a_reader_that_shows_signs_of_life_may_take_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A clock on which each sign of life takes most of what a file has, and on which nothing else takes any time.
    now, seconds, signs = 0.0, 1.5, 0

    def heard(stream: BinaryIO) -> tuple[Tag, int] | None:
        nonlocal now, signs
        head = receive_head(stream)
        if head is not None and head[0] == Tag.BEAT:
            now, signs = now + 0.9 * seconds, signs + 1
        return head

    monkeypatch.setattr(process, "receive_head", heard)
    monkeypatch.setattr(process, "time", SimpleNamespace(monotonic=lambda: now))
    assert outcomes(pool_of(seconds=seconds), scripts(tmp_path, "work 25")) == ["0.pdf:", "worked"]
    assert signs >= 2


def test_failures_come_through(tmp_path: Path) -> None:
    assert outcomes(pool_of(), scripts(tmp_path, "fail")) == ["0.pdf:", "a part", "encrypted: the rest"]


def test_whoever_parses_gets_no_keys_and_passwords_only_through_the_pipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    monkeypatch.setenv("ANABRANCH_BASE_URL_KEY", "also-secret")
    files = scripts(tmp_path, "tell")
    _, known, passwords, _ = outcomes(pool_of(options=ReadOptions(passwords=("open sesame",))), files)
    assert "secret" not in known
    assert "sesame" not in known
    assert passwords == "('open sesame',)"


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    *_, known, _, number = outcomes(pool_of(), scripts(tmp_path, "tell"))
    assert not Path(known.rpartition(" ")[2]).exists()
    with pytest.raises(ProcessLookupError):
        os.kill(int(number), 0)


def test_one_small_note_needs_no_process(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("# Herons\n\nThey fish.", encoding="utf-8")
    (tmp_path / "photo.raw").write_bytes(b"\x00")
    pool = pool_of()
    told = outcomes(pool, [File(tmp_path / "note.md", "note.md"), File(tmp_path / "photo.raw", "photo.raw")])
    assert told[:2] == ["note.md:", "Herons"]
    assert told[3].startswith("unsupported")
    assert pool.processes == 0


def test_many_small_notes_are_read_by_processes(tmp_path: Path) -> None:
    files = [File(tmp_path / f"{number}.md", f"{number}.md") for number in range(10)]
    for file in files:
        file.path.write_text("The gauge stood still. " * 500, encoding="utf-8")
    pool = pool_of()
    assert len(outcomes(pool, files)) == 20
    assert pool.processes == 1


@pytest.mark.parametrize("tokenizer", [str(MINILM_TOKENIZER), ""])
def test_a_process_yields_what_would_be_read_and_cut_here(tmp_path: Path, tokenizer: str) -> None:
    pdf = pymupdf.open()
    for number in range(3):
        pdf.new_page().insert_text((72, 72), f"Page {number} is about herons.\nAnd weirs.")  # type: ignore[attr-defined]
    pdf.save(tmp_path / "a.pdf")
    (tmp_path / "b.jsonl").write_text('{"id": "1", "text": "Näin.", "year": 1848, "access": ["board"]}\n{', "utf-8")
    (tmp_path / "c.html").write_text("<h1>One</h1><p>Two.<h2>Three</h2><p>Four", encoding="utf-8")
    files = [File(path, path.name) for path in sorted(tmp_path.iterdir())]
    tokens = WordPieces() if tokenizer else None
    expected = [[*read_and_chunk(file.path, file.source, PLAIN, tokens, SIZES)] for file in files]
    with ReaderPool(Setup(Limits(), PLAIN, tokenizer, SIZES)) as pool:
        pool._here = 0
        assert [[*parts] for _, parts in pool.read(files)] == expected
    assert isinstance(expected[1][1], Failure)
    assert all((part.tree is None) == (not tokenizer) for part in expected[0] if isinstance(part, ChunkedDocument))


def test_what_waits_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_HELD_BYTES", 100_000)
    pool = pool_of(2)
    most = 0
    with pool:
        for _, parts in pool.read(scripts(tmp_path, "many 300 5000", "many 300 5000", "many 300 5000")):
            for number, _ in enumerate(parts):
                if number % 50 == 0:
                    time.sleep(0.05)
                most = max(most, pool._jobs._held)
    assert 0 < most <= 100_000 + 6_000


def test_files_ahead_are_looked_for_only_when_they_are_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_AHEAD_FILES", 4)
    asked: list[str] = []
    files = scripts(tmp_path, *["say so"] * 20)

    def supply() -> list[File]:
        for file in files:
            asked.append(file.source)
            yield file

    with pool_of() as pool:
        for _, parts in islice(pool.read(supply()), 3):
            list(parts)
    assert asked == [file.source for file in files[:6]]


def test_a_pool_can_be_left_in_the_middle(tmp_path: Path) -> None:
    with pool_of(2) as pool:
        for _, parts in pool.read(scripts(tmp_path, "many 1000000 1000", "hang", "say three")):
            list(islice(parts, 3))
            break
    assert [thread for thread in threading.enumerate() if thread.name == "anabranch-reading"] == []


@pytest.mark.parametrize(
    ("command", "said"),
    [(("/nowhere/python",), "nowhere"), ((sys.executable, "-c", "raise SystemExit('no luck')"), "no luck")],
)
def test_a_process_that_cannot_be_started_is_an_error_that_says_why(
    tmp_path: Path, command: tuple[str, ...], said: str
) -> None:
    setup = Setup(Limits(), PLAIN, "", SIZES)
    with pytest.raises(OperationError, match=said), ReaderPool(setup, command=command) as pool:
        for _, parts in pool.read(scripts(tmp_path, "say one")):
            list(parts)


RUN = f"""
import sys
sys.path[:0] = {sys.path!r}
from pathlib import Path
from tests.ingestion.isolation.children import File, pool_of
pool = pool_of(2)
try:
    with pool:
        for file, parts in pool.read([File(Path(each), each) for each in sys.argv[1:]]):
            for part in parts:
                print(part.document.blocks[0].text, flush=True)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


def run(tmp_path: Path) -> tuple[subprocess.Popen[str], int]:
    """Start a program with a pool, up to where one process hangs; return it and the number of that process."""
    files = scripts(tmp_path, "tell", "hang")
    command = [sys.executable, "-c", RUN, *(str(file.path) for file in files)]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    parent = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, env=environment
    )
    assert parent.stdout is not None
    lines = [parent.stdout.readline().strip() for _ in range(4)]
    assert lines[3] == "before it hangs"
    return parent, int(lines[2])


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a fuse ends it, later")
def test_processes_end_with_a_parent_that_was_killed(tmp_path: Path) -> None:
    parent, child = run(tmp_path)
    parent.kill()
    parent.communicate()
    while Path(f"/proc/{child}").exists() and "zombie" not in Path(f"/proc/{child}/status").read_text("utf-8"):
        time.sleep(0.05)


def test_ctrl_c_stops_everything_without_a_word_from_the_processes(tmp_path: Path) -> None:
    parent, _ = run(tmp_path)
    os.killpg(parent.pid, signal.SIGINT)
    said, complained = parent.communicate()
    assert (said, complained) == ("stopped\n", "")


def test_a_reading_error_keeps_its_hint(tmp_path: Path) -> None:
    with pool_of() as pool:
        ((_, parts),) = islice(pool.read(scripts(tmp_path, "fail")), 1)
        with pytest.raises(ReadingError) as caught:
            list(parts)
    assert caught.value.hint == "Try."
