"""Whatever somebody writes into threads, what is kept, what a reply holds and how long others wait have a bound.

`--attacks 10000` makes a long run of it. A failure names the number of the request, which chance begins anew with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest
import yaml

from anabranch.ingestion.pipeline import ingest
from anabranch.safety.operator import environment
from anabranch_server.application import create_app
from anabranch_server.identity.api_keys import digest_of_secret, new_key
from anabranch_server.json_values import MAX_REPLY
from anabranch_server.request_values import MAX_BODY
from plugins.server.tests.attacks import NODES
from plugins.server.tests.test_time_attacks import HELD, NOTE, QUESTION, watched
from tests.turn_records import turn_record

KEY = new_key()
MEGABYTE = 1 << 20
KEPT_MB, THREADS = 12, 40
"""What one person may keep, here, in place of gigabytes."""

SEED = 32
READS = ("/threads/search", "/threads/{}/history", "/threads/{}", "/threads/{}/state", "/threads/{}/runs")


class Hoarder:
    """Writes as much as it can wherever it can, and reads as much as it can."""

    def __init__(self, http: httpx.AsyncClient, threads: list[str]) -> None:
        self.http = http
        self.threads = threads
        self.seen: Counter[str] = Counter()

    async def act(self, random: Random) -> httpx.Response:
        do = random.choice([self.begin, self.rename, self.edit, self.edit, self.edit, self.ask, self.read, self.read])
        reply = await do(random, random.choice(self.threads))
        self.seen[f"{do.__name__} {reply.status_code}"] += 1
        return reply

    async def begin(self, random: Random, _: str) -> httpx.Response:
        reply = await self.http.post("/threads", json={"metadata": self._metadata(random)})
        if reply.status_code == 200:
            self.threads.append(reply.json()["thread_id"])
        return reply

    async def rename(self, random: Random, thread: str) -> httpx.Response:
        return await self.http.patch(f"/threads/{thread}", json={"metadata": self._metadata(random)})

    async def edit(self, random: Random, thread: str) -> httpx.Response:
        body = {"values": self._values(random), "as_node": random.choice([None, *NODES])}
        return await self.http.post(f"/threads/{thread}/state", json=body)

    async def ask(self, random: Random, thread: str) -> httpx.Response:
        context = random.choice([{}, {"create_prompt": "x" * self._size(random, 3 * MEGABYTE)}])
        asked = {"assistant_id": "answer", "input": {"question": QUESTION}, "context": context}
        return await self.http.post(f"/threads/{thread}/runs/wait", json=asked)

    async def read(self, random: Random, thread: str) -> httpx.Response:
        path = random.choice(READS).format(thread)
        if path.endswith(("search", "history")):
            return await self.http.post(path, json={"limit": 1000})
        return await self.http.get(path)

    def _size(self, random: Random, most: int) -> int:
        """Return a size of any order."""
        return int(most ** random.uniform(0.3, 1.0))

    def _metadata(self, random: Random) -> dict[str, str]:
        fields = random.choice([1, 50, 60])
        return {f"field{n}": "x" * self._size(random, 100_000) for n in range(fields)}

    def _values(self, random: Random) -> dict[str, Any]:
        text = "x" * self._size(random, MAX_BODY - 1000)
        claim = {"grade": "not_confirmed", "text": text, "reason": "", "nearest": ""}
        check = {"status": "", "claims": 1, "quoted": 0, "found": 0, "not_confirmed": 1, "checked": text}
        turn = turn_record(settings={"create_prompt": text, text[:100]: 1})
        known: dict[str, Any] = {
            "answer": text, "missing": text, "question": text, "turn": turn, "claims": [claim] * 3, "check": check,
            "draft": {"answer": text, "window": 1, "keeps": 0}, "nothing": text,
            "evidence": {"verdict": "", "reasons": [text], "missing": text, "digest": "", "scores": {text[:1000]: 1.0}},
            "filters": {"source": text}, "messages": [{"role": "user", "content": text}],
            "degraded": [{"step": "pack", "reason": text[:20_000]}] * 50,
        }  # fmt: skip
        return {name: known[name] for name in random.sample(sorted(known), random.choice([1, 1, 2, 12]))}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "weir.md").write_text(NOTE)
    ingest([tmp_path / "weir.md"], tmp_path / "corpus")
    keys = [{"identity": "ada", "sha256": digest_of_secret(KEY)}]
    limits = {"kept_mb": KEPT_MB, "threads": THREADS}
    (tmp_path / "auth.yaml").write_text(yaml.safe_dump({"keys": keys, "limits": limits}))
    monkeypatch.setenv("ANABRANCH_CORPUS", str(tmp_path / "corpus"))
    monkeypatch.setenv("ANABRANCH_AUTH", str(tmp_path / "auth.yaml"))
    environment.cache_clear()
    return tmp_path


def on_disk(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


async def test_a_person_keeps_and_reads_no_more_than_the_bounds(home: Path, request: pytest.FixtureRequest) -> None:
    times = int(request.config.getoption("--attacks")) // 2
    app = create_app(str(home / "data"))
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(
            transport=transport, base_url="http://localhost", timeout=600, headers={"Authorization": f"Bearer {KEY}"}
        ) as http,
        watched() as watch,
    ):
        first = (await http.post("/threads", json={})).json()["thread_id"]
        hoarder = Hoarder(http, [first])
        for number in range(times):
            reply = await hoarder.act(Random(SEED * 1_000_000 + number))
            told = f"request {number}: {reply.status_code} {reply.text[:300]}"
            assert reply.status_code in (200, 413, 422, 429), told
            # One entry comes whatever its size, which has a bound of its own.
            assert len(reply.content) < MAX_REPLY + 2 * MAX_BODY, told
        assert (await http.get("/ok")).status_code == 200
        kept = on_disk(home / "data")
        assert watch.longest < HELD
    check_seen(hoarder.seen, hoarder.threads)
    # With what the database needs beside, and the one write that was begun before the bound was reached.
    assert kept < 3 * KEPT_MB * MEGABYTE, kept


def check_seen(seen: Counter[str], threads: Sequence[str]) -> None:
    """See that much was accepted, much refused, and that the bound of what is kept was reached."""
    assert len(threads) <= THREADS
    assert {"begin 200", "edit 200", "edit 422", "read 200", "rename 422"} <= set(seen), seen
    assert seen["edit 429"] + seen["ask 429"] + seen["begin 429"], seen
