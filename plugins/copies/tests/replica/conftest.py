"""An S3 server on this machine, and caches of their own for the copies."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from anabranch.safety.operator import environment
from anabranch.store.local_reader import LocalReader
from anabranch.store.stores import open_corpus, open_writer
from anabranch_conformance.corpus_contents import EVERYTHING, keep_facts, note, take_in
from anabranch_copies.replica import replica_store

PATIENCE = 120.0
SECRET = "sEcReT-of-the-tests"

_numbers = count()


@contextmanager
def cache_at(folder: Path, **variables: object) -> Iterator[None]:
    """Stand for a new process that keeps its copies in a folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANABRANCH_REPLICAS", str(folder))
        for name, value in variables.items():
            patch.setenv(f"ANABRANCH_REPLICA_{name.upper()}", str(value))
        environment.cache_clear()
        replica_store._followers.clear()
        try:
            yield
        finally:
            environment.cache_clear()
            replica_store._followers.clear()


def write(origin: Path, **notes: str) -> None:
    """Write notes by name, and remove those without text."""
    with open_writer(origin) as writer:
        keep_facts(writer)
        take_in(writer, {f"/{name}": [note(name, name, text)] if text else [] for name, text in notes.items()})
        writer.publish()


def now(target: str) -> LocalReader:
    """Open what is published as a process does that has not opened it before."""
    replica_store.forget(target)
    reader = asyncio.run(open_corpus(target))
    assert isinstance(reader, LocalReader)
    return reader


def says(reader: LocalReader) -> set[str]:
    """Return the text of all passages, found by their vectors."""

    async def look() -> set[str]:
        (ranked,) = await reader.search("dense", ["water"], 100, EVERYTHING)
        return {chunk.text for chunk in (await reader.chunks(ranked["ids"], EVERYTHING)).values()}

    return asyncio.run(look())


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    """A corpus of three notes."""
    write(tmp_path / "origin", weir="The weir was built.", mill="The mill grinds corn.", bees="Honey bees dance.")
    return tmp_path / "origin"


@pytest.fixture
def target(tmp_path: Path) -> str:
    """The address of a folder to publish to."""
    return (tmp_path / "published").as_uri()


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Path]:
    """Keep copies there."""
    with cache_at(tmp_path / "cache"):
        yield tmp_path / "cache"


@pytest.fixture(scope="session")
def s3() -> Iterator[str]:
    """Run an S3 server; return its URL."""
    pytest.importorskip("moto.server", reason="the package moto is not installed")
    pytest.importorskip("s3fs", reason="the extra s3 is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + PATIENCE
        while not _answers(port):
            assert server.poll() is None
            assert time.monotonic() < until
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


def _answers(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def bucket(s3: str) -> Iterator[str]:
    """Return the address of a module's own bucket, which this process may use."""
    from s3fs import S3FileSystem

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", s3)
        patch.setenv("AWS_ACCESS_KEY_ID", "tester")
        patch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        name = f"bucket-{next(_numbers)}"
        S3FileSystem(skip_instance_cache=True).mkdir(name)
        yield f"s3://{name}"
