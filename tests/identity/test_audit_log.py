"""The audit log as a file: whole lines from several processes, begun anew after rotation, nothing done without it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from anabranch.errors import OperationError
from anabranch.identity import User
from anabranch.identity.audit_log import audit, check_audit_log, question_facts
from anabranch.safety.operator import environment

_WRITER = """
import asyncio, sys
from anabranch.identity.audit_log import audit
async def main():
    for number in range(200):
        await audit("read", None, writer=sys.argv[1], number=number, filler="x" * (number * 300))
asyncio.run(main())
"""


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANABRANCH_AUDIT", str(tmp_path / "audit.jsonl"))
    return tmp_path / "audit.jsonl"


def lines(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text(encoding="ascii").splitlines()]


async def test_a_line_says_who_and_what_and_is_for_the_operator_alone(log: Path) -> None:
    await audit("upload", User(identity="Zoë\n{}", tenant="acme"), files=["a\u2028b.pdf"])
    (line,) = lines(log)
    assert (line["identity"], line["tenant"], line["event"]) == ("Zoë\n{}", "acme", "upload")
    assert line["files"] == ["a\u2028b.pdf"]
    assert str(line["time"]).endswith("+00:00")
    assert os.stat(log).st_mode & 0o777 == 0o600


def test_lines_of_several_processes_are_whole(log: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", _WRITER, str(name)]) for name in range(3)]
    assert [writer.wait(120) for writer in writers] == [0, 0, 0]
    found = [(line["writer"], line["number"]) for line in lines(log)]
    assert sorted(found) == sorted((str(name), number) for name in range(3) for number in range(200))


async def test_a_file_that_was_moved_away_is_begun_anew(log: Path) -> None:
    await audit("question", None)
    log.rename(log.with_suffix(".1"))
    await audit("answer", None)
    assert [line["event"] for line in [*lines(log.with_suffix(".1")), *lines(log)]] == ["question", "answer"]


async def test_without_a_file_there_is_no_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ANABRANCH_AUDIT", raising=False)
    check_audit_log()
    await audit("question", None)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["", "missing/audit.jsonl", "."])
async def test_a_log_that_cannot_be_written_is_an_error(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANABRANCH_AUDIT", str(tmp_path / name) if name else "")
    with pytest.raises(OperationError, match="ANABRANCH_AUDIT cannot be written"):
        check_audit_log()
    with pytest.raises(OperationError, match="ANABRANCH_AUDIT cannot be written"):
        await audit("question", None)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
async def test_a_full_disk_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_AUDIT", "/dev/full")
    with pytest.raises(OperationError, match="No space left"):
        await audit("question", None)


def test_the_words_of_a_question_are_there_only_if_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert question_facts("Who?") == {"characters": 4}
    monkeypatch.setenv("ANABRANCH_AUDIT_QUESTIONS", "true")
    environment.cache_clear()
    assert question_facts("Who?") == {"question": "Who?"}
