from __future__ import annotations

import resource
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint

from anabranch.cli.threads import thread_config, thread_file, threads_of
from anabranch.errors import OperationError, SettingsError


def test_the_file_lies_beside_the_corpus_and_has_its_name(tmp_path: Path) -> None:
    assert thread_file(str(tmp_path / "notes")) == tmp_path / "notes.threads.db"
    assert thread_file(str(tmp_path / "notes") + "/") == tmp_path / "notes.threads.db"
    assert thread_file(str(tmp_path / "v1.2")) == tmp_path / "v1.2.threads.db"


def test_a_published_corpus_has_it_in_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert thread_file((tmp_path / "notes").as_uri()) == tmp_path / "notes.threads.db"
    files = {thread_file("s3://bucket/notes"), thread_file("s3://bucket/a/notes")}
    assert {file.parent for file in files} == {tmp_path / ".anabranch" / "threads"}
    assert len(files) == 2


async def test_only_its_owner_may_read_it(tmp_path: Path) -> None:
    async with threads_of(str(tmp_path / "c")) as saver:
        assert await saver.aget_tuple({"configurable": {"thread_id": "t"}}) is None
        modes = {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.glob("c.threads.db*")}
    assert modes == {0o600}


async def test_a_file_that_others_may_read_is_closed_to_them(tmp_path: Path) -> None:
    path = tmp_path / "c.threads.db"
    path.touch(0o644)
    async with threads_of(str(tmp_path / "c")):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_what_goes_wrong_inside_is_not_blamed_on_the_file(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="elsewhere"):
        async with threads_of(str(tmp_path / "c")):
            raise OSError("elsewhere")


async def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "c.threads.db").write_text("text " * 1000)
    with pytest.raises(OperationError, match=r"c\.threads\.db.*Move the file away"):
        async with threads_of(str(tmp_path / "c")):
            pass


@contextmanager
def full_disk() -> Iterator[None]:
    """Let no file grow beyond a page."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_a_full_disk_is_no_reason_to_move_conversations_away(tmp_path: Path) -> None:
    with pytest.raises(OperationError, match=r"c\.threads\.db") as opening, full_disk():
        async with threads_of(str(tmp_path / "c")):
            pass
    config: Any = thread_config("t")
    with pytest.raises(OperationError, match=r"c\.threads\.db") as writing:
        async with threads_of(str(tmp_path / "c")) as saver:
            with full_disk():
                await saver.aput({"configurable": {**config["configurable"], "checkpoint_ns": ""}}, kept(), {}, {})
    for caught in (opening, writing):
        assert "away" not in str(caught.value)
        assert "disk space" in str(caught.value)
    async with threads_of(str(tmp_path / "c")) as saver:
        await saver.aput({"configurable": {**config["configurable"], "checkpoint_ns": ""}}, kept(), {}, {})


def kept() -> Any:
    return {**empty_checkpoint(), "channel_values": {"text": "x" * 100_000}}


def test_ids() -> None:
    assert thread_config(" holidays ") == {"configurable": {"thread_id": "holidays"}}
    for bad in ("", "  ", "x" * 201):
        with pytest.raises(SettingsError):
            thread_config(bad)
