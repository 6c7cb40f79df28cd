"""`anabranch serve`, killed at any instant: what it accepted is answered, once, and whoever reads misses nothing."""

from __future__ import annotations

import asyncio
import random
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from anabranch.ingestion.pipeline import ingest
from plugins.server.tests.serve_process import ServeProcess, started
from tests.faults.asking import Asked, alone, ask, asked_again, check_stream, check_thread, follow, threads_at
from tests.faults.conftest import NewFault
from tests.faults.report import Fault
from tests.graph.replies import model
from tests.servers.openai_stub import OpenAIStub
from tests.servers.postgres import postgres
from tests.shared_fixtures import REPOSITORY

pytestmark = [pytest.mark.loopback, pytest.mark.slow]

LOOKED_AT = (
    "every run that was accepted is answered, and every conversation is there with each question and answer once; a "
    "reader who comes back with Last-Event-ID gets every event once, and the answer; no model call whose step was kept "
    "is made again"
)
AT_ONCE = 3
"""Questions that a server has when it is killed."""

PATIENCE = 600.0
STEP = 0.3
"""Seconds that a step takes, about."""

CONVERSATIONS = 12
"""After so many, questions go on with one of them."""


class Service:
    """Servers over one place of data, the model that they ask, and all that was asked of them."""

    def __init__(self, home: Path, stub: OpenAIStub, place: str) -> None:
        self.home, self.stub, self.place = home, stub, place
        self.servers: list[ServeProcess] = []
        self.asked: list[Asked] = []
        self.url = ""

    def start(self) -> None:
        """Start one more server."""
        chosen = {"ANABRANCH_MODEL": "openai:stub", "ANABRANCH_BASE_URL": self.stub.base_url}
        self.servers.append(started(self.home, "--data", self.place, **chosen))
        self.url = self.servers[-1].url

    def kill(self, server: ServeProcess) -> None:
        """Kill one."""
        self.servers.remove(server)
        self.url = self.servers[0].url if self.servers else server.url
        server.process.kill()
        server.process.wait()

    async def ask(self, server: ServeProcess, dice: random.Random) -> Asked:
        """Ask one of the servers, in a new conversation or, where nothing is being said, in one of before."""
        number = len(self.asked) + 1
        last = {each.thread: each for each in self.asked}
        idle = [each for each in last.values() if each.is_over]
        if len(last) < CONVERSATIONS or not idle:
            self.asked.append(await ask(server.url, number))
        else:
            before = dice.choice(idle)
            self.asked.append(await ask(server.url, number, before.thread, before.turn + 1))
        return self.asked[-1]


@pytest.fixture
def home(ground: Path) -> Path:
    shutil.copytree(REPOSITORY / "tests" / "samples", ground / "samples")
    ingest([ground / "samples"], ground / "corpus")
    return ground


@contextmanager
def service(home: Path, place: str) -> Iterator[Service]:
    with OpenAIStub(model(condense=alone)) as stub:
        found = Service(home, stub, place)
        try:
            yield found
        finally:
            for server in list(found.servers):
                found.kill(server)


async def test_one_server_on_sqlite(home: Path, fault: NewFault, tries: int) -> None:
    row = fault("SIGKILL at a random instant of `anabranch serve`, its data in SQLite", LOOKED_AT)
    with service(home, str(home / "data")) as found:
        await _killed(found, row, _third(tries))
    row.settle()


async def test_one_server_on_postgresql(home: Path, fault: NewFault, tries: int) -> None:
    row = fault("SIGKILL at a random instant of `anabranch serve`, its data in PostgreSQL", LOOKED_AT)
    with postgres(home / "postgres") as address, service(home, address) as found:
        await _killed(found, row, _third(tries))
    row.settle()


async def test_one_of_two_servers_on_one_postgresql(home: Path, fault: NewFault, tries: int) -> None:
    row = fault("SIGKILL at a random instant of one of two `anabranch serve` on one PostgreSQL", LOOKED_AT)
    with postgres(home / "postgres") as address, service(home, address) as found:
        found.start()
        await _killed(found, row, _third(tries))
    row.settle()


def _third(tries: int) -> int:
    """Return each row's share of the kills, because each takes seconds."""
    return -(-tries // 3)


async def _killed(found: Service, row: Fault, kills: int) -> None:
    """Kill a server again and again while it works; what it leaves behind is finished by whoever serves next."""
    found.start()
    asked = await _asked(found, random.Random(0))
    await _read(found, asked)
    whole = len(asked[0].seen)
    for dice in row.dice(kills):
        with row.attempt(f"kill {row.tries + 1}"):
            asked = await _asked(found, dice)
            reading = asyncio.create_task(_read(found, asked))
            # Spread over what an answer takes on this machine at this moment, and over the time between two events.
            moment, first = dice.randrange(whole), asked[0]
            while len(first.seen) < moment and not first.is_over:
                await asyncio.sleep(0.01)
            await asyncio.sleep(dice.uniform(0, STEP))
            found.kill(dice.choice(found.servers))
            await asyncio.to_thread(found.start)
            await reading
            await _check(found, asked)
            again, lost = asked_again(found.stub, found.asked)
            cut = sum(each.cuts > 0 for each in found.asked)
            row.remark = (
                f"{len(found.asked)} questions, {cut} of them cut off; of {len(found.stub.calls)} model calls {again} "
                f"were made again, which were in flight, or whose step was not kept yet"
            )
            assert not lost, lost


async def _asked(found: Service, dice: random.Random) -> Sequence[Asked]:
    """Ask several questions, of all the servers."""
    return [await found.ask(dice.choice(found.servers), dice) for _ in range(AT_ONCE)]


async def _read(found: Service, asked: Sequence[Asked]) -> None:
    """Read to the end, at whichever server is there."""
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*(follow(each, lambda: found.url) for each in asked))


async def _check(found: Service, asked: Sequence[Asked]) -> None:
    for each in asked:
        check_stream(each)
    for server in found.servers:
        for each in asked:
            await check_thread(server.url, each)
        assert {each.thread for each in found.asked} <= await threads_at(server.url)
