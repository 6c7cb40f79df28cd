"""LangGraph's own tests of checkpoint savers, with those of the server and the command line as they are opened."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver

from anabranch.cli.threads import threads_of
from anabranch_server.checkpoints import open_checkpoints

pytest.importorskip("langgraph.checkpoint.conformance", reason="its package is not installed")

from langgraph.checkpoint.conformance import checkpointer_test, validate

Opening = Callable[[], AbstractAsyncContextManager[BaseCheckpointSaver[Any]]]


async def faults_of(opening: Opening) -> list[str]:
    """Return what the suite finds wrong with a saver; each kind of it gets a saver of its own."""

    @checkpointer_test(name="of anabranch")
    async def made() -> AsyncIterator[BaseCheckpointSaver[Any]]:
        async with opening() as saver:
            yield saver

    report = await validate(made)
    assert sum(each.tests_passed for each in report.results.values()) > 30
    assert report.passed_all_base()
    return [fault for each in report.results.values() for fault in each.failures]


async def test_the_server_s_saver_in_a_folder(tmp_path: Path) -> None:
    assert await faults_of(lambda: open_checkpoints(str(tmp_path))) == []


async def test_the_command_line_s_saver(tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    assert await faults_of(lambda: threads_of(str(tmp_path / "corpus"))) == []


@pytest.mark.loopback
async def test_the_server_s_saver_in_postgresql(database: str) -> None:
    assert await faults_of(lambda: open_checkpoints(database)) == []
